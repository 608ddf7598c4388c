import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Program from "./line/program.js"
import * as ExitCode from "./print/exitCode.js"
import * as HangUp from "./print/hangUp.js"

NodeRuntime.runMain(
  HangUp.interrupting(Program.run({
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
