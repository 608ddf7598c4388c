import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import { fileIdOf } from "../sink/Answer.js"
import type { Topic } from "../Topic.js"

// What one has left for the disk to do must not be done while the next is measured.
const emptyAndWritten = (folder: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder)
    await promisify(execFile)("sync")
  })

export const download: Topic = {
  name: "download",
  run: (setting) =>
    Effect.gen(function*() {
      const size = setting.size ?? (setting.full ? 4 * 2 ** 30 : 2 ** 30)
      const sink = yield* Processes.sink(setting.programs)
      const targets = join(setting.folder, "targets")
      const standings = yield* Contest.hold(
        Contenders.download(setting, sink.origin, fileIdOf(size), (name) => join(targets, name)),
        { runs: setting.runs, sink, expected: { sent: size }, prepare: emptyAndWritten(targets) }
      )
      const [undici, ours] = standings
      return {
        title: "Download over HTTP, to disk",
        conditions:
          `${Markdown.size(size)}, ${setting.runs} runs each, interleaved. Pending disk writes are flushed before ` +
          "each run. Ratios are to undici, which leaves the flush to the system, as curl does. Stevedore flushes the file before " +
          "it gets its name.",
        body: Contest.table(standings),
        goals: [{
          title: "download: peak memory, MiB",
          safe: 140,
          aim: 120,
          measured: (ours?.memory.median ?? NaN) / 2 ** 20
        }, {
          title: "download against undici: CPU",
          safe: 0.8,
          aim: 0.7,
          measured: (ours?.cpu.median ?? NaN) / (undici?.cpu.median ?? NaN)
        }, {
          title: "download against undici: wall",
          safe: 1.2,
          aim: 1,
          measured: (ours?.wall.median ?? NaN) / (undici?.wall.median ?? NaN)
        }]
      }
    })
}
