import { assert, describe, it } from "@effect/vitest"
import { UrlSigner, UrlVerifier } from "@stevedore/server"
import { Effect, Either, FastCheck, Redacted } from "effect"
import { runs } from "../support/runs.js"

const credential: UrlSigner.Credential = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: Redacted.make("secret"),
  region: "us-east-1"
}

const SIGNED_AT = Date.UTC(2025, 0, 15, 12)
const HOST = "storage.test"
const ENCRYPTION = "x-amz-server-side-encryption"

const unsigned: UrlSigner.UnsignedUrl = {
  method: "PUT",
  origin: `https://${HOST}`,
  path: "/bucket/files/0123456789abcdefghijkl",
  headers: { [ENCRYPTION]: "aws:kms" },
  at: SIGNED_AT,
  expiresIn: 10_800
}

const part: UrlSigner.UnsignedUrl = { ...unsigned, headers: {}, query: { partNumber: "3", uploadId: "upload" } }

const targetOf = (url: string): string => url.slice(`https://${HOST}`.length)

const verify = (options: {
  readonly unsigned?: UrlSigner.UnsignedUrl
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly after?: number
  readonly alter?: (target: string) => string
}) =>
  Effect.gen(function*() {
    const target = targetOf(yield* UrlSigner.sign(credential, options.unsigned ?? unsigned))
    return yield* UrlVerifier.verify(credential, {
      method: options.method ?? "PUT",
      target: options.alter?.(target) ?? target,
      headers: { host: HOST, ...(options.headers ?? { [ENCRYPTION]: "aws:kms" }) }
    }, SIGNED_AT + (options.after ?? 0))
  })

const refusal = (options: Parameters<typeof verify>[0]) => Effect.flip(verify(options))

const refuses = (
  name: string,
  options: Parameters<typeof verify>[0],
  expected: { readonly status: number; readonly code: string; readonly reason?: RegExp }
) =>
  it.effect(name, () =>
    Effect.gen(function*() {
      const refused = yield* refusal(options)
      assert.strictEqual(refused.status, expected.status)
      assert.strictEqual(refused.code, expected.code)
      assert.match(refused.reason, expected.reason ?? /./)
    }))

const parameter = (name: string, value: string) => (target: string) =>
  target.replace(new RegExp(`${name}=[^&]*`), `${name}=${value}`)

