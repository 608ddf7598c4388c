import { FetchHttpClient, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Downloads, Uploads, UploadSources } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Data, Effect, Schedule, Stream } from "effect"
import { spawn } from "node:child_process"
import { freePort } from "../../../../.ci/free-port.mjs"
import * as NodeServe from "../../src/NodeServe.js"

const MIB = 1024 * 1024

const { PATH } = process.env

class ProxySilent extends Data.TaggedError("ProxySilent")<{ readonly said: string }> {}

interface Proxy {
  readonly file: string
  /** What the file is a part of, for one that listens in this folder alone. */
  readonly whole: (text: string, folder: string) => string
  readonly command: (file: string, folder: string) => readonly [string, ...ReadonlyArray<string>]
}

const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]

const proxies: Readonly<Record<string, Proxy>> = {
  nginx: {
    file: "nginx.conf",
    whole: (text, folder) =>
      `daemon off; pid ${folder}/pid; error_log ${folder}/log; events {} http { access_log off; ${
        temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")
      }\n${text}}`,
    command: (file, folder) => ["/usr/sbin/nginx", "-c", file, "-p", folder]
  },
  Caddy: {
    file: "Caddyfile",
    whole: (text) => `{\n\tadmin off\n}\n${text}`,
    command: (file) => ["caddy", "run", "--config", file, "--adapter", "caddyfile"]
  },
  HAProxy: {
    file: "haproxy.cfg",
    whole: (text) => text,
    command: (file) => ["/usr/sbin/haproxy", "-db", "-f", file]
  }
}

/** The proxy of the guide before a port, on another one, as long as the scope is open. */
const running = ({ command, file, whole }: Proxy, port: number, servicePort: number, folder: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const guide = new URL(`../../../docs/guide/proxies/${file}`, import.meta.url).pathname
    const text = (yield* fs.readFileString(guide)).replaceAll("4700", String(servicePort))
      .replaceAll(":8080", `127.0.0.1:${port}`.replace(/^127\.0\.0\.1/, file === "Caddyfile" ? "" : "127.0.0.1"))
      .replaceAll("listen 8080", `listen 127.0.0.1:${port}`)
    const own = `${folder}/${file}`
    yield* fs.writeFileString(own, whole(text, folder))
    const [program, ...words] = command(own, folder)
    let said = ""
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const child = spawn(program, words, {
          env: { PATH, HOME: folder },
          stdio: ["ignore", "pipe", "pipe"]
        })
        child.stderr.on("data", (data) => said += String(data))
        return child
      }),
      (child) =>
        Effect.async<void>((resume) => {
          if (child.exitCode !== null) return resume(Effect.void)
          child.once("exit", () => resume(Effect.void))
          child.kill("SIGTERM")
          setTimeout(() => child.kill("SIGKILL"), 2000).unref()
        })
    )
    yield* Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/uploads/livez`)).pipe(
      Effect.filterOrFail(({ status }) => status === 200),
      Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 200 }),
      Effect.mapError(() => new ProxySilent({ said }))
    )
  })

describe("a service behind a proxy as the guide has it", () => {
  it.scopedLive.each(
    Object.keys(proxies).flatMap((name) => [undefined, "/api"].map((basePath) => [name, basePath] as const))
  )(
    "%s, below a path of its own, with a base path %s",
    ([name, basePath]) =>
      Effect.gen(function*() {
        const proxy = proxies[name]
        assert.isDefined(proxy)
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const port = yield* Effect.promise(freePort)
        const servicePort = yield* Effect.promise(freePort)
        const { baseUrl, token } = yield* NodeServe.serve({
          directory: `${folder}/data`,
          port: servicePort,
          basePath,
          publicUrl: `http://127.0.0.1:${port}/uploads`
        })
        assert.strictEqual(baseUrl, `http://127.0.0.1:${port}/uploads${basePath ?? ""}`)
        if (proxy !== undefined) yield* running(proxy, port, servicePort, folder)
        const content = Uint8Array.from({ length: 11 * MIB }, (_, index) => (index * 31) % 251)
        const read = yield* Effect.gen(function*() {
          const small = yield* Uploads.upload(UploadSources.fromBytes("notes.txt", content.subarray(0, 2 * MIB)))
          const large = yield* Uploads.upload(UploadSources.fromBytes("large.bin", content), {
            threshold: 5 * MIB,
            parts: 2
          })
          return yield* Effect.forEach([small, large], ({ id }) =>
            Effect.map(Stream.runCollect(Downloads.stream(id)), (chunks) => Buffer.concat([...chunks])))
        }).pipe(Effect.provide(NodeStevedore.layer({ baseUrl, token, ledger: false, allowInsecureHttp: true })))
        assert.isTrue(read[0]?.equals(content.subarray(0, 2 * MIB)))
        assert.isTrue(read[1]?.equals(content))
      }).pipe(Effect.provide([NodeContext.layer, FetchHttpClient.layer])),
    60_000
  )
})
