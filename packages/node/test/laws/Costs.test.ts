import { assert, describe, it } from "@effect/vitest"
import { BandwidthLimit, Lists, ServiceProfile, type UploadOptions, UploadPlan, Uploads } from "@stevedore/core"
import { FileSource, NodeStevedore } from "@stevedore/node"
import { Effect, Layer, Option, Redacted, Schema, Stream } from "effect"
import * as Fs from "node:fs/promises"
import { Socket } from "node:net"
import { join } from "node:path"
import { withinBudget } from "../support/budgets.js"
import { plainService } from "../support/plainService.js"
import { between, counted } from "../support/steps.js"
import type * as StorageServer from "../support/storageServer.js"
import * as Temporary from "../support/temporary.js"

const MiB = 1_048_576

const idle = BandwidthLimit.layer({ rate: Infinity })

const layerOf = (
  { origin }: StorageServer.StorageServer,
  { ledger = false, limit = Layer.empty }: {
    readonly ledger?: NonNullable<NodeStevedore.LedgerOptions["ledger"]>
    readonly limit?: Layer.Layer<never>
  }
) =>
  Layer.provideMerge(
    NodeStevedore.layer({ baseUrl: origin, token: Redacted.make("api.loopback"), ledger }),
    limit
  )

/** What the sockets of a client are given: the large writes, and the memory that they come from. */
const observedWrites = Effect.acquireRelease(
  Effect.sync(() => {
    const plain = Socket.prototype.write
    const seen = { writes: 0, memory: new Set<ArrayBufferLike>() }
    Socket.prototype.write = function(this: Socket, ...given: Parameters<Socket["write"]>) {
      const [bytes] = given
      if (bytes instanceof Uint8Array && bytes.byteLength >= 65_536) {
        seen.writes++
        seen.memory.add(bytes.buffer)
      }
      return plain.apply(this, given)
    } as Socket["write"]
    return { plain, seen }
  }),
  ({ plain }) =>
    Effect.sync(() => {
      Socket.prototype.write = plain
    })
)

const uploadOf = (folder: string, size: number, options: Partial<UploadOptions.UploadOptions>) =>
  Effect.gen(function*() {
    const path = join(folder, `${size}.bin`)
    yield* Effect.promise(() => Fs.writeFile(path, "").then(() => Fs.truncate(path, size)))
    const [, steps] = yield* counted(
      Effect.flatMap(FileSource.fromPath(path), (source) => Uploads.upload(source, options))
    )
    return steps
  })

/** What a MiB of a single PUT takes: the difference between much and little. */
const perMiB = (limit: Layer.Layer<never>) =>
  Effect.gen(function*() {
    const server = yield* plainService
    const folder = yield* Temporary.directory
    return yield* Effect.gen(function*() {
      yield* uploadOf(folder, MiB, { strategy: "single" })
      const few = yield* uploadOf(folder, 2 * MiB, { strategy: "single" })
      const { seen } = yield* observedWrites
      const many = yield* uploadOf(folder, 18 * MiB, { strategy: "single" })
      return {
        steps: (many.steps - few.steps) / 16,
        writes: seen.writes / 18,
        buffers: seen.memory.size
      }
    }).pipe(Effect.provide(layerOf(server, { limit })))
  })

/** What a file takes beyond one: the difference between many and few, by the number of files between them. */
const perFile = (options: Parameters<typeof layerOf>[1]) =>
  Effect.gen(function*() {
    const server = yield* plainService
    const folder = yield* Temporary.directory
    const upload = (from: number, count: number) =>
      Effect.gen(function*() {
        const paths = Array.from({ length: count }, (_, index) => join(folder, `${from + index}.bin`))
        yield* Effect.promise(() => Promise.all(paths.map((path) => Fs.writeFile(path, Temporary.distinct(10_240)))))
        return yield* counted(
          Stream.fromIterable(paths).pipe(
            Stream.mapEffect((path) => FileSource.fromPath(path)),
            (sources) => Uploads.uploadAll(sources, { files: 16 }),
            Stream.filter((outcome) => outcome._tag === "Uploaded"),
            Stream.runCount
          )
        )
      })
    // the first makes the connections, and the ledger its directories
    const [, [few, before], [many, after]] = yield* Effect.all([upload(0, 16), upload(100, 16), upload(200, 32)]).pipe(
      Effect.provide(layerOf(server, options))
    )
    assert.deepStrictEqual([few, many], [16, 32])
    assert.strictEqual(server.requests.length, 3 * 64)
    return between(before, after, 16)
  })

