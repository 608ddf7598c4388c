import { assert, describe, it } from "@effect/vitest"
import {
  ConnectionError,
  Downloads,
  ObjectStorage,
  PresignedUrl,
  ServiceApi,
  ServiceProfile,
  Uploads,
  UploadSources
} from "@stevedore/core"
import { Clock, Effect, Option, Ref, Stream } from "effect"
import { Buffer } from "node:buffer"
import { ObjectStore, Sandbox } from "../../src/index.js"
import { keyOf } from "../../src/sandbox/files.js"
import { encryptionHeaders, profile, secret, stevedore } from "../support/realStorage.js"

// Stevedore on Node against a store that nobody here wrote: see real-storage/README.md for what it is.

const MIB = 1024 * 1024

// no 4 aligned bytes are equal to others, so that a piece in a wrong place shows
const distinct = (size: number): Uint8Array => {
  const bytes = Buffer.alloc(size, 7)
  for (let at = 0; at + 4 <= size; at += 4) bytes.writeUInt32LE(Math.imul(at + 1, 2_654_435_761) >>> 0, at)
  return bytes
}

const assertSame = (actual: Uint8Array, expected: Uint8Array) =>
  assert.isTrue(Buffer.compare(actual, expected) === 0, `${actual.length} and ${expected.length} bytes differ`)

const hello = new TextEncoder().encode("hello")

const initiate = (size: number) =>
  Effect.flatMap(
    ServiceApi.ServiceApi,
    (service) => service.initiateUpload({ name: "notes.txt", mediaType: "text/plain", size })
  )

// one PUT as the engine makes it, with other headers, another URL or another idea of the time
const put = (
  url: PresignedUrl.PresignedUrl,
  bytes: Uint8Array,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly onBody?: () => void } = {}
) =>
  Effect.scoped(Effect.gen(function*() {
    const storage = yield* ObjectStorage.ObjectStorage
    const open = yield* UploadSources.fromBytes("notes.txt", bytes).open
    const section = yield* open.section({ offset: 0, length: bytes.byteLength })
    return yield* storage.put({
      url,
      section: {
        ...section,
        body: (...asked) => Effect.tap(section.body(...asked), () => Effect.sync(() => options.onBody?.()))
      },
      name: "notes.txt",
      headers: options.headers ?? {},
      clockOffset: 0,
      attempt: 1,
      onSent: () => undefined
    })
  }))

const changed = (url: PresignedUrl.PresignedUrl, change: (href: URL) => void) => {
  const href = new URL(PresignedUrl.reveal(url))
  change(href)
  return Option.getOrThrow(PresignedUrl.fromString(href.href))
}

const behind = (clock: Clock.Clock, millis: () => number): Clock.Clock => ({
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: () => clock.unsafeCurrentTimeMillis() - millis(),
  unsafeCurrentTimeNanos: () => clock.unsafeCurrentTimeNanos(),
  currentTimeMillis: Effect.sync(() => clock.unsafeCurrentTimeMillis() - millis()),
  currentTimeNanos: clock.currentTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})

const nothingStored = (fileId: string) =>
  Effect.gen(function*() {
    const refused = yield* Effect.flip(Sandbox.stored(fileId))
    assert.deepStrictEqual([refused.status, refused.code], [404, "NoSuchKey"])
  })

const download = (fileId: string, options?: Downloads.Options) =>
  Effect.map(Stream.runCollect(Downloads.stream(fileId, options)), (chunks) => Buffer.concat([...chunks]))

