import { NodeHttpServer } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Checksum, RetryPolicy, ServiceProfile, Timeouts, type UploadOptions, Uploads } from "@stevedore/core"
import { FileSource, NodeStevedore } from "@stevedore/node"
import { Effect, Either, Fiber, Layer } from "effect"
import { Buffer } from "node:buffer"
import * as Fs from "node:fs/promises"
import { createServer } from "node:http"
import { join } from "node:path"
import { directory } from "../../../node/test/support/temporary.js"
import { FaultScript, ObjectStoreMemory, SandboxHttp } from "../../src/index.js"

// Whole uploads from a real file over real sockets, while the network, the servers and the file misbehave.

const MIB = 1024 * 1024
const size = 6 * MIB + 5

const distinct = (length: number, seed = 1): Buffer => {
  const bytes = Buffer.alloc(length, 7)
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(Math.imul(at + seed, 2_654_435_761) >>> 0, at)
  return bytes
}

const profile = ServiceProfile.extend(ServiceProfile.standard, {
  limits: { ...ServiceProfile.standard.limits, minimumPartSize: MIB }
})

/** A sandbox on two ports, whose storage can go away and come back on its port, and a client with real sockets. */
const world = (faults: FaultScript.FaultScript) =>
  Effect.gen(function*() {
    const sockets = createServer({ requestTimeout: 0 })
    const storage = yield* NodeHttpServer.make(() => sockets, { port: 0, host: "127.0.0.1" })
    const api = yield* NodeHttpServer.make(() => createServer(), { port: 0, host: "127.0.0.1" })
    const sandbox = yield* SandboxHttp.serve({ api, storage }, { minimumPartSize: MIB, faults }).pipe(
      Effect.provide(ObjectStoreMemory.layer({ minimumPartSize: MIB }))
    )
    yield* Effect.addFinalizer(() => Effect.sync(() => sockets.closeAllConnections()))
    const path = join(yield* directory, "interview.mp4")
    yield* Effect.promise(() => Fs.writeFile(path, distinct(size)))
    const client = NodeStevedore.layer({
      baseUrl: sandbox.apiOrigin,
      token: sandbox.token,
      profile,
      initial: 2,
      shortestPause: "20 millis",
      ledger: false
    }).pipe(
      Layer.provide(Layer.mergeAll(
        RetryPolicy.layer({ attempts: 12, base: "10 millis", cap: "200 millis" }),
        Timeouts.layer({ connect: "700 millis", stall: "700 millis", answer: "700 millis", call: "700 millis" })
      ))
    )
    const port = Number(new URL(sandbox.storageOrigin).port)
    const away = (millis: number) =>
      Effect.zipRight(
        Effect.async<void>((resume) => {
          sockets.close(() => resume(Effect.void))
          sockets.closeAllConnections()
        }),
        Effect.delay(
          Effect.async<void>((resume) => {
            sockets.listen(port, "127.0.0.1", () => resume(Effect.void))
          }),
          millis
        )
      )
    const upload = (options: UploadOptions.UploadOptions) =>
      Effect.flatMap(FileSource.fromPath(path), (source) => Uploads.upload(source, options)).pipe(
        Effect.provide(client)
      )
    /** Waits until storage has seen so many PUTs. */
    const puts = (count: number) =>
      Effect.repeat(Effect.delay(sandbox.report, "5 millis"), {
        until: ({ requests }) => requests.filter(({ method }) => method === "PUT").length >= count,
        times: 1000
      })
    return { sandbox, path, upload, puts, away }
  })

const single = { strategy: "single" } as const
const multipart = { strategy: "multipart", parts: 4, concurrency: 2 } as const

const { on } = FaultScript

const passing: ReadonlyArray<
  readonly [what: string, options: UploadOptions.UploadOptions, faults: FaultScript.FaultScript]
