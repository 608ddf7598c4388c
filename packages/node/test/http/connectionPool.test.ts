import { HttpClient, HttpClientRequest } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ConnectionPool from "../../src/http/connectionPool.js"
import * as SocketClient from "../../src/http/socketClient.js"
import * as StorageServer from "../support/storageServer.js"

describe("the connection pool", () => {
  it.scopedLive("forgets the origin that was not used for longest, with its idle connections, once there are too many", () =>
    Effect.gen(function*() {
      const client = SocketClient.make(yield* ConnectionPool.make({ most: 2 }))
      const get = ({ origin }: StorageServer.StorageServer) =>
        HttpClient.withScope(client).execute(HttpClientRequest.get(origin)).pipe(
          Effect.flatMap(({ text }) => text),
          Effect.scoped
        )
      const [first, second, third] = yield* Effect.all([
        StorageServer.serve(StorageServer.store),
        StorageServer.serve(StorageServer.store),
        StorageServer.serve(StorageServer.store)
      ])
      for (const server of [first, second, first, third]) yield* get(server)
      yield* Effect.sleep("10 millis").pipe(Effect.repeat({ until: () => second.connections().open === 0, times: 200 }))
      assert.deepStrictEqual([first, second, third].map((server) => server.connections().open), [1, 0, 1])
      for (const server of [first, third, second]) yield* get(server)
      assert.deepStrictEqual([first, third, second].map((server) => server.connections().made), [1, 1, 2])
    }))

  it.scopedLive("asks again on a new connection after a 421, and keeps none of the others", () =>
    Effect.gen(function*() {
      const client = SocketClient.make(yield* ConnectionPool.make())
      let misdirected = false
      const server = yield* StorageServer.serve(({ response }) => {
        setTimeout(() => response.writeHead(misdirected ? 421 : 200, { "content-length": 0 }).end(), 20)
      })
      const get = HttpClient.withScope(client).execute(HttpClientRequest.get(server.origin)).pipe(
        Effect.flatMap(({ status, text }) => Effect.as(text, status)),
        Effect.scoped
      )
      yield* Effect.all([get, get, get], { concurrency: 3 })
      misdirected = true
      assert.strictEqual(yield* get, 421)
      misdirected = false
      assert.strictEqual(yield* get, 200)
      assert.strictEqual(server.connections().made, 4)
    }))

  it.scopedLive("closes a connection whose origin was forgotten meanwhile instead of keeping it", () =>
    Effect.gen(function*() {
      const pool = yield* ConnectionPool.make({ most: 1 })
      const [first, second] = yield* Effect.all([
        StorageServer.serve(StorageServer.store),
        StorageServer.serve(StorageServer.store)
      ])
      const client = SocketClient.make(pool)
      const asked = HttpClient.withScope(client).execute(HttpClientRequest.get(first.origin))
      yield* Effect.scoped(Effect.gen(function*() {
        const { text } = yield* asked
        yield* Effect.scoped(client.execute(HttpClientRequest.get(second.origin)))
        yield* text
      }))
      yield* Effect.sleep("10 millis").pipe(Effect.repeat({ until: () => first.connections().open === 0, times: 200 }))
      assert.strictEqual(first.connections().open, 0)
    }))
})
