import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Downloads } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Effect, HashMap, Logger, Redacted, Schedule, Stream } from "effect"
import { freePort } from "../../../../.ci/free-port.mjs"
import * as NodeServe from "../../src/NodeServe.js"

/** The lines about requests, each as its annotations. */
const lines = () => {
  const told: Array<Readonly<Record<string, unknown>>> = []
  const logger = Logger.make(({ annotations, message }) => {
    told.push({ ...Object.fromEntries(HashMap.toEntries(annotations)), message: String(message) })
  })
  return { told, layer: Logger.replace(Logger.defaultLogger, logger) }
}

describe("the port of metrics", () => {
  it.scopedLive("has them alone, and nothing else has them", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-requests-" })
      const free = yield* Effect.promise(freePort)
      const { baseUrl } = yield* NodeServe.serve({ directory, metricsPort: free })
      const asked = (url: string) => Effect.promise(() => fetch(url).then(({ status }) => status))
      const apart = `http://127.0.0.1:${free}`
      assert.deepStrictEqual(
        yield* Effect.forEach(
          [`${apart}/metrics`, `${apart}/v1/files`, `${baseUrl}/metrics`, `${baseUrl}/readyz`],
          asked
        ),
        [200, 404, 404, 200]
      )
      const taken = yield* Effect.flip(NodeServe.serve({ directory: `${directory}/other`, metricsPort: free }))
      assert.strictEqual(taken.option, "metrics-port")
    }).pipe(Effect.provide(NodeContext.layer)), 60_000)
})

describe("a request of a service", () => {
  it.live("has an id, which is in its answer and in every line about it, and one line when it is over", () => {
    const { layer, told } = lines()
    return Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-requests-" })
      const { baseUrl, token } = yield* Effect.provide(NodeServe.serve({ directory, requestLog: true }), layer)
      const asked = (method: string, path: string, headers: Readonly<Record<string, string>> = {}, body?: string) =>
        Effect.promise(async () => {
          const response = await fetch(path.startsWith("http") ? path : `${baseUrl}${path}`, {
            method,
            headers,
            ...(body === undefined ? {} : { body })
          })
          return {
            status: response.status,
            text: await response.text(),
            id: response.headers.get("x-request-id") ?? ""
          }
        })
      const bearer = { authorization: `Bearer ${Redacted.value(token)}` }
      const ofId = (id: string) =>
        Effect.suspend(() => Effect.fromNullable(told.find((one) => one["request_id"] === id))).pipe(
          Effect.retry(Schedule.recurs(100).pipe(Schedule.addDelay(() => "10 millis")))
        )

      const opened = yield* asked(
        "POST",
        "/v2/files/upload",
        { ...bearer, "x-request-id": "proxy:1.a-B_2" },
        JSON.stringify({ name: "secret-name.txt", size: 5 })
      )
      assert.strictEqual(opened.id, "proxy:1.a-B_2")
      const { data }: { readonly data: { readonly id: string; readonly upload_url: string } } = JSON.parse(opened.text)
      const expected: ReadonlyArray<readonly [number, string, string, string | undefined, typeof opened]> = [
        [201, "POST", "/v2/files/upload", "default", opened],
        [
          200,
          "PUT",
          new URL(data.upload_url).pathname,
          "default",
          yield* asked("PUT", data.upload_url, { "x-amz-server-side-encryption": "aws:kms" }, "hello")
        ],
        [
          200,
          "POST",
          `/v2/files/${data.id}/upload/complete`,
          "default",
          yield* asked("POST", `/v2/files/${data.id}/upload/complete`, bearer)
        ],
        [200, "GET", "/v1/files", "default", yield* asked("GET", "/v1/files?page[limit]=5", bearer)],
        [401, "GET", "/v1/files", undefined, yield* asked("GET", "/v1/files", { "x-request-id": "not sane" })],
        [404, "GET", "/nothing", undefined, yield* asked("GET", "/nothing", { "x-request-id": "x".repeat(65) })]
      ]
      for (const [status, method, path, tenant, answer] of expected) {
        assert.strictEqual(answer.status, status, path)
        assert.match(answer.id, /^(?:[0-9A-F]{16}|proxy:1\.a-B_2)$/)
        const line = yield* ofId(answer.id)
        assert.deepInclude(line, { message: "request", method, path, status })
        assert.strictEqual(line["tenant"], tenant)
        assert.isAbove(Number(line["bytes_in"]), 50)
        assert.isAbove(Number(line["bytes_out"]), answer.text.length)
        assert.isAtLeast(Number(line["ms"]), 0)
      }
      assert.strictEqual(new Set(expected.map(([, , , , { id }]) => id)).size, expected.length)

      // what is lost of the store is told by a line of its own, with the same id
      yield* fs.remove(`${directory}/store`, { recursive: true })
      const failed = yield* asked("GET", `/v1/files/${data.id}/download`, bearer)
      assert.strictEqual(failed.status, 500)
      yield* Effect.retry(
        Effect.suspend(() =>
          Effect.filterOrFail(
            Effect.succeed(told.filter((one) => one["request_id"] === failed.id)),
            ({ length }) => length > 1
          )
        ),
        Schedule.recurs(100).pipe(Schedule.addDelay(() => "10 millis"))
      )
      const ofFailed = told.filter((one) => one["request_id"] === failed.id)
      assert.lengthOf(ofFailed, 2)
      assert.match(String(ofFailed[0]?.["message"]), /answered 500/)

      // and the client shows it
      const error = yield* Stream.runDrain(Downloads.stream("1kf00nQk9yfWKfsTDni8aO")).pipe(
        Effect.flip,
        Effect.provide(NodeStevedore.layer({ baseUrl, token, ledger: false, allowInsecureHttp: true }))
      )
      assert.strictEqual((yield* ofId(/request ([0-9A-F]{16})/.exec(error.message)?.[1] ?? ""))["status"], 404)

      yield* asked("GET", "/livez")
      const metrics = (yield* asked("GET", "/metrics")).text
      assert.match(metrics, /^stevedore_request_seconds_count\{route="POST \/v2\/files\/upload"\} [1-9]/m)
      assert.match(metrics, /^stevedore_request_seconds_count\{route="PUT storage"\} [1-9]/m)
      assert.match(metrics, /^stevedore_request_seconds_count\{route="other"\} [1-9]/m)
      assert.match(metrics, /^stevedore_requests_in_flight [1-9]/m)
      assert.match(metrics, /^process_resident_memory_bytes [1-9]\d{6}/m)
      assert.match(metrics, /^process_cpu_seconds_total \d/m)
      assert.match(metrics, /^nodejs_eventloop_lag_p99_seconds \d/m)
      assert.match(metrics, /^stevedore_stored_bytes \d/m)
      assert.match(metrics, /^stevedore_outbox_events\{state="resting"\} 0/m)
      assert.match(metrics, /^stevedore_received_bytes_total [1-9]\d{2}/m)
      assert.match(metrics, /^stevedore_sent_bytes_total [1-9]\d{2}/m)
      assert.notMatch(metrics, /1kf00n|secret-name/)
      assert.notMatch(JSON.stringify(told), /X-Amz-|api\.|secret-name|not sane|livez/)
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))
  }, 60_000)
})
