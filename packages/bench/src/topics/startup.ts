import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { environment, node, script as scriptOf } from "../Command.js"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Files from "../Files.js"
import * as Processes from "../Processes.js"
import type { Topic } from "../Topic.js"

export const startup: Topic = {
  name: "startup",
  run: (setting) =>
    Effect.gen(function*() {
      const runs = setting.runs * 3
      const file = yield* Files.make(setting.folder, 1024)
      const sink = yield* Processes.sink(setting.programs)
      const { script, what } = yield* scriptOf(setting)
      const env = environment(setting, sink)
      // what was compiled is kept from the first start of each on
      for (const words of [["--version"], ["--help"], ["upload", "--again", file]]) {
        execFileSync(process.execPath, [script, ...words], { env: { ...process.env, ...env } })
      }
      const starts = yield* Contest.hold([
        node("`node -e 0`", ["-e", "0"]),
        node(`**stevedore** \`--version\`, ${what}`, [script, "--version"], env),
        node(`**stevedore** \`--help\`, ${what}`, [script, "--help"], env)
      ], { runs })
      const uploads = yield* Contest.hold([
        Contenders.curlUpload(sink.origin, file),
        node(`**stevedore** \`upload\`, ${what}`, [script, "upload", "--again", file], env),
        Contenders.stevedoreUpload(setting, sink.origin, file, "the library in a script"),
        ...Contenders.peersUploads(setting, sink.origin, file)
      ], { runs, sink, expected: { bytes: 1024 } })
      const [nothing, version] = starts
      return {
        title: "Startup",
        conditions: `Whole processes, ${runs} runs each, interleaved, warm: each has run before.`,
        body: `${Contest.table(starts)}\n\nStartup and upload of 1 KiB. Ratios are to curl.\n\n${
          Contest.table(uploads)
        }`,
        goals: [{
          title: "startup of the command line against `node -e 0`, wall",
          safe: 4.5,
          aim: 2.5,
          measured: (version?.wall.median ?? NaN) / (nothing?.wall.median ?? NaN)
        }]
      }
    })
}
