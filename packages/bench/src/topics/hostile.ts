import { ServiceProfile } from "@stevedore/core"
import * as Effect from "effect/Effect"
import * as ApiRequest from "../../../server/src/http/apiRequest.js"
import type { ServiceRefused } from "../../../server/src/ServiceRefused.js"
import * as Markdown from "../Markdown.js"
import type { Topic } from "../Topic.js"

/** As much as a body may be. */
const SIZE = 4 * 1024 * 1024

const names = { ...ServiceProfile.standard.fields, metadata: "metadata" }

/** Elements with commas between, as many as there is room for, or so many. */
const list = (element: (index: number) => string, most = Infinity): string => {
  const elements: Array<string> = []
  let length = 0
  while (elements.length < most && length < SIZE - 100) {
    const next = element(elements.length)
    elements.push(next)
    length += next.length + 1
  }
  return elements.join(",")
}

const parts = (element: (index: number) => string, most?: number) =>
  `{"upload_id":"x","parts":[${list(element, most)}]}`

const bodies: ReadonlyArray<readonly [what: string, body: string]> = [
  ["parts without fields, as many as there is room for", parts(() => "{}")],
  ["10,000 parts without fields", parts(() => "{}", 10_000)],
  ["10,000 right parts", parts((index) => `{"part_number":${index + 1},"etag":"${"e".repeat(32)}"}`, 10_000)],
  ["lists in lists", `{"a":${"[".repeat(SIZE / 2 - 5)}${"]".repeat(SIZE / 2 - 5)}}`],
  ["objects in objects", `{"a":${"{\"a\":".repeat(SIZE / 6)}1${"}".repeat(SIZE / 6 - 10)}}`],
  ["fields that are not known", `{${list((index) => `"f${index}":1`)}}`],
  ["60,000 fields that are not known", `{${list((index) => `"f${index}":1`, 60_000)}}`],
  ["60,000 names of metadata", `{"name":"a","size":1,"metadata":{${list((index) => `"f${index}":"1"`, 60_000)}}}`],
  ["one name", JSON.stringify({ name: "n".repeat(SIZE - 100), size: 1 })],
  ["one type", JSON.stringify({ name: "a", size: 1, type: "n".repeat(SIZE - 100) })],
  ["no JSON", "x".repeat(SIZE)]
]

/** What a body takes to be read, in one turn: both calls read it as if it were theirs. */
const taken = (body: string) =>
  Effect.gen(function*() {
    const heap = process.memoryUsage()
    const cpu = process.cpuUsage()
    const read: Effect.Effect<unknown, ServiceRefused> = body.includes("upload_id")
      ? ApiRequest.parseCompleteLarge(body, names)
      : ApiRequest.parseInitiate(body, names)
    const answer = yield* Effect.match(read, {
      onFailure: ({ errors }) => JSON.stringify({ errors }),
      onSuccess: () => ""
    })
    const { system, user } = process.cpuUsage(cpu)
    return {
      millis: (user + system) / 1000,
      answer: answer.length,
      mebibytes: Math.max(0, process.memoryUsage().heapUsed - heap.heapUsed) / 1_048_576
    }
  })

/** What whoever has a token can make a service do by one body. */
export const hostile: Topic = {
  name: "hostile",
  run: ({ runs }) =>
    Effect.gen(function*() {
      const rows: Array<{ readonly what: string } & Effect.Effect.Success<ReturnType<typeof taken>>> = []
      for (const [what, body] of bodies) {
        // the first is the compiler's
        const all = yield* Effect.replicateEffect(taken(body), runs + 1)
        const most = (of: "answer" | "mebibytes") => Math.max(...all.map((one) => one[of]))
        const [millis = NaN] = all.slice(1).map((one) => one.millis).sort((left, right) => left - right)
        rows.push({ what, millis, answer: most("answer"), mebibytes: most("mebibytes") })
      }
      const worst = (of: "millis" | "answer" | "mebibytes") => Math.max(...rows.map((row) => row[of]))
      return {
        title: "Bodies that are meant to hold a service up",
        conditions: "Each body is read as the service reads it, in one turn; 4 MiB, or what is said.",
        body: Markdown.table(
          ["body", "CPU", "answer", "heap"],
          rows.map(({ answer, mebibytes, millis, what }) => [
            what,
            `${millis.toFixed(1)} ms`,
            `${answer} B`,
            `${mebibytes.toFixed(1)} MiB`
          ])
        ),
        goals: [
          { title: "CPU of one turn, in milliseconds", safe: 50, aim: 25, measured: worst("millis") },
          { title: "bytes of an answer", safe: 65_536, aim: 32_768, measured: worst("answer") },
          { title: "more memory, in MiB", safe: 50, aim: 30, measured: worst("mebibytes") }
        ]
      }
    })
}
