import { assert, describe, it } from "@effect/vitest"
import { Checksum, ObjectStorage, PresignedUrl, StorageError } from "@stevedore/core"
import { Effect, Either, FastCheck as fc } from "effect"
import { deadline, parse, presigned, signedAt } from "./fixtures/presignedUrls.js"

const encryptionHeaders = {
  "x-amz-server-side-encryption": "aws:kms",
  "x-amz-server-side-encryption-aws-kms-key-id": "key-1"
}

const names = ["content-type", ...Object.keys(encryptionHeaders)]

const headers = (kind: "single" | "part", signedHeaders: ReadonlyArray<string>) =>
  ObjectStorage.putHeaders({
    url: presigned({ signedHeaders, ...(kind === "part" ? { part: 3 } : {}) }),
    kind,
    mediaType: "video/mp4",
    encryptionHeaders
  })

describe("ObjectStorage", () => {
  describe("the headers of a PUT", () => {
    it.prop("a single PUT carries the media type and every encryption header, signed or not", {
      signed: fc.subarray(names)
    }, ({ signed }) => {
      assert.deepStrictEqual(
        headers("single", signed),
        Either.right({ ...encryptionHeaders, "content-type": "video/mp4" })
      )
    })

    it.prop("a part carries exactly the headers that its URL signs", { signed: fc.subarray(names) }, (
      { signed }
    ) => {
      const all: Readonly<Record<string, string>> = { ...encryptionHeaders, "content-type": "video/mp4" }
      assert.deepStrictEqual<unknown>(
        Either.getOrThrow(headers("part", signed)),
        Object.fromEntries(signed.map((name) => [name, all[name]]))
      )
    })

    it.prop("a signed header that the profile lacks is refused before sending, and named", {
      kind: fc.constantFrom("single" as const, "part" as const),
      signed: fc.subarray(names),
      missing: fc.uniqueArray(fc.constantFrom("x-amz-acl", "x-amz-tagging", "x-amz-checksum-type", "constructor"), {
        minLength: 1
      })
    }, ({ kind, missing, signed }) => {
      const refused = headers(kind, [...signed, ...missing])
      const error = Either.isLeft(refused) ? refused.left : assert.fail("expected SignedHeaderMissing")
      assert.strictEqual(error._tag, "SignedHeaderMissing")
      assert.deepStrictEqual(error.headers, missing)
      assert.strictEqual(error.part, kind === "part" ? 3 : undefined)
      assert.strictEqual(error.attempts, 0)
    })

    it("the host and the length belong to the transport, signed or not", () => {
      assert.isTrue(Either.isRight(headers("part", ["content-length"])))
    })

    it("never contain a token", () => {
      const made = Either.getOrThrow(headers("single", []))
      assert.notProperty(made, "authorization")
    })
  })

  describe("the deadline", () => {
    const check = (url = presigned({ part: 3 }), clockOffset = 0, attempt = 1) => (now: number) =>
      ObjectStorage.refuseExpired({ url, clockOffset, attempt }, now)

    it.prop("is judged by the server's clock, however wrong ours is", {
      error: fc.integer({ min: -1e9, max: 1e9 }),
      at: fc.integer({ min: signedAt, max: deadline + 10_800_000 })
    }, ({ at, error }) => {
      const ours = at + error
      assert.strictEqual(Either.isRight(check(undefined, -error)(ours)), at < deadline)
    })

    it("a URL without a deadline has the one that the profile assumes", () => {
      const url = parse("https://bucket.storage.test/key")
      const ending = PresignedUrl.endingBy(url, new Date(1000))
      const at = (now: number) =>
        Either.isRight(ObjectStorage.refuseExpired({ url: ending, clockOffset: 0, attempt: 1 }, now))
      assert.deepStrictEqual([at(999), at(1000)], [true, false])
      assert.isTrue(Either.isRight(ObjectStorage.refuseExpired({ url, clockOffset: 0, attempt: 1 }, 1e15)))
    })

    it("an expired URL is reported as such, and is not used again", () => {
      const refused = check(undefined, 500, 4)(deadline)
      const error = Either.isLeft(refused) ? refused.left : assert.fail("expected UrlExpired")
      assert.deepInclude({ ...error }, {
        _tag: "UrlExpired",
        part: 3,
        reason: "Deadline",
        deadline: new Date(deadline),
        serverTime: new Date(deadline + 500),
        attempts: 3
      })
      assert.strictEqual(error.recovery, "newSession")
    })

    it("a URL without a deadline is never refused", () => {
      assert.isTrue(Either.isRight(check(parse("https://b.test/k?sig=1"))(8e15)))
    })
  })

  describe("the headers that follow from the content", () => {
    const content = new TextEncoder().encode("hello")
    const read = (observe: (chunk: Uint8Array) => void) =>
      Effect.sync(() => {
        observe(content.subarray(0, 2))
        observe(content.subarray(2))
      })
    const reversed: Checksum.ChecksumAlgorithm = {
      name: "sha256",
      begin: () => {
        let sum = 0
        return {
          update: (chunk) => {
            for (const byte of chunk) sum += byte
          },
          value: () => btoa(String.fromCharCode(sum >> 8, sum & 0xff))
        }
      }
    }

    it.effect("are computed from all of it, each as it is written", () =>
      Effect.gen(function*() {
        const url = presigned({
          signedHeaders: [
            "content-length",
            "content-type",
            "x-amz-checksum-crc32",
            "x-amz-content-sha256",
            "x-amz-checksum-type"
          ]
        })
        assert.deepStrictEqual(yield* ObjectStorage.contentHeaders(url, read), {
          // that of "hello", as every calculator gives it
          "x-amz-checksum-crc32": "NhCmhg==",
          "x-amz-content-sha256": "0214"
        })
      }).pipe(Effect.provideService(Checksum.Known, [reversed])))

    it.effect("are none if none is signed: nothing is read", () =>
      Effect.gen(function*() {
        const url = presigned({ signedHeaders: ["content-type", "x-amz-meta-a"] })
        assert.deepStrictEqual(yield* ObjectStorage.contentHeaders(url, () => Effect.die("read")), {})
      }))

    it.effect.each(["content-md5", "x-amz-checksum-sha1", "x-amz-checksum-xxhash64"])(
      "an algorithm that is not available, as for %s, is an error that advises no fixed header",
      (name) =>
        Effect.gen(function*() {
          const url = presigned({ part: 2, signedHeaders: [name] })
          const error = yield* Effect.flip(ObjectStorage.contentHeaders(url, () => Effect.die("read")))
          assert.deepInclude({ ...error }, { _tag: "SignedHeaderMissing", part: 2, headers: [name] })
          assert.notInclude(error.message, "encryptionHeaders")
          assert.include(error.message, "Checksum.Known")
        })
    )

    it("do not have to be in the profile", () => {
      const url = presigned({ signedHeaders: ["content-md5", "x-amz-meta-a"] })
      const headers = ObjectStorage.putHeaders({ url, kind: "single", mediaType: "text/plain", encryptionHeaders: {} })
      assert.deepStrictEqual(Either.isLeft(headers) ? headers.left.headers : headers.right, ["x-amz-meta-a"])
    })
  })

  it.effect("layerNoop has what it is given, and names anything else that is called", () =>
    Effect.gen(function*() {
      const storage = yield* ObjectStorage.ObjectStorage
      const url = parse("https://b.test/k?sig=1")
      const refused = yield* Effect.flip(Effect.scoped(storage.get({ url, attempt: 1 })))
      assert.strictEqual(refused._tag, "EtagMissing")
      const exit = yield* Effect.exit(storage.put({
        url,
        section: { range: { offset: 0, length: 1 }, body: () => Effect.never },
        name: "a.txt",
        headers: {},
        clockOffset: 0,
        attempt: 1,
        onSent: () => {}
      }))
      assert.match(String(exit), /ObjectStorage[.]put was called, but layerNoop was not given it/)
    }).pipe(
      Effect.provide(ObjectStorage.layerNoop({ get: () => new StorageError.EtagMissing({ attempts: 1 }) }))
    ))
})
