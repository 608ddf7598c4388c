import { NodeHttpClient, NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Effect, Exit, Layer } from "effect"
import { createServer } from "node:http"
import type { FaultRule } from "../../src/index.js"
import { FaultScript, ObjectStoreMemory, Sandbox, SandboxHttp } from "../../src/index.js"
import * as Calls from "../Calls.js"

const server = NodeHttpServer.make(() => createServer({ requestTimeout: 0 }), { port: 0, host: "127.0.0.1" })

const options = (faults: FaultScript.FaultScript) => ({ minimumPartSize: 4, projects: 5, largestPage: 2, faults })

const inProcess = (faults: FaultScript.FaultScript) =>
  Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory(options(faults)))

const overSockets = (faults: FaultScript.FaultScript) =>
  Layer.scoped(
    Sandbox.Sandbox,
    Effect.flatMap(
      Effect.all({ api: server, storage: server }),
      (servers) => SandboxHttp.serve(servers, options(faults))
    )
  ).pipe(Layer.provide(ObjectStoreMemory.layer({ minimumPartSize: 4 })), Layer.merge(NodeHttpClient.layerUndici))

const hello = Calls.bytesOf("hello")

/** What a client sees of a request: a status and what matters of the answer, a broken connection, or silence. */
const seen = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.timeout("500 millis"),
    Effect.exit,
    Effect.map((exit) =>
      Exit.isSuccess(exit)
        ? exit.value
        : Cause.squash(exit.cause) instanceof Cause.TimeoutException
        ? "silence"
        : "broken"
    )
  )

const putting = seen(Effect.flatMap(
  Calls.initiate(5),
  ({ url }) =>
    Effect.map(
      Calls.put(url, hello),
      ({ body, headers, status }) =>
        [status, Calls.codeOf(body) ?? (headers["etag"] === undefined ? "no etag" : "stored")].join(" ")
    )
))

const downloading = seen(Effect.flatMap(
  Calls.uploaded("hello"),
  (id) => Effect.flatMap(Calls.api("GET", `/v1/files/${id}/download`), ({ text }) => text)
))

const listing = Effect.gen(function*() {
  const first = yield* Calls.json("GET", "/v1/projects?page[limit]=2")
  const cursor = /"next_cursor":"([^"]*)"/.exec(JSON.stringify(first.body))?.[1]
  const { body, status } = yield* Calls.json("GET", `/v1/projects?page[limit]=2&page[start_cursor]=${cursor ?? ""}`)
  const text = JSON.stringify(body)
  const ids = [...text.matchAll(/"id":"(Project|Appeared)0*(\w*)"/g)].map(([, , number]) => number)
  const next = /"next_cursor":(null|"[^"]*")/.exec(text)?.[1] ?? "absent"
  return [
    status,
    ids.join(","),
    /"has_more":\w+/.exec(text)?.[0] ?? "",
    next === `"${cursor}"` ? "same cursor" : next.startsWith("\"") ? "cursor" : next
  ].join(" ")
})

const asking = Effect.map(
  Calls.api("GET", "/v1/token/info"),
  ({ headers, status }) => `${status} ${headers["content-type"]} ${headers["retry-after"] ?? ""}`.trim()
)

const telling = Effect.flatMap(
  Calls.api("GET", "/v1/token/info"),
  ({ headers, status, text }) =>
    Effect.map(text, (body) => [status, body, headers["content-length"] ?? "no length"].join(", "))
)

// the head comes first, and then something happens to the body
const paging = Effect.flatMap(seen(Calls.api("GET", "/v1/projects")), (response) =>
  typeof response === "string"
    ? Effect.succeed(response)
    : Effect.map(seen(response.text), (text) => `${response.status}, ${text}`))

const completing = Effect.gen(function*() {
  const { id, url } = yield* Calls.initiate(5)
  yield* Calls.put(url, hello)
  const first = yield* seen(Effect.map(Calls.json("POST", `/v2/files/${id}/upload/complete`), ({ status }) => status))
  const again = yield* Calls.json("POST", `/v2/files/${id}/upload/complete`)
  return `${first} then ${again.status}`
})

const late = Effect.gen(function*() {
  const { id, url } = yield* Calls.initiate(5)
  const first = yield* seen(Calls.put(url, hello))
  yield* Calls.put(url, Calls.bytesOf("again"))
  const stored = Effect.map(Sandbox.stored(id), Calls.textOf)
  const before = yield* stored
  const after = yield* Effect.repeat(Effect.delay(stored, "20 millis"), {
    until: (text) => text !== before,
    times: 50
  })
  return `${String(first)}, ${before}, ${after}`
})

