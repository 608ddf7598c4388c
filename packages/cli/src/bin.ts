import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Program from "./line/program.js"
import * as Endings from "./print/endings.js"
import * as ExitCode from "./print/exitCode.js"

NodeRuntime.runMain(
  Endings.interrupting(Program.run({
    words: process.argv.slice(2),
    out: process.stdout,
    error: process.stderr
  })),
  {
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, end) => end(ExitCode.ofExit(exit))
  }
)
