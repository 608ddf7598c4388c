import { assert, describe, it } from "@effect/vitest"
import { type Recovery, StorageError } from "@stevedore/core"
import { Duration, FastCheck as fc } from "effect"
import { assertSurvivesJson } from "./fixtures/encoding.js"

const unavailable = (status: number, code?: string) =>
  new StorageError.StorageUnavailable({ status, ...(code === undefined ? {} : { code }) })

describe("StorageError", () => {
  it.prop("every error decodes from its encoded form", { error: StorageError.StorageError }, ({ error }) => {
    assertSurvivesJson(StorageError.StorageError, error)
  })

  it.prop("every message about a response names the part and the storage's request id", {
    part: fc.integer({ min: 1, max: 10_000 }),
    requestId: fc.stringMatching(/^[0-9A-F]+$/)
  }, ({ part, requestId }) => {
    for (
      const error of [
        new StorageError.SignatureMismatch403({ part, requestId, signedHeaders: [], sentHeaders: [] }),
        new StorageError.UrlExpired({ part, requestId, reason: "Refused" }),
        new StorageError.HeadersNotSigned({ part, requestId, headers: [] }),
        new StorageError.StorageForbidden({ part, requestId }),
        new StorageError.StorageRejected({ part, requestId, status: 400 }),
        new StorageError.StorageUnavailable({ part, requestId, status: 500 }),
        new StorageError.EtagMissing({ part, requestId })
      ]
    ) {
      assert.include(error.message, `the PUT of part ${part}`)
      assert.include(error.message, `storage request ${requestId}`)
    }
  })

  it.each<[Recovery.Recovery, StorageError.StorageError]>([
    ["none", new StorageError.SignatureMismatch403({ signedHeaders: [], sentHeaders: [] })],
    ["newSession", new StorageError.UrlExpired({ reason: "Deadline" })],
    ["none", new StorageError.HeadersNotSigned({ headers: [] })],
    ["none", new StorageError.SignedHeaderMissing({ headers: [] })],
    ["none", new StorageError.StorageForbidden({})],
    ["none", new StorageError.StorageRejected({ status: 400, code: "EntityTooSmall" })],
    ["retryOnce", new StorageError.StorageRejected({ status: 400, code: "IncompleteBody" })],
    ["retry", unavailable(500)],
    ["retry", unavailable(503, "ServiceUnavailable")],
    ["slowDown", unavailable(503, "SlowDown")],
    ["slowDown", unavailable(503, "SlowDownRead")],
    ["slowDown", unavailable(503, "SlowDownWrite")],
    ["slowDown", unavailable(429)],
    ["none", unavailable(507, "InsufficientStorage")],
    ["none", new StorageError.EtagMissing({})]
  ])("what helps is %s: %o", (recovery, error) => {
    assert.strictEqual(error.recovery, recovery)
  })

  it("what storage wrote cannot control a terminal through a message, and the fields keep it unchanged", () => {
    const told = "\u001b[2Jgone\u009b1m\r\n\u202egnp.exe"
    const errors = [
      new StorageError.SignatureMismatch403({ requestId: told, signedHeaders: [told], sentHeaders: [] }),
      new StorageError.UrlExpired({ requestId: told, reason: "Refused" }),
      new StorageError.HeadersNotSigned({ requestId: told, headers: [told] }),
      new StorageError.SignedHeaderMissing({ headers: [told] }),
      new StorageError.StorageForbidden({ requestId: told, code: told }),
      new StorageError.StorageRejected({ requestId: told, status: 400, code: told }),
      new StorageError.StorageUnavailable({ requestId: told, status: 503, code: told }),
      new StorageError.EtagMissing({ requestId: told }),
      new StorageError.ChecksumMismatch({ requestId: told, algorithm: told, sent: "AAAAAA==", stored: told })
    ]
    for (const error of errors) {
      assert.notMatch(error.message, /[\p{Cc}\p{Bidi_C}]/u, error._tag)
      assert.include(error.message, "[2Jgone")
      assert.include(JSON.stringify(error), JSON.stringify(told))
    }
  })

  it("a signature mismatch names the signed and the sent headers", () => {
    const error = new StorageError.SignatureMismatch403({
      signedHeaders: ["x-amz-server-side-encryption"],
      sentHeaders: ["content-type", "content-length"]
    })
    assert.include(error.message, "The URL signs [x-amz-server-side-encryption]")
    assert.include(error.message, "but the request had [content-type, content-length]")
  })

  it.each<StorageError.StorageError>([
    new StorageError.SignatureMismatch403({ signedHeaders: ["host"], sentHeaders: [] }),
    new StorageError.UrlExpired({ reason: "Credentials" })
  ])("an error that a download's link can cause says that its advice for uploads is for uploads: %o", ({ message }) => {
    assert.match(message, /for an upload, against the profile's|on a slow connection/)
    assert.notMatch(message, /session/)
  })

  it.each<StorageError.StorageError>([
    new StorageError.StorageRejected({
      status: 501,
      code: "NotImplemented",
      words: "Header 'x-amz-acl' not implemented"
    }),
    new StorageError.StorageForbidden({ code: "MissingRequiredHeader", words: "It is missing. x-amz-acl" }),
    new StorageError.StorageUnavailable({ status: 503, code: "Unknown", words: "No x-amz-acl today" })
  ])(
    "what storage itself says is quoted, and the header that it is about is looked for in the profile: %o",
    (error) => {
      assert.include(error.message, `: "${"words" in error ? error.words : ""}". `)
      assert.include(error.message, "The profile's encryptionHeaders can add or omit x-amz-acl.")
    }
  )

  it.each([["AccessDenied", true], ["KMS.DisabledException", true], ["QuotaExceeded", false], [
    "AccountProblem",
    false
  ]])(
    "no cause is made up for a code that is not known: %s",
    (code, isOfPolicy) => {
      assert.strictEqual(new StorageError.StorageForbidden({ code }).message.includes("bucket policy"), isOfPolicy)
    }
  )

  it("a key that storage does not know is no matter of the connection", () => {
    assert.notInclude(new StorageError.UrlExpired({ reason: "UnknownKey" }).message, "slow connection")
  })

  it("unsigned headers are named", () => {
    assert.include(new StorageError.HeadersNotSigned({ headers: ["x-amz-acl"] }).message, "x-amz-acl")
  })

  it("a missing signed header is named, nothing was sent, and it belongs in the profile", () => {
    const error = new StorageError.SignedHeaderMissing({ headers: ["x-amz-kms-key"] })
    assert.strictEqual(error.attempts, 0)
    assert.include(error.message, "x-amz-kms-key")
    assert.include(error.message, "nothing was sent")
    assert.include(error.message, "encryptionHeaders")
  })

  it("an expired URL says when it expired", () => {
    const deadline = new Date(Date.UTC(2030, 0, 1))
    assert.include(new StorageError.UrlExpired({ reason: "Refused", deadline }).message, "2030-01-01T00:00:00.000Z")
  })

  it("a URL that has time left, but too little, is not called expired", () => {
    const deadline = new Date(Date.UTC(2030, 0, 1))
    const { message } = new StorageError.UrlExpired({ reason: "TooLate", deadline })
    assert.include(message, "expires at 2030-01-01T00:00:00.000Z (too soon for this connection")
    assert.notInclude(message, "expired")
  })

  it("a URL of a signer whose clock is wrong says what storage's clock shows", () => {
    const serverTime = new Date(Date.UTC(2030, 0, 1))
    const { message } = new StorageError.UrlExpired({ reason: "Clock", serverTime })
    assert.include(message, "2030-01-01T00:00:00.000Z (by storage's clock: the signer's is wrong")
  })

  it("a redirect is distinguished from other refusals", () => {
    assert.include(new StorageError.StorageRejected({ status: 307 }).message, "sign for the right endpoint")
    assert.notInclude(new StorageError.StorageRejected({ status: 400 }).message, "sign for the right endpoint")
  })

  it.each([[200, true], [511, true], [500, false], [503, false]])(
    "whoever gets a network's page instead (%d) is told to sign in: %s",
    (status, told) => {
      assert.strictEqual(unavailable(status).message.includes("sign in to the network"), told)
      assert.notInclude(unavailable(status, "InternalError").message, "sign in")
    }
  )

  it("a wait that storage asks for is mentioned", () => {
    const error = new StorageError.StorageUnavailable({ status: 503, retryAfter: Duration.seconds(7) })
    assert.include(error.message, "asks to wait 7s")
  })

  it("an unreadable etag names the CORS header", () => {
    assert.include(new StorageError.EtagMissing({}).message, "Access-Control-Expose-Headers: ETag")
  })
})
