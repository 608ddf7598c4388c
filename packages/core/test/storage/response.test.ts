import { assert, describe, it } from "@effect/vitest"
import { PresignedUrl, type Recovery, StorageError } from "@stevedore/core"
import { Duration, Either, FastCheck as fc } from "effect"
import { runs } from "../../../testing/test/support/runs.js"
import type * as StorageAnswer from "../../src/storage/answer.js"
import * as StorageResponse from "../../src/storage/response.js"
import { deadline, parse, presigned, signature, signedAt } from "../fixtures/presignedUrls.js"

const part = presigned({ part: 7, signedHeaders: ["x-amz-server-side-encryption"] })

const asked: StorageResponse.SentRequest = {
  url: part,
  sentHeaders: ["content-type", "content-length"],
  serverNow: signedAt + 60_000,
  attempts: 2
}

const afterDeadline: StorageResponse.SentRequest = { ...asked, serverNow: deadline }

const answer = (
  status: number,
  body = "",
  headers: Readonly<Record<string, string>> = {}
): StorageAnswer.StorageAnswer => ({ status, headers: { "x-amz-request-id": "REQ7", ...headers }, body })

const document = (code: string, message: string, more = ""): string =>
  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" +
  `<Error><Code>${code}</Code><Message>${message}</Message>${more}<RequestId>4442587FB7D0A2F9</RequestId>` +
  "<HostId>hH1Kx5Hq9s=</HostId></Error>"

const html = "<html>\r\n<head><title>Error</title></head><body><center><h1>Error</h1></center></body></html>"

const failure = (
  given: StorageAnswer.StorageAnswer,
  question: StorageResponse.SentRequest = asked
): StorageError.StorageError =>
  Either.match(StorageResponse.interpretPut(given, question), {
    onLeft: (error) => error,
    onRight: () => assert.fail("expected an error, got a receipt")
  })

interface Row {
  readonly what: string
  readonly status: number
  readonly body: string
  readonly error: StorageError.StorageError["_tag"]
  readonly recovery: Recovery.Recovery
  readonly fields?: Readonly<Record<string, unknown>>
  readonly when?: StorageResponse.SentRequest
}

