import type { HttpServer } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Lists, ServiceProfile, Uploads } from "@stevedore/core"
import { FileSource, NodeDownloads, NodeStevedore } from "@stevedore/node"
import { Effect, Stream } from "effect"
import * as Fs from "node:fs/promises"
import { createServer } from "node:http"
import type { Socket } from "node:net"
import { join } from "node:path"
import { directory } from "../../../node/test/support/temporary.js"
import { ObjectStoreMemory, SandboxHttp } from "../../src/index.js"
import { tunnels } from "../support/tunnels.js"

const MIB = 1024 * 1024

const bytes = Buffer.from(Array.from({ length: 3 * MIB + 5 }, (_, index) => index % 251))

const portOf = (address: HttpServer.Address): number => address._tag === "TcpAddress" ? address.port : 0

describe("a client behind a proxy", () => {
  it.scopedLive("uploads whole and in parts, downloads and lists only through the proxy", () =>
    Effect.gen(function*() {
      const reached: Array<number> = []
      const counting = () =>
        createServer({ requestTimeout: 0 }).on("connection", (socket: Socket) => reached.push(socket.localPort ?? 0))
      const at = { port: 0, host: "127.0.0.1" }
      const storage = yield* NodeHttpServer.make(counting, at)
      const api = yield* NodeHttpServer.make(counting, at)
      // this machine is never reached through a proxy
      const sandbox = yield* SandboxHttp.serve({ api, storage }, {
        minimumPartSize: MIB,
        projects: 25,
        apiOrigin: "http://api.test",
        storageOrigin: "http://storage.test"
      }).pipe(
        Effect.provide(ObjectStoreMemory.layer({ minimumPartSize: MIB }))
      )
      const endOf = ({ address }: typeof api) => new URL(`http://127.0.0.1:${portOf(address)}`)
      const ends = new Map([["api.test:80", endOf(api)], ["storage.test:80", endOf(storage)]])
      const proxy = yield* tunnels(({ target }) => ends.get(target))
      const folder = yield* directory
      const path = join(folder, "interview.mp4")
      yield* Effect.promise(() => Fs.writeFile(path, bytes))

      const client = NodeStevedore.layer({
        baseUrl: sandbox.apiOrigin,
        token: sandbox.token,
        profile: ServiceProfile.extend(ServiceProfile.standard, {
          limits: { ...ServiceProfile.standard.limits, minimumPartSize: MIB }
        }),
        ledger: { directory: join(folder, "ledger") },
        allowInsecureHttp: true,
        proxy: { origin: `http://127.0.0.1:${proxy.port}` }
      })

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
      assert.sameMembers([...new Set(proxy.asked.map(({ target }) => target))], [...ends.keys()])
      assert.lengthOf(reached, proxy.asked.length)
    }))
})
