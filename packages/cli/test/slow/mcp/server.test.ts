import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as FaultScript from "@stevedore/testing/FaultScript"
import * as SandboxLayer from "@stevedore/testing/SandboxLayer"
import { Effect, FastCheck as fc, Layer } from "effect"
import { directories, opened, type Session } from "../../support/mcpSession.js"

const live = Layer.mergeAll(NodeContext.layer, Layer.orDie(SandboxLayer.memory()))

const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {}
}

const id = fc.oneof(fc.nat(20), fc.string({ maxLength: 5 }), fc.jsonValue())

const method = fc.constantFrom(
  "ping",
  "tools/list",
  "tools/call",
  "tasks/get",
  "initialize",
  "server/discover",
  "subscriptions/listen",
  "logging/setLevel",
  "completion/complete",
  "x/y",
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
  "__proto__"
)

const params = fc.oneof(
  fc.constant({ name: "upload_status", arguments: { id: "none" } }),
  fc.constant({ name: "upload", arguments: { path: "../größe" } }),
  fc.constant({ name: "doctor", arguments: [], _meta: envelope }),
  fc.constant({ _meta: envelope }),
  fc.constant({ _meta: { progressToken: 1 }, taskId: "none" }),
  id.map((requestId) => ({ requestId, reason: "enough" })),
  fc.jsonValue()
)

const message = fc.oneof(
  fc.record({ jsonrpc: fc.constant("2.0"), id, method, params }, { requiredKeys: ["jsonrpc", "method"] }),
  fc.record({ jsonrpc: fc.constant("2.0"), id, result: fc.jsonValue(), error: fc.jsonValue() }, { requiredKeys: [] }),
  fc.jsonValue()
).map((value) => Buffer.from(JSON.stringify(value)))

const huge = Buffer.alloc(4 * 1024 * 1024 + 1, "[")

const line = fc.oneof(
  { weight: 300, arbitrary: message },
  { weight: 100, arbitrary: fc.tuple(message, fc.nat(200)).map(([one, end]) => one.subarray(0, end)) },
  { weight: 50, arbitrary: fc.tuple(message, message).map((both) => Buffer.concat(both)) },
  { weight: 50, arbitrary: message.map((one) => Buffer.concat([one, Buffer.from("\r\n"), one])) },
  { weight: 50, arbitrary: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 50, arbitrary: fc.constantFrom("", " ", "starting the server {...}").map((text) => Buffer.from(text)) },
  { weight: 1, arbitrary: fc.constant(huge) }
)

const lineBreak = Buffer.from("\n")

// in a night as many as a month of work has
const sessions = process.env["STEVEDORE_NIGHTLY"] === "1" ? 1_000 : 100

