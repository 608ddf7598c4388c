import { assert, describe, it } from "@effect/vitest"
import { ServiceProfile, Uploads, UploadSources } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Chunk, Effect, Fiber, Redacted, Stream } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../../../../.ci/free-port.mjs"
import * as FileAudit from "../../src/FileAudit.js"
import * as NodeProduction from "../../src/NodeProduction.js"
import type { Instance } from "../support/cluster.js"
import { initiateLarge, type Prepared, prepared, sent, sessionOf, until } from "../support/prepared.js"
import * as RealStore from "../support/realStore.js"

const SIZE = 3000

const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]

/** nginx before two instances, as Debian ships it, until the scope closes. */
const nginx = (ports: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const port = yield* Effect.promise(freePort)
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-nginx-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const file = join(folder, "nginx.conf")
    writeFileSync(
      file,
      `daemon off; pid ${folder}/pid; error_log ${folder}/log; events {}
       http {
         access_log off; ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
         upstream uploads { ${ports.map((one) => `server 127.0.0.1:${one} max_fails=0;`).join(" ")} }
         server {
           listen 127.0.0.1:${port};
           client_max_body_size 4m;
           location / { proxy_pass http://uploads; proxy_next_upstream error timeout http_503; }
         }
       }`
    )
    yield* Effect.acquireRelease(
      Effect.sync(() => spawn("/usr/sbin/nginx", ["-c", file, "-p", folder], { stdio: "ignore" })),
      (child) =>
        Effect.async<void>((resume) => {
          child.once("exit", () => resume(Effect.void))
          if (child.exitCode !== null || !child.kill("SIGTERM")) resume(Effect.void)
        })
    )
    yield* Effect.retry(Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/livez`)), { times: 100 })
    return `http://127.0.0.1:${port}`
  })

/** Uploads small files at a base URL until it is interrupted; each that fails is told. */
const load = (service: Prepared, baseUrl: string, told: Array<string>) =>
  Effect.forEach(
    Array.from({ length: 8 }, (_, lane) => lane),
    (lane) =>
      Effect.iterate(0, {
        while: () => true,
        body: (n) =>
          Uploads.upload(UploadSources.fromBytes(`${lane}-${n}.bin`, new Uint8Array(SIZE).fill(n))).pipe(
            Effect.match({
              onFailure: (error) => void told.push(`${error._tag}: ${error.message}`),
              onSuccess: ({ id }) => void told.push(id)
            }),
            // what has begun is finished
            Effect.uninterruptible,
            Effect.as(n + 1)
          )
      }),
    { concurrency: "unbounded", discard: true }
  ).pipe(Effect.provide(NodeStevedore.layer({
    baseUrl,
    token: service.token,
    ledger: false,
    allowInsecureHttp: true,
    profile: ServiceProfile.extend(ServiceProfile.standard, {
      encryptionHeaders: { ...RealStore.encryptionHeaders, "if-none-match": "*" }
    })
  })))

/** Each upload that its client has was told once, and is a file; and none has failed. */
const checked = (service: Prepared, told: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    assert.deepStrictEqual(told.filter((one) => !/^\w{22}$/.test(one)), [])
    assert.isAbove(told.length, 30)
    const states = new Map((yield* service.states).map(({ id, state }) => [id, state]))
    assert.deepStrictEqual(told.filter((id) => states.get(id) !== "finalized"), [])
  })