> = [
  ["a reset before the body", multipart, on("putPart").times(3).reset()],
  ["a reset in the body", multipart, on("putPart").times(3).resetAfter(MIB / 2)],
  ["a reset in the body of a single PUT", single, on("put").times(2).resetAfter(2 * MIB)],
  ["a reset after the body", multipart, on("putPart").times(3).loseAnswer()],
  ["a reset after the body of a single PUT", single, on("put").loseAnswer()],
  ["a stall before the first byte", multipart, on("putPart").part(2).stall("connect")],
  ["a stall in the body", multipart, on("putPart").part(2).stall("body", { afterBytes: MIB / 2 })],
  ["a stalled response", multipart, on("putPart").part(2).stall("answer")],
  ["an early response that the URL has expired", multipart, on("putPart").part(3).expire()],
  ["an early response that the URL of a single PUT has expired", single, on("put").expire()],
  ["an early 503", multipart, on("putPart").part(1).answer(503)],
  ["a 200 with an error in its body", multipart, on("putPart").part(1).answer(200, "InternalError")],
  ["a slow response", multipart, on("putPart").part(2).delay("400 millis")],
  ["a lost response to Complete", multipart, on("complete").loseAnswer()],
  ["a stalled response to Complete", multipart, on("complete").stall("answer")],
  ["a proxy's HTML page instead of the response to Complete", multipart, on("complete").html(502)],
  ["a lost response to the initiate", multipart, on("initiate").loseAnswer()],
  ["a failed attempt whose bytes arrive late", multipart, on("putPart").part(2).landLate("300 millis")]
]

describe("an upload over sockets stores exactly the bytes of the file", () => {
  for (const [what, options, faults] of passing) {
    it.scopedLive(`after ${what}, ${options.strategy}`, () =>
      Effect.gen(function*() {
        const { path, sandbox, upload } = yield* world(faults)
        const file = yield* upload(options)
        const stored = yield* sandbox.stored(file.id)
        assert.isTrue(Buffer.compare(stored, yield* Effect.promise(() => Fs.readFile(path))) === 0)
        assert.deepStrictEqual(file.sent.checksum, Checksum.ofBytes(Checksum.crc32, distinct(size)))
        const { breaches } = yield* sandbox.report
        assert.deepStrictEqual(breaches, [])
      }))
  }

  it.scopedLive("after an outage of the storage server in the middle of the upload", () =>
    Effect.gen(function*() {
      const { away, path, puts, sandbox, upload } = yield* world(on("putPart").delay("100 millis"))
      const fiber = yield* Effect.fork(upload({ ...multipart, parts: 6 }))
      yield* puts(3)
      yield* away(300)
      const file = yield* Fiber.join(fiber)
      const stored = yield* sandbox.stored(file.id)
      assert.isTrue(Buffer.compare(stored, yield* Effect.promise(() => Fs.readFile(path))) === 0)
      assert.deepStrictEqual((yield* sandbox.report).breaches, [])
    }))
})

const changes: ReadonlyArray<
  readonly [what: string, change: (path: string) => Promise<unknown>, tag?: "SourceUnreadable"]
> = [
  ["truncated", (path) => Fs.truncate(path, 2 * MIB)],
  ["appended to", (path) => Fs.appendFile(path, "more")],
  ["replaced by another file", async (path) => {
    await Fs.writeFile(`${path}.new`, distinct(size, 2))
    await Fs.rename(`${path}.new`, path)
  }],
  ["overwritten in place", async (path) => {
    const file = await Fs.open(path, "r+")
    await file.write(distinct(MIB, 3), 0, MIB, 5 * MIB)
    await file.close()
  }],
  ["removed", (path) => Fs.rm(path), "SourceUnreadable"]
]

describe("an upload does not send Complete and fails", () => {
  for (const [what, change, tag = "SourceChanged"] of changes) {
    for (const options of [single, multipart]) {
      it.scopedLive(`with ${tag} if its file is ${what} meanwhile, ${options.strategy}`, () =>
        Effect.gen(function*() {
          // storage takes its time with the last byte, so that the change is made before Complete
          const { path, puts, sandbox, upload } = yield* world(on("put").after(0).delay("300 millis"))
          const fiber = yield* Effect.fork(Effect.either(upload(options)))
          yield* puts(1)
          yield* Effect.promise(() => change(path))
          const outcome = yield* Fiber.join(fiber)
          assert(Either.isLeft(outcome))
          assert.strictEqual(outcome.left._tag, tag)
          const { requests } = yield* sandbox.report
          assert.isFalse(requests.some(({ operation }) => operation === "complete" || operation === "completeLarge"))
        }))
    }
  }
})
