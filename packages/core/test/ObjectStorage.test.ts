import { assert, describe, it } from "@effect/vitest"
import { ObjectStorage, PresignedUrl, StorageError } from "@stevedore/core"
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
      missing: fc.uniqueArray(fc.constantFrom("x-amz-acl", "x-amz-tagging", "content-md5", "constructor"), {
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
      ObjectStorage.checkDeadline({ url, clockOffset, attempt }, now)

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
        Either.isRight(ObjectStorage.checkDeadline({ url: ending, clockOffset: 0, attempt: 1 }, now))
      assert.deepStrictEqual([at(999), at(1000)], [true, false])
      assert.isTrue(Either.isRight(ObjectStorage.checkDeadline({ url, clockOffset: 0, attempt: 1 }, 1e15)))
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
