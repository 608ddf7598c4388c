import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, TestClock } from "effect"
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
