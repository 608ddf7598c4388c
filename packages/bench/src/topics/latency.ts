import * as Effect from "effect/Effect"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import type { Goal, Setting, Topic } from "../Topic.js"

const mebibyte = 2 ** 20

interface Case {
  readonly line: Processes.Line
  readonly size: number
  readonly partSize: number
  readonly sweep: ReadonlyArray<number>
  readonly withPeers: boolean
  readonly goals: (ratios: { readonly toOne: number; readonly toBest: number }) => ReadonlyArray<Goal>
}

const long: Case = {
  line: {
    title: "50 ms round trip, 1 MiB window per connection, 1 Gbit/s",
    roundTrip: 50,
    window: mebibyte,
    rate: 125_000_000
  },
  size: 200 * mebibyte,
  partSize: 16 * mebibyte,
  sweep: [1, 2, 4, 8, 16],
  withPeers: true,
  goals: ({ toBest, toOne }) => [
    { title: "50 ms round trip: in parallel against one part at a time, wall", safe: 0.25, aim: 0.2, measured: toOne },
    { title: "50 ms round trip: defaults against the best fixed setting, wall", safe: 1.1, aim: 1.1, measured: toBest }
  ]
}

const thin: Case = {
  line: { title: "50 ms round trip, 2 Mbit/s", roundTrip: 50, window: mebibyte, rate: 250_000 },
  size: 4 * mebibyte,
  partSize: mebibyte / 2,
  sweep: [1, 4, 8],
  withPeers: false,
  goals: ({ toBest }) => [
    { title: "2 Mbit/s: defaults against the best fixed setting, wall", safe: 1.1, aim: 1.1, measured: toBest }
  ]
}

const measure = (setting: Setting, one: Case) =>
  Effect.gen(function*() {
    const size = one.size
    const file = yield* Files.make(setting.folder, size)
    const sink = yield* Processes.sink(setting.programs)
    const origin = yield* Processes.line(setting.programs, one.line, sink.port)
    const parts = Math.ceil(size / one.partSize)
    const ours = (what: string, concurrency?: number) =>
      Contenders.stevedoreUpload(setting, origin, file, what, {
        parts,
        minimumPartSize: Math.min(one.partSize, 5 * mebibyte),
        ...(concurrency === undefined ? {} : { concurrency })
      })
    const standings = yield* Contest.hold([
      ...one.sweep.map((concurrency) => ours(`concurrency ${concurrency}`, concurrency)),
      ours("defaults"),
      ...(one.withPeers
        ? [Contenders.curlUpload(origin, file), ...Contenders.peersUploads(setting, origin, file)]
        : [])
    ], { runs: setting.runs, sink, expected: { bytes: size } })
    const walls = standings.slice(0, one.sweep.length).map(({ wall }) => wall.median)
    const own = standings[one.sweep.length]?.wall.median ?? NaN
    return {
      body: `### ${one.line.title}\n\n${Markdown.size(size)} in ${parts} parts. Ratios are to one part at a time.\n\n${
        Contest.table(standings)
      }`,
      goals: one.goals({ toOne: own / (walls[0] ?? NaN), toBest: own / Math.min(...walls) })
    }
  })

export const latency: Topic = {
  name: "latency",
  run: (setting) =>
    Effect.gen(function*() {
      const cases = yield* Effect.forEach([
        { ...long, size: setting.size ?? long.size },
        { ...thin, size: Math.min(setting.size ?? thin.size, thin.size) }
      ], (one) => measure(setting, one))
      return {
        title: "Upload over a high-latency and a slow connection",
        conditions:
          `A simulated network between client and sink, ${setting.runs} runs each, interleaved. Each direction is a ` +
          "link of the given rate, shared by all connections, without loss and without slow start.",
        body: cases.map(({ body }) => body).join("\n\n"),
        goals: cases.flatMap(({ goals }) => goals)
      }
    })
}