describe("a single PUT to a real store", () => {
  it.scopedLive("is signed over exactly the profile's encryption headers, with a deadline and no checksum", () =>
    Effect.gen(function*() {
      const { url } = yield* initiate(5)
      assert.deepStrictEqual(url.signedHeaders, Object.keys(encryptionHeaders))
      assert.isTrue(Option.isSome(url.deadline))
      assert.notInclude(PresignedUrl.reveal(url), "x-amz-checksum")
    }).pipe(Effect.provide(stevedore())))

  it.scopedLive("stores the bytes with their media type, and a download returns the same bytes", () =>
    Effect.gen(function*() {
      const bytes = distinct(3 * MIB + 17)
      const source = UploadSources.fromBytes("film.mp4", bytes, { mediaType: "video/mp4" })
      const file = yield* Uploads.upload(source, { strategy: "single" })
      const store = yield* ObjectStore.ObjectStore
      const stored = yield* store.head(keyOf(file.id))
      assert.deepStrictEqual([stored.size, stored.contentType], [bytes.byteLength, "video/mp4"])
      assertSame(yield* Sandbox.stored(file.id), bytes)
      assertSame(yield* download(file.id), bytes)
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(stevedore())))

  it.scopedLive("fails with `SignatureMismatch403` without a signed encryption header, and stores nothing", () =>
    Effect.gen(function*() {
      const { fileId, url } = yield* initiate(5)
      for (const left of Object.keys(encryptionHeaders)) {
        const headers = Object.fromEntries(Object.entries(encryptionHeaders).filter(([name]) => name !== left))
        const error = yield* Effect.flip(put(url, hello, { headers }))
        assert(error._tag === "SignatureMismatch403")
        assert.include(error.signedHeaders, left)
        assert.notInclude(error.sentHeaders, left)
        assert.notInclude(error.message, secret)
      }
      yield* nothingStored(fileId)
    }).pipe(Effect.provide(stevedore())))

  it.scopedLive("fails with `SignedHeaderMissing`, which names it, when the profile lacks a signed header", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Uploads.upload(UploadSources.fromBytes("notes.txt", hello)))
      assert(error._tag === "SignedHeaderMissing")
      assert.deepStrictEqual(error.headers, ["x-amz-server-side-encryption-aws-kms-key-id"])
    }).pipe(Effect.provide(stevedore({}, ServiceProfile.standard))))

  it.scopedLive("fails with `SignatureMismatch403` after one attempt when a signed header has another value", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Uploads.upload(UploadSources.fromBytes("notes.txt", hello)))
      assert(error._tag === "SignatureMismatch403")
      assert.strictEqual(error.attempts, 1)
    }).pipe(Effect.provide(stevedore(
      {},
      ServiceProfile.extend(profile, {
        encryptionHeaders: { ...encryptionHeaders, "x-amz-server-side-encryption": "AES256" }
      })
    ))))

  it.scopedLive("fails with `SignatureMismatch403` when the URL's path, expiry or signature was changed", () =>
    Effect.gen(function*() {
      const { fileId, url } = yield* initiate(5)
      const tampered = [
        changed(url, (href) => href.pathname = `${href.pathname}x`),
        changed(url, (href) => href.searchParams.set("X-Amz-Expires", "604800")),
        changed(url, (href) => href.searchParams.set("X-Amz-Signature", "0".repeat(64)))
      ]
      for (const other of tampered) {
        const error = yield* Effect.flip(put(other, hello, { headers: encryptionHeaders }))
        assert.strictEqual(error._tag, "SignatureMismatch403")
      }
      yield* nothingStored(fileId)
    }).pipe(Effect.provide(stevedore())))

  it.scopedLive("fails with `UrlExpired` after the URL's deadline, whether the storage or the client detects it", () =>
    Effect.gen(function*() {
      const { fileId, url } = yield* initiate(5)
      yield* Effect.sleep("1500 millis")
      // the client's clock is an hour late until the body goes out: so long the URL looks alive
      let late = 3_600_000
      const refused = yield* put(url, hello, { headers: encryptionHeaders, onBody: () => late = 0 }).pipe(
        Effect.flip,
        Effect.withClock(behind(yield* Effect.clock, () => late))
      )
      assert(refused._tag === "UrlExpired")
      assert.strictEqual(refused.reason, "Refused")
      const known = yield* Effect.flip(put(url, hello, { headers: encryptionHeaders }))
      assert(known._tag === "UrlExpired")
      assert.strictEqual(known.reason, "Deadline")
      yield* nothingStored(fileId)
    }).pipe(Effect.provide(stevedore({ urlLifetime: "1 second" }))))
})

