/**
 * Where the command writes: results to standard output, everything else to standard error.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ExitCode from "./ExitCode.js"
import * as Printable from "./Printable.js"

/**
 * Standard output took no more: its reader went away (`EPIPE`, as with `| head`), or the disk is full.
 *
 * @since 0.1.0
 * @category errors
 */
export class OutputFailed extends Schema.TaggedError<OutputFailed>("@stevedore/cli/OutputFailed")("OutputFailed", {
  /** The system's code, such as `ENOSPC`. */
  code: Schema.String
}) {
  /**
   * Whether the reader has had enough, which is no fault.
   *
   * @since 0.1.0
   */
  get closed(): boolean {
    return this.code === "EPIPE"
  }
  /**
   * @since 0.1.0
   */
  get exitCode(): number {
    return this.closed ? ExitCode.ok : ExitCode.failed
  }
  override get message(): string {
    return `Standard output cannot be written (${this.code}): see to its disk or its reader, then run it again.`
  }
}

/**
 * The ways to write.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** Writes lines of text to standard output. Control characters in them are replaced. */
  readonly lines: (lines: ReadonlyArray<string>) => Effect.Effect<void, OutputFailed>
  /** Writes values to standard output, each as a line of JSON. */
  readonly json: (values: ReadonlyArray<unknown>) => Effect.Effect<void, OutputFailed>
  /** Writes a line to standard error that need not be there: `--quiet` leaves it out. A reader that is gone is no failure. */
  readonly note: (line: string) => Effect.Effect<void>
  /** The same for what has to be told, such as a failure. */
  readonly warn: (line: string) => Effect.Effect<void>
  /** The same without waiting for it, for loggers. */
  readonly unsafeNote: (line: string) => void
  /**
   * Shows lines at the foot of the terminal in place of those before; none takes them away. Each has to leave
   * {@link margin} columns free, and all of them have to be fewer than its rows. Nothing where standard error is no terminal.
   */
  readonly status: (lines: ReadonlyArray<string>) => Effect.Effect<void>
  /** The size of the terminal at standard error, at this moment; none where there is no terminal. */
  readonly terminal: Effect.Effect<Option.Option<TerminalSize>>
}

/**
 * How many columns a status line has to leave free: a cursor that wraps leaves a line behind, and a terminal shows the
 * keys of Ctrl-C where the cursor stands.
 *
 * @since 0.1.0
 * @category constants
 */
export const margin = 3

/**
 * In characters.
 *
 * @since 0.1.0
 * @category models
 */
export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/**
 * The tag of the output.
 *
 * @since 0.1.0
 * @category tags
 */
export class Output extends Context.Tag("@stevedore/cli/Output")<Output, Service>() {}

/**
 * The same output without what need not be there: results and failures alone.
 *
 * @since 0.1.0
 * @category combinators
 */
export const quiet = (output: Service): Service => ({
  ...output,
  note: () => Effect.void,
  status: () => Effect.void,
  terminal: Effect.succeedNone
})

/**
 * What is needed of a stream of the process.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sink {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  readonly write: (text: string, written: (error?: NodeJS.ErrnoException | null) => void) => boolean
  readonly on: (event: "error", listener: () => void) => unknown
  readonly off: (event: "error", listener: () => void) => unknown
}

// 0 is what a terminal says that does not know its size, such as one over a serial line
const known = (count: number | undefined): number | undefined => count === 0 ? undefined : count

/**
 * The columns of a stream's terminal; undefined where there is none, and where it does not know.
 *
 * @since 0.1.0
 * @category conversions
 */
export const columnsOf = (sink: Sink): number | undefined => sink.isTTY === true ? known(sink.columns) : undefined

const write = (sink: Sink, text: string): Effect.Effect<void, OutputFailed> =>
  Effect.async((resume) => {
    sink.write(text, (error) =>
      resume(
        error === null || error === undefined
          ? Effect.void
          : Effect.fail(new OutputFailed({ code: error.code ?? "EIO" }))
      ))
  })

// The stream tells of a failure twice, to the writer and by this event: without a listener it would end the process.
const heard = (sink: Sink) => {
  const listener = () => {}
  return Effect.acquireRelease(
    Effect.sync(() => sink.on("error", listener)),
    () => Effect.sync(() => sink.off("error", listener))
  )
}

// A terminal that became narrower has broken lines into several rows.
const rowsOf = (lines: ReadonlyArray<string>, columns: number): number =>
  lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(Printable.width(line) / columns)), 0)

const erasureOf = (lines: ReadonlyArray<string>, columns: number): string => {
  const rows = rowsOf(lines, columns)
  return rows === 0 ? "" : rows === 1 ? "\r\u001b[K" : `\r\u001b[${rows - 1}A\u001b[J`
}

const isSame = (some: ReadonlyArray<string>, others: ReadonlyArray<string>): boolean =>
  some.length === others.length && some.every((line, index) => line === others[index])

/**
 * Where the output goes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Streams {
  readonly out: Sink
  readonly error: Sink
  /**
   * Whether the terminal at standard error can take away what it shows; one that cannot counts as none. Omitted: yes.
   */
  readonly erases?: boolean | undefined
}

/**
 * Output to two streams. Status lines are erased before anything else is written, and at the end.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (streams: Streams): Layer.Layer<Output> =>
  Layer.scoped(
    Output,
    Effect.gen(function*() {
      const { erases = true, error, out } = streams
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
      const noteOf = (line: string) => `${takeErasure()}${line.split("\n").map(Printable.line).join("\n")}\n`
      yield* Effect.addFinalizer(() => erase)

      const print = (lines: ReadonlyArray<string>) =>
        lines.length === 0
          ? Effect.void
          : Effect.zipRight(erase, write(out, `${lines.join("\n")}\n`))

      const warn = (line: string) => Effect.suspend(() => Effect.ignore(write(error, noteOf(line))))

      return {
        lines: (lines) => print(lines.map(Printable.line)),
        json: (values) => print(values.map(Printable.json)),
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
