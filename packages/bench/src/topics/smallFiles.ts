import * as Effect from "effect/Effect"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import { summary } from "../Statistics.js"
import type { Setting, Topic } from "../Topic.js"

export const filesAtOnce = 16

/** Whatever `--size` says: it is meant for files that are not small. */
export const size = 10 * 2 ** 10

export const countOf = ({ full }: Setting): number => full ? 10_000 : 1000

export const smallFiles: Topic = {
  name: "small-files",
  run: (setting) =>
    Effect.gen(function*() {
      const count = countOf(setting)
      const folder = yield* Files.makeMany(setting.folder, count, size)
      const sink = yield* Processes.sink(setting.programs)
      const words = [sink.origin, folder, count, filesAtOnce]
      const standings = yield* Contest.hold([
        Contenders.program(setting, "undiciSmallFiles", "the same requests by undici alone", words),
        Contenders.program(setting, "stevedoreSmallFiles", "**Stevedore** `uploadAll`", words),
        Contenders.program(setting, "stevedoreSmallFiles", "**Stevedore** `uploadAll`, without ledger", [
          ...words,
          "none"
        ]),
        Contenders.program(
          setting,
          "effectSmallFiles",
          "the same requests by Effect's HTTP client over undici alone",
          words
        )
      ], { runs: setting.runs, sink, expected: { bytes: count * size } })
      // the programs tell the seconds that they took once they were up
      const rates = standings.map(({ outputs }) => summary(outputs.map((seconds) => 3 * count / Number(seconds))))
      const [, ledger, none, effect] = standings
      const againstEffect = (ours: Contest.Standing | undefined) =>
        (ours?.cpu.median ?? NaN) / (effect?.cpu.median ?? NaN)
      return {
        title: "Many small files",
        conditions: `${count} files of ${Markdown.size(size)}, three requests each (initiate, PUT, complete), ` +
          `${filesAtOnce} files at a time, ${setting.runs} runs each, interleaved. Ratios are to undici.`,
        body: `${Contest.table(standings)}\n\n${
          Markdown.table(
            ["", "requests/s"],
            standings.map(({ title }, index) => {
              const rate = rates[index]
              return [title, rate === undefined ? "–" : Markdown.spread(rate)]
            })
          )
        }`,
        // of 1000 files: the client warms up with more of them
        goals: [{
          title: "small files without ledger against Effect's client: CPU",
          safe: 1.9,
          aim: 1.5,
          measured: againstEffect(none)
        }, {
          title: "small files with the ledger on disk against Effect's client: CPU",
          safe: 2.4,
          aim: 1.7,
          measured: againstEffect(ledger)
        }]
      }
    })
}
