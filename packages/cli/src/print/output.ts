/** Where the command writes: results go to standard output, everything else to standard error. */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { stripVTControlCharacters } from "node:util"
import * as ExitCode from "./exitCode.js"
import * as Printable from "./printable.js"

/** Standard output accepts no more: its reader went away (`EPIPE`, as with `| head`), or the disk is full. */
export class OutputFailed extends Schema.TaggedError<OutputFailed>("@stevedore/cli/OutputFailed")("OutputFailed", {
  kind: ErrorKind.field("configuration"),
  /** The system error code, such as `ENOSPC`. */
  code: Schema.String
}) {
  /** Whether the reader went away, which is not an error. */
  get closed(): boolean {
    return this.code === "EPIPE"
  }
  get exitCode(): number {
    return this.closed ? ExitCode.ok : ExitCode.failed
  }
  override get message(): string {
    return `Cannot write to standard output (${this.code}). Check its disk or its reader, then run the command again.`
  }
}

/** How the command writes. */
export interface Service {
  /** Writes lines of text to standard output. Control characters are replaced. */
  readonly lines: (lines: ReadonlyArray<string>) => Effect.Effect<void, OutputFailed>
  /** Writes text of this program to standard output, in bold where the terminal shows it. */
  readonly styled: (text: string) => Effect.Effect<void, OutputFailed>
  /**
   * Writes values to standard output, each as a line of JSON. `onWritten` is called in the moment from which they are on
   * their way, whoever reads them: from then on, an interruption ends only the wait.
   */
  readonly json: (values: ReadonlyArray<unknown>, onWritten?: () => void) => Effect.Effect<void, OutputFailed>
  /** Writes an optional line to standard error; `--quiet` omits it. It is not a failure if nobody reads it. */
  readonly note: (line: string) => Effect.Effect<void>
  /** The same for what must be reported, such as a failure. */
  readonly warn: (line: string) => Effect.Effect<void>
  /** The same without waiting for it, for loggers. */
  readonly unsafeNote: (line: string) => void
  /**
   * Shows lines at the bottom of the terminal, replacing the previous ones; an empty array removes them. Each must
   * leave {@link margin} columns free, and there must be fewer lines than the terminal has rows. Does nothing if
   * standard error is not a terminal.
   */
  readonly status: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** Whether standard output is a terminal, where somebody reads what others would pass on to a program. */
  readonly isTerminal: boolean
  /** The columns of that terminal; undefined if there is none, or if it does not know. */
  readonly columns: number | undefined
  /** The current size of the terminal at standard error; none if there is no terminal. */
  readonly terminal: Effect.Effect<Option.Option<TerminalSize>>
}

/**
 * How many columns a status line must leave free: a wrapping cursor leaves a line behind, and a terminal echoes Ctrl-C
 * at the cursor.
 */
export const margin = 3

/** In characters. */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** The tag of the output. */
export class Output extends Context.Tag("@stevedore/cli/Output")<Output, Service>() {}

/** Logs to standard error by this logger, and by no other. */
export const loggedBy =
  (logger: Logger.Logger<unknown, string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output> =>
    Effect.flatMap(
      Output,
      ({ unsafeNote }) => Effect.locally(effect, FiberRef.currentLoggers, HashSet.make(Logger.map(logger, unsafeNote)))
    )

/** The same output without optional lines: only results and failures. */
export const quiet = (output: Service): Service => ({
  ...output,
  note: () => Effect.void,
  status: () => Effect.void,
  terminal: Effect.succeedNone
})

/** What is needed of a stream of the process. */
export interface Sink {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  readonly write: (text: string, written: (error?: NodeJS.ErrnoException | null) => void) => boolean
  readonly on: (event: "error", listener: () => void) => unknown
  readonly off: (event: "error", listener: () => void) => unknown
}

// 0 is what a terminal reports if it does not know its size, such as one over a serial line
const known = (count: number | undefined): number | undefined => count === 0 ? undefined : count

/** The columns of a stream's terminal; undefined if there is no terminal, or if it does not know. */
export const columnsOf = (sink: Sink): number | undefined => sink.isTTY === true ? known(sink.columns) : undefined

/** Writes text as it is. */
export const write = (sink: Sink, text: string, onWritten?: () => void): Effect.Effect<void, OutputFailed> =>
  Effect.async((resume) => {
    onWritten?.()
    sink.write(text, (error) =>
      resume(
        error === null || error === undefined
          ? Effect.void
          : Effect.fail(new OutputFailed({ code: error.code ?? "EIO" }))
      ))
  })

/** Draws lines on a terminal ten times a second, if there is one, for as long as the scope is open. */
export const drawing = (
  lines: (terminal: TerminalSize) => Effect.Effect<ReadonlyArray<string>>
): Effect.Effect<void, never, Output | Scope.Scope> =>
  Effect.gen(function*() {
    const output = yield* Output
    yield* Effect.addFinalizer(() => output.status([]))
    if (Option.isNone(yield* output.terminal)) return
    const draw = Effect.flatMap(
      output.terminal,
      Effect.transposeMapOption((size) => Effect.flatMap(lines(size), output.status))
    )
    yield* Effect.forkScoped(Effect.schedule(draw, Schedule.spaced("100 millis")))
  })

/** Goes on where nobody reads any more: what a command does with files counts, and how it ends. */
export const unlessClosed = <A, R>(telling: Effect.Effect<A, OutputFailed, R>): Effect.Effect<void, OutputFailed, R> =>
  Effect.catchAll(Effect.asVoid(telling), (failure) => failure.closed ? Effect.void : Effect.fail(failure))

// The stream reports a failure twice, to the writer and with this event: without a listener, the event would end the
// process.
const heard = (sink: Sink) => {
  const listener = () => {}
  return Effect.acquireRelease(
    Effect.sync(() => sink.on("error", listener)),
    () => Effect.sync(() => sink.off("error", listener))
  )
}

// A terminal that became narrower has wrapped lines into several rows.
const rowsOf = (lines: ReadonlyArray<string>, columns: number): number =>
  lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(Printable.width(line) / columns)), 0)

