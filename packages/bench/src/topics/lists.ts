import * as Effect from "effect/Effect"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import type { Summary } from "../Statistics.js"
import { summary } from "../Statistics.js"
import type { Setting, Topic } from "../Topic.js"

const token = "api.loopback"

// The longest takes two minutes on two cores that do nothing else, and says of memory what it says once.
const rounds = [
  { length: 100, runs: 3, peer: true },
  { length: 1000, runs: 3, peer: true },
  { length: 10_000, runs: 3, peer: true },
  { length: 100_000, runs: 1, peer: true },
  { length: 1_000_000, runs: 1, peer: false }
]

interface Figure {
  readonly length: number
  readonly standing: Contest.Standing
  readonly heap: Summary
  readonly seconds: Summary
}

const figure = (length: number, standing: Contest.Standing): Figure => {
  const written = (place: number) => summary(standing.outputs.map((text) => Number(text.split(" ")[place])))
  return { length, standing, heap: written(0), seconds: written(1) }
}

const walks = (setting: Setting, round: typeof rounds[number]) =>
  Effect.scoped(Effect.gen(function*() {
    const { length, peer, runs } = round
    const origin = yield* Processes.sandbox(setting.programs, length, token)
    const walk = (module: string, who: string) => {
      const program = Contenders.program(setting, module, `${who}, ${length.toLocaleString("en")} items`, [
        origin,
        length,
        token
      ])
      // to look at the heap behind a collection
      return { ...program, words: ["--expose-gc", ...program.words] }
    }
    const contenders = [
      walk("stevedoreList", "**Stevedore**"),
      ...(peer ? [walk("undiciList", "undici in a loop, without validation")] : [])
    ]
    const standings = yield* Contest.hold(contenders, { runs: Math.min(runs, setting.runs) })
    return standings.map((standing) => figure(length, standing))
  }))

export const lists: Topic = {
  name: "lists",
  run: (setting) =>
    Effect.gen(function*() {
      const all = yield* Effect.forEach(rounds, (round) => walks(setting, round))
      const figures = all.flat()
      const own = all.flatMap(([first]) => first === undefined ? [] : [first])
      const heapOf = (wished: number) => own.find(({ length }) => length === wished)?.heap.median ?? NaN
      return {
        title: "Lists of any length",
        conditions:
          "`Lists.projects()` to the end, from a sandbox in its own process, on loopback: 100 items per page, every " +
          "item decoded and counted. The sandbox takes about as much of the time as the walk.",
        body: `${
          Markdown.table(
            ["", "walk, s", "items/s", "peak live heap, MiB", "peak memory, MiB"],
            figures.map(({ heap, length, seconds, standing }) => [
              standing.title,
              Markdown.spread(seconds),
              Markdown.number(length / seconds.median),
              Markdown.mebibytes(heap.median),
              Markdown.mebibytes(standing.memory.median)
            ])
          )
        }\n\n${
          Markdown.chart({
            title: "Live heap by length of the list",
            x: ["items", own.map(({ length }) => length.toLocaleString("en"))],
            y: ["MiB", own.map(({ heap }) => heap.median / 2 ** 20)]
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
