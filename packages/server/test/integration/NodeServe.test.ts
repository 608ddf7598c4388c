import { FetchHttpClient, FileSystem, HttpBody, HttpClient, HttpClientRequest, type Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Downloads, Lists, Uploads, UploadSources } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Effect, Exit, Fiber, Redacted, Schedule, Schema, Scope, Stream } from "effect"
import { request } from "node:http"
import { receiver } from "../../../examples/src/WebhookReceiver.js"
import * as FileAdmin from "../../src/FileAdmin.js"
import * as NodeServe from "../../src/NodeServe.js"
import { databaseIn } from "../support/sqlite.js"

const within = <A, E, R>(run: (folder: string) => Effect.Effect<A, E, R>) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.makeTempDirectoryScoped({ prefix: "stevedore-serve-" })),
    Effect.flatMap(run),
    Effect.scoped,
    Effect.provide([NodeContext.layer, FetchHttpClient.layer])
  )

const serving = (folder: string, options: Partial<NodeServe.Options> = {}) =>
  NodeServe.serve({ directory: `${folder}/data`, ...options })

const client = ({ baseUrl, token }: NodeServe.Serving) =>
  NodeStevedore.layer({ baseUrl, token, ledger: false, allowInsecureHttp: true })

const call = (
  { baseUrl, token }: NodeServe.Serving,
  method: "DELETE" | "GET" | "POST",
  path: string,
  options: { readonly body?: string; readonly token?: string; readonly headers?: Record<string, string> } = {}
) =>
  Effect.gen(function*() {
    const { execute } = yield* HttpClient.HttpClient
    const response = yield* execute(
      HttpClientRequest.make(method)(`${baseUrl}${path}`, {
        headers: { authorization: `Bearer ${options.token ?? Redacted.value(token)}`, ...options.headers },
        ...(options.body === undefined ? {} : { body: HttpBody.text(options.body, "application/json") })
      })
    )
    return { status: response.status, headers: response.headers, text: yield* response.text }
  })

const Session = Schema.parseJson(
  Schema.Struct({ data: Schema.Struct({ id: Schema.String, upload_url: Schema.String }) })
)

const initiate = (service: NodeServe.Serving, size: number) =>
  Effect.flatMap(
    call(service, "POST", "/v2/files/upload", { body: JSON.stringify({ name: "notes.txt", size }) }),
    ({ text }) => Schema.decode(Session)(text)
  )

const put = (url: string, body: string) =>
  Effect.promise(() =>
    fetch(url, { method: "PUT", body, headers: { "x-amz-server-side-encryption": "aws:kms" } }).then(({ status }) =>
      status
    )
  )

const MIB = 1024 * 1024