const erasureOf = (lines: ReadonlyArray<string>, columns: number): string => {
  const rows = rowsOf(lines, columns)
  return rows === 0 ? "" : rows === 1 ? "\r\u001b[K" : `\r\u001b[${rows - 1}A\u001b[J`
}

const isSame = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.length === others.length && some.every((line, index) => line === others[index])

/** Where the output goes. */
export interface Streams {
  readonly out: Sink
  readonly error: Sink
  /**
   * Whether the terminal at standard error can erase what it shows; one that cannot counts as no terminal. Defaults to
   * true.
   */
  readonly erases?: boolean | undefined
  /** Whether a terminal at standard output shows colours. Defaults to true. */
  readonly colours?: boolean | undefined
}

/** Output to two streams. Status lines are erased before anything else is written, and at the end. */
export const layer = (streams: Streams): Layer.Layer<Output> =>
  Layer.scoped(
    Output,
    Effect.gen(function*() {
      const { colours = true, erases = true, error, out } = streams
      const isTerminal = erases && error.isTTY === true
      yield* heard(out)
      yield* heard(error)
      let shown: ReadonlyArray<string> = []

      const takeErasure = (): string => {
        const erasure = erasureOf(shown, columnsOf(error) ?? 80)
        shown = []
        return erasure
      }
      const erase = Effect.suspend(() => {
        const erasure = takeErasure()
        return erasure === "" ? Effect.void : Effect.ignore(write(error, erasure))
      })
      // Between words on a terminal, which breaks within them. What is indented is a command, to be copied as it is
      const broken = (line: string): ReadonlyArray<string> => {
        const columns = columnsOf(error)
        return columns === undefined || line.startsWith("  ") ? [line] : Printable.wrapped(line, columns)
      }
      const noteOf = (line: string) =>
        `${takeErasure()}${line.split("\n").flatMap((one) => broken(Printable.line(one))).join("\n")}\n`
      yield* Effect.addFinalizer(() => erase)

      const print = (lines: ReadonlyArray<string>, onWritten?: () => void) =>
        lines.length === 0
          ? Effect.void
          : Effect.zipRight(erase, write(out, `${lines.join("\n")}\n`, onWritten))

      const warn = (line: string) => Effect.suspend(() => Effect.ignore(write(error, noteOf(line))))

      return {
        lines: (lines) => print(lines.map(Printable.line)),
        styled: (text) => print([colours && out.isTTY === true ? text : stripVTControlCharacters(text)]),
        json: (values, onWritten) => print(values.map(Printable.json), onWritten),
        isTerminal: out.isTTY === true,
        columns: columnsOf(out),
        note: warn,
        warn,
        unsafeNote: (line) => {
          error.write(noteOf(line), () => {})
        },
        status: (lines) =>
          Effect.suspend(() => {
            if (!isTerminal || isSame(lines, shown)) return Effect.void
            const before = takeErasure()
            shown = lines
            return Effect.ignore(write(error, `${before}${lines.map(Printable.line).join("\n")}`))
          }),
        terminal: Effect.sync(() =>
          isTerminal
            ? Option.some({ columns: columnsOf(error) ?? 80, rows: known(error.rows) ?? 24 })
            : Option.none()
        )
      }
    })
  )
