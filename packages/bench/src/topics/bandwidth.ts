import * as Effect from "effect/Effect"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import { summary } from "../Statistics.js"
import type { Setting, Topic } from "../Topic.js"

const seconds = 25

const cases = [
  { connections: 1, rate: 2_000_000 },
  { connections: 32, rate: 2_000_000 },
  { connections: 1, rate: 20_000_000 },
  { connections: 32, rate: 20_000_000 }
]

const measured = (setting: Setting, { connections, rate }: typeof cases[number]) =>
  Effect.scoped(Effect.gen(function*() {
    const size = rate * seconds
    const file = yield* Files.make(setting.folder, size)
    const sink = yield* Processes.sink(setting.programs)
    const title = `${rate / 1e6} MB/s, ${connections} ${connections === 1 ? "connection" : "connections"}`
    const words = [sink.origin, file, connections, rate]
    const [standing] = yield* Contest.hold(
      [Contenders.program(setting, "limitedUpload", title, words)],
      { runs: Math.min(2, setting.runs), sink, expected: { bytes: size } }
    )
    const outputs = standing?.outputs ?? []
    const share = (place: number) => summary(outputs.map((text) => Number(text.split(" ")[place]) / (rate * 10)))
    return { title, least: share(0), most: share(1), mean: share(2) }
  }))

export const bandwidth: Topic = {
  name: "bandwidth",
  run: (setting) =>
    Effect.gen(function*() {
      const figures = yield* Effect.forEach(cases, (one) => measured(setting, one))
      return {
        title: "Bandwidth limit",
        conditions:
          `An upload of ${seconds} seconds within \`BandwidthLimit\`, on loopback: the bytes handed to the kernel in any ` +
          "ten seconds, as a share of what the limit allows in ten.",
        body: Markdown.table(
          ["", "fewest", "most", "mean"],
          figures.map(({ least, mean, most, title }) => [
            title,
            least.least.toFixed(3),
            most.most.toFixed(3),
            mean.median.toFixed(3)
          ])
        ),
        goals: figures.flatMap(({ least, most, title }) => [
          { title: `${title}: most of any ten seconds against the limit`, safe: 1.03, aim: 1.02, measured: most.most },
          {
            title: `${title}: fewest of any ten seconds against the limit`,
            safe: 0.97,
            aim: 0.98,
            measured: least.least,
            moreIsBetter: true
          }
        ])
      }
    })
}