describe("the service in one process", () => {
  it.live(
    "takes files of both kinds from the SDK and gives them back, also after its next start",
    () =>
      within((folder) =>
        Effect.gen(function*() {
          const small = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"), {
            mediaType: "text/plain"
          })
          const content = Uint8Array.from({ length: 12 * MIB + 7 }, (_, index) => (index * 31) % 251)
          const large = UploadSources.fromBytes("large.bin", content)
          const first = yield* Scope.make()
          const service = yield* Scope.extend(serving(folder, { basePath: "/api" }), first)
          const files = yield* Effect.all([
            Uploads.upload(small),
            Uploads.upload(large, { threshold: 5 * MIB, parts: 2 })
          ]).pipe(Effect.provide(client(service)))
          assert.deepStrictEqual(files.map(({ name, size }) => ({ name, size })), [
            { name: "notes.txt", size: 5 },
            { name: "large.bin", size: content.byteLength }
          ])
          yield* Scope.close(first, Exit.void)
          const again = yield* serving(folder, { basePath: "/api" })
          assert.strictEqual(Redacted.value(again.token), Redacted.value(service.token))
          const bytes = yield* Effect.forEach(
            files,
            ({ id }) => Stream.runFold(Downloads.stream(id), Array<Uint8Array>(), (chunks, chunk) => [...chunks, chunk])
          ).pipe(
            Effect.provide(client(again))
          )
          assert.strictEqual(Buffer.concat(bytes[0] ?? []).toString(), "hello")
          assert.isTrue(Buffer.concat(bytes[1] ?? []).equals(content))
        })
      ),
    120_000
  )

  it.live(
    "keeps a file as it was completed, although its URL is still valid",
    () =>
      within((folder) =>
        Effect.gen(function*() {
          const service = yield* serving(folder)
          const { data } = yield* initiate(service, 5)
          assert.strictEqual(yield* put(data.upload_url, "too long"), 403)
          assert.strictEqual(yield* put(data.upload_url, "hello"), 200)
          assert.strictEqual((yield* call(service, "POST", `/v2/files/${data.id}/upload/complete`)).status, 200)
          assert.strictEqual(yield* put(data.upload_url, "EVIL!"), 403)
          const read = yield* call(service, "GET", `/v1/files/${data.id}/download`, { headers: { range: "bytes=1-3" } })
          assert.deepStrictEqual([read.status, read.text], [206, "ell"])
          assert.strictEqual(read.headers["x-content-type-options"], "nosniff")
          assert.match(read.headers["content-disposition"] ?? "", /^attachment; filename\*=UTF-8''notes\.txt$/)
          assert.strictEqual((yield* call(service, "DELETE", `/v1/files/${data.id}`)).status, 204)
          assert.strictEqual((yield* call(service, "GET", `/v1/files/${data.id}`)).status, 404)
        })
      ),
    120_000
  )

  it.live(
    "refuses what is wrong in the envelope of the interface, and never with 500",
    () =>
      within((folder) =>
        Effect.gen(function*() {
          const service = yield* serving(folder)
          const wrong: ReadonlyArray<
            readonly [
              number,
              Effect.Effect<{ readonly status: number; readonly text: string }, unknown, HttpClient.HttpClient>
            ]
          > = [
            [401, call(service, "GET", "/v1/projects", { token: "api.other" })],
            [404, call(service, "GET", "/v1/nothing")],
            [404, call(service, "GET", "/v1/files/%00")],
            [404, call(service, "GET", "/v1/files/1kf00nQk9yfWKfsTDni8aO")],
            [400, call(service, "POST", "/v2/files/upload", { body: "{" })],
            [400, call(service, "POST", "/v2/files/upload", { body: JSON.stringify({ name: "a\0b", size: 1 }) })],
            [400, call(service, "POST", "/v2/files/upload", { body: JSON.stringify({ name: "a", size: 0 }) })],
            [
              400,
              call(service, "POST", "/v2/files/large-upload", {
                body: JSON.stringify({ name: "a", size: 1, parts: 2 })
              })
            ],
            [400, call(service, "GET", "/v1/files?page[start_cursor]=%00")],
            [400, call(service, "GET", "/v1/projects?filter[unknown]=1")]
          ]
          for (const [status, request] of wrong) {
            const answer = yield* request
            assert.strictEqual(answer.status, status, answer.text)
            assert.match(answer.text, /^\{"errors":\[\{"code":"/)
          }
        })
      ),
    120_000
  )

  it.live(
    "says what was declared, keeps headers whole, and lets nobody keep it waiting",
    () =>
      within((folder) =>
        Effect.gen(function*() {
          const service = yield* serving(folder, { basePath: "/api", bodyTimeout: "300 millis" })
          const declare = (type: string, more: object = {}, path = "/v2/files/upload") =>
            call(service, "POST", path, { body: JSON.stringify({ name: "a.txt", size: 5, type, ...more }) })
          for (const type of ["text/html\r\nX: 1", "text/\u0001", "日本/語", "\ud800", "tëxt/html"]) {
            for (const kind of ["upload", "large-upload"]) {
              const { status, text } = yield* declare(type, {}, `/v2/files/${kind}`)
              assert.strictEqual(status, 400, type)
              assert.match(text, /"path":"type"/)
            }
          }
          const { data } = yield* Effect.flatMap(declare("text/plain"), ({ text }) => Schema.decode(Session)(text))
          const url = new URL(data.upload_url)
          assert.match(url.pathname, /^\/api\/stevedore-files\//)
          const putAs = (headers: Record<string, string>, body: string | undefined) =>
            Effect.async<number>((resume) => {
              const put = request(
                url,
                {
                  method: "PUT",
                  headers: { "x-amz-server-side-encryption": "aws:kms", "content-length": 5, ...headers }
                },
                (answer) => resume(Effect.succeed(answer.resume().statusCode ?? 0))
              ).on("error", () => {})
              if (body === undefined) put.write("12")
              else put.end(body)
              return Effect.sync(() => put.destroy())
            })
          // four that hang, and one more
          const hanging = yield* Effect.forEach([1, 2, 3, 4], () => Effect.fork(putAs({}, undefined)))
          yield* Effect.sleep("300 millis")
          assert.strictEqual(yield* putAs({}, "hello"), 503)
          yield* Fiber.interruptAll(hanging)
          yield* Effect.sleep("300 millis")
          // any host, as a proxy leaves it
          assert.strictEqual(yield* putAs({ host: "stevedore", "content-type": "text/html" }, "hello"), 200)
          assert.strictEqual((yield* call(service, "POST", `/v2/files/${data.id}/upload/complete`)).status, 200)
          const read = yield* call(service, "GET", `/v1/files/${data.id}/download`)
          assert.deepStrictEqual([read.headers["content-type"], read.text], ["text/plain", "hello"])
          const nobody = yield* call(service, "GET", "/v1/files", { token: "api.other" })
          assert.deepStrictEqual([nobody.status, nobody.headers["www-authenticate"]], [
            401,
            "Bearer realm=\"stevedore\""
          ])
          const large = yield* call(service, "POST", "/v2/files/upload", { body: "x".repeat(5 * MIB) })
          assert.strictEqual(large.status, 413)
          const late = yield* Effect.async<number>((resume) => {
            const post = request(`${service.baseUrl}/v2/files/upload`, {
              method: "POST",
              headers: { authorization: `Bearer ${Redacted.value(service.token)}`, "content-length": 5 }
            }, (answer) => resume(Effect.succeed(answer.resume().statusCode ?? 0))).on("error", () => {})
            post.write("{")
          })
          assert.strictEqual(late, 408)
          const refused = yield* Effect.promise(() => fetch(`${data.upload_url}x`).then((answer) => answer.text()))
          assert.notInclude(refused, "sandbox")
        })
      ),
    120_000
  )

  it.live("lists its files page by page, and its projects", () =>
    within((folder) =>
      Effect.gen(function*() {
        const service = yield* serving(folder)
        for (let index = 0; index < 5; index++) {
          const { data } = yield* initiate(service, 1)
          yield* put(data.upload_url, "x")
          yield* call(service, "POST", `/v2/files/${data.id}/upload/complete`)
        }
        yield* initiate(service, 1)
        const found = yield* Effect.provide(
          Stream.runCollect(
            Lists.make({ path: "/v1/files", item: Schema.Struct({ id: Schema.String }) })({ pageSize: 2 })
          ),
          client(service)
        )
        assert.strictEqual(new Set([...found].map(({ id }) => id)).size, 5)
        assert.strictEqual(
          (yield* call(service, "GET", "/v1/projects")).text,
          "{\"data\":[],\"page\":{\"total_count\":0,\"has_more\":false}}"
        )
      })
    ), 120_000)

  it.live(
    "begins although a record cannot be read: that costs its own file",
    () =>
      within((folder) =>
        Effect.gen(function*() {
          const first = yield* Scope.make()
          const service = yield* Scope.extend(serving(folder), first)
          const completed = Effect.gen(function*() {
            const { data } = yield* initiate(service, 5)
            yield* put(data.upload_url, "hello")
            yield* call(service, "POST", `/v2/files/${data.id}/upload/complete`)
            return data.id
          })
          const [broken, whole] = yield* Effect.all([completed, completed])
          yield* Scope.close(first, Exit.void)
          yield* Effect.provide(
            Effect.flatMap(
              SqlClient.SqlClient,
              (sql) => sql`update stevedore_object set problem = 'rot' where key = ${`files/default/${broken}`}`
            ),
            databaseIn(`${folder}/data/stevedore.db`)
          )
          const again = yield* serving(folder)
          const ready = yield* call(again, "GET", "/readyz")
          assert.deepStrictEqual([ready.status, ready.text], [200, `ok\ncannot be read: files/default/${broken}\n`])
          const download = (id: string) => call(again, "GET", `/v1/files/${id}/download`)
          const refused = yield* download(broken)
          assert.strictEqual(refused.status, 500)
          assert.match(refused.text, /^\{"errors":\[\{"code":"InternalError"/)
          assert.strictEqual((yield* download(whole)).text, "hello")
          assert.strictEqual((yield* call(again, "DELETE", `/v1/files/${broken}`)).status, 204)
        })
      ),
    120_000
  )

  it.live("says whether it can answer, and has its directory alone", () =>
    within((folder) =>
      Effect.gen(function*() {
        const service = yield* serving(folder)
        for (const path of ["/livez", "/readyz"]) {
          assert.strictEqual((yield* call(service, "GET", path)).status, 200)
        }
        const port = Number(new URL(service.baseUrl).port)
        const other = yield* Effect.flip(NodeServe.serve({ directory: `${folder}/other`, port }))
        assert.deepStrictEqual([other.option, other.problem.includes("EADDRINUSE")], ["port", true])
      })
    ), 120_000)

  it.live(
    "tells a URL of what is completed and removed, once where it was taken, and again where it was not",
    () =>
      within((folder) =>
        Effect.gen(function*() {
          const heard: Array<string> = []
          let refusals = 1
          const secret = "a secret of the receiver"
          const server = receiver(secret, Date.now, async ({ file, type }) => {
            if (refusals-- > 0) throw new Error("not now")
            heard.push(`${type} ${file.name}`)
          })
          const port = yield* Effect.acquireRelease(
            Effect.async<number>((resume) =>
              void server.listen(0, "127.0.0.1", () => {
                const address = server.address()
                resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
              })
            ),
            () => Effect.sync(() => server.close())
          )
          const webhook = {
            url: Redacted.make(`http://127.0.0.1:${port}/hear`),
            secret: Redacted.make(secret),
            isPrivate: true
          }
          const service = yield* serving(folder, { webhook })
          const { data } = yield* initiate(service, 5)
          assert.strictEqual(yield* put(data.upload_url, "hello"), 200)
          yield* call(service, "POST", `/v2/files/${data.id}/upload/complete`, { body: "{}" })
          const until = (what: Effect.Effect<boolean, unknown, FileSystem.FileSystem | Path.Path>) =>
            Effect.repeat(Effect.orDie(what), { until: (isSo) => isSo, schedule: Schedule.spaced("100 millis") })
          const admin = <A>(ask: (admin: FileAdmin.FileAdminService) => Effect.Effect<A, unknown>) =>
            Effect.flatMap(FileAdmin.FileAdmin, ask).pipe(
              Effect.provide(NodeServe.files(`${folder}/data`)),
              Effect.orDie
            )
          yield* until(
            admin(({ stuck }) => Effect.map(stuck, (all) => all.some(({ what }) => what === "event completed")))
          )
          assert.deepStrictEqual(heard, [])
          yield* until(Effect.sync(() => refusals === 0))
          assert.deepStrictEqual(yield* admin(({ resend }) => resend(data.id)), [`${data.id}/completed`])
          yield* until(Effect.sync(() => heard.length === 1))
          yield* call(service, "DELETE", `/v1/files/${data.id}`)
          yield* until(Effect.sync(() => heard.length === 2))
          assert.deepStrictEqual(heard, ["completed notes.txt", "removed notes.txt"])
        })
      ),
    60_000
  )
})
