import { assert, describe, it } from "@effect/vitest"
import { UploadProgress } from "@stevedore/core"
import { Effect, Option, TestClock } from "effect"
import { settableWallClock } from "../../../../core/test/fixtures/wallClock.js"
import { Output, type Service } from "../../../src/print/output.js"
import * as UploadWatch from "../../../src/upload/watch.js"

const files = Array.from({ length: 100 }, (_, index) => ({
  path: `${index}.bin`,
  name: Option.none<string>(),
  size: 1_000_000
}))

/** Standard error of a command whose output is no terminal. */
const recording = () => {
  const notes: Array<string> = []
  const output: Service = {
    lines: () => Effect.void,
    styled: () => Effect.void,
    json: () => Effect.void,
    note: (line) => Effect.sync(() => void notes.push(line)),
    warn: () => Effect.void,
    unsafeNote: () => undefined,
    status: () => Effect.void,
    isTerminal: false,
    columns: undefined,
    terminal: Effect.succeedNone
  }
  return { notes, within: Effect.provideService(Output, output) }
}

/** An upload that has sent so much. */
const having = (size: number, sent: number) => ({
  get: Effect.succeed({ ...UploadProgress.initial(size), sent, confirmed: sent })
})

/** Shows an upload while an effect runs. */
const during =
  (watch: UploadWatch.UploadWatch, file: typeof files[number], progress: ReturnType<typeof having>) =>
  <A>(upload: Effect.Effect<A>): Effect.Effect<A> =>
    Effect.suspend(() => {
      watch.follow(file, progress)
      return watch.during(file)(upload)
    })

describe("UploadWatch", () => {
  it.scoped("says how much of a resumed upload was there, and does not count it as sent", () => {
    const { notes, within } = recording()
    return Effect.gen(function*() {
      const [one, other] = files
      if (one === undefined || other === undefined) return assert.fail()
      const watch = yield* within(UploadWatch.make(files, false))
      yield* during(watch, one, having(1_000_000, 900_000))(
        Effect.zipRight(
          Effect.suspend(() => watch.opened(one, { session: 1, parts: { total: 10, confirmed: 9 } }) ?? Effect.void),
          TestClock.adjust("10 seconds")
        )
      )
      yield* during(watch, other, having(1_000_000, 900_000))(
        Effect.zipRight(
          Effect.suspend(() => watch.opened(other, { session: 1, parts: { total: 10, confirmed: 0 } }) ?? Effect.void),
          TestClock.adjust("10 seconds")
        )
      )
      assert.deepStrictEqual(notes.filter((note) => note.startsWith("Resumed")), [
        "Resumed 0.bin: 900.0 kB were there"
      ])
      const speeds = notes.flatMap((note) => /[0-9.]+ .B\/s/.exec(note) ?? [])
      assert.deepStrictEqual(new Set(speeds), new Set(["90.0 kB/s", "60.0 kB/s"]))
    })
  })

  it.scoped("counts the bytes of an upload that has ended once", () => {
    const { notes, within } = recording()
    return Effect.gen(function*() {
      const watch = yield* within(UploadWatch.make(files, false))
      for (const file of files.slice(0, 2)) {
        yield* during(watch, file, having(file.size, file.size))(TestClock.adjust("5 seconds"))
        yield* watch.settle(file, "Done")
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
          yield* during(watch, file, having(1_000_000, 1_000_000))(TestClock.adjust("1 second"))
          yield* watch.settle(file, "Done")
        }
        assert.match(notes[3] ?? "", /1\.0 MB\/s/)
        assert.match(notes.at(-1) ?? "", /1\.0 MB\/s/)
      })
    })
  }
})
