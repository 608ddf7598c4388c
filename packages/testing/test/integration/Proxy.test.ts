import { NodeHttpClient, NodeHttpServer, Undici } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Lists, ServiceProfile, Uploads } from "@stevedore/core"
import { FileSource, NodeDownloads, NodeStevedore } from "@stevedore/node"
import { Effect, Layer, Stream } from "effect"
import * as Fs from "node:fs/promises"
import { createServer } from "node:http"
import type { Socket } from "node:net"
import { join } from "node:path"
import { directory } from "../../../node/test/support/temporary.js"
import { ObjectStoreMemory, SandboxHttp } from "../../src/index.js"
import { tunnels } from "../support/tunnels.js"

const MIB = 1024 * 1024

const bytes = Buffer.from(Array.from({ length: 3 * MIB + 5 }, (_, index) => index % 251))

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
  it.scopedLive("uploads whole and in parts, downloads and lists only through the proxy", () =>
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
      const proxy = yield* tunnels(({ target }) => new URL(`http://${target}`))
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
      }).pipe(Layer.provide(through(`http://127.0.0.1:${proxy.port}`)))

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
      assert.sameMembers([...new Set(proxy.asked.map(({ target }) => target))], hosts)
      assert.lengthOf(reached, proxy.asked.length)
    }))
})
