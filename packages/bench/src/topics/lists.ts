import * as Effect from "effect/Effect"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import { summary } from "../Statistics.js"
import type { Topic } from "../Topic.js"

const lengths = [100, 1000, 10_000, 100_000, 1_000_000]

export const lists: Topic = {
  name: "lists",
  run: (setting) =>
    Effect.gen(function*() {
      const sink = yield* Processes.sink(setting.programs)
      const standings = yield* Effect.forEach(lengths, (length) => {
        const walk = Contenders.program(setting, "stevedoreList", `${length.toLocaleString("en")} items`, [
          `${sink.origin}/lists/${length}`,
          length
        ])
        return Effect.map(
          // to look at the heap behind a collection
          Contest.hold([{ ...walk, words: ["--expose-gc", ...walk.words] }], { runs: setting.runs, sink }),
          ([standing]) => ({ length, standing })
        )
      })
      const figures = standings.flatMap(({ length, standing }) =>
        standing === undefined ? [] : [{
          length,
          standing,
          heap: summary(standing.outputs.map((text) => Number(text.split(" ")[0]))),
          seconds: summary(standing.outputs.map((text) => Number(text.split(" ")[1])))
        }]
      )
      const heapOf = (wished: number) => figures.find(({ length }) => length === wished)?.heap.median ?? NaN
      return {
        title: "Lists of any length",
        conditions: `\`Lists.projects()\` to the end, 100 items a page, every item decoded, ${setting.runs} runs each.`,
        body: `${
          Markdown.table(
            ["", "seconds of the walk", "items a second", "live heap at most, MiB", "peak memory, MiB", "connections"],
            figures.map(({ heap, length, seconds, standing }) => [
              standing.title,
              Markdown.spread(seconds),
              Markdown.number(length / seconds.median),
              Markdown.mebibytes(heap.median),
              Markdown.mebibytes(standing.memory.median),
              String(standing.connections)
            ])
          )
        }\n\n${
          Markdown.chart({
            title: "Live heap by length of the list",
            x: ["items", figures.map(({ length }) => length.toLocaleString("en"))],
            y: ["MiB", figures.map(({ heap }) => heap.median / 2 ** 20)]
          })
        }`,
        goals: [{
          title: "list: live heap at 1,000,000 items against 10,000",
          safe: 1.1,
          aim: 1.05,
          measured: heapOf(1_000_000) / heapOf(10_000)
        }]
      }
    })
}
