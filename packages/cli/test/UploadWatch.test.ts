import { assert, describe, it } from "@effect/vitest"
import { UploadProgress } from "@stevedore/core"
import { Effect, Option, Stream, Subscribable, TestClock } from "effect"
import { settableWallClock } from "../../core/test/fixtures/wallClock.js"
import { Output, type Service } from "../src/Output.js"
import type { FileToUpload } from "../src/UploadPaths.js"
import * as UploadWatch from "../src/UploadWatch.js"

const files = Array.from({ length: 100 }, (_, index): FileToUpload => ({
  path: `${index}.bin`,
  name: Option.none(),
  size: 1_000_000,
  refused: Option.none()
}))

/** Standard error of a command whose output is no terminal. */
const recording = () => {
  const notes: Array<string> = []
  const output: Service = {
    lines: () => Effect.void,
    json: () => Effect.void,
    note: (line) => Effect.sync(() => void notes.push(line)),
    warn: () => Effect.void,
    unsafeNote: () => undefined,
    status: () => Effect.void,
    terminal: Effect.succeedNone
  }
  return { notes, within: Effect.provideService(Output, output) }
}

describe("UploadWatch", () => {
  it.scoped("counts the bytes of an upload that has ended once", () => {
    const { notes, within } = recording()
    return Effect.gen(function*() {
      const watch = yield* within(UploadWatch.make(files, false))
      for (const file of files.slice(0, 2)) {
        const sent = { ...UploadProgress.initial(file.size), sent: file.size }
        const progress = Subscribable.make({ get: Effect.succeed(sent), changes: Stream.empty })
        yield* watch.during(file, progress)(TestClock.adjust("5 seconds"))
        yield* watch.settle(file, "done")
      }
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(notes.map((note) => /[0-9.]+ MB of/.exec(note)?.[0]), [
        "1.0 MB of",
        "2.0 MB of",
        "2.0 MB of"
      ])
    })
  })

  for (const direction of ["ahead", "back"] as const) {
    it.scoped(`shows the speed of many files, even if the clock is set ${direction} meanwhile`, () => {
      const { notes, within } = recording()
      return Effect.gen(function*() {
        const wall = yield* settableWallClock
        const watch = yield* within(wall.within(UploadWatch.make(files, false)))
        for (const [index, file] of files.entries()) {
          if (index === 20) wall.set("1 hour", direction)
          yield* watch.settle(file, "done")
          yield* TestClock.adjust("1 second")
        }
        assert.match(notes[3] ?? "", /1\.0 MB\/s/)
        assert.match(notes.at(-1) ?? "", /1\.0 MB\/s/)
      })
    })
  }
})
