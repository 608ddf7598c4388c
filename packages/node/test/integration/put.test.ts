import { NodeHttpClient } from "@effect/platform-node"
import { assert, describe, layer } from "@effect/vitest"
import { HttpObjectStorage, ObjectStorage } from "@stevedore/core"
import { FileSource, NodeObjectStorage } from "@stevedore/node"
import { Duration, Effect, Exit, Fiber, Layer, Record, Schedule, Stream, Tracer } from "effect"
import { createHash } from "node:crypto"
import * as Fs from "node:fs/promises"
import { setTimeout as sleep } from "node:timers/promises"
import { put, url } from "../support/put.js"
import * as StorageServer from "../support/storageServer.js"
import * as Temporary from "../support/temporary.js"

const MiB = 1024 * 1024

const adapters = {
  "Node's own sockets": NodeObjectStorage.layer(),
  undici: Layer.provide(HttpObjectStorage.layer, NodeHttpClient.layerUndici)
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const sourceOf = (bytes: Uint8Array) =>
  Effect.flatMap(Temporary.file("source.bin", bytes), (path) => FileSource.fromPath(path))

const until = (condition: () => boolean) =>
  Effect.promise(async () => {
    for (let turn = 0; turn < 2000; turn++) {
      if (condition()) return
      await sleep(2)
    }
    throw new Error("It did not come about")
  })

for (const [transport, live] of Record.toEntries(adapters)) {
  layer(live, { excludeTestServices: true })(`a PUT over ${transport}`, (it) => {
    describe("on the wire", () => {
      it.scoped("sends the URL as signed, the exact length, and no chunked encoding, token or trace header", () =>
        Effect.gen(function*() {
          const server = yield* StorageServer.serve(StorageServer.store)
          const bytes = Temporary.distinct(3 * MiB + 17)
          const source = yield* sourceOf(bytes)
          const target =
            "/bucket/a%20b/%E2%82%AC%2Fc+d~e/..f?X-Amz-Signature=ab%2Fc%2b%3D&x=1&x=2&empty=&bare&uploadId=a.b-c_d"
          const receipt = yield* put(`${server.origin}${target}`, { source, headers: { "content-type": "video/mp4" } })
            .pipe(
              Effect.withSpan("a span that is traced"),
              Effect.withTracer(Tracer.make({
                span: (name, parent, context, links, startTime, kind) => ({
                  _tag: "Span",
                  spanId: "0123456789abcdef",
                  traceId: "0123456789abcdef0123456789abcdef",
                  sampled: true,
                  name,
                  parent,
                  context,
                  links,
                  kind,
                  status: { _tag: "Started", startTime },
                  attributes: new Map(),
                  end: () => undefined,
                  attribute: () => undefined,
                  event: () => undefined,
                  addLinks: () => undefined
                }),
                context: (run) => run()
              }))
            )
          const [received] = server.requests
          assert(received !== undefined)
          assert.strictEqual(received.method, "PUT")
          assert.strictEqual(received.target, target)
          assert.strictEqual(received.sha256, sha256(bytes))
          assert.strictEqual(receipt.etag, `"${sha256(bytes)}"`)
          assert.deepStrictEqual(Object.keys(received.headers).sort(), [
            "accept-encoding",
            "connection",
            "content-length",
            "content-type",
            "host"
          ])
          assert.strictEqual(received.headers["content-length"], String(bytes.byteLength))
          assert.strictEqual(received.headers["content-type"], "video/mp4")
        }))

      it.scoped("sends each range's own bytes, 4 at a time, to a server that keeps pausing its reads", () =>
        Effect.gen(function*() {
          const server = yield* StorageServer.serve(async ({ drain, received, request, response }) => {
            const fits = setInterval(() => {
              request.pause()
              setTimeout(() => request.resume(), 3)
            }, 7)
            await drain()
            clearInterval(fits)
            response.writeHead(200, { etag: `"${received.sha256}"` }).end()
          })
          const bytes = Temporary.distinct(48 * MiB + 5)
          const source = yield* sourceOf(bytes)
          const length = 3 * MiB + 333
          const ranges = Array.from({ length: Math.ceil(bytes.byteLength / length) }, (_, index) => ({
            offset: index * length,
            length: Math.min(length, bytes.byteLength - index * length)
          }))
          const etags = yield* Effect.forEach(
            ranges,
            (range) => Effect.map(put(`${server.origin}/part`, { source, range }), ({ etag }) => etag),
            { concurrency: 4 }
          )
          assert.deepStrictEqual(
            etags,
            ranges.map(({ length, offset }) => `"${sha256(bytes.subarray(offset, offset + length))}"`)
          )
        }))

      it.scoped("uses only 4 connections for 40 requests, 4 at a time", () =>
        Effect.gen(function*() {
          const server = yield* StorageServer.serve(StorageServer.store)
          const source = yield* sourceOf(Temporary.distinct(40 * MiB))
          const ranges = Array.from({ length: 40 }, (_, index) => ({ offset: index * MiB, length: MiB }))
          yield* Effect.forEach(ranges, (range) => put(`${server.origin}/part`, { source, range }), { concurrency: 4 })
          assert.strictEqual(server.requests.length, 40)
          assert.strictEqual(server.connections().made, 4)
        }))
    })

    describe("errors", () => {
      it.scoped("reads an error response that arrives before the body is sent, in each of 30 attempts", () =>
        Effect.gen(function*() {
          const server = yield* StorageServer.serve(({ response }) => {
            response.writeHead(403, { "content-type": "application/xml" })
              .end("<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code><Message>no</Message></Error>")
          })
          const source = yield* sourceOf(Temporary.distinct(24 * MiB))
          for (let turn = 0; turn < 30; turn++) {
            const error = yield* Effect.flip(put(`${server.origin}/early`, { source }))
            assert.strictEqual(error._tag, "SignatureMismatch403")
          }
        }))

      it.scoped("fails with ConnectionFailed, arrived: unknown, if the connection is reset during the body", () =>
        Effect.gen(function*() {
          const server = yield* StorageServer.serve(({ request, socket }) => {
            request.once("data", () => socket.resetAndDestroy())
          })
          const source = yield* sourceOf(Temporary.distinct(8 * MiB))
          for (let turn = 0; turn < 10; turn++) {
            const error = yield* Effect.flip(put(`${server.origin}/reset`, { source }))
            assert(error._tag === "ConnectionFailed")
            assert.strictEqual(error.peer, "storage")
            assert.strictEqual(error.origin, server.origin)
            assert.strictEqual(error.arrived, "unknown")
            assert.match(error.code ?? "", /^[A-Z_]+$/)
          }
        }))

      for (
        const [when, reset] of [
          ["before the request is read", undefined],
          ["after the body", async ({ drain, socket }: StorageServer.Context) => {
            await drain()
            socket.resetAndDestroy()
          }],
          ["during the response", async ({ drain, response, socket }: StorageServer.Context) => {
            await drain()
            response.writeHead(200, { etag: "\"1\"", "content-length": 9 }).write(
              "half",
              () => socket.resetAndDestroy()
            )
          }]
        ] as const
      ) {
        it.scoped(`fails with ConnectionFailed if the connection is reset ${when}, and then uses a new one`, () =>
          Effect.gen(function*() {
            let failing = true
            const server = yield* StorageServer.serve(
              (context) => failing && reset !== undefined ? reset(context) : StorageServer.store(context),
              { onConnection: (socket) => failing && reset === undefined ? socket.resetAndDestroy() : undefined }
            )
            const source = yield* sourceOf(Temporary.distinct(2 * MiB))
            const error = yield* Effect.flip(put(`${server.origin}/reset`, { source }))
            assert(error._tag === "ConnectionFailed")
            // a reset right after the handshake may come before the connection counts as established
            assert.include(reset === undefined ? ["no", "unknown"] : ["unknown"], error.arrived)
            failing = false
            yield* put(`${server.origin}/reset`, { source })
            assert.strictEqual(server.requests.at(-1)?.connection, 1)
          }))
      }

      for (const [what, given] of [["fewer", MiB - 1], ["more", MiB + 1]] as const) {
        it.scoped(`fails with SourceChanged if a source has ${what} bytes than it said, and sends no whole body`, () =>
          Effect.gen(function*() {
            const server = yield* StorageServer.serve(StorageServer.store)
            const bytes = Temporary.distinct(given)
            const half = Math.floor(given / 2)
            const chunks = async function*() {
              yield bytes.subarray(0, half)
              yield bytes.subarray(half)
            }
            const storage = yield* ObjectStorage.ObjectStorage
            for (
              const body of [
                { _tag: "BytesBody" as const, bytes },
                { _tag: "StreamBody" as const, stream: Stream.make(bytes.subarray(0, half), bytes.subarray(half)) },
                ...(transport === "undici" ? [] : [{ _tag: "NativeBody" as const, content: chunks() }])
              ]
            ) {
              const error = yield* storage.put({
                url: url(`${server.origin}/x`),
                section: { range: { offset: 0, length: MiB }, body: () => Effect.succeed(body) },
                name: "stream",
                headers: {},
                clockOffset: 0,
                attempt: 1,
                onSent: () => undefined
              }).pipe(Effect.flip)
              assert.strictEqual(error._tag, "SourceChanged")
            }
            assert.isTrue(server.requests.every(({ sha256 }) => sha256 === undefined))
          }))
      }

      it.scoped("dies with the defect of the source's Stream, and closes the connection", () =>
        Effect.gen(function*() {
          const server = yield* StorageServer.serve(StorageServer.store)
          const storage = yield* ObjectStorage.ObjectStorage
          const body = {
            _tag: "StreamBody" as const,
            stream: Stream.concat(Stream.make(new Uint8Array(10)), Stream.die("a bug of the source"))
          }
          const exit = yield* storage.put({
            url: url(`${server.origin}/x`),
            section: { range: { offset: 0, length: 100 }, body: () => Effect.succeed(body) },
            name: "stream",
            headers: {},
            clockOffset: 0,
            attempt: 1,
            onSent: () => undefined
          }).pipe(Effect.exit, Effect.timeout("5 seconds"))
          assert.deepStrictEqual(exit, Exit.die("a bug of the source"))
          yield* until(() => server.connections().open === 0)
          assert.isTrue(server.requests.every(({ sha256 }) => sha256 === undefined))
        }))

      it.scoped("reads a response that arrives byte by byte, with a chunked error document", () =>
        Effect.gen(function*() {
          const document = "<Error><Code>SlowDown</Code><Message>x</Message></Error>"
          const server = yield* StorageServer.serve(async ({ drain, socket }) => {
            await drain()
            const answer = "HTTP/1.1 503 Slow Down\r\nRetry-After: 2\r\ntransfer-encoding: chunked\r\n\r\n" +
              `${document.length.toString(16)}\r\n${document}\r\n0\r\n\r\n`
            for (const byte of answer) {
              socket.write(byte)
              await sleep(1)
            }
          })
          const source = yield* sourceOf(Temporary.distinct(10))
          const error = yield* Effect.flip(put(`${server.origin}/slow`, { source }))
          assert(error._tag === "StorageUnavailable")
          assert.strictEqual(error.code, "SlowDown")
          assert.deepStrictEqual(error.retryAfter, Duration.seconds(2))
        }))

      it.scoped("fails with ConnectionFailed, arrived: no, if nothing listens on the port", () =>
        Effect.gen(function*() {
          const gone = yield* Effect.scoped(
            Effect.map(StorageServer.serve(StorageServer.store), ({ origin }) => origin)
          )
          const error = yield* Effect.flip(put(`${gone}/x`, { source: yield* sourceOf(Temporary.distinct(10)) }))
          assert(error._tag === "ConnectionFailed")
          assert.strictEqual(error.arrived, "no")
          assert.strictEqual(error.code, "ECONNREFUSED")
        }))

      it.scoped("fails with StorageRejected on a redirect, and does not follow it", () =>
        Effect.gen(function*() {
          const other = yield* StorageServer.serve(StorageServer.store)
          const server = yield* StorageServer.serve(async ({ drain, response }) => {
            await drain()
            response.writeHead(307, { location: `${other.origin}/elsewhere` }).end()
          })
          const error = yield* Effect.flip(
            put(`${server.origin}/moved`, { source: yield* sourceOf(Temporary.distinct(MiB)) })
          )
          assert(error._tag === "StorageRejected")
          assert.strictEqual(error.status, 307)
          assert.strictEqual(server.requests.length, 1)
          assert.strictEqual(other.requests.length, 0)
        }))

      for (
        const [change, what, apply] of [
          ["truncated", "size", (path: string) => Fs.truncate(path, MiB)],
          ["touched", "modified", (path: string) => Fs.utimes(path, 1, 1)]
        ] as const
      ) {
        it.scoped(`fails with SourceChanged if the file is ${change} meanwhile, and sends no whole body`, () =>
          Effect.gen(function*() {
            const path = yield* Temporary.file("source.bin", Temporary.distinct(32 * MiB))
            const source = yield* FileSource.fromPath(path)
            const server = yield* StorageServer.serve(async (context) => {
              await apply(path)
              await StorageServer.store(context)
            })
            const error = yield* Effect.flip(put(`${server.origin}/changed`, { source }))
            assert(error._tag === "SourceChanged")
            assert.strictEqual(error.what, what)
            assert.strictEqual(server.requests[0]?.sha256, undefined)
          }))
      }
    })

    describe("that is interrupted", () => {
      const states: ReadonlyArray<
        readonly [state: string, handler: (context: StorageServer.Context) => Promise<void>]
      > = [
        ["while the body is on its way", async ({ received, request }) => {
          for await (const chunk of request) received.bytes += chunk.length
        }],
        ["while it waits for the answer", ({ drain }) => drain()],
        ["while it reads the answer", async ({ drain, response }) => {
          await drain()
          response.writeHead(200, { etag: "\"1\"", "content-length": "100" }).write("half")
        }]
      ]
      for (const [state, handler] of states) {
        it.scoped(`settles and closes its connection within 50 ms: ${state}`, () =>
          Effect.gen(function*() {
            const server = yield* StorageServer.serve(handler)
            const source = yield* Effect.flatMap(
              Temporary.sparse("large", state.includes("on its way") ? 4096 * MiB : MiB),
              (path) => FileSource.fromPath(path)
            )
            const interrupted = Effect.gen(function*() {
              const begun = server.requests.length
              const fiber = yield* Effect.fork(put(`${server.origin}/interrupted`, { source }))
              yield* until(() => (server.requests[begun]?.bytes ?? 0) >= MiB)
              yield* Effect.sleep("20 millis")
              const [settled] = yield* Effect.timed(Fiber.interrupt(fiber))
              const [closed] = yield* Effect.timed(until(() => server.connections().open === 0))
              return Duration.toMillis(settled) + Duration.toMillis(closed)
            })
            // a busy machine can make any one of them late, but not all
            const best = yield* Effect.map(Effect.replicateEffect(interrupted, 6), (times) => Math.min(...times))
            assert.isBelow(best, 50)
          }))
      }
    })

    it.scoped("uses less than 100 MiB more memory for 1 GiB, even while the server does not read", () =>
      Effect.gen(function*() {
        const server = yield* StorageServer.serve(async ({ received, request, response }) => {
          request.pause()
          await sleep(1500)
          // not hashed: the server is in this process, and its work would be measured too
          request.on("data", (chunk) => received.bytes += chunk.length)
          request.resume()
          await new Promise((resolve) => request.on("end", resolve))
          response.writeHead(200, { etag: "\"1\"" }).end()
        })
        const source = yield* Effect.flatMap(Temporary.sparse("large", 1024 * MiB), (path) => FileSource.fromPath(path))
        yield* put(`${server.origin}/warm`, { source, range: { offset: 0, length: 8 * MiB } })
        const before = process.memoryUsage.rss()
        let peak = before
        const look = Effect.sync(() => peak = Math.max(peak, process.memoryUsage.rss()))
        const watch = yield* Effect.fork(Effect.repeat(look, Schedule.spaced("10 millis")))
        yield* Effect.ensuring(put(`${server.origin}/large`, { source }), Fiber.interrupt(watch))
        assert.strictEqual(server.requests.at(-1)?.bytes, 1024 * MiB)
        assert.isBelow((peak - before) / MiB, 100)
      }))
  })
}