const table: ReadonlyArray<Row> = [
  {
    what: "an error in the body of a 200",
    status: 200,
    body: document("InternalError", "We encountered an internal error. Please try again."),
    error: "StorageUnavailable",
    recovery: "retry",
    fields: { status: 200, code: "InternalError" }
  },
  {
    what: "a SlowDown in the body of a 200",
    status: 200,
    body: document("SlowDown", "Please reduce your request rate."),
    error: "StorageUnavailable",
    recovery: "slowDown",
    fields: { status: 200, code: "SlowDown" }
  },
  {
    what: "a permanent redirect",
    status: 301,
    body: document(
      "PermanentRedirect",
      "The bucket you are attempting to access must be addressed using the specified endpoint.",
      "<Endpoint>bucket.s3.eu-west-1.amazonaws.com</Endpoint>"
    ),
    error: "StorageRejected",
    recovery: "none",
    fields: { status: 301, code: "PermanentRedirect" }
  },
  {
    what: "a temporary redirect",
    status: 307,
    body: document("TemporaryRedirect", "Please re-send this request to the specified temporary endpoint."),
    error: "StorageRejected",
    recovery: "none",
    fields: { status: 307, code: "TemporaryRedirect" }
  },
  {
    what: "a redirect without a body",
    status: 302,
    body: "",
    error: "StorageRejected",
    recovery: "none",
    fields: { status: 302, code: undefined }
  },
  {
    what: "a header that it does not know, by its name",
    status: 501,
    body: document("NotImplemented", "Header 'x-amz-server-side-encryption' is not implemented"),
    error: "StorageRejected",
    recovery: "none",
    fields: { words: "Header 'x-amz-server-side-encryption' is not implemented" }
  },
  {
    what: "a header that is missing, which only a field of its own names",
    status: 400,
    body: document("MissingRequiredHeader", "It is not there", "<HeaderName>x-ms-blob-type</HeaderName>"),
    error: "StorageRejected",
    recovery: "none",
    fields: { words: "It is not there x-ms-blob-type" }
  },
  {
    what: "an account that is over its limit",
    status: 403,
    body: document("StorageCapExceeded", "Cannot upload files, storage cap exceeded"),
    error: "StorageForbidden",
    recovery: "none",
    fields: { code: "StorageCapExceeded", words: "Cannot upload files, storage cap exceeded" }
  },
  {
    what: "a body that stopped coming",
    status: 400,
    body: document(
      "RequestTimeout",
      "Your socket connection to the server was not read from or written to within the timeout period."
    ),
    error: "StorageUnavailable",
    recovery: "retry",
    fields: { status: 400, code: "RequestTimeout" }
  },
  {
    what: "fewer bytes than declared",
    status: 400,
    body: document(
      "IncompleteBody",
      "You did not provide the number of bytes specified by the Content-Length HTTP header"
    ),
    error: "StorageRejected",
    recovery: "retryOnce",
    fields: { status: 400, code: "IncompleteBody" }
  },
  ...["EntityTooSmall", "EntityTooLarge", "InvalidPart", "InvalidRequest", "InvalidArgument"].map((code): Row => ({
    what: "what no repeat of the PUT changes",
    status: 400,
    body: document(code, "Your proposed upload is not right."),
    error: "StorageRejected",
    recovery: "none",
    fields: { status: 400, code }
  })),
  ...["ExpiredToken", "TokenRefreshRequired", "InvalidToken"].map((code): Row => ({
    what: "credentials that ended before the URL",
    status: 400,
    body: document(code, "The provided token has expired."),
    error: "UrlExpired",
    recovery: "newSession",
    fields: { reason: "Credentials", deadline: undefined }
  })),
  {
    what: "credentials that ended, by a 403",
    status: 403,
    body: document("ExpiredToken", "The provided token has expired."),
    error: "UrlExpired",
    recovery: "newSession",
    fields: { reason: "Credentials", deadline: undefined }
  },
  {
    what: "a URL that is too old",
    status: 403,
    body: document(
      "AccessDenied",
      "Request has expired",
      "<X-Amz-Expires>10800</X-Amz-Expires><Expires>2030-01-01T03:00:00Z</Expires>" +
        "<ServerTime>2030-01-01T03:00:09Z</ServerTime>"
    ),
    error: "UrlExpired",
    recovery: "newSession",
    fields: {
      reason: "Refused",
      deadline: new Date(deadline),
      serverTime: new Date(deadline + 9000)
    }
  },
  {
    what: "a URL that is too old, in another language",
    status: 403,
    body: document("AccessDenied", "Anfrage abgelaufen", "<Expires>2030-01-01T02:59:00Z</Expires>"),
    error: "UrlExpired",
    recovery: "newSession",
    // storage's own word for it, rather than what the URL says
    fields: { reason: "Refused", deadline: new Date(deadline - 60_000), serverTime: undefined }
  },
  {
    what: "a URL that is too old, by its message alone",
    status: 403,
    body: document("AccessDenied", "Request has expired"),
    error: "UrlExpired",
    recovery: "newSession",
    fields: { reason: "Refused", deadline: new Date(deadline) }
  },
  {
    what: "a URL that is too old, with Ceph's empty message",
    status: 403,
    body: document("AccessDenied", ""),
    when: afterDeadline,
    error: "UrlExpired",
    recovery: "newSession",
    fields: { reason: "Refused", deadline: new Date(deadline) }
  },
  {
    what: "a header that is not signed",
    status: 403,
    body: document(
      "AccessDenied",
      "There were headers present in the request which were not signed",
      "<HeadersNotSigned>x-amz-acl, content-md5</HeadersNotSigned>"
    ),
    error: "HeadersNotSigned",
    recovery: "none",
    fields: { headers: ["x-amz-acl", "content-md5"] }
  },
  {
    what: "a header that is not signed, at a URL that has ended",
    status: 403,
    body: document("AccessDenied", "", "<HeadersNotSigned>x-amz-acl</HeadersNotSigned>"),
    when: afterDeadline,
    error: "HeadersNotSigned",
    recovery: "none",
    fields: { headers: ["x-amz-acl"] }
  },
  {
    what: "a policy",
    status: 403,
    body: document("AccessDenied", "Access Denied"),
    error: "StorageForbidden",
    recovery: "none",
    fields: { code: "AccessDenied" }
  },
  {
    what: "a policy, with Ceph's empty message",
    status: 403,
    body: document("AccessDenied", ""),
    error: "StorageForbidden",
    recovery: "none",
    fields: { code: "AccessDenied" }
  },
  {
    what: "the permission of an encryption key",
    status: 403,
    body: document("KMS.AccessDeniedException", "The ciphertext refers to a customer master key that does not exist"),
    error: "StorageForbidden",
    recovery: "none",
    fields: { code: "KMS.AccessDeniedException" }
  },
  {
    what: "a signature that does not match",
    status: 403,
    body: document(
      "SignatureDoesNotMatch",
      "The request signature we calculated does not match the signature you provided. Check your key and signing method.",
      `<AWSAccessKeyId>AKIA</AWSAccessKeyId><SignatureProvided>${signature}</SignatureProvided>`
    ),
    error: "SignatureMismatch403",
    recovery: "none",
    fields: {
      signedHeaders: ["x-amz-server-side-encryption"],
      sentHeaders: ["content-type", "content-length"]
    }
  },
  {
    what: "a signature that does not match, with Ceph's empty message",
    status: 403,
    body: document("SignatureDoesNotMatch", ""),
    error: "SignatureMismatch403",
    recovery: "none"
  },
  {
    what: "a signature that does not match, at a URL that has ended",
    status: 403,
    body: document("SignatureDoesNotMatch", ""),
    when: afterDeadline,
    error: "SignatureMismatch403",
    recovery: "none"
  },
  {
    what: "a signer whose clock is wrong",
    status: 403,
    body: document(
      "RequestTimeTooSkewed",
      "The difference between the request time and the current time is too large.",
      "<RequestTime>20300101T000000Z</RequestTime><ServerTime>2030-01-01T01:00:00Z</ServerTime>" +
        "<MaxAllowedSkewMilliseconds>900000</MaxAllowedSkewMilliseconds>"
    ),
    error: "UrlExpired",
    recovery: "newSession",
    fields: { reason: "Clock", deadline: undefined, serverTime: new Date(signedAt + 3_600_000) }
  },
  {
    what: "a key that was rotated",
    status: 403,
    body: document("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."),
    error: "UrlExpired",
    recovery: "newSession",
    fields: { reason: "UnknownKey", deadline: undefined }
  },
  ...[["no body", ""], ["a document that was cut off", "<Error><Co"]].map(
    ([what, body]): Row => ({
      what: `${what} before the URL's own deadline`,
      status: 403,
      body: body ?? "",
      error: "SignatureMismatch403",
      recovery: "none"
    })
  ),
  ...[400, 401, 403, 404, 405, 407, 410, 413, 451].flatMap((status) =>
    [
      [
        "a page of something in between",
        "<!DOCTYPE html><title>Blocked</title><h1>Blocked: upload</h1>",
        "Blocked Blocked: upload"
      ],
      ["a text of something in between", "Blocked by policy: upload", "Blocked by policy: upload"],
      ["JSON of something in between", "{\"blocked\":true}", "{\"blocked\":true}"]
    ].map(([what, body = "", excerpt]): Row => ({
      what: `${what} with a ${status}`,
      status,
      body,
      error: "StorageRejected",
      recovery: "none",
      fields: { status, excerpt }
    }))
  ),
  ...([
    ["S3", "AccessDenied", "Request is not yet valid", "<Expires>2030-01-01T03:00:00Z</Expires>"],
    ["S3, without times", "AccessDenied", "Request is not yet valid", ""],
    [
      "S3, by its code",
      "RequestTimeTooSkewed",
      "The difference between the request time and the current time is too large.",
      ""
    ],
    ["Google", "AccessDenied", "Access denied.", "<Details>Signature not yet valid</Details>"]
  ] as const).map(([who, code, message, more]): Row => ({
    what: `a URL that ${who} says is signed in the future`,
    status: 403,
    body: document(code, message, `${more}<ServerTime>2029-12-31T23:59:57Z</ServerTime>`),
    error: "UrlNotYetValid",
    recovery: "retry",
    fields: {
      start: new Date(signedAt),
      serverTime: new Date(signedAt - 3000),
      retryAfter: Duration.seconds(4)
    }
  })),
  {
    what: "a URL that storage says is not valid yet, without any time",
    status: 403,
    body: document("AccessDenied", "Request is not yet valid"),
    error: "UrlNotYetValid",
    recovery: "retry",
    fields: { retryAfter: undefined, serverTime: undefined }
  },
  {
    what: "a URL that Azure says has expired",
    status: 403,
    body: document(
      "AuthenticationFailed",
      "Server failed to authenticate the request.",
      "<AuthenticationErrorDetail>Signature not valid in the specified time frame: Start [Tue, 01 Jan 2030 00:00:00 GMT] - " +
        "Expiry [Tue, 01 Jan 2030 03:00:00 GMT] - Current [Tue, 01 Jan 2030 03:00:07 GMT]</AuthenticationErrorDetail>"
    ),
    error: "UrlExpired",
    recovery: "newSession",
    fields: { reason: "Refused", deadline: new Date(deadline), serverTime: new Date(deadline + 7000) }
  },
  {
    what: "a URL that Azure says is not valid yet",
    status: 403,
    body: document(
      "AuthenticationFailed",
      "Server failed to authenticate the request.",
      "<AuthenticationErrorDetail>Signature not valid in the specified time frame: Start [Tue, 01 Jan 2030 00:00:00 GMT] - " +
        "Expiry [Tue, 01 Jan 2030 03:00:00 GMT] - Current [Mon, 31 Dec 2029 23:59:57 GMT]</AuthenticationErrorDetail>"
    ),
    error: "UrlNotYetValid",
    recovery: "retry",
    fields: { serverTime: new Date(signedAt - 3000), retryAfter: Duration.seconds(4) }
  },
  {
    what: "a signature that does not match, in Azure's words",
    status: 403,
    body: document(
      "AuthenticationFailed",
      "Server failed to authenticate the request.",
      "<AuthenticationErrorDetail>Signature did not match. String to sign used was w</AuthenticationErrorDetail>"
    ),
    error: "SignatureMismatch403",
    recovery: "none"
  },
  {
    what: "a URL that Google says has expired",
    status: 400,
    body: document(
      "ExpiredToken",
      "Invalid argument.",
      "<Details>Request signature expired at: 2030-01-01T03:00:00+00:00</Details>"
    ),
    error: "UrlExpired",
    recovery: "newSession",
    fields: { reason: "Refused", deadline: new Date(deadline) }
  },
  ...["RequestExpired", "ExpiredRequest"].map((code): Row => ({
    what: `a URL that has expired by the code ${code}`,
    status: 400,
    body: document(code, "no more"),
    error: "UrlExpired",
    recovery: "newSession",
    fields: { reason: "Refused" }
  })),
  ...[["no body", ""], ["a proxy's page", html], ["a document that was cut off", "<Error><Co"]].map(
    ([what, body]): Row => ({
      what: `${what} after the URL's own deadline`,
      status: 403,
      body: body ?? "",
      when: afterDeadline,
      error: "UrlExpired",
      recovery: "newSession",
      fields: { reason: "Refused", deadline: new Date(deadline) }
    })
  ),
  {
    what: "an upload that is gone",
    status: 404,
    body: document(
      "NoSuchUpload",
      "The specified multipart upload does not exist. The upload ID might be invalid, or it was aborted or completed."
    ),
    error: "StorageRejected",
    recovery: "none",
    fields: { status: 404, code: "NoSuchUpload" }
  },
  {
    what: "a concurrent change",
    status: 409,
    body: document("OperationAborted", "A conflicting conditional operation is currently in progress. Try again."),
    error: "StorageUnavailable",
    recovery: "retry",
    fields: { status: 409, code: "OperationAborted" }
  },
  {
    what: "a body without a length",
    status: 411,
    body: document("MissingContentLength", "You must provide the Content-Length HTTP header."),
    error: "StorageRejected",
    recovery: "none",
    fields: { status: 411, code: "MissingContentLength" }
  },
  {
    what: "a chunked body",
    status: 501,
    body: document("NotImplemented", "A header you provided implies functionality that is not implemented"),
    error: "StorageRejected",
    recovery: "none",
    fields: { status: 501, code: "NotImplemented" }
  },
  {
    what: "an object that exists already",
    status: 412,
    body: document("PreconditionFailed", "At least one of the pre-conditions you specified did not hold"),
    error: "StorageRejected",
    recovery: "none",
    fields: { status: 412, code: "PreconditionFailed" }
  },
  {
    what: "too fast",
    status: 503,
    body: document("SlowDown", "Please reduce your request rate."),
    error: "StorageUnavailable",
    recovery: "slowDown",
    fields: { status: 503, code: "SlowDown" }
  },
  {
    what: "too fast",
    status: 429,
    body: "",
    error: "StorageUnavailable",
    recovery: "slowDown",
    fields: { status: 429, code: undefined }
  },
  {
    what: "no room",
    status: 507,
    body: document("InsufficientStorage", "There is no room left for what is to be stored."),
    error: "StorageUnavailable",
    recovery: "none",
    fields: { status: 507, code: "InsufficientStorage" }
  },
  ...[421, 423, 425, 500, 502, 503, 504].flatMap((status): ReadonlyArray<Row> => [
    {
      what: "an internal error",
      status,
      body: document("InternalError", "We encountered an internal error. Please try again."),
      error: "StorageUnavailable",
      recovery: "retry",
      fields: { status, code: "InternalError" }
    },
    {
      what: "a gateway's page",
      status,
      body: html,
      error: "StorageUnavailable",
      recovery: "retry",
      fields: { status, code: undefined }
    },
    {
      what: "nothing",
      status,
      body: "",
      error: "StorageUnavailable",
      recovery: "retry",
      fields: { status, code: undefined }
    }
  ]),
  {
    what: "the end of a URL of another dialect",
    status: 400,
    body: document(
      "ExpiredToken",
      "The provided token has expired.",
      "<Details>Request signature expired at: 2030-01-01T03:00:00+00:00</Details>"
    ),
    error: "UrlExpired",
    recovery: "newSession",
    fields: { reason: "Refused", deadline: new Date(deadline) }
  },
  {
    what: "a code of nobody's",
    status: 400,
    body: document("constructor", ""),
    error: "StorageRejected",
    recovery: "none",
    fields: { status: 400, code: "constructor" }
  }
]

