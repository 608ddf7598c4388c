import { assert, describe, it } from "@effect/vitest"
import { ConnectionError } from "@stevedore/core"
import { Duration, FastCheck as fc } from "effect"

const nested = (innermost: unknown, depth: number): unknown =>
  depth === 0 ? innermost : new Error("outer", { cause: nested(innermost, depth - 1) })

describe("ConnectionError", () => {
  it.each([
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "EHOSTUNREACH",
    "ENETUNREACH",
    "ERR_SOCKET_CONNECTION_TIMEOUT",
    "UND_ERR_CONNECT_TIMEOUT"
  ])(
    "%s means that the request did not arrive",
    (code) => {
      assert.strictEqual(ConnectionError.arrival(code), "no")
    }
  )

  it.each(["ECONNRESET", "EPIPE", "ETIMEDOUT", "UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT", undefined])(
    "%s leaves open whether the request arrived",
    (code) => {
      assert.strictEqual(ConnectionError.arrival(code), "unknown")
    }
  )

  it.each([
    "CERT_HAS_EXPIRED",
    "CERT_NOT_YET_VALID",
    "CERT_REVOKED",
    "CERT_UNTRUSTED",
    "CERT_REJECTED",
    "CERT_SIGNATURE_FAILURE",
    "CERT_CHAIN_TOO_LONG",
    "CRL_HAS_EXPIRED",
    "UNABLE_TO_GET_CRL",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "ERR_TLS_CERT_ALTNAME_FORMAT",
    "HOSTNAME_MISMATCH",
    "INVALID_CA",
    "INVALID_PURPOSE",
    "PATH_LENGTH_EXCEEDED",
    "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED",
    "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA"
  ])("%s is told at the first attempt: the next one would meet the same certificate", (code) => {
    const fields = { peer: "storage", origin: "https://b.test", arrived: "no", code } as const
    const error = new ConnectionError.ConnectionFailed(fields)
    assert.strictEqual(error.recovery, "none")
    assert.match(error.message, /certificate there/)
    assert.notInclude(error.message, "Check the network and the address")
  })

  it.each<readonly [code: string, origin: string, advice: RegExp, isLasting: boolean]>([
    ["ERR_TLS_CERT_ALTNAME_INVALID", "https://b.test", /for another name/, true],
    ["HOSTNAME_MISMATCH", "https://b.test", /for another name/, true],
    ["CERT_HAS_EXPIRED", "https://b.test", /has expired/, true],
    ["ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED", "https://b.test", /has expired/, true],
    ["CERT_NOT_YET_VALID", "https://b.test", /not valid yet: correct this machine's clock/, true],
    ["CERT_REVOKED", "https://b.test", /was revoked/, true],
    ["SELF_SIGNED_CERT_IN_CHAIN", "https://b.test", /not trusted.*NODE_EXTRA_CA_CERTS/, true],
    ["PROXY_SELF_SIGNED_CERT_IN_CHAIN", "https://b.test", /not trusted.*NODE_EXTRA_CA_CERTS/, true],
    ["EPROTO", "https://b.test", /does not speak TLS.*http:/, true],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "https://b.test", /does not speak TLS/, true],
    ["PROXY_ANSWERED_407", "https://b.test", /proxy wants a user and a password/, true],
    ["PROXY_ANSWERED_403", "https://b.test", /proxy forbids this address/, true],
    ["PROXY_ANSWERED_429", "https://b.test", /Check the proxy/, false],
    ["PROXY_ANSWERED_504", "https://b.test", /proxy does not reach this address/, false],
    ["PROXY_ECONNREFUSED", "https://b.test", /Check the proxy/, false],
    ["ECONNRESET", "http://b.test", /network.*https:/, false],
    ["ECONNRESET", "https://b.test", /Check the network and the address, then/, false],
    ["ENOTFOUND", "http://b.test", /Check the network and the address, then/, false]
  ])("%s at %s has its own advice", (code, origin, advice, isLasting) => {
    const error = new ConnectionError.ConnectionFailed({ peer: "service", origin, arrived: "no", code })
    assert.match(error.message, advice)
    assert.strictEqual(error.recovery === "none", isLasting)
    if (!/not trusted/.test(advice.source)) assert.notInclude(error.message, "NODE_EXTRA_CA_CERTS")
  })

  it.each(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ERR_ANSWER_TOO_LONG", "PROXY_ANSWERED_502", undefined])(
    "%s may be over at the next attempt",
    (code) => {
      const error = new ConnectionError.ConnectionFailed({
        peer: "storage",
        origin: "https://b.test",
        arrived: "no",
        code
      })
      assert.strictEqual(error.recovery, "retry")
    }
  )

  it.prop("finds the system code anywhere in the first 8 causes", { depth: fc.integer({ min: 0, max: 7 }) }, (
    { depth }
  ) => {
    assert.strictEqual(ConnectionError.systemCode(nested({ code: "ECONNRESET" }, depth)), "ECONNRESET")
  })

  it.prop("is absent without a system code, and never throws", { error: fc.anything() }, ({ error }) => {
    const code = ConnectionError.systemCode(error)
    assert.isTrue(code === undefined || /^[A-Z][A-Z0-9_]+$/.test(code))
  })

  it.each([{ code: 42 }, { code: "https://bucket.test/?X-Amz-Signature=1" }, { code: "" }, { code: "lower" }])(
    "accepts no code but a system's: %j",
    (error) => {
      assert.isUndefined(ConnectionError.systemCode(error))
    }
  )

  it("ends on cyclic causes", () => {
    const error: { cause?: unknown } = {}
    error.cause = error
    assert.isUndefined(ConnectionError.systemCode(error))
  })

  it("a CORS hint says which rules to check", () => {
    const failed = { peer: "storage", origin: "https://bucket.test", arrived: "unknown", attempts: 1 } as const
    assert.include(new ConnectionError.ConnectionFailed({ ...failed, hint: "cors" }).message, "CORS rules")
    assert.notInclude(new ConnectionError.ConnectionFailed(failed).message, "CORS")
  })

  it("a failed connection can be retried, and says where it failed and how often", () => {
    const error = new ConnectionError.ConnectionFailed({
      peer: "storage",
      origin: "https://bucket.test",
      code: "ECONNRESET",
      arrived: "unknown",
      attempts: 3
    })
    assert.strictEqual(error.recovery, "retry")
    assert.include(error.message, "https://bucket.test")
    assert.include(error.message, "ECONNRESET")
    assert.include(error.message, "after 3 attempts")
  })

  it.each(["connect", "body", "answer", "call"] as const)("a timeout names its phase: %s", (phase) => {
    const error = new ConnectionError.TimedOut({ peer: "service", phase, after: Duration.seconds(30) })
    assert.strictEqual(error.recovery, "retry")
    assert.strictEqual(error.attempts, 1)
    assert.include(error.message, `phase: ${phase}`)
    assert.include(error.message, "30s")
  })
})
