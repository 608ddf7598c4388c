import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import * as Sqlite from "@stevedore/server/Sqlite"
import { Effect, Schema, Stream } from "effect"
import { once } from "node:events"
import { createServer } from "node:net"
import { text } from "node:stream/consumers"
import { locking } from "../../../server/test/support/locked.js"
import { databaseIn } from "../../../server/test/support/sqlite.js"
import { invoke } from "./invoke.js"
import { listening } from "./listening.js"
import { interrupt, run, start } from "./stevedore.js"

describe("stevedore bucket", () => {
  it.scopedLive("follows no redirect: its target is another's", () =>
    Effect.gen(function*() {
      const asked = Array<string>()
      const other = yield* listening(({ url }, response) => {
        asked.push(url ?? "")
        response.end()
      })
      const store = yield* listening((_, response) => response.writeHead(307, { location: `${other}/evil` }).end())
      const { code, stdout } = yield* invoke(["bucket", "check"], {
        STEVEDORE_SERVE_BUCKET: "uploads",
        STEVEDORE_SERVE_S3_ENDPOINT: store,
        STEVEDORE_SERVE_S3_ACCESS_KEY_ID: "AKID",
        STEVEDORE_SERVE_S3_SECRET_ACCESS_KEY: "secret"
      })
      assert.strictEqual(code, 1, stdout)
      assert.deepStrictEqual(asked, [])
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("stevedore serve", () => {
  it.scopedLive(
    "says where it is and with which token, and leaves its directory to the next one",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const running = yield* start(["serve", "--port", "0", "--directory", "data", "--json"], { cwd: folder })
        const first = yield* Effect.flatten(Stream.runHead(running.lines))
        const { api, profile, token } = yield* Schema.decode(Schema.parseJson(Reports.Serving))(first)
        assert.isTrue(typeof profile === "string" && token !== undefined)
        const env = { STEVEDORE_BASE_URL: api, STEVEDORE_TOKEN: token ?? "", STEVEDORE_PROFILE: String(profile) }
        const { code, stderr } = yield* invoke(["whoami"], env)
        assert.strictEqual(code, 0, stderr)
        yield* fs.writeFileString(`${folder}/notes.txt`, "hello")
        const uploaded = yield* invoke(["upload", `${folder}/notes.txt`, "--quiet"], env)
        const id = uploaded.stdout.slice(0, 22)
        running.child.kill("SIGTERM")
        yield* running.ended
        // by its rows, whether it runs or not
        const looked = (...words: ReadonlyArray<string>) =>
          Effect.map(
            invoke(["files", ...words, "--directory", `${folder}/data`, "--json"]),
            ({ code, stdout }) => [
              code,
              ...stdout.split("\n").filter((line) => line !== "").map((line): unknown => JSON.parse(line))
            ]
          )
        const [, file] = yield* looked("ls")
        assert.isTrue(Schema.is(Schema.Struct({ id: Schema.String }))(file) && file.id === id)
        assert.deepStrictEqual(yield* looked("show", id), [0, file])
        assert.deepStrictEqual(yield* looked("usage"), [0, { type: "usage", tenant: "default", bytes: 5, files: 1 }])
        assert.deepStrictEqual(yield* looked("stuck"), [0])
        assert.deepStrictEqual(yield* looked("verify"), [0])
        assert.strictEqual((yield* looked("show", "nobody"))[0], 2)
        // as a newer version leaves its directory, or only its tables
        const newer = Effect.gen(function*() {
          assert.strictEqual((yield* looked("ls"))[0], 2)
          const { code, stderr } = yield* run(["serve", "--port", "0", "--directory", "data"], { cwd: folder })
          assert.strictEqual(code, 2)
          assert.include(stderr, "written by a newer version")
        })
        yield* fs.writeFileString(`${folder}/data/format`, "2\n")
        yield* newer
        yield* fs.writeFileString(`${folder}/data/format`, "1\n")
        const inTables = (statement: string) =>
          Effect.provide(
            Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)),
            Sqlite.layer({ file: `${folder}/data/stevedore.db` })
          )
        yield* inTables("insert into stevedore_migrations values (9, current_timestamp, 'later')")
        yield* newer
        yield* inTables("delete from stevedore_migrations where migration_id = 9")
        const next = yield* start(["serve", "--port", "0", "--directory", "data", "--json"], { cwd: folder })
        const again = yield* Effect.flatten(Stream.runHead(next.lines))
        assert.strictEqual((yield* Schema.decode(Schema.parseJson(Reports.Serving))(again)).token, token)
        // of one that runs
        assert.deepStrictEqual(yield* looked("rm", id), [0, { type: "removing", id }])
        assert.strictEqual((yield* looked("rm", id))[0], 2)
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )

  it.scopedLive(
    "has what it acknowledged after another program has locked its database for longer than it waits",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const served = Effect.gen(function*() {
          const running = yield* start(["serve", "--port", "0", "--directory", "data", "--json"], { cwd: folder })
          const line = yield* Effect.flatten(Stream.runHead(running.lines))
          return { ...running, ...(yield* Schema.decode(Schema.parseJson(Reports.Serving))(line)) }
        })
        const { api, child, ended, token = "" } = yield* served
        const headers = { authorization: `Bearer ${token}` }
        const called = (method: string, path: string, body?: string) =>
          Effect.promise(() =>
            fetch(`${api}${path}`, { method, headers, body: body ?? null }).then(async (answer) => ({
              status: answer.status,
              text: await answer.text()
            }))
          )
        const Session = Schema.parseJson(
          Schema.Struct({ data: Schema.Struct({ id: Schema.String, upload_url: Schema.String }) })
        )
        const initiated = (name: string) => called("POST", "/v2/files/upload", JSON.stringify({ name, size: 5 }))
        const uploaded = (name: string) =>
          Effect.gen(function*() {
            const { data } = yield* Schema.decode(Session)((yield* initiated(name)).text)
            const sse = { "x-amz-server-side-encryption": "aws:kms" }
            yield* Effect.promise(() => fetch(data.upload_url, { method: "PUT", headers: sse, body: "hello" }))
            assert.strictEqual((yield* called("POST", `/v2/files/${data.id}/upload/complete`)).status, 200)
            return data.id
          })
        const before = yield* uploaded("before")
        const { held, letGo } = yield* locking(`${folder}/data/stevedore.db`)
        yield* held
        const refused = yield* Effect.all([
          initiated("refused"),
          called("DELETE", `/v1/files/${before}`),
          Effect.delay(called("GET", "/livez"), 1000),
          Effect.map(invoke(["token", "create", "--directory", `${folder}/data`]), ({ code }) => ({ status: code }))
        ], { concurrency: "unbounded" })
        assert.deepStrictEqual(refused.map(({ status }) => status), [503, 503, 200, 2])
        yield* letGo
        const after = yield* uploaded("after")
        assert.strictEqual((yield* called("DELETE", `/v1/files/${before}`)).status, 204)
        child.kill("SIGKILL")
        yield* ended
        const again = yield* served
        const found = yield* Effect.promise(() =>
          fetch(`${again.api}/v1/files`, { headers }).then((answer) => answer.text())
        )
        assert.include(found, after)
        assert.notInclude(found, before)
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )

  it.scopedLive("says why the database cannot be used, in its own words", () =>
    Effect.gen(function*() {
      const withoutTls = createServer((socket) => {
        socket.on("error", () => undefined).once("data", () => socket.end("N"))
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => once(withoutTls.listen(0, "127.0.0.1"), "listening")),
        () => Effect.sync(() => withoutTls.close())
      )
      const address = withoutTls.address()
      const port = typeof address === "object" ? address?.port : undefined
      const { code, stderr } = yield* invoke(["token", "list"], {
        STEVEDORE_SERVE_DATABASE_URL: `postgres://us:password@127.0.0.1:${port}/db?sslmode=require`,
        STEVEDORE_SERVE_BUCKET: "uploads"
      })
      assert.strictEqual(code, 2, stderr)
      assert.include(stderr, "The server does not support SSL connections")
      assert.notInclude(stderr, "password@")
    }))

  it.scopedLive(
    "writes a line of the log for each request, as text or JSON, of the level that is asked for",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const logged = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
          Effect.gen(function*() {
            const running = yield* start(["serve", "--port", "0", "--json", ...args], {
              cwd: yield* fs.makeTempDirectoryScoped(),
              env
            })
            const first = yield* Effect.flatten(Stream.runHead(running.lines))
            const { api } = yield* Schema.decode(Schema.parseJson(Reports.Serving))(first)
            yield* Effect.promise(() => fetch(`${api}/v1/files?secret=1`, { headers: { "x-request-id": "mine" } }))
            return (yield* interrupt(running, "SIGTERM")).stderr.trim()
          })
        const text = yield* logged([], {})
        for (const field of ["level=INFO", "method=GET", "path=/v1/files ", "status=401", "request_id=mine"]) {
          assert.include(`${text} `, field)
        }
        const json = yield* logged([], { STEVEDORE_SERVE_LOG_FORMAT: "json" })
        const Line = Schema.parseJson(
          Schema.Struct({ annotations: Schema.Record({ key: Schema.String, value: Schema.Unknown }) })
        )
        const { annotations } = yield* Schema.decode(Line)(json)
        assert.include(annotations, { method: "GET", path: "/v1/files", status: 401, request_id: "mine" })
        // what is said by an option is said for good
        assert.strictEqual(yield* logged(["--log-level", "warning"], { STEVEDORE_SERVE_LOG_LEVEL: "debug" }), "")
        const wrong = yield* invoke(["serve"], { STEVEDORE_SERVE_LOG_LEVEL: "loud" })
        assert.include(wrong.stderr, "STEVEDORE_SERVE_LOG_LEVEL: expected one of")
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )

  it.scopedLive(
    "sends spans, metrics and its log where the variables of OpenTelemetry say, and no secret",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sent = new Map<string, string>()
        const collector = yield* listening(async (request, response) => {
          const path = request.url ?? ""
          sent.set(path, `${sent.get(path) ?? ""}${request.headers["x-key"]} ${await text(request)}`)
          response.writeHead(200, { "content-type": "application/json" }).end("{}")
        })
        const env = {
          OTEL_EXPORTER_OTLP_ENDPOINT: collector,
          OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
          OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20key",
          OTEL_SERVICE_NAME: "uploads"
        }
        const running = yield* start(["serve", "--port", "0", "--json"], {
          cwd: yield* fs.makeTempDirectoryScoped(),
          env
        })
        const first = yield* Effect.flatten(Stream.runHead(running.lines))
        const { api, token = "" } = yield* Schema.decode(Schema.parseJson(Reports.Serving))(first)
        const headers = { authorization: `Bearer ${token}` }
        yield* Effect.promise(() => fetch(`${api}/v1/files?secret=1`, { headers }))
        yield* interrupt(running, "SIGTERM")
        assert.sameMembers([...sent.keys()], ["/v1/logs", "/v1/metrics", "/v1/traces"])
        assert.include(sent.get("/v1/traces") ?? "", "http.server GET")
        assert.include(sent.get("/v1/metrics") ?? "", "stevedore_requests_total")
        assert.include(sent.get("/v1/logs") ?? "", "/v1/files")
        for (const body of sent.values()) {
          assert.match(body, /^a key \{/)
          assert.include(body, "uploads")
          assert.isFalse(body.includes(token) || body.includes("secret=1"))
        }
        for (
          const [name, value] of [
            ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector"],
            ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
            [
              "OTEL_EXPORTER_OTLP_HEADERS",
              "hidden"
            ],
            ["OTEL_EXPORTER_OTLP_HEADERS", "x-key=hidden%0D%0Ax-other: 1"],
            ["OTEL_EXPORTER_OTLP_HEADERS", "x-key=hidden%C3%A9"],
            ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://hidden:hidden@127.0.0.1:4318"],
            ["OTEL_METRIC_EXPORT_INTERVAL", "often"]
          ] as const
        ) {
          const { code, stderr } = yield* invoke(["serve", "--port", "0"], { ...env, [name]: value })
          assert.strictEqual(code, 2, stderr)
          assert.include(stderr, `${name}: expected`)
          assert.notInclude(stderr, "hidden")
        }
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )

  it.scopedLive(
    "follows no redirect of a collector, to which its key would go, and says once that it takes nothing",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const asked = Array<string>()
        const other = yield* listening(({ url }, response) => {
          asked.push(url ?? "")
          response.end()
        })
        let refused = 0
        const collector = yield* listening((request, response) => {
          refused += 1
          request.resume()
          response.writeHead(302, { location: `${other}/evil` }).end()
        })
        const running = yield* start(["serve", "--host", "[::1]", "--port", "0", "--json"], {
          cwd: yield* fs.makeTempDirectoryScoped(),
          env: {
            OTEL_EXPORTER_OTLP_ENDPOINT: collector,
            OTEL_EXPORTER_OTLP_HEADERS: "x-key=hidden",
            OTEL_METRIC_EXPORT_INTERVAL: "200"
          }
        })
        const first = yield* Effect.flatten(Stream.runHead(running.lines))
        const { api } = yield* Schema.decode(Schema.parseJson(Reports.Serving))(first)
        assert.match(api, /^http:\/\/\[::1\]:/)
        yield* Effect.repeat(Effect.sleep("100 millis"), { until: () => refused > 1 })
        const { stderr } = yield* interrupt(running, "SIGTERM")
        assert.deepStrictEqual(asked, [])
        assert.lengthOf(stderr.split("\n").filter((line) => line.includes("answers 302: nothing is kept")), 1, stderr)
        assert.notInclude(stderr, "hidden")
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )

  it.scopedLive(
    "passes its own doctor, with nothing skipped, also for a page",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const origin = "https://app.example"
        const running = yield* start(["serve", "--port", "0", "--base-path", "/api", "--json"], {
          cwd: yield* fs.makeTempDirectoryScoped(),
          env: { STEVEDORE_SERVE_ORIGINS: origin }
        })
        const first = yield* Effect.flatten(Stream.runHead(running.lines))
        const { api, profile, token } = yield* Schema.decode(Schema.parseJson(Reports.Serving))(first)
        const env = { STEVEDORE_BASE_URL: api, STEVEDORE_TOKEN: token ?? "", STEVEDORE_PROFILE: String(profile) }
        const doctor = yield* invoke(["doctor", "--origin", origin], env)
        assert.strictEqual(doctor.code, 0, doctor.stdout)
        assert.match(doctor.stdout, /^1[3-9] passed/m)
        assert.notMatch(doctor.stdout, /failed|skipped/)
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )

  it.scopedLive(
    "removes nothing for its age under a clock that has leapt, and says so; under a right one it tells what it removes",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const cwd = yield* fs.makeTempDirectoryScoped()
        const change = (statement: string) =>
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
            Effect.provide(databaseIn(`${cwd}/stevedore-data/stevedore.db`))
          )
        /** As if the clock were so many days ahead of where it was when all of it was written. */
        const set = (days: number, looks: number) =>
          Effect.zipRight(
            change(`update stevedore_file set created_at = created_at - ${days * 86_400_000},
              expires_at = expires_at - ${days * 86_400_000}`),
            change(`update stevedore_clock set at = at - ${looks * 86_400_000}`)
          )
        /** Serves for two rounds, and answers what the log says besides requests. */
        const served = <A, E, R>(
          use: (call: (path: string, body?: string) => Effect.Effect<string>) => Effect.Effect<A, E, R>
        ) =>
          Effect.gen(function*() {
            const words = ["serve", "--port", "0", "--json", "--keep-for", "30d", "--keep-share", "60"]
            const running = yield* start(words, { cwd })
            const first = yield* Effect.flatten(Stream.runHead(running.lines))
            const { api, token = "" } = yield* Schema.decode(Schema.parseJson(Reports.Serving))(first)
            const call = (path: string, body?: string) =>
              Effect.promise(async () => {
                const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
                const asked = body === undefined ? { headers } : { method: "POST", headers, body }
                const answer = await fetch(`${api}${path}`, asked)
                return `${answer.status} ${await answer.text()}`
              })
            const used = yield* use(call)
            yield* Effect.sleep("6 seconds")
            const { stderr } = yield* interrupt(running, "SIGTERM")
            return { used, log: stderr.split("\n").filter((line) => !line.includes("message=request")).join("\n") }
          })
        const Begun = Schema.parseJson(
          Schema.Struct({ data: Schema.Struct({ id: Schema.String, upload_url: Schema.String }) })
        )
        const begin = (call: (path: string, body?: string) => Effect.Effect<string>) =>
          Effect.gen(function*() {
            const answer = yield* call("/v2/files/upload", JSON.stringify({ name: "notes.txt", size: 5 }))
            const { data } = yield* Schema.decode(Begun)(answer.slice(4))
            const headers = { "x-amz-server-side-encryption": "aws:kms" }
            yield* Effect.promise(() => fetch(data.upload_url, { method: "PUT", headers, body: "hello" }))
            return data.id
          })
        const complete = (id: string) => `/v2/files/${id}/upload/complete`
        const { used: open } = yield* served((call) =>
          Effect.gen(function*() {
            for (let index = 0; index < 12; index++) {
              assert.include(yield* call(complete(yield* begin(call)), "{}"), "200 ")
            }
            return yield* begin(call)
          })
        )
        const count = (call: (path: string) => Effect.Effect<string>) =>
          Effect.map(call("/v1/files"), (text) => Number(/"total_count":(\d+)/.exec(text)?.[1]))
        yield* set(400, 400)
        const leapt = yield* served((call) => Effect.delay(Effect.all([count(call), call("/readyz")]), "6 seconds"))
        assert.strictEqual(leapt.used[0], 12)
        assert.match(leapt.used[1], /^200 [^]*clock: it was set, or the service was away/)
        assert.match(leapt.log, /level=WARN[^\n]*nothing is removed for its age/)
        yield* set(-400, 0)
        const right = yield* served((call) => call(complete(open), "{}"))
        assert.include(right.used, "200 ")
        // all of it has become old, while the service was there
        yield* change("update stevedore_clock set since = 0")
        yield* set(31, 0)
        const held = yield* served((call) => Effect.delay(count(call), "6 seconds"))
        assert.strictEqual(held.used, 13)
        assert.include(held.log, "13 files are older than they are kept, which is more than 60 % of all")
        yield* change(`update stevedore_file set created_at = created_at + 30 * 86400000
          where id in (select id from stevedore_file limit 6)`)
        const aged = yield* served((call) => Effect.delay(count(call), "6 seconds"))
        assert.strictEqual(aged.used, 6)
        assert.include(aged.log, "Removed 7 files that were older than they are kept: default 7")
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )
})