describe("a deployment over PostgreSQL and a bucket", () => {
  it.scopedLive(
    "fails no upload while its two instances are replaced behind nginx, one after the other",
    () =>
      Effect.gen(function*() {
        const service = yield* prepared
        const ports = [yield* Effect.promise(freePort), yield* Effect.promise(freePort)]
        const started = (port: number) => service.start({ PORT: String(port) })
        const running = yield* Effect.forEach(ports, started)
        const told: Array<string> = []
        const loading = yield* Effect.fork(load(service, yield* nginx(ports), told))
        for (const round of [0, 1]) {
          for (const [index, port] of ports.entries()) {
            yield* Effect.sleep("1 second")
            const before: Instance | undefined = running[index]
            assert.isDefined(before)
            if (before === undefined) continue
            yield* before.signal("SIGTERM")
            // not an instance that failed
            assert.include([0, 130], yield* before.ended, `round ${round}`)
            running[index] = yield* started(port)
          }
        }
        yield* Effect.sleep("1 second")
        yield* Fiber.interrupt(loading)
        yield* checked(service, told)
      }),
    240_000
  )

  it.scopedLive(
    "fails and loses no upload when a standby takes the place of its database",
    () =>
      Effect.gen(function*() {
        const service = yield* prepared
        const standby = yield* service.database.standby
        // an address that moves, as of a proxy or a name
        const address = { port: Number(new URL(service.database.url).port) }
        const open = new Set<Socket>()
        const port = yield* Effect.promise(freePort)
        yield* Effect.acquireRelease(
          Effect.async<() => void>((resume) => {
            const server = createServer((socket) => {
              const there = connect(address.port, "127.0.0.1")
              for (const [one, other] of [[socket, there], [there, socket]] as const) {
                open.add(one)
                one.on("error", () => other.destroy())
                one.on("close", () => (open.delete(one), other.destroy()))
              }
              socket.pipe(there)
              there.pipe(socket)
            })
            server.listen(port, "127.0.0.1", () =>
              resume(Effect.succeed(() => {
                for (const socket of open) socket.destroy()
                server.close()
              })))
          }),
          (close) => Effect.sync(close)
        )
        const moving = new URL(service.database.url)
        moving.port = String(port)
        const one = yield* service.start({ STEVEDORE_SERVE_DATABASE_URL: moving.href })
        const told: Array<string> = []
        const loading = yield* Effect.fork(load(service, one.baseUrl, told))
        yield* Effect.sleep("4 seconds")
        const before = told.length
        yield* service.database.crash
        yield* Effect.sleep("2 seconds")
        yield* standby.promote
        address.port = standby.port
        const ready = Effect.promise(() => fetch(`${one.baseUrl}/readyz`).then(({ status }) => status))
        yield* until("it is ready again", ready, (status) => status === 200)
        yield* until("uploads go on", Effect.sync(() => told.length), (count) => count > before + 40)
        yield* Fiber.interrupt(loading)
        yield* checked({ ...service, states: service.statesAt(standby.port) }, told)
      }),
    240_000
  )

  it.scopedLive(
    "fails no upload behind PgBouncer in transaction mode, with two instances on four connections",
    () =>
      Effect.gen(function*() {
        const service = yield* prepared
        const behind = yield* service.database.pooled
        const pooled = { STEVEDORE_SERVE_DATABASE_URL: behind(service.database.url) }
        const instances = [yield* service.start(pooled), yield* service.start(pooled)]
        const told: Array<string> = []
        const loads = Effect.forEach(instances, ({ baseUrl }) => load(service, baseUrl, told), {
          concurrency: "unbounded",
          discard: true
        })
        yield* Effect.timeoutOption(loads, "6 seconds")
        yield* checked(service, told)
      }),
    240_000
  )

  it.scopedLive("is compared with its bucket, both ways, while it runs", () =>
    Effect.gen(function*() {
      const service = yield* prepared
      const one = yield* service.start()
      const uploaded = Effect.gen(function*() {
        const session = sessionOf(yield* initiateLarge(service, one))
        const listed = yield* sent(session)
        yield* service.call(one, "POST", `/v2/files/${session.id}/large-upload/complete`, listed)
        return session.id
      })
      const [whole, gone] = [yield* uploaded, yield* uploaded]
      const findings = Effect.gen(function*() {
        const { verify } = yield* FileAudit.FileAudit
        const found = yield* Stream.runCollect(verify({ repair: false }))
        return Chunk.toReadonlyArray(found).map(({ subject, what }) => `${what} ${subject}`).sort()
      }).pipe(
        Effect.provide(NodeProduction.audit(Redacted.make(service.database.url), RealStore.options(service.bucket)))
      )
      assert.deepStrictEqual(yield* findings, [])
      yield* service.store.remove(`files/acme/${gone}`)
      yield* service.store.put("files/acme/stranger", new TextEncoder().encode("hello"))
      yield* service.sql(`update stevedore_file set etag = '"other"' where id = '${whole}'`)
      yield* service.sql("update stevedore_usage set bytes = bytes + 1")
      assert.deepStrictEqual(yield* findings, [
        `changed ${whole}`,
        `missing ${gone}`,
        "unknown files/acme/stranger",
        "usage acme"
      ])
    }), 240_000)
})