describe("StorageResponse", () => {
  describe("the table of answers to a PUT", () => {
    it.each(table)("$status, $what: $error ($recovery)", ({ body, error, fields, recovery, status, when }) => {
      const failed = failure(answer(status, body), when)
      assert.strictEqual(failed._tag, error)
      assert.strictEqual(failed.recovery, recovery)
      assert.strictEqual(failed.attempts, 2)
      assert.deepInclude({ ...failed }, { ...fields, part: 7, requestId: "REQ7" })
      assert.notInclude(JSON.stringify(failed), signature)
    })

    it.each(table)("a GET's response from an object storage means the same: $status, $what", (row) => {
      const read = StorageResponse.interpret(answer(row.status, row.body), row.when ?? asked)
      assert.strictEqual(Either.isLeft(read) ? read.left._tag : "success", row.error)
    })
  })

  describe("the storage's own Date decides whether the URL has expired, however wrong our clock is", () => {
    const at = (time: number) => ({ date: new Date(time).toUTCString() })

    it.prop("a refusal before the deadline is no expiry", {
      serverNow: fc.integer({ min: 0, max: 4e12 }),
      left: fc.integer({ min: 1000, max: 10_800_000 })
    }, ({ left, serverNow }) => {
      const refusal = (body: string) => failure(answer(403, body, at(deadline - left)), { ...asked, serverNow })._tag
      assert.strictEqual(refusal(document("AccessDenied", "")), "StorageForbidden")
      assert.strictEqual(refusal(""), "SignatureMismatch403")
    })

    it.prop("a refusal before the URL was signed is that it is not valid yet, and says how long to wait", {
      serverNow: fc.integer({ min: 0, max: 4e12 }),
      early: fc.integer({ min: 1, max: 10_800 }),
      body: fc.constantFrom(document("AccessDenied", ""), document("RequestTimeTooSkewed", ""), "")
    }, ({ body, early, serverNow }) => {
      const error = failure(answer(403, body, at(signedAt - early * 1000)), { ...asked, serverNow })
      if (error._tag !== "UrlNotYetValid") return assert.fail(error._tag)
      assert.deepStrictEqual(error.retryAfter, Duration.seconds(early + 1))
      assert.match(error.message, /not valid yet: it was signed at .*, but storage's clock says .*clock/)
    })

    it("an assumed deadline is not shown as the URL's own", () => {
      const url = PresignedUrl.endingBy(parse("https://b.test/k"), new Date(deadline))
      const error = failure(answer(403, document("AccessDenied", "Request has expired")), { ...asked, url })
      assert.isUndefined(error._tag === "UrlExpired" ? error.deadline : error)
    })

    it.prop("a refusal after it is one", {
      serverNow: fc.integer({ min: 0, max: 4e12 }),
      late: fc.nat(10_800_000),
      body: fc.constantFrom(document("AccessDenied", ""), html, "")
    }, ({ body, late, serverNow }) => {
      assert.strictEqual(failure(answer(403, body, at(deadline + late)), { ...asked, serverNow })._tag, "UrlExpired")
    })
  })

  describe("a success", () => {
    it.prop("keeps the etag verbatim, whatever it contains", {
      etag: fc.string({ minLength: 1 }),
      status: fc.constantFrom(200, 201, 204)
    }, ({ etag, status }) => {
      const receipt = Either.getOrThrow(StorageResponse.interpretPut(answer(status, "", { etag }), asked))
      assert.strictEqual(receipt.etag, etag)
      assert.strictEqual(receipt.requestId, "REQ7")
    })

    it("keeps the quotes of an etag", () => {
      const receipt = Either.getOrThrow(StorageResponse.interpretPut(answer(200, "", { etag: "\"a\"" }), asked))
      assert.strictEqual(receipt.etag, "\"a\"")
    })

    it("keeps checksums by algorithm, and does not take their type for a checksum", () => {
      const { checksums } = Either.getOrThrow(
        StorageResponse.interpretPut(
          answer(200, "", { etag: "e", "x-amz-checksum-crc32": "c==", "x-amz-checksum-type": "FULL_OBJECT" }),
          asked
        )
      )
      assert.deepStrictEqual(checksums, { crc32: "c==" })
    })

    it.each([{}, { etag: "" }])("without an etag is an error that names the CORS header: %j", (headers) => {
      const error = failure(answer(200, "", headers))
      assert.strictEqual(error._tag, "EtagMissing")
      assert.strictEqual(error.recovery, "none")
      assert.include(error.message, "Access-Control-Expose-Headers")
    })

    it.each([
      [{}, html],
      [{ etag: "\"5f-page\"" }, html],
      [{ etag: "e" }, "\ufeff\r\n<!DOCTYPE html>\n<html lang=\"en\"><body>Sign in</body></html>"]
    ])("with a web page is not storage's: it is tried again, and the error says so (%j)", (headers, page) => {
      const error = failure(answer(200, page, headers))
      assert.deepInclude({ ...error }, { _tag: "StorageUnavailable", status: 200, code: undefined })
      assert.strictEqual(error.recovery, "retry")
      assert.include(error.message, "sign in to the network")
    })

    it("a body that is not an error document does not make it a failure", () => {
      assert.isTrue(Either.isRight(StorageResponse.interpretPut(answer(200, "<Ok/>", { etag: "e" }), asked)))
    })
  })

  describe("hints", () => {
    it.each([[429, ""], [503, document("SlowDown", "")], [500, html]])("%d keeps the requested wait", (
      status,
      body
    ) => {
      const error = failure(answer(status, body, { "retry-after": "12" }))
      assert.instanceOf(error, StorageError.StorageUnavailable)
      assert.strictEqual(error.retryAfter === undefined ? undefined : Duration.toMillis(error.retryAfter), 12_000)
    })

    it("a wait until a date is counted from the response's date, otherwise from the server's clock", () => {
      const until = (headers: Readonly<Record<string, string>>) => {
        const wanted = new Date(asked.serverNow + 30_000).toUTCString()
        const error = failure(answer(503, "", { ...headers, "retry-after": wanted }))
        assert.instanceOf(error, StorageError.StorageUnavailable)
        return error.retryAfter === undefined ? undefined : Duration.toSeconds(error.retryAfter)
      }
      assert.strictEqual(until({}), 30)
      assert.strictEqual(until({ date: new Date(asked.serverNow + 10_000).toUTCString() }), 20)
    })

    it("the request id is the header's, otherwise the document's, otherwise absent", () => {
      const bare = { status: 400, headers: {} }
      assert.include({ ...failure(answer(400, document("InvalidArgument", ""))) }, { requestId: "REQ7" })
      assert.include({ ...failure({ ...bare, body: document("InvalidArgument", "") }) }, {
        requestId: "4442587FB7D0A2F9"
      })
      assert.include({ ...failure({ ...bare, body: "" }) }, { requestId: undefined })
    })

    it("the PUT of a whole file has no part", () => {
      assert.include({ ...failure(answer(500), { ...asked, url: presigned() }) }, { part: undefined })
    })
  })

  describe("any response", () => {
    const statuses = fc.oneof(fc.integer({ min: 0, max: 999 }), fc.constantFrom(200, 400, 403, 503))
    const texts = fc.oneof(
      fc.string(),
      fc.constantFrom("constructor", "toString", "__proto__", "valueOf", "AccessDenied", "")
    )
    const bodies = fc.oneof(
      fc.string(),
      fc.record({ code: texts, message: texts, element: texts, value: texts }).map((
        { code, element, message, value }
      ) => document(code, message, `<${element}>${value}</${element}>`))
    )
    const headers = fc.dictionary(
      fc.constantFrom("etag", "retry-after", "date", "x-amz-request-id", "x-amz-checksum-crc32"),
      fc.string()
    )

    it.prop("is a receipt or one typed error, never a defect, and only a 2xx is a success", {
      status: statuses,
      body: bodies,
      headers,
      serverNow: fc.integer({ min: 0, max: 4e12 }),
      attempts: fc.nat()
    }, ({ attempts, body, headers, serverNow, status }) => {
      const read = StorageResponse.interpretPut({ status, headers, body }, { ...asked, serverNow, attempts })
      if (Either.isRight(read)) {
        assert.isTrue(status >= 200 && status < 300)
        assert.isAbove(read.right.etag.length, 0)
      } else {
        assert.isAbove(read.left.message.length, 0)
      }
    }, { fastCheck: { numRuns: runs(1000) } })
  })

  it("a 416 tells the size of the object, if storage does", () => {
    const outside = (headers: Readonly<Record<string, string>>) =>
      failure(answer(416, document("InvalidRange", "The requested range is not satisfiable"), headers))
    assert.deepInclude(outside({ "content-range": "bytes */10" }), { _tag: "StorageRejected", totalLength: 10 })
    assert.deepInclude(outside({}), { _tag: "StorageRejected", totalLength: undefined })
  })

  it("a status that is no success for this request is a refusal with that status", () => {
    const error = StorageResponse.rejected(answer(204), asked)
    assert.include({ ...error }, { status: 204, part: 7, requestId: "REQ7", attempts: 2 })
    assert.strictEqual(error.recovery, "none")
  })
})
