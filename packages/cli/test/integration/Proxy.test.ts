import { FileSystem, Headers } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { RetryPolicy } from "@stevedore/core"
import { Effect, Layer, Record, Schema } from "effect"
import { tunnels } from "../../../testing/test/support/tunnels.js"
import * as Schemas from "../../src/print/serviceSchemas.js"
import { invoke, jsonLines, Sandbox, sandbox } from "./invoke.js"

const service = "http://files.test"
const user = "anna"
const password = "hidden/word"
const credentials = `${user}:${encodeURIComponent(password)}`
const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`

/** A proxy that leads `files.test:80` to the service and nothing anywhere else, and asks who it is for. */
const proxyTo = (end: string) =>
  tunnels((asked) => {
    if (asked.authorization !== authorization) return "407 Proxy Authentication Required"
    return asked.target === "files.test:80" ? new URL(end) : "403 Forbidden"
  })

const behindProxy = Effect.gen(function*() {
  const { env } = yield* Sandbox
  const { asked, port } = yield* proxyTo(env.STEVEDORE_BASE_URL ?? "")
  const run = (words: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
    invoke([...words, "--allow-insecure-http"], {
      ...env,
      STEVEDORE_BASE_URL: service,
      http_proxy: `${credentials}@127.0.0.1:${port}`,
      ...more
    })
  return { asked, port, run }
})

const secrets = [password, encodeURIComponent(password), authorization]

const keepsSecrets = ({ stderr, stdout }: { readonly stdout: string; readonly stderr: string }) => {
  for (const secret of secrets) assert.notInclude(stdout + stderr, secret)
}

layer(Layer.merge(sandbox("--projects", "3"), NodeContext.layer), { excludeTestServices: true })(
  "the command line behind a proxy",
  (it) => {
    it.scoped("uploads, downloads and lists through the proxy, and reaches local storage directly", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 251)
        yield* fs.writeFile(`${folder}/interview.mp4`, bytes)
        const { asked, run } = yield* behindProxy

        const up = yield* run(["upload", `${folder}/interview.mp4`, "--verbose"])
        assert.strictEqual(up.code, 0, up.stderr)
        const [id = ""] = up.stdout.split("\t")
        const down = yield* run(["download", id, "--output", `${folder}/copy.mp4`])
        assert.strictEqual(down.code, 0, down.stderr)
        assert.deepStrictEqual(yield* fs.readFile(`${folder}/copy.mp4`), bytes)
        const listed = yield* run(["list", "projects", "--json"])
        assert.deepStrictEqual([listed.code, jsonLines(listed.stdout).length], [0, 3], listed.stderr)

        assert.isNotEmpty(asked)
        assert.deepStrictEqual([...new Set(asked.map(({ target }) => target))], ["files.test:80"])
        for (const ended of [up, down, listed]) keepsSecrets(ended)
      }))

    it.scoped("does not use the proxy for a host in no_proxy", () =>
      Effect.gen(function*() {
        const { asked, run } = yield* behindProxy
        // nobody has this name outside the proxy
        const { code, stderr } = yield* Effect.provide(
          run(["whoami"], { no_proxy: "other.test,files.test" }),
          RetryPolicy.none
        )
        assert.strictEqual(code, 1)
        assert.match(stderr, /^The connection to the service at http:\/\/files\.test failed/)
        assert.deepStrictEqual(asked, [])
      }))

    it.scoped("reports the status with which the proxy rejects a request, but not the password", () =>
      Effect.gen(function*() {
        const { asked, port, run } = yield* behindProxy
        const wrong = yield* Effect.provide(
          run(["whoami"], { http_proxy: `http://${user}:another-word@127.0.0.1:${port}` }),
          RetryPolicy.none
        )
        assert.strictEqual(wrong.code, 1)
        assert.match(
          wrong.stderr,
          /^The connection to the service at http:\/\/files\.test failed \(PROXY_ANSWERED_407\)/
        )
        assert.notInclude(wrong.stdout + wrong.stderr, "another-word")
        assert.lengthOf(asked, 1)
        const forbidden = yield* Effect.provide(
          run(["whoami"], { STEVEDORE_BASE_URL: "http://elsewhere.test" }),
          RetryPolicy.none
        )
        assert.match(forbidden.stderr, /elsewhere\.test failed \(PROXY_ANSWERED_403\)/)
        keepsSecrets(forbidden)
      }))

    it.scoped("asks a proxy that leads nowhere only once for all files of a directory: no request got past it", () =>
      Effect.gen(function*() {
        const { asked, run } = yield* behindProxy
        const fileSystem = yield* FileSystem.FileSystem
        const directory = yield* fileSystem.makeTempDirectoryScoped()
        yield* Effect.forEach(["a", "b", "c"], (name) => fileSystem.writeFileString(`${directory}/${name}.txt`, name))
        const ended = yield* Effect.provide(
          run(["upload", directory], { STEVEDORE_BASE_URL: "http://elsewhere.test" }),
          RetryPolicy.none
        )
        assert.strictEqual(ended.code, 1)
        // for a tunnel, and then for the service itself
        assert.deepStrictEqual(asked.map(({ target }) => target), [
          "elsewhere.test:80",
          "http://elsewhere.test/v2/files/upload"
        ])
        assert.lengthOf(ended.stderr.match(/PROXY_ANSWERED_403/g) ?? [], 1)
      }))

    it.scoped("rejects an invalid proxy variable before it sends a request", () =>
      Effect.gen(function*() {
        const { asked, port, run } = yield* behindProxy
        const ended = yield* run(["whoami"], { http_proxy: `socks5://${credentials}@127.0.0.1:${port}` })
        assert.deepStrictEqual([ended.code, ended.stdout, asked], [2, "", []])
        assert.match(ended.stderr, /^http_proxy: expected the URL of an http or https proxy/)
        keepsSecrets(ended)
      }))

    const decode = Schema.decodeUnknownSync(Schema.Array(Schemas.DoctorReport))

    it.scoped("runs doctor's checks through the proxy, and reports its origin but not the password", () =>
      Effect.gen(function*() {
        const { asked, port, run } = yield* behindProxy
        const ended = yield* run(["doctor", "--json", "--origin", "https://app.example"], { no_proxy: "other.test" })
        const reports = decode(jsonLines(ended.stdout))
        assert.strictEqual(ended.code, 0, ended.stdout)
        const [configuration, connection] = reports.map((report) => report.type === "check" ? report.found : "")
        assert.strictEqual(
          configuration,
          `${service}, token set, downloads as content, through the proxy http://127.0.0.1:${port} except for other.test`
        )
        assert.strictEqual(connection, "files.test answers")
        // a host in them would go to every other one
        assert.isTrue(Record.isEmptyRecord(Headers.empty))
        assert.deepStrictEqual([...new Set(asked.map(({ target }) => target))], ["files.test:80"])
        keepsSecrets(ended)
      }))

    it.scoped("reports rejected proxy credentials and an invalid proxy variable in doctor", () =>
      Effect.gen(function*() {
        const { port, run } = yield* behindProxy
        const ended = yield* run(["doctor", "--json"], { http_proxy: `http://${user}:another-word@127.0.0.1:${port}` })
        const connection = decode(jsonLines(ended.stdout))[1]
        assert.strictEqual(ended.code, 1)
        if (connection?.type !== "check") return assert.fail(ended.stdout)
        assert.deepStrictEqual([connection.check, connection.outcome], ["connection", "failed"])
        assert.strictEqual(connection.found, "no answer from files.test (PROXY_ANSWERED_407)")
        assert.include(connection.remedy, `Check the proxy http://127.0.0.1:${port}:`)
        assert.notInclude(ended.stdout + ended.stderr, "another-word")
        const refused = yield* run(["doctor", "--json"], { http_proxy: "socks5://proxy.example" })
        const [first] = decode(jsonLines(refused.stdout))
        assert.strictEqual(refused.code, 2)
        assert.match(first?.type === "check" ? first.found : "", /^http_proxy: expected/)
      }))
  }
)