const things = Lists.make({ path: "/v1/things", item: Schema.Struct({ id: Schema.String }) })

describe("what it takes, by count", () => {
  it.scopedLive("a MiB of a single PUT", () =>
    Effect.gen(function*() {
      const { buffers, steps, writes } = yield* perMiB(Layer.empty)
      withinBudget({
        "single PUT: steps per MiB": steps,
        "single PUT: writes per MiB": writes,
        "single PUT: distinct buffers": buffers
      })
    }))

  it.scopedLive("a MiB of a single PUT under a limit that allows everything", () =>
    Effect.gen(function*() {
      const { buffers, steps, writes } = yield* perMiB(idle)
      withinBudget({
        "single PUT under an idle limit: steps per MiB": steps,
        "single PUT: writes per MiB": writes,
        "single PUT: distinct buffers": buffers
      })
    }))

  it.scopedLive("a further part", () =>
    Effect.gen(function*() {
      const folder = yield* Temporary.directory
      const server = yield* plainService
      const steps = yield* Effect.gen(function*() {
        const few = yield* uploadOf(folder, 15 * MiB, { strategy: "multipart", parts: 3 })
        const many = yield* uploadOf(folder, 65 * MiB, { strategy: "multipart", parts: 13 })
        return between(few, many, 10).steps
      }).pipe(Effect.provide(layerOf(server, { limit: idle })))
      withinBudget({ "parts: steps of a further one": steps })
    }))

  it.scopedLive("a small file", () =>
    Effect.gen(function*() {
      const { fibers, fileCalls, steps } = yield* perFile({})
      withinBudget({
        "small file: steps": steps,
        "small file: fibers": fibers,
        "small file: calls of the file system": fileCalls
      })
    }))

  it.scopedLive("a small file under a limit that allows everything", () =>
    Effect.gen(function*() {
      const { fibers, steps } = yield* perFile({ limit: idle })
      withinBudget({
        "small file under an idle limit: steps": steps,
        "small file under an idle limit: fibers": fibers
      })
    }))

  it.scopedLive("a small file with the ledger on disk", () =>
    Effect.gen(function*() {
      const directory = join(yield* Temporary.directory, "ledger")
      const { fibers, fileCalls, steps } = yield* perFile({ ledger: { directory } })
      withinBudget({
        "small file with the ledger: steps": steps,
        "small file with the ledger: fibers": fibers,
        "small file with the ledger: calls of the file system": fileCalls
      })
    }))

  it("a file by its size, over a network that was not measured yet", () => {
    const puts = (size: number) =>
      Option.getOrElse(UploadPlan.partsUnmeasured(size, ServiceProfile.standard.limits), () => NaN)
    withinBudget({
      "PUTs of 64 MiB": puts(64 * MiB),
      "PUTs of 256 MiB": puts(256 * MiB),
      "PUTs of 1 GiB": puts(1024 * MiB),
      "PUTs of 2 GiB": puts(2048 * MiB)
    })
  })

  it.scopedLive("a page of a list", () =>
    Effect.gen(function*() {
      const server = yield* plainService
      const count = yield* Stream.runCount(things()).pipe(Effect.provide(layerOf(server, {})))
      assert.strictEqual(count, 5)
      withinBudget({ "list: requests per page": server.requests.length / count })
    }))
})
