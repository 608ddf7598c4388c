/** The whole program: a command line, with everything that it needs from a process. */
import * as ValidationError from "@effect/cli/ValidationError"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Arguments from "./Arguments.js"
import * as CommandLine from "./CommandLine.js"
import { CommandWords, ProgramName } from "./CommandWords.js"
import * as Complaint from "./Complaint.js"
import { summaries } from "./internal/commands.js"
import * as Globbed from "./internal/globbed.js"
import { InvalidInput } from "./InvalidInput.js"
import * as Output from "./Output.js"
import * as PlainConsole from "./PlainConsole.js"

/** What the process gives to the program. */
export interface Process {
  /** The words after the program's name. */
  readonly words: ReadonlyArray<string>
  /** Where the wizard reads its answers. If omitted, nobody is there to answer. */
  readonly input?: { readonly isTTY?: boolean | undefined } | undefined
  readonly out: Output.Sink
  readonly error: Output.Sink
}

const lookOf = (sink: Output.Sink, isPlain: boolean): PlainConsole.Look => ({
  colours: !isPlain && sink.isTTY === true,
  columns: Output.columnsOf(sink)
})

const isDumb = Effect.map(Config.option(Config.string("TERM")), Option.contains("dumb"))

// npx sets it
const programName = Effect.map(
  Effect.orElseSucceed(Config.option(Config.string("npm_command")), () => Option.none()),
  (command) => Option.contains(command, "exec") ? "npx @stevedore/cli" : "stevedore"
)

const isWithoutColours = Effect.map(Config.option(Config.nonEmptyString("NO_COLOR")), Option.isSome)

// In one step: each layer by itself would be a fiber and some hundred steps of every start
const surroundings = ({ error, out, words }: Process, print: PlainConsole.Out["print"]) =>
  Layer.unwrapEffect(
    Effect.map(Effect.all([isDumb, isWithoutColours]), ([isDumb, isWithoutColours]) => {
      const isPlain = isDumb || isWithoutColours
      return PlainConsole.layer({
        out: { ...lookOf(out, isPlain), print },
        error: Arguments.asksForJson(words) ? undefined : lookOf(error, isPlain)
      }).pipe(
        Layer.provideMerge(logs),
        Layer.provideMerge(Output.layer({ out, error, erases: !isDumb })),
        Layer.provideMerge(NodeTerminal.layer)
      )
    })
  )

const logs = Layer.scopedDiscard(
  Effect.flatMap(
    Output.Output,
    (output) =>
      Effect.zipRight(
        Effect.locallyScopedWith(
          FiberRef.currentLoggers,
          (loggers) =>
            HashSet.add(
              HashSet.remove(loggers, Logger.defaultLogger),
              Logger.map(Logger.logfmtLogger, output.unsafeNote)
            )
        ),
        Effect.locallyScoped(FiberRef.currentMinimumLogLevel, LogLevel.Warning)
      )
  )
)

const checkWords = ({ input, words }: Process): Effect.Effect<void, InvalidInput> =>
  Effect.zipRight(Globbed.check(words), Effect.suspend(() => checkOptions({ input, words })))

const checkOptions = ({ input, words }: Pick<Process, "input" | "words">): Effect.Effect<void, InvalidInput> => {
  const mistake = Arguments.mistake(words, Object.keys(summaries))
  if (mistake !== undefined) return Effect.fail(new InvalidInput(mistake))
  // Without a keyboard, a wizard would wait forever for its first answer, and draw its questions all the same.
  return input?.isTTY !== true && Arguments.asks(words)
    ? Effect.fail(
      new InvalidInput({
        input: "--wizard",
        problem: "needs a terminal as standard input: see --help for the options to use instead"
      })
    )
    : Effect.void
}

const prepared = (process: Process) => Effect.zipRight(checkWords(process), CommandLine.withDefaults(process.words))

// Who mistypes an option knows it; who mistyped it last year in a file does not
const tellDefaults = (words: ReadonlyArray<string>, typed: ReadonlyArray<string>) =>
  Effect.flatMap(Output.Output, (output) => {
    const added = words.filter((word) => !typed.includes(word) && !word.startsWith("--config="))
    return Effect.when(
      output.note(`The configuration file adds ${added.join(" ")}: see stevedore config`),
      () => added.length > 0
    )
  })

/**
 * Runs the command line, and prints to standard error why it failed, if it did. The environment is read through the
 * `ConfigProvider` in force.
 */
export const run = (process: Process) =>
  Effect.suspend(() => {
    // a console cannot fail, but help that cannot be written is a failure
    let unprinted: Effect.Effect<void, Output.OutputFailed> = Effect.void
    const print = (text: string) =>
      Effect.catchAll(Output.write(process.out, text), (failure) =>
        Effect.sync(() => {
          unprinted = Effect.fail(failure)
        }))
    const run = (words: ReadonlyArray<string>) =>
      Effect.tapError(CommandLine.run(words), (error) =>
        Effect.when(tellDefaults(words, process.words), () => ValidationError.isValidationError(error)))
    return Effect.flatMap(Effect.exit(prepared(process)), (found) => {
      const words = Exit.getOrElse(found, () =>
        process.words)
      return Effect.flatMap(found, run).pipe(
        Effect.zipRight(Effect.suspend(() => unprinted)),
        Effect.provideService(CommandWords, process.words),
        Effect.provideServiceEffect(ProgramName, programName),
        Arguments.asksForJson(words) ? Complaint.report : Complaint.tell,
        Effect.provide(surroundings({ ...process, words }, print))
      )
    }).pipe(Effect.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer)))
  })
