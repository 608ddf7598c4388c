import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Exit, Scope } from "effect"
import * as NodeFs from "node:fs/promises"
import { join } from "node:path"
import * as PartFile from "../../src/parts/partFile.js"
import * as PartJournal from "../../src/parts/partJournal.js"
import * as Temporary from "../support/temporary.js"

const journal: PartJournal.PartJournal = { version: 1, fileId: "1", etag: "\"e\"", size: 2, partSize: 2, parts: [0] }

/** What a download does after a wait: for bytes, for the disk. */
const afterWaits: Readonly<Record<string, (file: PartFile.PartFile) => Effect.Effect<unknown, unknown>>> = {
  "writes bytes": (file) => PartFile.write(file, Uint8Array.of(3, 4), 0),
  "notes a range": (file) => PartJournal.write(file, journal),
  "starts over": PartJournal.forget,
  "gives the file its name": (file) => PartFile.commit(file, { overwrite: true })
}

describe("a download that has lost the lock of its part", () => {
  it.effect.each(Object.entries(afterWaits))(
    "no longer %s, and leaves what is there to who has it",
    ([, does]) =>
      Effect.gen(function*() {
        const directory = yield* Temporary.directory
        const target = join(directory, "interview.mp4")
        let held = true
        const scope = yield* Scope.make()
        const file = yield* Scope.extend(
          PartFile.open(`${target}.part`, target, {
            keep: true,
            overwrite: true,
            worth: Effect.succeed(false),
            isHeld: Effect.sync(() => held)
          }),
          scope
        )
        yield* PartFile.write(file, Uint8Array.of(1, 2), 0)
        const there = async () =>
          Object.fromEntries(
            await Promise.all(
              (await NodeFs.readdir(directory)).map(async (
                name
              ) => [name, [...await NodeFs.readFile(join(directory, name))]])
            )
          )
        const before = yield* Effect.promise(there)
        held = false
        const end = yield* Effect.either(does(file))
        assert.isTrue(Either.isLeft(end))
        yield* Scope.close(scope, Exit.fail("lost"))
        assert.deepStrictEqual(yield* Effect.promise(there), before)
      }).pipe(Effect.scoped)
  )
})
