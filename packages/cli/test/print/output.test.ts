import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Output from "../../src/print/output.js"

interface Options {
  readonly isTTY: boolean
  readonly fails?: string
  readonly columns?: number
  readonly rows?: number
}

const makeSink = (options: Options) => {
  const written: Array<string> = []
  const listeners = new Set<() => void>()
  const sink: Output.Sink = {
    isTTY: options.isTTY,
    columns: options.columns ?? 40,
    rows: options.rows,
    write: (text, done) => {
      if (options.fails === undefined) {
        written.push(text)
        done()
      } else {
        done(Object.assign(new Error("write"), { code: options.fails }))
      }
      return true
    },
    on: (_, listener) => listeners.add(listener),
    off: (_, listener) => listeners.delete(listener)
  }
  return { sink, written, listeners }
}

const run = <A, E>(
  program: (output: Output.Service) => Effect.Effect<A, E>,
  streams: Output.Streams
) => Effect.provide(Effect.flatMap(Output.Output, program), Output.layer(streams))

describe("Output", () => {
  it.effect("lines and JSON go to standard output, notes to standard error", () =>
    Effect.gen(function*() {
      const out = makeSink({ isTTY: false })
      const error = makeSink({ isTTY: false })
      yield* run(
        (output) =>
          Effect.all([
            output.lines(["a", "b"]),
            output.lines([]),
            output.json([{ a: "\u001b" }, null]),
            output.note("one\u001b\ntwo"),
            output.status(["50%"])
          ]),
        { out: out.sink, error: error.sink }
      )
      assert.deepStrictEqual(out.written, ["a\nb\n", "{\"a\":\"\\u001b\"}\nnull\n"])
      assert.deepStrictEqual(error.written, ["one\ufffd\ntwo\n"])
    }))

  it.effect("a status line is replaced by the next, and erased before other output and at the end", () =>
    Effect.gen(function*() {
      const terminal = makeSink({ isTTY: true })
      yield* run(
        (output) =>
          Effect.all([
            output.status(["1%"]),
            output.status(["2%"]),
            output.status(["2%"]),
            output.lines(["done"]),
            output.status(["3%"]),
            output.note("note"),
            output.status(["4%"]),
            Effect.sync(() => output.unsafeNote("log")),
            output.status(["5%"])
          ]),
        { out: terminal.sink, error: terminal.sink }
      )
      assert.deepStrictEqual(terminal.written, [
        "1%",
        "\r\u001b[K2%",
        "\r\u001b[K",
        "done\n",
        "3%",
        "\r\u001b[Knote\n",
        "4%",
        "\r\u001b[Klog\n",
        "5%",
        "\r\u001b[K"
      ])
    }))

  it.effect("several status lines are replaced together, also when a narrow terminal wraps them", () =>
    Effect.gen(function*() {
      const { sink, written } = makeSink({ isTTY: true })
      yield* run(
        (output) =>
          Effect.all([
            output.status(["one", "two"]),
            output.status(["one", "x".repeat(50), "three"]),
            output.status([])
          ]),
        { out: sink, error: sink }
      )
      assert.deepStrictEqual(written, [
        "one\ntwo",
        `\r\u001b[1A\u001b[Jone\n${"x".repeat(50)}\nthree`,
        "\r\u001b[3A\u001b[J"
      ])
    }))

  it.effect("what is noted on a terminal breaks between words, and a command to copy does not", () =>
    Effect.gen(function*() {
      const { sink, written } = makeSink({ isTTY: true, columns: 12 })
      yield* run((output) => output.note("To resume this one:\n  stevedore upload a.mp4"), { out: sink, error: sink })
      assert.deepStrictEqual(written, ["To resume\nthis one:\n  stevedore upload a.mp4\n"])
    }))

  it.effect("quiet output writes only results and warnings", () =>
    Effect.gen(function*() {
      const { sink, written } = makeSink({ isTTY: true })
      yield* run((output) => {
        const quiet = Output.quiet(output)
        return Effect.all([quiet.note("note"), quiet.status(["1%"]), quiet.lines(["result"]), quiet.warn("failure")])
      }, { out: sink, error: sink })
      assert.deepStrictEqual(written, ["result\n", "failure\n"])
    }))

  it.effect("the terminal's size is known only if standard error is a terminal", () =>
    Effect.gen(function*() {
      const out = makeSink({ isTTY: true }).sink
      assert.deepStrictEqual(
        yield* run(({ terminal }) => terminal, { out, error: makeSink({ isTTY: true }).sink }),
        Option.some({ columns: 40, rows: 24 })
      )
      assert.deepStrictEqual(
        yield* run(({ terminal }) => terminal, { out, error: makeSink({ isTTY: false }).sink }),
        Option.none()
      )
    }))

  it.effect("a terminal that cannot erase shows notes but no status, and has no known size", () =>
    Effect.gen(function*() {
      const { sink, written } = makeSink({ isTTY: true })
      assert.deepStrictEqual(
        yield* run(
          (output) => Effect.zipRight(Effect.all([output.status(["1%"]), output.note("note")]), output.terminal),
          { out: sink, error: sink, erases: false }
        ),
        Option.none()
      )
      assert.deepStrictEqual(written, ["note\n"])
    }))

  it.effect("a terminal that reports 0 columns and 0 rows counts as 80 by 24", () =>
    Effect.gen(function*() {
      const { sink, written } = makeSink({ isTTY: true, columns: 0, rows: 0 })
      assert.deepStrictEqual(
        yield* run(
          (output) => Effect.zipRight(Effect.all([output.status(["1%"]), output.status(["2%"])]), output.terminal),
          { out: sink, error: sink }
        ),
        Option.some({ columns: 80, rows: 24 })
      )
      assert.deepStrictEqual(written, ["1%", "\r\u001b[K2%", "\r\u001b[K"])
      assert.deepStrictEqual(
        [sink, makeSink({ isTTY: true }).sink, makeSink({ isTTY: false }).sink].map(Output.columnsOf),
        [undefined, 40, undefined]
      )
    }))

  it.effect("writing results to a closed pipe fails as closed, and writing notes does not fail", () =>
    Effect.gen(function*() {
      const gone = makeSink({ isTTY: false, fails: "EPIPE" })
      const full = makeSink({ isTTY: false, fails: "ENOSPC" })
      const streams = { out: gone.sink, error: gone.sink }
      assert.isTrue((yield* Effect.flip(run((output) => output.lines(["a"]), streams))).closed)
      assert.isFalse((yield* Effect.flip(run((output) => output.json([1]), { ...streams, out: full.sink }))).closed)
      yield* run((output) => output.note("a"), streams)
      assert.strictEqual(gone.listeners.size, 0)
    }))
})