describe("a session", () => {
  it.effect.prop(
    "answers the next right request, whatever lines came before, and ends with its input",
    [fc.constantFrom("2025", "2026", "none"), fc.array(line, { minLength: 200, maxLength: 200 })],
    ([era, lines]) =>
      Effect.gen(function*() {
        const { roots } = yield* directories
        const { ask, ended, greet, write } = yield* opened(roots)
        const list = (name: string, of: object = {}) => ask(name, "tools/list", of)
        if (era === "2025") yield* greet
        if (era === "2026") assert.isDefined((yield* list("first", { _meta: envelope })).result)
        for (const one of lines) yield* write(Buffer.concat([one, lineBreak]))
        const right = yield* list("the next, as in 2025")
        const later = yield* list("the next, as in 2026", { _meta: envelope })
        // a session without a beginning has become one or the other
        assert.isTrue(right.result !== undefined || later.result !== undefined)
        assert.strictEqual(era === "2025" ? right.error : era === "2026" ? later.error : undefined, undefined)
        yield* ended
      }).pipe(Effect.scoped, Effect.provide(live), Effect.timeout("20 seconds")),
    { fastCheck: { numRuns: sessions }, timeout: 300_000 }
  )

  const withTasks = {
    ...envelope,
    "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } }
  }

  const slow = SandboxLayer.memory({ faults: FaultScript.on("put").always().delay("3 seconds") })

  it.scopedLive(
    "makes a long transfer a task of a client that takes tasks, and of no other",
    () =>
      Effect.gen(function*() {
        const { root, roots } = yield* directories
        const fs = yield* FileSystem.FileSystem
        for (const name of ["one", "other"]) yield* fs.writeFileString(`${root}/${name}`, "content")
        const { ask } = yield* opened(roots)
        const upload = (id: string, path: string, _meta: object) =>
          Effect.map(
            ask(id, "tools/call", { name: "upload", arguments: { path }, _meta }),
            ({ result }) => result ?? {}
          )
        const get = (taskId: unknown) =>
          Effect.map(
            ask(`get ${Math.random()}`, "tasks/get", { taskId, _meta: withTasks }),
            ({ error, result }): Readonly<Record<string, unknown>> => result ?? { code: error?.code }
          )
        const task = yield* upload("1", "one", withTasks)
        assert.include(task, { resultType: "task", status: "working", ttlMs: null })
        const taskId = task["taskId"]
        assert.include(yield* get(taskId), { taskId, status: "working" })
        const answer = yield* upload("2", "one", envelope)
        assert.include(answer.structuredContent, { id: taskId, state: "moving" })
        const done = yield* Effect.repeat(get(taskId), { until: ({ status }) => status !== "working" })
        assert.include(done, { taskId, status: "completed" })
        assert.match(JSON.stringify(done["result"]), /"state":"done".*"isError":false/)
        // the same file again is done at once
        assert.include((yield* upload("3", "one", withTasks)).structuredContent, { id: taskId, state: "done" })

        const other = (yield* upload("4", "other", withTasks))["taskId"]
        assert.isDefined((yield* ask("5", "tasks/cancel", { taskId: other, _meta: withTasks })).result)
        assert.include(yield* get(other), { status: "cancelled" })
        assert.include(yield* get("nothing"), { code: -32602 })
      }).pipe(Effect.provide(Layer.mergeAll(NodeContext.layer, Layer.orDie(slow)))),
    60_000
  )

  it.scopedLive(
    "stops what a cancelled call has begun, and keeps what the end of its input interrupts",
    () =>
      Effect.gen(function*() {
        const { root, roots } = yield* directories
        const fs = yield* FileSystem.FileSystem
        for (const name of ["one", "other"]) yield* fs.writeFileString(`${root}/${name}`, "content")
        const begun = (path: string, use: (session: Session) => Effect.Effect<unknown>) =>
          Effect.scoped(Effect.gen(function*() {
            const session = yield* opened(roots)
            yield* session.greet
            const params = { name: "upload", arguments: { path }, _meta: { progressToken: path } }
            yield* Effect.fork(session.ask("call", "tools/call", params))
            const isTold = () => session.answers.some(({ method }) => method === "notifications/progress")
            yield* Effect.repeat(Effect.sleep("50 millis"), { until: isTold })
            yield* use(session)
          }))
        const stateOf = (path: string) =>
          Effect.scoped(Effect.gen(function*() {
            const { ask, greet } = yield* opened(roots)
            yield* greet
            const { result } = yield* ask("again", "tools/call", { name: "upload", arguments: { path } })
            return result?.structuredContent ?? {}
          }))
        const idOf = (session: Session) => /upload-\w+/.exec(JSON.stringify(session.answers))?.[0]
        let cancelled: string | undefined
        yield* begun("one", (session) =>
          Effect.gen(function*() {
            cancelled = idOf(session)
            yield* session.tell("notifications/cancelled", { requestId: "call" })
            const params = { name: "upload_status", arguments: { id: cancelled, wait: 20 } }
            const { result } = yield* session.ask("status", "tools/call", params)
            assert.include(result?.structuredContent, { state: "cancelled" })
          }))
        assert.notStrictEqual((yield* stateOf("one"))["id"], cancelled)
        let ended: string | undefined
        yield* begun("other", (session) =>
          Effect.suspend(() => {
            ended = idOf(session)
            return session.ended
          }))
        assert.isDefined(ended)
        assert.strictEqual((yield* stateOf("other"))["id"], ended)
      }).pipe(Effect.provide(Layer.mergeAll(NodeContext.layer, Layer.orDie(slow)))),
    60_000
  )
})
