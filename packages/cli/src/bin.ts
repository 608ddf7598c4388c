import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as ExitCode from "./ExitCode.js"
import * as HangUp from "./internal/hangUp.js"
import * as Program from "./Program.js"

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
