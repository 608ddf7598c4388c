import { assert, describe, it } from "@effect/vitest"
import { PresignedUrl } from "@stevedore/core"
import { Either, Equal, FastCheck as fc, Hash, Option, ParseResult, pipe, Schema } from "effect"
import { deadline, href, hrefs, parse, presigned, signature, signedAt } from "./fixtures/presignedUrls.js"

describe("PresignedUrl", () => {
  it.each(["Amz", "Goog"] as const)("reads a URL signed in the dialect of %s", (dialect) => {
    const url = presigned({ dialect, part: 12, signedHeaders: ["X-Amz-Server-Side-Encryption", "content-type"] })
    assert.strictEqual(url.origin, "https://bucket.storage.test")
    assert.strictEqual(url.path, "/key%20one/%C3%A9")
    assert.deepStrictEqual(url.signedAt, Option.some(new Date(signedAt)))
    assert.deepStrictEqual(url.deadline, Option.some(new Date(deadline)))
    assert.deepStrictEqual(url.signedHeaders, ["x-amz-server-side-encryption", "content-type"])
    assert.deepStrictEqual(url.partNumber, Option.some(12))
  })

  it("reads parameter names in any case", () => {
    const url = parse("https://b.test/k?x-amz-date=20300101T000000Z&X-AMZ-EXPIRES=10800&PartNumber=3")
    assert.deepStrictEqual(url.deadline, Option.some(new Date(deadline)))
    assert.deepStrictEqual(url.partNumber, Option.some(3))
  })

  it.prop("the deadline is the time of signing plus the lifetime in seconds", { seconds: fc.nat(604_800) }, (
    { seconds }
  ) => {
    const url = presigned({ seconds })
    assert.deepStrictEqual(url.deadline, Option.some(new Date(signedAt + seconds * 1000)))
    assert.isFalse(PresignedUrl.hasEnded(url, signedAt + seconds * 1000 - 1))
    assert.isTrue(PresignedUrl.hasEnded(url, signedAt + seconds * 1000))
  })

  it("an assumed deadline applies to a URL without one, and can be set and checked in a pipe", () => {
    const assumed = pipe(parse("https://b.test/k"), PresignedUrl.endingBy(new Date(signedAt)))
    assert.deepStrictEqual([signedAt - 1, signedAt].map((now) => pipe(assumed, PresignedUrl.hasEnded(now))), [
      false,
      true
    ])
    assert.deepStrictEqual(pipe(presigned({}), PresignedUrl.endingBy(new Date(0))).deadline, presigned({}).deadline)
  })

  it("an assumed deadline that is no date, as after a lifetime of Infinity, is none", () => {
    const forever = pipe(parse("https://b.test/k"), PresignedUrl.endingBy(new Date(signedAt + Infinity)))
    assert.isTrue(Option.isNone(forever.deadline))
    assert.isFalse(pipe(forever, PresignedUrl.hasEnded(Number.MAX_SAFE_INTEGER)))
  })

  it.each([
    "https://b.test/k",
    "https://b.test/k?token=1",
    "https://b.test/k?sv=2020&se=2030-01-01T00%3A00%3A00Z&sig=x",
    "https://b.test/k?X-Amz-Expires=60",
    "https://b.test/k?X-Amz-Date=20300101T000000Z",
    "https://b.test/k?X-Amz-Date=20300101T000000Z&X-Amz-Expires=",
    "https://b.test/k?X-Amz-Date=20300101T000000Z&X-Amz-Expires=-5",
    "https://b.test/k?X-Amz-Date=20300101T000000Z&X-Amz-Expires=1e99",
    `https://b.test/k?X-Amz-Date=20300101T000000Z&X-Amz-Expires=${Number.MAX_SAFE_INTEGER}`,
    "https://b.test/k?X-Amz-Date=2030-01-01&X-Amz-Expires=60",
    "https://b.test/k?X-Amz-Date=20301301T000000Z&X-Amz-Expires=60"
  ])("a URL without a deadline never expires: %s", (text) => {
    const url = parse(text)
    assert.deepStrictEqual(url.deadline, Option.none())
    assert.isFalse(PresignedUrl.hasEnded(url, Number.MAX_SAFE_INTEGER))
    assert.deepStrictEqual(url.signedHeaders, [])
  })

  it.each(["", "0", "-1", "1.5", "1e2", "9".repeat(30), "x"])("partNumber=%s is not a part number", (number) => {
    assert.deepStrictEqual(parse(`https://b.test/k?partNumber=${number}`).partNumber, Option.none())
  })

  it.prop("is byte-identical when revealed, even after its Schema", { href: hrefs }, ({ href }) => {
    assert.strictEqual(PresignedUrl.reveal(parse(href)), href)
    const decoded = Schema.decodeSync(PresignedUrl.PresignedUrlFromString)(href)
    assert.strictEqual(Schema.encodeSync(PresignedUrl.PresignedUrlFromString)(decoded), href)
  })

  it.prop("two URLs are equal if their strings are", { one: hrefs, other: hrefs }, ({ one, other }) => {
    assert.isTrue(Equal.equals(parse(one), parse(one)))
    assert.strictEqual(Hash.hash(parse(one)), Hash.hash(parse(one)))
    assert.strictEqual(Equal.equals(parse(one), parse(other)), one === other)
  })

  it.prop("any string is a URL or none, and never throws", {
    text: fc.oneof(fc.string(), fc.webUrl(), fc.string().map((rest) => `https://${rest}`))
  }, ({ text }) => {
    const url = PresignedUrl.fromString(text)
    assert.isTrue(Option.isNone(url) || PresignedUrl.reveal(url.value) === text)
  })

  it.each(["", "no url", "ftp://b.test/k", "//b.test/k", "/k?X-Amz-Signature=1", "https://", "https://b.test/a b"])(
    "%j is not a pre-signed URL",
    (text) => {
      assert.deepStrictEqual(PresignedUrl.fromString(text), Option.none())
    }
  )

  it("the error for a string that is not a URL does not quote it", () => {
    const read = Schema.decodeUnknownEither(PresignedUrl.PresignedUrlFromString)(`ftp://b.test/?sig=${signature}`)
    assert.isTrue(Either.isLeft(read))
    if (Either.isLeft(read)) {
      assert.notInclude(read.left.message, signature)
      assert.notInclude(
        ParseResult.ArrayFormatter.formatErrorSync(read.left).map(({ message }) => message).join(),
        signature
      )
      assert.include(read.left.message, "expected an http or https URL")
    }
  })

  it("prints as origin and path", () => {
    assert.strictEqual(String(parse(href())), "https://bucket.storage.test/key%20one/%C3%A9?<redacted>")
    assert.deepStrictEqual(JSON.parse(JSON.stringify(parse(href()))), {
      _id: "PresignedUrl",
      url: "https://bucket.storage.test/key%20one/%C3%A9?<redacted>"
    })
  })
})
