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

  const policy = (condition: string) =>
    btoa(`{"Statement":[{"Resource":"https://cdn.test/*","Condition":{${condition}}}]}`)
      .replaceAll("+", "-").replaceAll("=", "_").replaceAll("/", "~")

  it.each<readonly [dialect: string, query: string, start: number | undefined, end: number]>([
    ["SigV2", "AWSAccessKeyId=A&Expires=1893466800&Signature=x", undefined, deadline],
    ["Google's V2", "GoogleAccessId=a&Expires=1893466800&Signature=x", undefined, deadline],
    ["CloudFront, canned", "Expires=1893466800&Signature=x&Key-Pair-Id=K", undefined, deadline],
    [
      "CloudFront, custom",
      `Policy=${policy(`"DateLessThan":{"AWS:EpochTime":1893466800}`)}&Signature=x&Key-Pair-Id=K`,
      undefined,
      deadline
    ],
    [
      "CloudFront, custom, with a start",
      `Policy=${
        policy(`"DateGreaterThan": {"AWS:EpochTime": 1893456000}, "DateLessThan": {"AWS:EpochTime": 1893466800}`)
      }&Signature=x`,
      signedAt,
      deadline
    ],
    ["Azure", "sv=2024&se=2030-01-01T03%3A00%3A00Z&sr=b&sp=w&sig=x", undefined, deadline],
    ["Azure, with a start", "st=2030-01-01T00:00Z&se=2030-01-01T03:00:00.0000000Z&sig=x", signedAt, deadline],
    ["Azure, by days", "st=2030-01-01&se=2030-01-02&sig=x", signedAt, signedAt + 86_400_000],
    ["OSS", "x-oss-date=20300101T000000Z&x-oss-expires=10800&x-oss-signature=x", signedAt, deadline],
    ["TOS", "X-Tos-Date=20300101T000000Z&X-Tos-Expires=10800&X-Tos-Signature=x", signedAt, deadline],
    ["COS", "q-sign-time=1893456000;1893466800&q-signature=x", signedAt, deadline],
    ["a time in milliseconds", `expires=${deadline}&token=x`, undefined, deadline]
  ])("reads from a URL of %s when it is valid", (_, query, start, end) => {
    const url = parse(`https://b.test/k?${query}`)
    assert.deepStrictEqual(Option.map(url.signedAt, Number), Option.fromNullable(start))
    assert.deepStrictEqual(Option.map(url.deadline, Number), Option.some(end))
    assert.isFalse(url.isAssumed)
  })

  it.each<readonly [query: string, headers: ReadonlyArray<string>]>([
    ["x-oss-date=20300101T000000Z&x-oss-additional-headers=Host%3Bcontent-md5", ["content-md5"]],
    ["q-header-list=content-length;host", ["content-length"]]
  ])("reads the signed headers of %s", (query, headers) => {
    assert.deepStrictEqual(parse(`https://b.test/k?${query}`).signedHeaders, headers)
  })

  it("calls a deadline assumed only if the URL states none", () => {
    const assumed = (text: string) => PresignedUrl.endingBy(parse(text), new Date(0)).isAssumed
    assert.isTrue(assumed("https://b.test/k"))
    assert.isFalse(assumed(href()))
    assert.isFalse(parse("https://b.test/k").isAssumed)
  })

  it.each<readonly [location: string, href: string | undefined]>([
    ["https://cdn.test/a/./b'?c=%2e", "https://cdn.test/a/./b'?c=%2e"],
    ["/a/../b?c='", "https://b.test:8443/a/../b?c='"],
    ["next?c", "https://b.test:8443/dir/next?c"],
    ["?c", "https://b.test:8443/dir/k?c"],
    ["//cdn.test/a", "https://cdn.test/a"],
    ["/\\cdn.test/a", "https://cdn.test/a"],
    ["", undefined],
    ["ftp://cdn.test/a", undefined],
    ["javascript:0", undefined],
    ["https://", undefined]
  ])("a location %j leads to %s, byte for byte where nothing has to be resolved", (location, href) => {
    const located = PresignedUrl.located(location, "https://b.test:8443/dir/k?X-Amz-Signature=1")
    assert.deepStrictEqual(Option.map(located, PresignedUrl.reveal), Option.fromNullable(href))
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
    "https://b.test/k?sv=2020&se=tomorrow&sig=x",
    "https://b.test/k?Expires=soon&Signature=x",
    "https://b.test/k?Policy=%7Bnot+base64%7D&Signature=x",
    "https://b.test/k?q-sign-time=1893456000&q-signature=x",
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
