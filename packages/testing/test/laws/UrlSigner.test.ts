import { assert, describe, it } from "@effect/vitest"
import { UrlSigner } from "@stevedore/server"
import { Effect, Redacted } from "effect"

// the worked example of the AWS documentation, "Authenticating Requests: Using Query Parameters"
const credential: UrlSigner.Credential = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: Redacted.make("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
  region: "us-east-1"
}

const documented: UrlSigner.UnsignedUrl = {
  method: "GET",
  origin: "https://examplebucket.s3.amazonaws.com",
  path: "/test.txt",
  at: Date.UTC(2013, 4, 24),
  expiresIn: 86_400
}

describe("UrlSigner", () => {
  it.effect("signs the documented example with the documented signature", () =>
    Effect.gen(function*() {
      const url = yield* UrlSigner.sign(credential, documented)
      assert.strictEqual(
        url,
        "https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256" +
          "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request" +
          "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host" +
          "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
      )
    }))

  it.effect("lists the headers to send in X-Amz-SignedHeaders, and does not add them to the query", () =>
    Effect.gen(function*() {
      const url = new URL(
        yield* UrlSigner.sign(credential, {
          ...documented,
          method: "PUT",
          headers: { "x-amz-server-side-encryption": "aws:kms", "content-type": "text/plain" }
        })
      )
      assert.strictEqual(
        url.searchParams.get("X-Amz-SignedHeaders"),
        "content-type;host;x-amz-server-side-encryption"
      )
      assert.isFalse(url.searchParams.has("x-amz-server-side-encryption"))
    }))

  it.effect("puts the part number and the upload id in the query", () =>
    Effect.gen(function*() {
      const url = new URL(
        yield* UrlSigner.sign(credential, { ...documented, query: { partNumber: "7", uploadId: "a b/c=" } })
      )
      assert.strictEqual(url.searchParams.get("partNumber"), "7")
      assert.strictEqual(url.searchParams.get("uploadId"), "a b/c=")
    }))
})
