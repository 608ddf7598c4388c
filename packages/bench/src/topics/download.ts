import * as Effect from "effect/Effect"
import { join } from "node:path"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import { fileIdOf } from "../sink/Answer.js"
import type { Topic } from "../Topic.js"

export const download: Topic = {
  name: "download",
  run: (setting) =>
    Effect.gen(function*() {
      const size = setting.size ?? (setting.full ? 4 * 2 ** 30 : 2 ** 30)
      const sink = yield* Processes.sink(setting.programs)
      const standings = yield* Contest.hold(
        Contenders.download(setting, sink.origin, fileIdOf(size), (name) => join(setting.folder, name)),
        { runs: setting.runs, sink, expected: { sent: size } }
      )
      const [curl, ours] = standings
      return {
        title: "Download over HTTP, to disk",
        conditions:
          `${Markdown.size(size)}, ${setting.runs} runs each, in turns. Ratios are to curl. Ours is flushed to ` +
          "the disk before it takes its name.",
        body: Contest.table(standings),
        goals: [{
          title: "download: peak memory, MiB",
          safe: 200,
          aim: 120,
          measured: (ours?.memory.median ?? NaN) / 2 ** 20
        }, {
          title: "download against curl: CPU",
          safe: 1.7,
          aim: 1.3,
          measured: (ours?.cpu.median ?? NaN) / (curl?.cpu.median ?? NaN)
        }]
      }
    })
}
