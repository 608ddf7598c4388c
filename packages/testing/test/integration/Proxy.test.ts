import { NodeHttpClient, NodeHttpServer, Undici } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Lists, ServiceProfile, Uploads } from "@stevedore/core"
import { FileSource, NodeDownloads, NodeStevedore } from "@stevedore/node"
import { Effect, Layer, Stream } from "effect"
import * as Fs from "node:fs/promises"
import { createServer } from "node:http"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { ObjectStoreMemory, SandboxHttp } from "../../src/index.js"
import { directory } from "../support/directory.js"

const MIB = 1024 * 1024

const bytes = Buffer.from(Array.from({ length: 3 * MIB + 5 }, (_, index) => index % 251))

/** A proxy that makes tunnels and tells where to. It can read nothing of what goes through those of TLS. */
const tunnels = Effect.acquireRelease(
  Effect.async<{ readonly origin: string; readonly led: Array<string>; readonly close: Effect.Effect<void> }>(
    (resume) => {
      const led: Array<string> = []
      const open = new Set<Socket>()
      const server = createServer((_, response) => response.writeHead(405).end())
      server.on("connect", (request, socket: Socket) => {
        const target = request.url ?? ""
        led.push(target)
        const { hostname, port } = new URL(`http://${target}`)
        const there = connect(Number(port), hostname, () => {
          socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
          socket.pipe(there)
          there.pipe(socket)
        })
        for (const end of [socket, there]) {
          open.add(end)
          end.on("error", () => end.destroy())
        }
        socket.on("close", () => there.destroy())
        there.on("close", () => socket.destroy())
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        const close = Effect.async<void>((done) => {
          for (const socket of open) socket.destroy()
          server.close(() => done(Effect.void))
        })
        resume(Effect.succeed({ origin: `http://127.0.0.1:${port}`, led, close }))
      })
    }
  ),
  ({ close }) => close
)

const through = (proxy: string) =>
  NodeHttpClient.layerUndiciWithoutDispatcher.pipe(
    Layer.provide(Layer.scoped(
      NodeHttpClient.Dispatcher,
      Effect.acquireRelease(
        Effect.sync(() => new Undici.ProxyAgent(proxy)),
        (agent) => Effect.promise(() => agent.destroy())
      )
    ))
  )

describe("a client behind a proxy", () => {
  it.scopedLive("uploads both ways, downloads and lists through it, and reaches nothing in another way", () =>
    Effect.gen(function*() {
      const reached: Array<number> = []
      const counting = () =>
        createServer({ requestTimeout: 0 }).on("connection", (socket: Socket) => reached.push(socket.localPort ?? 0))
      const at = { port: 0, host: "127.0.0.1" }
      const storage = yield* NodeHttpServer.make(counting, at)
      const api = yield* NodeHttpServer.make(counting, at)
      const sandbox = yield* SandboxHttp.serve({ api, storage }, { minimumPartSize: MIB, projects: 25 }).pipe(
        Effect.provide(ObjectStoreMemory.layer({ minimumPartSize: MIB }))
      )
      const proxy = yield* tunnels
      const folder = yield* directory
      const path = join(folder, "interview.mp4")
      yield* Effect.promise(() => Fs.writeFile(path, bytes))

      const client = NodeStevedore.layerWithoutHttpClient({
        baseUrl: sandbox.apiOrigin,
        token: sandbox.token,
        profile: ServiceProfile.extend(ServiceProfile.standard, {
          limits: { ...ServiceProfile.standard.limits, minimumPartSize: MIB }
        }),
        ledger: { directory: join(folder, "ledger") }
      }).pipe(Layer.provide(through(proxy.origin)))

      yield* Effect.gen(function*() {
        for (const options of [{ strategy: "single" }, { strategy: "multipart", parts: 3 }] as const) {
          const source = yield* FileSource.fromPath(path)
          const { id } = yield* Uploads.upload(source, options)
          const copy = join(folder, options.strategy)
          yield* NodeDownloads.toFile(id, copy, { partSize: MIB })
          assert.isTrue(bytes.equals(yield* Effect.promise(() => Fs.readFile(copy))))
        }
        assert.strictEqual(yield* Stream.runCount(Lists.projects()), 25)
      }).pipe(Effect.provide(client))

      assert.deepStrictEqual((yield* sandbox.report).breaches, [])
      const hosts = [sandbox.apiOrigin, sandbox.storageOrigin].map((origin) => new URL(origin).host)
      assert.sameMembers([...new Set(proxy.led)], hosts)
      assert.lengthOf(reached, proxy.led.length)
    }))
})
