import { assert, describe, it } from "@effect/vitest"
import {
  Checksum,
  Downloads,
  Files,
  RetryPolicy,
  ServiceApi,
  ServiceProfile,
  TransferGate,
  Uploads,
  UploadSources
} from "@stevedore/core"
import { Duration, Effect, Exit, Fiber, Layer, Random, Stream, TestClock } from "effect"
import { FaultScript, Sandbox, SandboxLayer, VirtualTime } from "../src/index.js"

const source = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"), { mediaType: "text/plain" })

// advances the clock until the program ends, however often it backs off
const soon = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(program)
    yield* Effect.repeatN(TestClock.adjust("1 minute"), 9)
    return yield* Fiber.join(fiber)
  })

const profiles: ReadonlyArray<SandboxLayer.Options> = [
  { fields: { fileName: "title" } },
  { fields: { mediaType: "mime" } },
  { fields: { size: "bytes" } },
  { fields: { parts: "part_count" } },
  { fields: { fileId: "uuid" } },
  { fields: { fileId: "file.id" } },
  { fields: { partUrl: "href" }, partUrls: "objects" },
  { fields: { partUrl: "put.href", partNumber: "put.index" }, partUrls: "objects" },
  { fields: { partNumber: "index" }, partUrls: "objects" },
  { fields: { partSize: "chunk.size" } },
  { fields: { completeParts: "chunks" } },
  { fields: { completePartNumber: "index" } },
  { fields: { completeEtag: "tag" } },
  { fields: { downloadUrl: "links.get" }, download: "link" },
  { envelope: "none" },
  { completeUploadBody: {} },
  { completeUploadBody: { id: "{file_id}", tag: "{etag}", bytes: "{size}", done: true } }
]

