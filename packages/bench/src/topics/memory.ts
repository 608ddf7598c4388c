import * as Effect from "effect/Effect"
import * as Contenders from "../Contenders.js"
import * as Contest from "../Contest.js"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import * as Processes from "../Processes.js"
import type { Topic } from "../Topic.js"

/** A server that takes in far less than the disk gives. */
const slow: Processes.Line = { title: "64 MiB/s", roundTrip: 10, window: 2 ** 20, rate: 64 * 2 ** 20 }

export const memory: Topic = {
  name: "memory",
  run: (setting) =>
    Effect.gen(function*() {
      const size = setting.size ?? (setting.full ? 2 ** 30 : 2 ** 28)
      const file = yield* Files.make(setting.folder, size)
      const sink = yield* Processes.sink(setting.programs)
      const origin = yield* Processes.line(setting.programs, slow, sink.port)
      const standings = yield* Contest.hold([
        Contenders.curlUpload(origin, file),
        Contenders.stevedoreUpload(setting, origin, file, "defaults"),
        Contenders.stevedoreUpload(setting, origin, file, "a single PUT", { parts: 1 }),
        Contenders.stevedoreUpload(setting, origin, file, "concurrency 32", { concurrency: 32 }),
        ...Contenders.peersUploads(setting, origin, file)
      ], { runs: setting.runs, sink, expected: { bytes: size } })
      return {
        title: "Memory with a slow server",
        conditions: `${
          Markdown.size(size)
        } to a server that accepts ${slow.title}, ${setting.runs} runs each, interleaved.`,
        body: Contest.table(standings),
        goals: [
          { title: "slow server: peak memory, MiB", safe: 200, aim: 120, measured: mebibytesOf(standings[1]) },
          {
            title: "slow server, a single PUT: peak memory, MiB",
            safe: 200,
            aim: 120,
            measured: mebibytesOf(standings[2])
          }
        ]
      }
    })
}

const mebibytesOf = (standing: Contest.Standing | undefined): number => (standing?.memory.median ?? NaN) / 2 ** 20
