import * as Effect from "effect/Effect"
import { rm } from "node:fs/promises"
import { environment, home, node, script as scriptOf } from "../Command.js"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import type { Topic } from "../Topic.js"

export const command: Topic = {
  name: "command",
  run: (setting) =>
    Effect.gen(function*() {
      const size = setting.size ?? 2 * 2 ** 30
      const file = yield* Files.make(setting.folder, size)
      const sink = yield* Processes.sink(setting.programs)
      const { script, what } = yield* scriptOf(setting)
      const env = environment(setting, sink)
      const [curl, ours, ...others] = yield* Contest.hold([
        Contenders.curlUpload(sink.origin, file),
        node(
          `**stevedore** \`upload --strategy single\`, ${what}`,
          [script, "upload", "--strategy", "single", file],
          env
        ),
        node(`**stevedore** \`upload\`, ${what}`, [script, "upload", file], env)
      ], {
        runs: setting.runs,
        sink,
        expected: { bytes: size },
        // it has never run here
        prepare: Effect.promise(async () => {
          for (const folder of Object.values(home(setting))) await rm(folder, { recursive: true, force: true })
        })
      })
      const ratio = (what: "cpu" | "wall") => (ours?.[what].median ?? NaN) / (curl?.[what].median ?? NaN)
      return {
        title: "The command",
        conditions: `${Markdown.size(size)}, ${setting.runs} runs each, interleaved, each with a fresh home. ` +
          "Ratios are to curl.",
        body: Contest.table([curl, ours, ...others].flatMap((one) => one ?? [])),
        goals: [
          { title: "command, single PUT against curl: CPU", safe: 1.6, aim: 1.5, measured: ratio("cpu") },
          { title: "command, single PUT against curl: wall", safe: 1.35, aim: 1.2, measured: ratio("wall") },
          {
            title: "command, single PUT: peak memory, MiB",
            safe: 140,
            aim: 120,
            measured: (ours?.memory.median ?? NaN) / 2 ** 20
          }
        ]
      }
    })
}
