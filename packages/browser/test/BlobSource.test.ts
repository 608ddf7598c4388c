import { assert, describe, it } from "@effect/vitest"
import { BlobSource } from "@stevedore/browser"
import { ServiceProfile, type SourceError } from "@stevedore/core"
import { Effect, FastCheck, Fiber, TestClock } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import * as FakePage from "./fixtures/fakePage.js"

const KiB = 1024

const bytes = (size: number, mark = 0): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: size }, (_, index) => (index * 7 + mark) % 251)

const file = (content: Uint8Array<ArrayBuffer>, options: FilePropertyBag = { lastModified: 5 }, name = "a.bin"): File =>
  new File([content], name, options)

const collected = (blob: Blob) => Effect.promise(async () => new Uint8Array(await blob.arrayBuffer()))

const sinkOf = (controller: ReadableStreamDefaultController<Uint8Array>) =>
  new WritableStream<Uint8Array>({
    write: (chunk) => controller.enqueue(chunk),
    close: () => controller.close()
  })

/** What a browser says of a changed file is believed if it says the same a second later. */
const aSecondLater = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* FakePage.settled
    yield* TestClock.adjust("1 second")
    return yield* Fiber.join(fiber)
  })

describe("BlobSource", () => {
  it.effect("takes name and media type from the file unless given, and defaults to application/octet-stream", () =>
    Effect.gen(function*() {
      const plain = yield* BlobSource.fromFile(file(bytes(10), { type: "image/png" }))
      assert.deepInclude(plain, { name: "a.bin", mediaType: "image/png", size: 10, held: false })
      const other = yield* BlobSource.fromFile(file(bytes(10)), { name: "folder/a.bin", mediaType: "text/plain" })
      assert.deepInclude(other, { name: "folder/a.bin", mediaType: "text/plain" })
      const untyped = yield* BlobSource.fromBlob(new Blob(["a"]), { name: "a" })
      assert.strictEqual(untyped.mediaType, "application/octet-stream")
      const photo = yield* BlobSource.fromBlob(new Blob(["a"]), { name: "IMG_0001.HEIC" })
      assert.strictEqual(photo.mediaType, "image/heic")
    }))

  it.effect("rejects an empty name or a media type that is too long with InvalidSource", () =>
    Effect.gen(function*() {
      const name = yield* Effect.flip(BlobSource.fromBlob(new Blob(["a"]), { name: "" }))
      assert.deepInclude(name, { _tag: "InvalidSource", field: "name" })
      const long = yield* Effect.flip(BlobSource.fromFile(file(bytes(1)), { mediaType: "a".repeat(256) }))
      assert.deepInclude(long, { _tag: "InvalidSource", field: "mediaType" })
    }))

  it.effect("limits name and media type to the standard profile's lengths, counted in characters", () =>
    Effect.gen(function*() {
      const { mediaTypeLength, nameLength } = ServiceProfile.standard.limits
      const longest = { name: "🚢".repeat(nameLength), mediaType: "a/".padEnd(mediaTypeLength, "a") }
      const source = yield* BlobSource.fromBlob(new Blob(["a"]), longest)
      assert.deepInclude(source, longest)
      for (const field of ["name", "mediaType"] as const) {
        const options = { ...longest, [field]: `${longest[field]}a` }
        assert.deepInclude(yield* Effect.flip(BlobSource.fromBlob(new Blob(["a"]), options)), {
          _tag: "InvalidSource",
          field
        })
      }
    }))

  it.effect.prop(
    "a section's body is exactly its range, has no media type, and passes all bytes to its observer",
    [FastCheck.integer({ min: 1, max: 5000 }), FastCheck.nat(), FastCheck.nat()],
    ([size, from, much]) =>
      Effect.scoped(Effect.gen(function*() {
        const content = bytes(size)
        const source = yield* BlobSource.fromFile(file(content, { type: "text/plain" }))
        const open = yield* source.open
        const offset = from % size
        const range = { offset, length: 1 + much % (size - offset) }
        const section = yield* open.section(range)
        const seen: Array<number> = []
        const body = yield* section.body((chunk) => chunk.forEach((byte) => seen.push(byte)))
        assert(body._tag === "BlobBody")
        assert.strictEqual(body.blob.type, "")
        const expected = content.subarray(offset, offset + range.length)
        assert.deepStrictEqual(yield* collected(body.blob), expected)
        yield* body.observed
        assert.deepStrictEqual(Uint8Array.from(seen), expected)
      })),
    { fastCheck: { numRuns: runs(30) } }
  )

  it.effect("the fingerprint depends on the date, the size and sampled bytes, but not on the other bytes", () =>
    Effect.gen(function*() {
      const content = bytes(300 * KiB)
      const changed = (at: number) => {
        const copy = content.slice()
        copy[at] = 255
        return copy
      }
      const identity = (file: File) => Effect.map(BlobSource.fromFile(file), ({ fingerprint }) => fingerprint.identity)
      const own = yield* identity(file(content))
      assert.strictEqual(yield* identity(file(content.slice())), own)
      assert.notStrictEqual(yield* identity(file(content, { lastModified: 6 })), own)
      assert.notStrictEqual(yield* identity(file(bytes(300 * KiB + 1))), own)
      for (const at of [0, 150 * KiB, 300 * KiB - 1]) {
        assert.notStrictEqual(yield* identity(file(changed(at))), own, `changed at ${at}`)
      }
      // what the sample does not hold it cannot tell
      assert.strictEqual(yield* identity(file(changed(80 * KiB))), own)
    }))

  it.effect("the fingerprint has size and date by themselves, so that a changed file can be told what has changed", () =>
    Effect.gen(function*() {
      const chosen = yield* BlobSource.fromFile(file(bytes(10)))
      assert.deepInclude(chosen.fingerprint, { kind: "blob", size: 10, modified: 5 })
      const made = yield* BlobSource.fromBlob(new Blob(["abc"]), { name: "a" })
      assert.deepInclude(made.fingerprint, { kind: "blob", size: 3 })
      assert.notProperty(made.fingerprint, "modified")
    }))

  it.effect("a handle's file has the handle's name, unless another is given", () =>
    Effect.gen(function*() {
      const handle = {
        name: "b.bin",
        kind: "file",
        getFile: () => Promise.resolve(file(bytes(10)))
      } as FileSystemFileHandle
      assert.strictEqual((yield* BlobSource.fromHandle(handle)).name, "b.bin")
      assert.strictEqual((yield* BlobSource.fromHandle(handle, { name: "folder/b.bin" })).name, "folder/b.bin")
    }))

  it.effect("opening fails with SourceChanged when the browser reports NotReadableError", () =>
    Effect.gen(function*() {
      const gone = file(bytes(10))
      const source = yield* BlobSource.fromFile(gone)
      const refusal = () => Promise.reject(new DOMException("", "NotReadableError"))
      const pull = refusal
      Object.assign(gone, {
        stream: () => new ReadableStream({ pull, type: "bytes" }),
        slice: () => ({ arrayBuffer: refusal })
      })
      const error = yield* aSecondLater(Effect.flip(Effect.scoped(source.open)))
      assert.deepInclude(error, { _tag: "SourceChanged", fileName: "a.bin", what: "modified" })
    }))

  describe("a change that the browser does not report", () => {
    it.effect.each([0, 150 * KiB, 300 * KiB - 1])(
      "fails with SourceChanged if the byte at %d is another when the file is opened or checked, as in Firefox",
      (at) =>
        Effect.gen(function*() {
          const content = bytes(300 * KiB)
          const chosen = file(content)
          const source = yield* BlobSource.fromFile(chosen)
          const open = yield* source.open
          yield* open.unchanged
          const now = content.slice()
          now[at] = 255
          const changed = file(now)
          Object.assign(chosen, { slice: changed.slice.bind(changed) })
          const expected = { _tag: "SourceChanged", fileName: "a.bin", what: "content" } as const
          assert.deepInclude(yield* Effect.flip(open.unchanged), expected)
          assert.deepInclude(yield* Effect.flip(Effect.scoped(source.open)), expected)
        }).pipe(Effect.scoped)
    )

    it.effect("fails with SourceChanged if the file has another date, as WebKit tells at any time", () =>
      Effect.gen(function*() {
        const chosen = file(bytes(10))
        const source = yield* BlobSource.fromFile(chosen)
        const open = yield* source.open
        const gone = () => Promise.reject(new DOMException("", "NotFoundError"))
        const pull = gone
        Object.defineProperty(chosen, "lastModified", { value: 6 })
        Object.assign(chosen, {
          slice: () => ({ size: 10, stream: () => new ReadableStream({ pull, type: "bytes" }) })
        })
        const expected = { _tag: "SourceChanged", fileName: "a.bin", what: "modified" } as const
        assert.deepInclude(yield* Effect.flip(open.unchanged), expected)
        assert.deepInclude(yield* Effect.flip(open.readThrough({ offset: 0, length: 10 }, () => {})), expected)
      }).pipe(Effect.scoped))

    it.scoped("fails with SourceChanged if the file has another date while a section of it is being read", () =>
      Effect.gen(function*() {
        const chosen = file(bytes(10))
        const source = yield* BlobSource.fromFile(chosen)
        const open = yield* source.open
        const section = yield* open.section({ offset: 0, length: 5 })
        yield* section.body(() => {})
        yield* open.unchanged
        Object.defineProperty(chosen, "lastModified", { value: 6 })
        assert.deepInclude(yield* Effect.flip(open.unchanged), { _tag: "SourceChanged", what: "modified" })
      }))

    it.effect("fails with SourceChanged if the file gets another date while its sample is read", () =>
      Effect.gen(function*() {
        const chosen = file(bytes(10))
        const source = yield* BlobSource.fromFile(chosen)
        const pull = () => {
          Object.defineProperty(chosen, "lastModified", { value: 6 })
          return Promise.reject(new DOMException("", "NotFoundError"))
        }
        Object.assign(chosen, { stream: () => new ReadableStream({ pull, type: "bytes" }) })
        const error = yield* Effect.flip(Effect.scoped(source.open))
        assert.deepInclude(error, { _tag: "SourceChanged", fileName: "a.bin", what: "modified" })
      }))

    it.effect("fails with SourceChanged if a file is shorter, although the browser fills up what it reads at once", () =>
      Effect.gen(function*() {
        const short = new Blob([bytes(9)])
        const chosen = file(bytes(10))
        // no byte streams either, as in WebKit
        const stream = () => new ReadableStream({ start: (controller) => short.stream().pipeTo(sinkOf(controller)) })
        const slice = () => Object.assign(new Blob([bytes(10)]), { stream })
        const error = yield* Effect.flip(BlobSource.fromFile(Object.assign(chosen, { stream, slice })))
        assert.deepInclude(error, { _tag: "SourceChanged", what: "size", actual: "9 bytes" })
      }))
  })

  it.effect("a read that fails as if the file had changed, but not a second later, is no change: the page was being left", () =>
    Effect.gen(function*() {
      const chosen = file(bytes(10))
      const pull = () => Promise.reject(new DOMException("", "NotReadableError"))
      let reads = 0
      const slice = () => ({
        size: 1,
        arrayBuffer: () =>
          reads++ === 0
            ? Promise.reject(new DOMException("", "NotReadableError"))
            : Promise.resolve(new ArrayBuffer(1))
      })
      const leaving = Object.assign(chosen, { stream: () => new ReadableStream({ pull, type: "bytes" }), slice })
      const error = yield* aSecondLater(Effect.flip(BlobSource.fromFile(leaving)))
      assert.deepInclude(error, { _tag: "SourceUnreadable", reason: "Failed", code: "NotReadableError" })
    }))

  describe("a file whose stream fails with Chromium's generic network error", () => {
    const broken = (arrayBuffer: () => Promise<ArrayBuffer>) => {
      const chosen = file(bytes(10))
      const pull = () => Promise.reject(new TypeError("network error"))
      return Object.assign(chosen, {
        stream: () => new ReadableStream({ pull, type: "bytes" }),
        slice: () => ({ size: 1, arrayBuffer })
      })
    }

    it.effect("fails with SourceChanged if reading a byte reports NotReadableError", () =>
      Effect.gen(function*() {
        const changed = broken(() => Promise.reject(new DOMException("", "NotReadableError")))
        const error = yield* aSecondLater(Effect.flip(BlobSource.fromFile(changed)))
        assert.deepInclude(error, { _tag: "SourceChanged", fileName: "a.bin", what: "modified" })
      }))

    it.effect("fails with SourceUnreadable if reading a byte reports NotFoundError", () =>
      Effect.gen(function*() {
        const gone = broken(() => Promise.reject(new DOMException("", "NotFoundError")))
        const error = yield* Effect.flip(BlobSource.fromFile(gone))
        assert.deepInclude(error, { _tag: "SourceUnreadable", reason: "NotFound" })
      }))

    it.effect("fails with SourceUnreadable and the stream's error if a byte can be read", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(BlobSource.fromFile(broken(() => Promise.resolve(new ArrayBuffer(1)))))
        assert.deepInclude(error, { _tag: "SourceUnreadable", reason: "Failed", code: "TypeError" })
      }))
  })

  it.scoped("the check for changes reads the file only while no section of it is being read", () =>
    Effect.gen(function*() {
      const watched = file(bytes(10))
      const source = yield* BlobSource.fromFile(watched)
      const open = yield* source.open
      let reads = 0
      const stream = watched.stream.bind(watched)
      Object.assign(watched, {
        stream: () => {
          reads += 1
          return stream()
        }
      })
      const [one, other] = yield* Effect.all([
        open.section({ offset: 0, length: 5 }),
        open.section({ offset: 5, length: 5 })
      ])
      const readsOf = (look: Effect.Effect<void, SourceError.SourceError>) =>
        Effect.suspend(() => {
          reads = 0
          return Effect.map(look, () => reads)
        })
      assert.strictEqual(yield* readsOf(open.unchanged), 1)
      yield* Effect.scoped(Effect.gen(function*() {
        yield* one.body(() => {})
        yield* Effect.scoped(other.body(() => {}))
        assert.strictEqual(yield* readsOf(open.unchanged), 0)
      }))
      assert.strictEqual(yield* readsOf(open.unchanged), 1)
    }))

  it.effect("a handle fails with SourceChanged for a new size or date, and with SourceUnreadable when denied", () =>
    Effect.gen(function*() {
      let now: File | DOMException = file(bytes(10))
      const handle = {
        name: "a.bin",
        kind: "file",
        getFile: () => now instanceof File ? Promise.resolve(now) : Promise.reject(now)
      } as FileSystemFileHandle
      const source = yield* BlobSource.fromHandle(handle)
      yield* Effect.scoped(source.open)
      now = file(bytes(11))
      assert.deepInclude(yield* Effect.flip(Effect.scoped(source.open)), { _tag: "SourceChanged", what: "size" })
      now = file(bytes(10), { lastModified: 6 })
      assert.deepInclude(yield* Effect.flip(Effect.scoped(source.open)), { _tag: "SourceChanged", what: "modified" })
      now = new DOMException("", "NotAllowedError")
      const refused = yield* Effect.flip(BlobSource.fromHandle(handle))
      assert.deepInclude(refused, { _tag: "SourceUnreadable", reason: "PermissionDenied" })
    }))
})