const skew = Effect.gen(function*() {
  const { headers } = yield* Calls.json("GET", "/v1/token/info")
  return Math.round((Date.parse(headers["date"] ?? "") - (yield* Clock.currentTimeMillis)) / 60_000)
})

const on = (target: FaultRule.Target) => FaultScript.on(target)

const cases: ReadonlyArray<
  readonly [FaultScript.FaultScript, Effect.Effect<unknown, unknown, Calls.Requirements>, unknown]
> = [
  [FaultScript.empty, putting, "200 stored"],
  [FaultScript.on("put").answer(503), putting, "503 SlowDown"],
  [FaultScript.on("put").answer(200, "InternalError"), putting, "200 InternalError"],
  [FaultScript.on("put").reset(), putting, "broken"],
  [FaultScript.on("put").resetAfter(2), putting, "broken"],
  [FaultScript.on("put").loseAnswer(), putting, "broken"],
  [FaultScript.on("put").stall("connect"), putting, "silence"],
  [FaultScript.on("put").stall("body", { afterBytes: 2 }), putting, "silence"],
  [FaultScript.on("put").stall("answer"), putting, "silence"],
  [FaultScript.on("put").delay("20 millis"), putting, "200 stored"],
  [FaultScript.on("put").delay("1 hour"), putting, "silence"],
  [FaultScript.on("put").omitEtag(), putting, "200 no etag"],
  [FaultScript.on("put").expire(), putting, "403 AccessDenied"],
  [FaultScript.on("put").slowDown("1 minute"), Effect.zipRight(putting, putting), "503 SlowDown"],
  [FaultScript.on("put").landLate("300 millis"), late, "broken, again, hello"],
  [FaultScript.on("download").resetAfter(2), downloading, "broken"],
  [FaultScript.on("download").stall("body", { afterBytes: 2 }), downloading, "silence"],
  [FaultScript.on("put").resetAfter(5), putting, "broken"],
  [FaultScript.on("list").resetAfter(1), paging, "200, broken"],
  [FaultScript.on("list").resetAfter(1_000_000), paging, "200, broken"],
  [FaultScript.on("list").stall("body"), paging, "200, silence"],
  [on("complete").resetAfter(0), completing, "broken then 200"],
  [on("complete").stall("body"), completing, "silence then 200"],
  [on("tokenInfo").answer(204), telling, "204, , no length"],
  [on("tokenInfo").html(304), telling, "304, , no length"],
  [on("tokenInfo").html(502), asking, "502 text/html"],
  [on("tokenInfo").retryAfter(3), asking, "429 application/json 3"],
  [on("complete").loseAnswer(), completing, "broken then 200"],
  [on("complete").stall("answer"), completing, "silence then 200"],
  [FaultScript.clockSkew("10 minutes", "behind"), skew, -10],
  [FaultScript.empty, listing, "200 3,2 \"has_more\":true cursor"],
  [FaultScript.on("list").repeatCursor(), listing, "200 3,2 \"has_more\":true same cursor"],
  [FaultScript.on("list").after(1).emptyPage(), listing, "200  \"has_more\":true cursor"],
  [FaultScript.on("list").after(1).dropCursor(), listing, "200 3,2 \"has_more\":true absent"],
  [FaultScript.on("list").after(1).corruptPage(), listing, "200 2 \"has_more\":true cursor"],
  [FaultScript.on("list").after(1).denyMore(), listing, "200 3,2 \"has_more\":false cursor"],
  [FaultScript.on("list").after(1).shortPage(1), listing, "200 3 \"has_more\":true cursor"],
  [FaultScript.on("list").rejectCursor(), listing, "400   absent"],
  [FaultScript.on("list").itemAppears(), listing, "200 4,3 \"has_more\":true cursor"],
  [FaultScript.on("list").itemVanishes(), listing, "200 3,2 \"has_more\":true cursor"]
]

describe("a fault has the same effect in process and over sockets", () => {
  for (const [script, program, expected] of cases) {
    it.live(String(script), () =>
      Effect.gen(function*() {
        const observed = yield* Effect.all({
          within: Effect.provide(program, inProcess(script)),
          across: Effect.provide(program, overSockets(script))
        }, { concurrency: "unbounded" })
        assert.deepStrictEqual(observed, { within: expected, across: expected })
      }))
  }
})
