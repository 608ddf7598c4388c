import { assert, describe, it } from "@effect/vitest"
import { Checksum } from "@stevedore/core"
import { NodeChecksum } from "@stevedore/node"
import { Effect, Either, FastCheck as fc, Option } from "effect"
import { join } from "node:path"
import { runs } from "../../../testing/test/support/runs.js"
import * as Comparison from "../../src/parts/comparison.js"
import * as PartFile from "../../src/parts/partFile.js"
import * as Temporary from "../support/temporary.js"

const bytes = Temporary.distinct(40)

const opened = Effect.gen(function*() {
  const target = join(yield* Temporary.directory, "interview.mp4")
  return yield* PartFile.open(`${target}.part`, target, { keep: false, overwrite: false, worth: Effect.succeed(false) })
})

const checksumOf = (name: string) =>
  Effect.map(NodeChecksum.named(name), (found) => Checksum.ofBytes(Option.getOrThrow(found), bytes))

const ranges = [0, 10, 20, 30]

describe("comparison", () => {
  it.scoped.prop(
    "compares the file as a whole, in whatever order its ranges come, and by an algorithm that combines them or not",
    {
      order: fc.shuffledSubarray(ranges, { minLength: ranges.length }),
      name: fc.constantFrom("crc32", "sha256"),
      damaged: fc.option(fc.nat(bytes.byteLength - 1), { nil: undefined, freq: 1 })
    },
    ({ damaged, name, order }) =>
      Effect.gen(function*() {
        const file = yield* opened
        const wanted = yield* Comparison.wanted("f1", yield* checksumOf(name))
        const comparison = Comparison.make("f1", file, wanted)
        const received = bytes.map((byte, index) => index === damaged ? byte ^ 1 : byte)
        for (const offset of order) {
          const chunk = received.subarray(offset, offset + 10)
          comparison.begin(offset).update(chunk)
          yield* PartFile.write(file, chunk, offset)
        }
        const end = yield* Effect.either(comparison.end)
        assert.strictEqual(
          Either.isLeft(end) ? end.left._tag : "Same",
          damaged === undefined ? "Same" : "DownloadCorrupted"
        )
      }),
    { fastCheck: { numRuns: runs(50) } }
  )
})
