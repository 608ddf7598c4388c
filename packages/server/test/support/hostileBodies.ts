import { ServiceProfile } from "@stevedore/core"
import * as Effect from "effect/Effect"
import * as ApiRequest from "../../src/http/apiRequest.js"
import type { ServiceRefused } from "../../src/ServiceRefused.js"

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

/** Bodies that are meant to hold a service up. */
export const bodies: ReadonlyArray<readonly [what: string, body: string]> = [
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
export const taken = (body: string) =>
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
