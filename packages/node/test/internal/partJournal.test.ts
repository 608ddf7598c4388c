import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import * as PartFile from "../../src/internal/partFile.js"
import * as PartJournal from "../../src/internal/partJournal.js"
import * as Temporary from "../support/temporary.js"

describe("partJournal", () => {
  it.scoped("is written to its end when it is interrupted: nothing of it comes after that", () =>
    Effect.gen(function*() {
      const directory = yield* Temporary.directory
      const target = join(directory, "interview.mp4")
      const options = { keep: true, overwrite: false, worth: Effect.succeed(true) }
      const file = yield* PartFile.open(`${target}.part`, target, options)
      yield* PartFile.write(file, Uint8Array.of(1, 2, 3), 0)
      const journal = { version: 1, fileId: "f1", etag: "\"one\"", size: 10, partSize: 3, parts: [0] } as const
      const writing = yield* Effect.fork(PartJournal.write(file, journal))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(writing)
      assert.deepStrictEqual(yield* PartJournal.read(file, "f1"), Option.some(journal))
      assert.sameMembers(yield* Effect.promise(() => Fs.readdir(directory)), [
        "interview.mp4.part",
        "interview.mp4.part.json"
      ])
    }))
})
