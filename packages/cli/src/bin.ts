import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import process from "node:process"
import * as CommandLine from "./CommandLine.js"
import * as Complaint from "./Complaint.js"
import * as ExitCode from "./ExitCode.js"
import * as Output from "./Output.js"
import * as PlainConsole from "./PlainConsole.js"

const { stderr, stdout } = process

const console = Layer.unwrapEffect(
  Effect.map(Config.option(Config.nonEmptyString("NO_COLOR")), ({ _tag }) =>
    PlainConsole.layer({
      out: _tag === "None" && stdout.isTTY,
      error: _tag === "None" && stderr.isTTY
    }))
)

const logs = Layer.merge(
  Logger.replace(Logger.defaultLogger, Logger.withConsoleError(Logger.logfmtLogger)),
  Logger.minimumLogLevel(LogLevel.Warning)
)

CommandLine.run(process.argv.slice(2)).pipe(
  Complaint.tell,
  Effect.provide(Layer.mergeAll(Output.layer({ out: stdout, error: stderr }), NodeContext.layer, console, logs)),
  NodeRuntime.runMain({
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, end) => end(ExitCode.ofExit(exit))
  })
)
