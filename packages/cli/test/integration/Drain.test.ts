import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Serving } from "@stevedore/cli/Reports"
import { Deferred, Effect, Fiber, Schema, Stream } from "effect"
import { request } from "node:http"
import { type Running, start } from "./stevedore.js"

const Session = Schema.Struct({ data: Schema.Struct({ id: Schema.String, upload_url: Schema.String }) })

/** A service in a process of its own, and a PUT of ten bytes at it of which five have been sent. */
const halfWay = (...words: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const cwd = yield* fs.makeTempDirectoryScoped()
    const running = yield* start(["serve", "--port", "0", "--json", ...words], { cwd })
    const { api, token = "" } = yield* Effect.flatMap(
      Effect.flatten(Stream.runHead(running.lines)),
      Schema.decode(Schema.parseJson(Serving))
    )
    const call = (path: string, body?: string) =>
      Effect.promise(() =>
        fetch(`${api}${path}`, { method: "POST", headers: { authorization: `Bearer ${token}` }, body: body ?? null })
          .then((answer) => answer.json())
      )
    const { data } = yield* Effect.flatMap(
      call("/v2/files/upload", JSON.stringify({ name: "notes.txt", size: 10 })),
      Schema.decodeUnknown(Session)
    )
    const answered = yield* Deferred.make<number | string>()
    const put = request(data.upload_url, {
      method: "PUT",
      headers: { "content-length": 10, "x-amz-server-side-encryption": "aws:kms" }
    }, (answer) => {
      answer.resume()
      Deferred.unsafeDone(answered, Effect.succeed(answer.statusCode ?? 0))
    })
    put.on("error", ({ message }) => Deferred.unsafeDone(answered, Effect.succeed(message)))
    put.write("12345")
    yield* Effect.sleep("300 millis")
    return { running, put, answered: Deferred.await(answered), api }
  })

/** To the command alone: run from source, it has a compiler beside it. */
const interrupt = ({ child, ended }: Running, signal: NodeJS.Signals) =>
  Effect.zipRight(Effect.sync(() => child.kill(signal)), ended)

const refused = (api: string) => Effect.promise(() => fetch(`${api}/livez`).then(() => "taken", () => "refused"))

describe("stevedore serve, told to end", () => {
  it.scopedLive.each<NodeJS.Signals>(["SIGTERM", "SIGINT"])(
    "by %s lets a PUT under way end, takes no connection, and ends well",
    (signal) =>
      Effect.gen(function*() {
        const { answered, api, put, running } = yield* halfWay()
        const ended = yield* Effect.fork(interrupt(running, signal))
        yield* Effect.sleep("1 second")
        assert.strictEqual(yield* refused(api), "refused")
        put.end("67890")
        assert.strictEqual(yield* answered, 200)
        const { code, stderr, stdout } = yield* Fiber.join(ended)
        assert.strictEqual(code, 0, stderr)
        assert.notMatch(stdout + stderr, /failed|Interrupted/)
      }).pipe(Effect.provide(NodeContext.layer)),
    60_000
  )

  it.scopedLive("waits no longer than it may, and not at all when it is told twice", () =>
    Effect.gen(function*() {
      const short = yield* halfWay("--drain", "1")
      const { code } = yield* interrupt(short.running, "SIGTERM")
      assert.strictEqual(code, 0)
      assert.match(String(yield* short.answered), /ECONNRESET|socket hang up/)
      const twice = yield* halfWay()
      const ended = yield* Effect.fork(interrupt(twice.running, "SIGTERM"))
      yield* Effect.sleep("500 millis")
      assert.isNull(ended.unsafePoll())
      yield* interrupt(twice.running, "SIGTERM").pipe(Effect.timeout("5 seconds"))
    }).pipe(Effect.provide(NodeContext.layer)), 60_000)
})
