/**
 * `sandbox.mjs <projects> <token>`: the sandbox with a list of so many projects, in its own process, on loopback. It listens
 * when the list is made and in order.
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as ObjectStoreMemory from "@stevedore/server/parts/objectStoreMemory"
import * as SandboxHttp from "@stevedore/testing/SandboxHttp"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import type { Told } from "../Told.js"

class NotReady extends Data.TaggedError("NotReady")<{ readonly cause: unknown }> {}

const [projects = "0", token = ""] = process.argv.slice(2)

const tell = (told: Told) => process.send?.(told)

// it is there for the process that started it
process.on("disconnect", () => process.exit())

const server = NodeHttpServer.make(() => createServer({ requestTimeout: 0 }), { port: 0, host: "127.0.0.1" })

const firstPage = (port: number) =>
  Effect.tryPromise({
    try: async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/projects?page[limit]=1`, {
        headers: { authorization: `Bearer ${token}` }
      })
      await answer.text()
    },
    catch: (cause) => new NotReady({ cause })
  })

const main = Effect.gen(function*() {
  const servers = yield* Effect.all({ api: server, storage: server })
  yield* SandboxHttp.serve(servers, { token, projects: Number(projects) })
  const { address } = servers.api
  if (address._tag !== "TcpAddress") return
  yield* firstPage(address.port)
  yield* Effect.sync(() => tell({ _tag: "Listening", port: address.port }))
  yield* Effect.never
})

await main.pipe(Effect.provide(ObjectStoreMemory.layer()), Effect.scoped, Effect.runPromise)
