import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Downloads, RetryPolicy, ServiceProfile, Uploads, UploadSources } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Chunk, Effect, Stream } from "effect"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer, request } from "node:http"
import { freePort } from "../../../../.ci/free-port.mjs"
import * as NodeServe from "../../src/NodeServe.js"

/** Passes everything on to a service, flips one bit of the bodies of some PUTs, and runs `before` each Complete. */
const flipping = (port: number, isFlipped: (count: number) => boolean, before: () => void = () => {}) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
        let puts = 0
        const server = createServer((incoming, answer) => {
          if (incoming.url?.endsWith("/complete") === true) before()
          let isDue = incoming.method === "PUT" && isFlipped(puts++)
          const onward = request(
            { port, method: incoming.method, path: incoming.url, headers: incoming.headers, agent: false },
            (back) => {
              // the connection to the client is another one
              const { connection: _, "keep-alive": __, ...headers } = back.headers
              answer.writeHead(back.statusCode ?? 502, headers)
              back.pipe(answer)
            }
          )
          onward.on("error", () => answer.destroy())
          incoming.on("data", (chunk: Buffer) => {
            if (isDue) chunk[0] = (chunk[0] ?? 0) ^ 1
            isDue = false
            onward.write(chunk)
          })
          incoming.on("end", () => onward.end())
        })
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          resume(Effect.succeed({
            port: address !== null && typeof address === "object" ? address.port : 0,
            close: () => {
              server.closeAllConnections()
              server.close()
            }
          }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    (proxy) => proxy.port
  )

/** A client of a service in a directory, with all of that in between. `before` is told where the bytes are. */
const served = (isFlipped: (count: number) => boolean, before: (folder: string) => void = () => {}) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-flipped-" })
    const own = yield* Effect.promise(freePort)
    const port = yield* flipping(own, isFlipped, () => before(`${directory}/store/bytes`))
    const baseUrl = `http://127.0.0.1:${port}`
    const { token } = yield* NodeServe.serve({ directory, port: own, minimumPartSize: 1, publicUrl: baseUrl })
    return NodeStevedore.layer({
      baseUrl,
      token,
      ledger: false,
      // each PUT of three is damaged, whosever: some meet it many times
      retry: RetryPolicy.layer({ base: "1 millis", attempts: 30 }),
      profile: ServiceProfile.extend(ServiceProfile.standard, { limits: { minimumPartSize: 1 } }),
      allowInsecureHttp: true
    })
  })

describe("bytes that change between a client and the service", () => {
  it.live(
    "are never called proven: of 200 uploads each is stored as it was read, or is an error",
    () =>
      Effect.gen(function*() {
        const client = yield* served((count) => count % 3 === 1)
        yield* Effect.gen(function*() {
          const proofs = yield* Effect.forEach(
            Array.from({ length: 200 }, (_, index) => index),
            (index) =>
              Effect.gen(function*() {
                const bytes = new Uint8Array(100 + index).fill(index)
                const { id, sent } = yield* Uploads.upload(
                  UploadSources.fromBytes(`${index}.bin`, bytes),
                  index % 2 === 0 ? {} : { strategy: "multipart", parts: 2 }
                )
                const back = Chunk.toReadonlyArray(yield* Stream.runCollect(Downloads.stream(id)))
                assert.deepStrictEqual(Buffer.concat(back), Buffer.from(bytes))
                return sent.proof
              }),
            { concurrency: 16 }
          )
          assert.deepStrictEqual([...new Set(proofs)], ["stored"])
        }).pipe(Effect.provide(client))
      }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)),
    120_000
  )

  it.live(
    "on the disk of the service, between the last PUT and Complete, are no file that is done",
    () =>
      Effect.gen(function*() {
        const flipped = new Set<string>()
        const client = yield* served(() => false, (folder) => {
          for (const name of readdirSync(folder)) {
            if (flipped.has(name)) continue
            flipped.add(name)
            const place = `${folder}/${name}`
            const bytes = readFileSync(place)
            bytes[0] = (bytes[0] ?? 0) ^ 1
            writeFileSync(place, bytes)
          }
        })
        yield* Effect.gen(function*() {
          for (let index = 0; index < 11; index++) {
            const bytes = new Uint8Array(100 + index).fill(index)
            const failure = yield* Effect.flip(
              Uploads.upload(UploadSources.fromBytes(`${index}.bin`, bytes), { strategy: "multipart", parts: 2 })
            )
            assert.include(failure.message, "What is stored is not what was received.")
          }
        }).pipe(Effect.provide(client))
      }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)),
    60_000
  )
})