describe("SandboxLayer", () => {
  it.effect("provides all services that an upload requires", () =>
    Effect.gen(function*() {
      const file = yield* Uploads.upload(source)
      assert.strictEqual(file.name, "notes.txt")
      assert.strictEqual(new TextDecoder().decode(yield* Sandbox.stored(file.id)), "hello")
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.effect("survives a PUT that is refused twice and an answer that is lost", () =>
    Effect.gen(function*() {
      const file = yield* soon(Uploads.upload(source))
      const stored = yield* Sandbox.stored(file.id)
      assert.strictEqual(new TextDecoder().decode(stored), "hello")
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(SandboxLayer.memory({
      faults: FaultScript.on("put").times(2).answer(503, "SlowDown").and(FaultScript.on("complete").loseAnswer())
    }))))

  it.effect("computes checksums with the algorithm of a provided `Checksum` layer", () =>
    Effect.gen(function*() {
      const { sent } = yield* Uploads.upload(source)
      assert.strictEqual(sent.checksum?.algorithm, "crc64nvme")
    }).pipe(Effect.provide(Layer.provide(SandboxLayer.memory(), Checksum.layer(Checksum.crc64nvme)))))

  it.effect("uploads parts of a few bytes if `minimumPartSize` allows them", () =>
    Effect.gen(function*() {
      const file = yield* Uploads.upload(source, { strategy: "multipart", parts: 3 })
      assert.strictEqual(new TextDecoder().decode(yield* Sandbox.stored(file.id)), "hello")
      const { breaches, requests } = yield* Sandbox.report
      assert.deepStrictEqual(breaches, [])
      assert.lengthOf(requests.filter(({ operation }) => operation === "putPart"), 3)
    }).pipe(Effect.provide(SandboxLayer.memory({ minimumPartSize: 1 }))))

  it.effect("uploads to a sandbox with other field names, session shape, encryption headers and base path", () =>
    Effect.gen(function*() {
      const file = yield* Uploads.upload(source)
      assert.strictEqual(new TextDecoder().decode(yield* Sandbox.stored(file.id)), "hello")
    }).pipe(Effect.provide(SandboxLayer.memory({
      fields: { fileName: "title", mediaType: "mime", fileId: "file_id" },
      envelope: "none",
      partUrls: "objects",
      encryptionHeaders: {
        "x-amz-server-side-encryption": "aws:kms",
        "x-amz-server-side-encryption-aws-kms-key-id": "1"
      },
      apiBasePath: "/api"
    }))))

  it.effect.each(profiles)(
    "uploads, inspects and downloads with a service of this profile, and only of this: %j",
    (options) => {
      const whole = Effect.gen(function*() {
        for (const strategy of ["single", "multipart"] as const) {
          const { id } = yield* Uploads.upload(source, { strategy, ...(strategy === "single" ? {} : { parts: 3 }) })
          assert.strictEqual((yield* Files.inspect(id)).id, id)
          const text = yield* Stream.mkString(Stream.decodeText(Downloads.stream(id)))
          assert.strictEqual(text, "hello")
        }
        const { breaches } = yield* Sandbox.report
        assert.deepStrictEqual(breaches, [])
      })
      const memory = (more: SandboxLayer.Options) => SandboxLayer.memory({ minimumPartSize: 1, ...options, ...more })
      const strict = ServiceProfile.extend(ServiceProfile.standard, {
        envelope: "data",
        download: options.download === "link" ? "link" : "content",
        limits: { minimumPartSize: 1 }
      })
      return Effect.gen(function*() {
        yield* Effect.provide(whole, memory({}))
        const other = yield* Effect.exit(Effect.provide(whole, memory({ profile: strict })))
        // a part number or a part size that the client does not know is not missed
        const isMissed = options.fields?.partSize === undefined && options.fields?.partNumber !== "index"
        assert.strictEqual(Exit.isFailure(other), isMissed)
      })
    }
  )

  it.effect("uses custom service paths in both the sandbox and the client", () =>
    Effect.gen(function*() {
      const { id } = yield* Uploads.upload(source)
      yield* Uploads.upload(source, { strategy: "multipart", parts: 3 })
      yield* Files.inspect(id)
      yield* (yield* ServiceApi.ServiceApi).tokenInfo
      const text = yield* Stream.mkString(Stream.decodeText(Downloads.stream(id)))
      assert.strictEqual(text, "hello")
      const { breaches, requests } = yield* Sandbox.report
      assert.deepStrictEqual(breaches, [])
      assert.includeMembers(requests.map(({ operation }) => operation), [
        "initiate",
        "complete",
        "initiateLarge",
        "completeLarge",
        "file",
        "download",
        "tokenInfo"
      ])
    }).pipe(Effect.provide(SandboxLayer.memory({
      minimumPartSize: 1,
      apiBasePath: "/api",
      paths: {
        initiateUpload: "/v3/objects",
        completeUpload: "/v3/objects/{file_id}/done",
        initiateLargeUpload: "/v3/large-objects",
        completeLargeUpload: "/v3/large-objects/{file_id}/done",
        file: "/v3/objects/{file_id}",
        download: "/v3/objects/{file_id}/content",
        tokenInfo: "/v3/me"
      }
    }))))

  it.effect("fails with `SignatureMismatch403` if the profile has other encryption headers than the sandbox", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Uploads.upload(source))
      assert.strictEqual(error._tag, "SignatureMismatch403")
    }).pipe(Effect.provide(SandboxLayer.memory({
      profile: ServiceProfile.extend(ServiceProfile.standard, {
        encryptionHeaders: { "x-amz-server-side-encryption": "AES256" }
      })
    }))))

  it.effect("does not retry a PUT if the upload is provided with `RetryPolicy.none`", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Uploads.upload(source).pipe(Effect.provide(RetryPolicy.none)))
      assert.strictEqual(error._tag, "StorageUnavailable")
      const { requests } = yield* Sandbox.report
      assert.lengthOf(requests.filter(({ operation }) => operation === "put"), 1)
    }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("put").always().answer(503) }))))

  it.effect("retries without waiting unless the upload is provided with its own retry policy", () =>
    Effect.gen(function*() {
      const policy = RetryPolicy.layer({ base: "10 seconds" })
      const lasting = <A, E, R>(program: Effect.Effect<A, E, R>) =>
        Effect.map(VirtualTime.run(Effect.timed(program)), ([duration]) => Duration.toMillis(duration))
      assert.strictEqual(yield* lasting(Uploads.upload(source)), 0)
      assert.strictEqual(yield* lasting(Effect.provide(Uploads.upload(source), policy)), 15_000)
    }).pipe(
      Effect.withRandom(Random.fixed([0.5])),
      Effect.provide(SandboxLayer.memory({
        faults: FaultScript.on("put").times(2).answer(500).and(FaultScript.on("put").after(1).times(2).answer(500))
      }))
    ))

  for (
    const [options, millis] of [
      [{}, 0],
      [{ backOff: true }, 500],
      [{ shortestPause: "5 seconds" }, 5000],
      [{ backOff: true, shortestPause: "5 seconds" }, 5000]
    ] as const
  ) {
    it.effect(`${JSON.stringify(options)}: a SlowDown pauses the transfer gate for ${millis} ms`, () =>
      Effect.gen(function*() {
        const gate = yield* TransferGate.TransferGate
        yield* Effect.exit(gate.pass(Effect.fail({ recovery: "slowDown", attempts: 1 })))
        assert.strictEqual(Duration.toMillis((yield* gate.state).pausedFor), millis)
      }).pipe(Effect.provide(SandboxLayer.memory(options))))
  }
})
