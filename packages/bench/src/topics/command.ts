import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { rm } from "node:fs/promises"
import { join } from "node:path"
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
      const small = yield* Files.make(setting.folder, 1024)
      const sink = yield* Processes.sink(setting.programs)
      const { script, what } = yield* scriptOf(setting)
      const env = environment(setting, sink)
      const warm = environment({ ...setting, folder: join(setting.folder, "warm") }, sink)
      for (const words of [["upload", "--again", "--strategy", "single"], ["upload", "--again"]]) {
        execFileSync(process.execPath, [script, ...words, small], { env: { ...process.env, ...warm } })
      }
      const [bare, ours, ...others] = yield* Contest.hold([
        Contenders.nodeUpload(setting, sink.origin, file),
        node(
          `**stevedore** \`upload --strategy single\`, ${what}, warm`,
          [script, "upload", "--again", "--strategy", "single", file],
          warm
        ),
        node(`**stevedore** \`upload\`, ${what}, warm`, [script, "upload", "--again", file], warm),
        node(`**stevedore** \`upload\`, ${what}, cold`, [script, "upload", file], env),
        Contenders.curlUpload(sink.origin, file)
      ], {
        runs: setting.runs,
        sink,
        expected: { bytes: size },
        // a cold one has never run here
        prepare: Effect.promise(async () => {
          for (const folder of Object.values(home(setting))) await rm(folder, { recursive: true, force: true })
        })
      })
      const ratio = (what: "cpu" | "wall") => (ours?.[what].median ?? NaN) / (bare?.[what].median ?? NaN)
      return {
        title: "The command",
        conditions:
          `${
            Markdown.size(size)
          }, ${setting.runs} runs each, interleaved. A warm command has run before, a cold one has a ` +
          "fresh home. Ratios are to the bare program of Node.",
        body: Contest.table([bare, ours, ...others].flatMap((one) => one ?? [])),
        goals: [
          { title: "command, single PUT against bare node: CPU", safe: 1.5, aim: 1.35, measured: ratio("cpu") },
          { title: "command, single PUT against bare node: wall", safe: 1.35, aim: 1.2, measured: ratio("wall") },
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
