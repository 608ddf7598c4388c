import * as Effect from "effect/Effect"
import { join } from "node:path"
import * as Bundle from "../Bundle.js"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Effect4 from "../Effect4.js"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import type { Topic } from "../Topic.js"
import { countOf, filesAtOnce, size } from "./smallFiles.js"

export const effect4: Topic = {
  name: "effect4",
  run: (setting) =>
    Effect.gen(function*() {
      const node = Effect4.node()
      if (node === undefined || !Effect4.isWritten()) {
        return yield* new Processes.ContenderFailed({
          message: "The packages for Effect 4 are not there: npm run effect4 -- --no-tests"
        })
      }
      const count = countOf(setting)
      const folder = yield* Files.makeMany(setting.folder, count, size)
      const programs = join(setting.folder, "effect4")
      yield* Bundle.programs(["contenders/stevedoreEngine", "contenders/stevedoreSmallFiles"], programs, [
        Effect4.plugin
      ])
      const sink = yield* Processes.sink(setting.programs)
      const onBoth = (module: string, title: string, words: ReadonlyArray<string | number>) =>
        [{ line: 3, programs: setting.programs }, { line: 4, programs }].map(({ line, programs }) => ({
          ...Contenders.program({ ...setting, programs }, module, `${title}, for Effect ${line}`, words),
          program: node
        }))
      const words = [sink.origin, folder, count, filesAtOnce]
      const engines = yield* Contest.hold(
        onBoth("stevedoreEngine", "the engine alone, three times as many files", [3 * count, filesAtOnce]),
        { runs: setting.runs }
      )
      const whole = yield* Contest.hold([
        ...onBoth("stevedoreSmallFiles", "`uploadAll`", words),
        ...onBoth("stevedoreSmallFiles", "`uploadAll` without ledger", [...words, "none"])
      ], { runs: setting.runs, sink, expected: { bytes: count * size } })
      const ratio = ([on3, on4]: ReadonlyArray<Contest.Standing>) => (on4?.cpu.median ?? NaN) / (on3?.cpu.median ?? NaN)
      return {
        title: "Many small files, on both lines of Effect",
        conditions: `${count} files of ${Markdown.size(size)} by \`uploadAll\`, ${filesAtOnce} files at a time, ` +
          `${setting.runs} runs each, interleaved, all on the same Node. The engine alone is the core over a client ` +
          "that answers by itself: no socket, no disk. Ratios are to the first row of each table.",
        body: `${Contest.table(engines)}\n\n${Contest.table(whole)}`,
        goals: [
          { title: "CPU of the engine for Effect 4 against 3", safe: 0.6, aim: 0.5, measured: ratio(engines) },
          { title: "CPU of small files for Effect 4 against 3", safe: 0.75, aim: 0.6, measured: ratio(whole) }
        ]
      }
    })
}