describe("a multipart upload to a real store", () => {
  it.scopedLive("assembles parts that are uploaded concurrently into one file", () =>
    Effect.gen(function*() {
      const bytes = distinct(33 * MIB + 12_345)
      const source = UploadSources.fromBytes("film.mp4", bytes, { mediaType: "video/mp4" })
      const file = yield* Uploads.upload(source, { strategy: "multipart", parts: 6, concurrency: 4 })
      const store = yield* ObjectStore.ObjectStore
      const stored = yield* store.head(keyOf(file.id))
      assert.deepStrictEqual([stored.size, stored.contentType], [bytes.byteLength, "video/mp4"])
      assertSame(yield* Sandbox.stored(file.id), bytes)
      assertSame(yield* download(file.id), bytes)
      assert.deepStrictEqual((yield* Sandbox.report).breaches, [])
    }).pipe(Effect.provide(stevedore())))

  it.scopedLive("accepts parts of exactly 5 MiB and a last part of one byte, uploaded out of order", () =>
    Effect.gen(function*() {
      const service = yield* ServiceApi.ServiceApi
      const bytes = distinct(10 * MIB + 1)
      const session = yield* service.initiateLargeUpload({
        name: "film.mp4",
        mediaType: "video/mp4",
        size: bytes.byteLength,
        parts: Option.some(3)
      })
      const parts = yield* Effect.forEach([3, 1, 2], (partNumber) =>
        Effect.gen(function*() {
          const url = session.urls[partNumber - 1]
          assert(url !== undefined)
          assert.deepStrictEqual(url.signedHeaders, [])
          assert.deepStrictEqual(url.partNumber, Option.some(partNumber))
          const section = bytes.subarray((partNumber - 1) * 5 * MIB, partNumber * 5 * MIB)
          const { etag } = yield* put(url, section)
          return { partNumber, etag, size: section.byteLength, attempts: 1, checksum: undefined }
        }))
      const file = yield* service.completeLargeUpload({
        fileId: session.fileId,
        uploadId: session.uploadId,
        parts: parts.sort((a, b) => a.partNumber - b.partNumber)
      })
      assertSame(yield* download(file.id), bytes)
    }).pipe(Effect.provide(stevedore())))

  // Another writer replaces part 2 in the store, once it is there for the `times`th time: its etag is another then.
  const replacing = (loseAnswer: boolean) =>
    Effect.gen(function*() {
      const puts = yield* Ref.make(0)
      const storage = yield* ObjectStorage.ObjectStorage
      const replace: ObjectStorage.Service["put"] = (request) =>
        Effect.gen(function*() {
          const receipt = yield* storage.put(request)
          if (!Option.contains(request.url.partNumber, 2)) return receipt
          const time = yield* Ref.updateAndGet(puts, (number) => number + 1)
          if (loseAnswer && time === 1) {
            return yield* new ConnectionError.ConnectionFailed({
              peer: "storage",
              origin: request.url.origin,
              arrived: "unknown",
              attempts: request.attempt
            })
          }
          if (time === (loseAnswer ? 2 : 1)) {
            yield* Effect.provideService(
              put(request.url, distinct(5 * MIB + 3)),
              ObjectStorage.ObjectStorage,
              storage
            )
          }
          return receipt
        })
      return { storage: { ...storage, put: replace }, puts }
    })

  it.scopedLive("uploads a part again when Complete rejects the etag of a part that was sent twice", () =>
    Effect.gen(function*() {
      const { puts, storage } = yield* replacing(true)
      const bytes = distinct(18 * MIB)
      const file = yield* Uploads.upload(UploadSources.fromBytes("film.mp4", bytes), {
        strategy: "multipart",
        parts: 3
      }).pipe(Effect.provideService(ObjectStorage.ObjectStorage, storage))
      assert.strictEqual(yield* Ref.get(puts), 3)
      assertSame(yield* download(file.id), bytes)
    }).pipe(Effect.provide(stevedore())))

  it.scopedLive("fails with `ServiceUnavailable` when Complete rejects the etag of a part that was sent once", () =>
    Effect.gen(function*() {
      const { puts, storage } = yield* replacing(false)
      const error = yield* Uploads.upload(UploadSources.fromBytes("film.mp4", distinct(18 * MIB)), {
        strategy: "multipart",
        parts: 3
      }).pipe(Effect.provideService(ObjectStorage.ObjectStorage, storage), Effect.flip)
      assert(error._tag === "ServiceUnavailable")
      assert.strictEqual(error.status, 502)
      assert.include(error.message, "InvalidPart")
      assert.strictEqual(yield* Ref.get(puts), 1)
    }).pipe(Effect.provide(stevedore())))
})

describe("a download from a real store", () => {
  for (const how of ["content", "link", "redirect"] as const) {
    it.scopedLive(`returns the whole file and the requested ranges, and rejects a range beyond its end: ${how}`, () =>
      Effect.gen(function*() {
        const bytes = distinct(12 * MIB + 5)
        const source = UploadSources.fromBytes("film.mp4", bytes)
        const file = yield* Uploads.upload(source, { strategy: "multipart", parts: 2 })
        assertSame(yield* download(file.id), bytes)
        const ranges = [[0, 1], [6 * MIB - 3, 7], [bytes.byteLength - 4, 100], [MIB, undefined]] as const
        for (const [offset, length] of ranges) {
          const range = { offset, length }
          const expected = bytes.subarray(offset, length === undefined ? undefined : offset + length)
          assertSame(yield* download(file.id, { range }), expected)
        }
        const outside = yield* Effect.flip(download(file.id, { range: { offset: bytes.byteLength } }))
        assert.strictEqual(outside._tag, "InvalidRange")
      }).pipe(Effect.provide(stevedore(
        { download: how },
        ServiceProfile.extend(profile, { download: how === "link" ? "link" : "content" })
      ))))
  }
})