describe("UrlVerifier", () => {
  it.effect("accepts a request as it was signed, until the URL expires", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* verify({}), { path: unsigned.path, query: {} })
      yield* verify({ after: 10_800_000 })
    }))

  it.effect("accepts a URL that is valid for a week, and one signed by a clock that is 15 minutes ahead", () =>
    Effect.gen(function*() {
      for (const one of [{ unsigned: { ...unsigned, expiresIn: 604_800 }, after: 604_800_000 }, { after: -900_000 }]) {
        assert.deepStrictEqual((yield* verify(one)).query, {})
      }
    }))

  it.effect("returns the signed query parameters", () =>
    Effect.gen(function*() {
      const { query } = yield* verify({ unsigned: part, headers: {} })
      assert.deepStrictEqual(query, { partNumber: "3", uploadId: "upload" })
    }))

  // a change of case within a %-escape means the same
  const meaning = (target: string) => decodeURIComponent(target)

  it.effect.prop(
    "rejects a URL with an altered character unless it decodes to the same text",
    {
      position: FastCheck.double({ min: 0, max: 0.999999, noNaN: true }),
      character: FastCheck.constantFrom(..."abcXYZ019-._~/%&=?")
    },
    ({ character, position }) =>
      Effect.gen(function*() {
        const original = targetOf(yield* UrlSigner.sign(credential, part))
        const index = Math.floor(position * original.length)
        const altered = original.slice(0, index) + character + original.slice(index + 1)
        const outcome = yield* Effect.either(
          UrlVerifier.verify(credential, { method: "PUT", target: altered, headers: { host: HOST } }, SIGNED_AT)
        )
        const same = yield* Effect.orElseSucceed(
          Effect.try(() => meaning(altered) === meaning(original)),
          () => false
        )
        assert.strictEqual(Either.isRight(outcome), same)
      }),
    { fastCheck: { numRuns: runs(120) } }
  )

  refuses("rejects a method that was not signed", { method: "GET" }, { status: 403, code: "SignatureDoesNotMatch" })
  refuses("rejects a wrong signature", { alter: parameter("X-Amz-Signature", "0".repeat(64)) }, {
    status: 403,
    code: "SignatureDoesNotMatch"
  })
  refuses("rejects a path that was not signed", { alter: (target) => target.replace("files", "filed") }, {
    status: 403,
    code: "SignatureDoesNotMatch"
  })
  refuses("rejects a path that is not percent-encoded text", { alter: (target) => target.replace("files", "%ff") }, {
    status: 400,
    code: "InvalidURI"
  })
  refuses("rejects a signature parameter that occurs twice", { alter: (target) => `${target}&X-Amz-Expires=10800` }, {
    status: 400,
    code: "AuthorizationQueryParametersError"
  })
  refuses("rejects a query parameter that was not signed", { alter: (target) => `${target}&versionId=1` }, {
    status: 403,
    code: "SignatureDoesNotMatch"
  })
  refuses("rejects a longer lifetime than was signed", { alter: parameter("X-Amz-Expires", "10801") }, {
    status: 403,
    code: "SignatureDoesNotMatch"
  })
  refuses("rejects a host that was not signed", { headers: { [ENCRYPTION]: "aws:kms", host: "elsewhere.test" } }, {
    status: 403,
    code: "SignatureDoesNotMatch"
  })
  refuses("rejects a request without a signed header", { headers: {} }, { status: 403, code: "SignatureDoesNotMatch" })
  refuses("rejects a signed header with another value", { headers: { [ENCRYPTION]: "AES256" } }, {
    status: 403,
    code: "SignatureDoesNotMatch"
  })
  refuses("rejects an unknown access key", { alter: (target) => target.replace("AKIDEXAMPLE", "AKIDANOTHER") }, {
    status: 403,
    code: "InvalidAccessKeyId"
  })
  refuses("rejects a credential for another region", { alter: (target) => target.replace("us-east-1", "eu-west-1") }, {
    status: 400,
    code: "AuthorizationQueryParametersError"
  })
  refuses("rejects a URL without its X-Amz-Date", {
    alter: (target) => target.replace(/&X-Amz-Date=[^&]*/, "")
  }, { status: 400, code: "AuthorizationQueryParametersError" })
  refuses("rejects an unsupported algorithm", { alter: parameter("X-Amz-Algorithm", "AWS4-HMAC-SHA1") }, {
    status: 400,
    code: "AuthorizationQueryParametersError"
  })
  refuses("rejects an invalid date", { alter: parameter("X-Amz-Date", "yesterday") }, {
    status: 400,
    code: "AuthorizationQueryParametersError"
  })
  refuses("rejects an invalid lifetime", { alter: parameter("X-Amz-Expires", "soon") }, {
    status: 400,
    code: "AuthorizationQueryParametersError"
  })
  refuses("rejects a lifetime of more than a week", { alter: parameter("X-Amz-Expires", "604801") }, {
    status: 400,
    code: "AuthorizationQueryParametersError"
  })
  refuses("rejects a URL with an invalid percent-escape", { alter: (target) => `${target}&a=%zz` }, {
    status: 400,
    code: "InvalidURI"
  })
  refuses("rejects a request without a signature", { alter: (target) => target.split("?")[0] ?? "" }, {
    status: 403,
    code: "AccessDenied",
    reason: /^Access Denied$/
  })
  refuses("rejects a bearer token instead of a signature", {
    alter: (target) => target.split("?")[0] ?? "",
    headers: { authorization: "Bearer api.token" }
  }, { status: 400, code: "InvalidArgument", reason: /Unsupported Authorization Type/ })
  refuses("rejects a bearer token in addition to a signature", {
    headers: { [ENCRYPTION]: "aws:kms", authorization: "Bearer api.token" }
  }, { status: 400, code: "InvalidArgument", reason: /^Only one auth mechanism allowed/ })
  refuses("rejects a URL signed an hour in the future", { after: -3_600_000 }, {
    status: 403,
    code: "AccessDenied",
    reason: /not valid yet/
  })

  it.effect("rejects an expired URL and reports the deadline and the server's time", () =>
    Effect.gen(function*() {
      const refused = yield* refusal({ after: 10_801_000 })
      assert.strictEqual(refused.status, 403)
      assert.strictEqual(refused.code, "AccessDenied")
      assert.strictEqual(refused.reason, "Request has expired")
      assert.deepStrictEqual(refused.details, {
        Expires: "2025-01-15T15:00:00.000Z",
        ServerTime: "2025-01-15T15:00:01.000Z"
      })
    }))

  it.effect.prop(
    "rejects and names an x-amz-* or Content-MD5 header that was not signed",
    {
      name: FastCheck.constantFrom("x-amz-meta-a", "x-amz-acl", "x-amz-checksum-crc32", "content-md5", "x-amz-tagging")
    },
    ({ name }) =>
      Effect.gen(function*() {
        const refused = yield* refusal({ headers: { [ENCRYPTION]: "aws:kms", [name]: "value" } })
        assert.strictEqual(refused.status, 403)
        assert.strictEqual(refused.code, "AccessDenied")
        assert.strictEqual(refused.details["HeadersNotSigned"], name)
      })
  )

  it.effect("accepts headers that need no signature", () =>
    Effect.map(
      verify({
        headers: { [ENCRYPTION]: "aws:kms", "content-type": "text/plain", "x-amzn-trace-id": "1", "user-agent": "a" }
      }),
      ({ query }) => assert.deepStrictEqual(query, {})
    ))

  refuses("rejects the encryption header on a part that does not sign it", {
    unsigned: part,
    headers: { [ENCRYPTION]: "aws:kms" }
  }, { status: 400, code: "InvalidArgument", reason: /is not supported for this operation/ })

  refuses("rejects the encryption header on a whole object that does not sign it", {
    unsigned: { ...unsigned, headers: {} }
  }, { status: 403, code: "AccessDenied", reason: /not signed/ })

  it.effect("accepts the encryption header on a part that signs it", () =>
    Effect.map(
      verify({ unsigned: { ...part, headers: { [ENCRYPTION]: "aws:kms" } } }),
      ({ query }) => assert.strictEqual(query["partNumber"], "3")
    ))

  it.effect("never includes the signature or a bearer token in an error", () =>
    Effect.gen(function*() {
      const target = targetOf(yield* UrlSigner.sign(credential, unsigned))
      const signature = new URLSearchParams(target.split("?")[1]).get("X-Amz-Signature") ?? ""
      const refused = yield* refusal({ headers: { authorization: "Bearer api.token" } })
      const mismatch = yield* refusal({ headers: {} })
      const printed = JSON.stringify([refused, mismatch, refused.message, mismatch.message])
      assert.lengthOf(signature, 64)
      assert.notInclude(printed, signature)
      assert.notInclude(printed, "api.token")
    }))
})
