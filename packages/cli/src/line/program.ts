/** The whole program: a command line, with everything that it needs from a process. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import { CommandWords, ProgramName } from "../options/commandWords.js"
import * as Output from "../print/output.js"
import * as CommandLine from "./commandLine.js"
import * as Complaint from "./complaint.js"
import * as Globbed from "./globbed.js"

/** What the process gives to the program. */
export interface Process {
  /** The words after the program's name. */
  readonly words: ReadonlyArray<string>
  readonly out: Output.Sink
  readonly error: Output.Sink
}

const isDumb = Effect.map(Config.option(Config.string("TERM")), Option.contains("dumb"))

// npx sets it
const programName = Effect.map(
  Effect.orElseSucceed(Config.option(Config.string("npm_command")), () => Option.none()),
  (command) => Option.contains(command, "exec") ? "npx @stevedore/cli" : "stevedore"
)

const isWithoutColours = Effect.map(Config.option(Config.nonEmptyString("NO_COLOR")), Option.isSome)

// In one step: each layer by itself would be a fiber and some hundred steps of every start
const surroundings = ({ error, out }: Process) =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.all([isDumb, isWithoutColours]),
      ([isDumb, isWithoutColours]) =>
        Layer.provideMerge(
          logs,
          Output.layer({ out, error, erases: !isDumb, colours: !isDumb && !isWithoutColours })
        )
    )
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

/**
 * Runs the command line, and prints to standard error why it failed, if it did. The environment is read through the
 * `ConfigProvider` in force.
 */
export const run = (process: Process) =>
  Effect.zipRight(Globbed.check(process.words), CommandLine.prepare(process.words)).pipe(
    Effect.exit,
    Effect.flatMap((found) => {
      const json = Exit.match(found, {
        onFailure: () => CommandLine.asksForJson(CommandLine.read(process.words).options),
        onSuccess: ({ json }) => json
      })
      return Effect.flatMap(found, ({ run }) => run).pipe(
        Effect.provideService(CommandWords, process.words),
        Effect.provideServiceEffect(ProgramName, programName),
        json ? Complaint.report : Complaint.tell,
        Effect.provide(surroundings(process))
      )
    }),
    Effect.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )
