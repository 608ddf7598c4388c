import type { Difference, Expected, Row, Section } from "./Row.js"

const ENCRYPTION = "x-amz-server-side-encryption"
const KEY_ID = `${ENCRYPTION}-aws-kms-key-id`

const ETAG = /^"[^"]+"$/

const mismatch = { status: 403, code: "SignatureDoesNotMatch" }
const denied = { status: 403, code: "AccessDenied" }

const singlePuts: ReadonlyArray<Row> = [
  {
    kind: "http",
    title: "every signed encryption header is sent",
    expected: { status: 200, headers: { etag: ETAG, [ENCRYPTION]: "aws:kms", [KEY_ID]: true } }
  },
  { kind: "http", title: "a signed header is left out", sent: { without: [ENCRYPTION] }, expected: mismatch },
  { kind: "http", title: "a second signed header is left out", sent: { without: [KEY_ID] }, expected: mismatch },
  {
    kind: "http",
    title: "a signed header has another value",
    sent: { without: [ENCRYPTION], headers: { [ENCRYPTION]: "AES256" } },
    expected: mismatch
  },
  {
    kind: "http",
    title: "a media type that is not signed is kept",
    sent: { headers: { "content-type": "video/mp4" } },
    readBack: true,
    expected: { status: 200, headers: { "content-type": "video/mp4" } }
  },
  {
    kind: "http",
    title: "a media type that is signed is another",
    signed: { headers: { "content-type": "video/mp4" } },
    sent: { without: ["content-type"], headers: { "content-type": "text/plain" } },
    expected: mismatch
  },
  {
    kind: "http",
    title: "an x-amz-* header that is not signed",
    sent: { headers: { "x-amz-meta-origin": "page" } },
    expected: { ...denied, elements: ["HeadersNotSigned"] },
    store: {
      status: 200,
      reason: "verifies what is signed, and does not ask whether there is more"
    }
  },
  {
    kind: "http",
    title: "a Content-MD5 that is not signed",
    sent: { body: "hello", headers: { "content-md5": "XUFAKrxLKna5cZ2REBfFkg==" } },
    expected: { ...denied, elements: ["HeadersNotSigned"] },
    store: { status: 200, reason: "verifies what is signed, and does not ask whether there is more" }
  },
  {
    kind: "http",
    title: "an empty body",
    sent: { body: "" },
    readBack: true,
    expected: { status: 200, headers: { "content-length": "0" }, body: "" }
  },
  {
    kind: "http",
    title: "a second PUT replaces the first",
    given: "an object",
    sent: { body: "again" },
    readBack: true,
    expected: { status: 200, body: "again" }
  },
  {
    kind: "http",
    title: "a key of spaces and other letters",
    signed: { suffix: "/a b/ü+(1).txt" },
    readBack: true,
    expected: { status: 200, body: "hello" }
  },
  {
    kind: "http",
    title: "a chunked body",
    sent: { framing: "chunked" },
    expected: { status: 501, code: "NotImplemented" },
    store: { status: 411, code: "MissingContentLength", reason: "refuses it for the length that it does not tell" }
  },
  {
    kind: "http",
    title: "no length at all",
    sent: { framing: "none", body: "" },
    expected: { status: 411, code: "MissingContentLength" }
  },
  {
    kind: "http",
    title: "more than 5 GiB are declared",
    sent: { body: "", declared: 5 * 1024 ** 3 + 1 },
    expected: { status: 400, code: "EntityTooLarge" }
  },
  {
    kind: "http",
    title: "the connection ends before the body does: nothing is stored",
    sent: { body: "hel", declared: 5, hangUp: true },
    readBack: true,
    expected: { status: 404, code: "NoSuchKey" }
  },
  {
    kind: "http",
    title: "an Authorization header beside the signed query",
    sent: { headers: { authorization: "Bearer api.sandbox" } },
    expected: { status: 400, code: "InvalidArgument" }
  },
  {
    kind: "http",
    title: "a bucket that is not there",
    signed: { bucket: "stevedore-nowhere" },
    expected: { status: 404, code: "NoSuchBucket" }
  }
]

const signatures: ReadonlyArray<Row> = [
  { kind: "http", title: "another key", tamper: (url) => url.pathname += "x", expected: mismatch },
  {
    kind: "http",
    title: "a longer life",
    tamper: (url) => url.searchParams.set("X-Amz-Expires", "604800"),
    expected: mismatch
  },
  {
    kind: "http",
    title: "another signature",
    tamper: (url) => url.searchParams.set("X-Amz-Signature", "0".repeat(64)),
    expected: mismatch
  },
  {
    kind: "http",
    title: "a signed header struck from the list",
    tamper: (url) => url.searchParams.set("X-Amz-SignedHeaders", "host"),
    sent: { without: [ENCRYPTION, KEY_ID] },
    expected: mismatch
  },
  {
    kind: "http",
    title: "one more parameter",
    tamper: (url) => url.searchParams.set("x-id", "PutObject"),
    expected: mismatch
  },
  { kind: "http", title: "another method", sent: { method: "GET", body: "" }, expected: mismatch },
  { kind: "http", title: "another host", sent: { headers: { host: "elsewhere.test" } }, expected: mismatch },
  {
    kind: "http",
    title: "no X-Amz-Signature",
    tamper: (url) => url.searchParams.delete("X-Amz-Signature"),
    expected: { status: 400, code: "AuthorizationQueryParametersError" },
    store: { ...denied, reason: "takes it for a request that is not signed" }
  },
  { kind: "http", title: "not signed at all", signed: false, expected: denied },
  {
    kind: "http",
    title: "an unknown access key",
    signed: { accessKeyId: "AKIDNOBODYKNOWSTHISONE" },
    expected: { status: 403, code: "InvalidAccessKeyId" }
  },
  {
    kind: "http",
    title: "ended a second ago",
    signed: { ago: 61, expiresIn: 60 },
    expected: { ...denied, elements: ["Expires", "ServerTime"] },
    store: { elements: [], reason: "the same code, without a message or an element that says why" }
  },
  {
    kind: "http",
    title: "ended, and tampered with",
    signed: { ago: 61, expiresIn: 60 },
    tamper: (url) => url.searchParams.set("X-Amz-Signature", "0".repeat(64)),
    expected: denied
  },
  {
    kind: "http",
    title: "a life of more than seven days",
    // told before the signature is looked at: no signer makes such a URL
    tamper: (url) => url.searchParams.set("X-Amz-Expires", "604801"),
    expected: { status: 400, code: "AuthorizationQueryParametersError" },
    store: { ...denied, reason: "refuses it as it refuses an expired one" }
  },
  {
    kind: "http",
    title: "signed an hour ahead",
    signed: { ago: -3600 },
    expected: denied,
    store: { status: 200, reason: "looks only at the end of a URL's life" }
  },
  {
    kind: "http",
    title: "the scope of another region",
    signed: { region: "eu-north-1" },
    expected: { status: 400, code: "AuthorizationQueryParametersError" },
    store: { status: 200, reason: "has one region and takes any name for it" }
  }
]

const parts: ReadonlyArray<Row> = [
  {
    kind: "http",
    title: "a part",
    given: "an upload",
    signed: { part: { number: 1 } },
    expected: { status: 200, headers: { etag: ETAG } }
  },
  {
    kind: "http",
    title: "a part with an encryption header that is not signed",
    given: "an upload",
    signed: { part: { number: 1 } },
    sent: { headers: { [ENCRYPTION]: "aws:kms" } },
    expected: { status: 400, code: "InvalidArgument" },
    store: { status: 200, reason: "ignores the header" }
  },
  {
    kind: "http",
    title: "a part of an upload that never was",
    signed: { part: { number: 1, upload: "unknown" } },
    expected: { status: 404, code: "NoSuchUpload" }
  },
  {
    kind: "http",
    title: "the URL of part 1 used for part 2",
    given: "an upload",
    signed: { part: { number: 1 } },
    tamper: (url) => url.searchParams.set("partNumber", "2"),
    expected: mismatch
  },
  {
    kind: "http",
    title: "part 0",
    given: "an upload",
    signed: { part: { number: 0 } },
    expected: { status: 400, code: "InvalidArgument" },
    store: { status: 200, reason: "has no limits of its own: the part can never be completed" }
  },
  {
    kind: "http",
    title: "part 10001",
    given: "an upload",
    signed: { part: { number: 10_001 } },
    expected: { status: 400, code: "InvalidArgument" },
    store: { status: 200, reason: "has no limits of its own: the part can never be completed" }
  },
  {
    kind: "http",
    title: "part x",
    given: "an upload",
    signed: { part: { number: "x" } },
    expected: { status: 400, code: "InvalidArgument" }
  },
  {
    kind: "http",
    title: "a part after the URL has ended",
    given: "an upload",
    signed: { part: { number: 1 }, ago: 61, expiresIn: 60 },
    expected: { ...denied, elements: ["Expires", "ServerTime"] },
    store: { elements: [], reason: "the same code, without a message or an element that says why" }
  },
  {
    kind: "http",
    title: "an upload is no object before it is completed",
    given: "an upload",
    signed: { part: { number: 1 } },
    readBack: true,
    expected: { status: 404, code: "NoSuchKey" }
  }
]

const MIB = 1024 * 1024

const completes: ReadonlyArray<Row> = [
  {
    kind: "complete",
    title: "parts of 5 MiB and a last one of a byte",
    parts: [[1, 5 * MIB], [2, 5 * MIB], [3, 1]],
    listed: [0, 1, 2],
    expected: { status: 200, size: 10 * MIB + 1, headers: { etag: /^"[^"]+-3"$/ } }
  },
  {
    kind: "complete",
    title: "parts that came in another order",
    parts: [[3, 1], [1, 5 * MIB], [2, 5 * MIB]],
    listed: [1, 2, 0],
    expected: { status: 200, size: 10 * MIB + 1 }
  },
  {
    kind: "complete",
    title: "one part, smaller than 5 MiB",
    parts: [[1, 5]],
    listed: [0],
    expected: { status: 200, size: 5, headers: { etag: /^"[^"]+-1"$/ } }
  },
  {
    kind: "complete",
    title: "an etag that the part does not have",
    parts: [[1, 5]],
    listed: [{ number: 1, etag: `"${"0".repeat(32)}"` }],
    expected: { status: 400, code: "InvalidPart" }
  },
  {
    kind: "complete",
    title: "the etag of a part that was sent again since",
    parts: [[1, 5], [1, 6]],
    listed: [0],
    expected: { status: 400, code: "InvalidPart" }
  },
  {
    kind: "complete",
    title: "the last etag of a part that was sent twice",
    parts: [[1, 5], [1, 6]],
    listed: [1],
    expected: { status: 200, size: 6 }
  },
  {
    kind: "complete",
    title: "a part that was never sent",
    parts: [[1, 5 * MIB]],
    listed: [0, { number: 2, etag: `"${"0".repeat(32)}"` }],
    expected: { status: 400, code: "InvalidPart" }
  },
  {
    kind: "complete",
    title: "a part under 5 MiB that is not the last",
    parts: [[1, 5 * MIB - 1], [2, 5]],
    listed: [0, 1],
    expected: { status: 400, code: "EntityTooSmall" }
  },
  {
    kind: "complete",
    title: "parts out of order",
    parts: [[1, 5 * MIB], [2, 5 * MIB]],
    listed: [1, 0],
    expected: { status: 400, code: "InvalidPartOrder" },
    store: { status: 200, reason: "sorts them" }
  },
  {
    kind: "complete",
    title: "some of the parts that were sent",
    parts: [[1, 5 * MIB], [2, 5]],
    listed: [0],
    expected: { status: 200, size: 5 * MIB },
    store: { status: 400, code: "InvalidPart", reason: "wants them all: stricter than S3" }
  },
  {
    kind: "complete",
    title: "no parts",
    parts: [[1, 5]],
    listed: [],
    expected: { status: 400, code: "MalformedXML" }
  },
  {
    kind: "complete",
    title: "an upload that never was",
    parts: [[1, 5]],
    listed: [0],
    upload: "unknown",
    expected: { status: 404, code: "NoSuchUpload" },
    store: { status: 500, code: "InternalError", reason: "fails where it finds no upload" }
  },
  {
    kind: "complete",
    title: "an upload that was aborted",
    parts: [[1, 5]],
    listed: [0],
    before: "aborted",
    expected: { status: 404, code: "NoSuchUpload" },
    store: { status: 500, code: "InternalError", reason: "fails where it finds no upload" }
  },
  {
    kind: "complete",
    title: "an upload that is complete already",
    parts: [[1, 5]],
    listed: [0],
    before: "completed",
    expected: { status: 404, code: "NoSuchUpload" },
    store: {
      status: 200,
      reason: "gives the same answer again. AWS was seen to do so too, but documents this one: a client must bear both"
    }
  }
]

const get = { method: "GET" } as const
const whole = { status: 200, body: "0123456789" }

const ranged = (title: string, range: string, body: string, contentRange: string): Row => ({
  kind: "http",
  title,
  given: "an object",
  signed: get,
  sent: { headers: { range } },
  expected: {
    status: 206,
    headers: { "content-range": contentRange, "content-length": String(body.length), etag: ETAG },
    body
  }
})

const conditional = (
  title: string,
  headers: Readonly<Record<string, string>>,
  expected: Expected,
  store?: Difference
): Row => ({
  kind: "http",
  title,
  given: "an object",
  signed: get,
  sent: { headers },
  expected,
  ...(store === undefined ? {} : { store })
})

const refusesRange: Difference = {
  status: 416,
  code: "InvalidRange",
  reason: "refuses a range that it does not understand, where HTTP lets a server ignore it"
}

const reads: ReadonlyArray<Row> = [
  {
    kind: "http",
    title: "the whole object",
    given: "an object",
    signed: get,
    expected: {
      ...whole,
      headers: {
        "content-length": "10",
        "content-type": "text/plain",
        etag: ETAG,
        "last-modified": / GMT$/,
        "accept-ranges": "bytes"
      }
    }
  },
  {
    kind: "http",
    title: "HEAD",
    given: "an object",
    signed: { method: "HEAD" },
    expected: { status: 200, headers: { "content-length": "10", etag: ETAG }, body: "" }
  },
  ranged("the first bytes: bytes=0-3", "bytes=0-3", "0123", "bytes 0-3/10"),
  ranged("from a place on: bytes=7-", "bytes=7-", "789", "bytes 7-9/10"),
  ranged("the last bytes: bytes=-2", "bytes=-2", "89", "bytes 8-9/10"),
  ranged("over the end: bytes=8-99", "bytes=8-99", "89", "bytes 8-9/10"),
  ranged("more of the last bytes than there are: bytes=-99", "bytes=-99", "0123456789", "bytes 0-9/10"),
  conditional("outside: bytes=10-", { range: "bytes=10-" }, { status: 416, code: "InvalidRange" }),
  conditional("no range at all: bytes=x", { range: "bytes=x" }, whole, refusesRange),
  conditional("backwards: bytes=5-2", { range: "bytes=5-2" }, whole, refusesRange),
  conditional("several ranges: bytes=0-1,4-5", { range: "bytes=0-1,4-5" }, whole, {
    status: 206,
    body: "01",
    reason: "gives the first of them"
  }),
  conditional("If-Match, and it does", { "if-match": "{etag}" }, whole),
  conditional("If-Match, and it does not", { "if-match": "\"0\"" }, { status: 412, code: "PreconditionFailed" }),
  conditional("If-None-Match, and it does match", { "if-none-match": "{etag}" }, { status: 304, body: "" }),
  conditional("If-None-Match, and it does not match", { "if-none-match": "\"0\"" }, whole),
  conditional("If-Match with a range", { "if-match": "{etag}", range: "bytes=0-3" }, { status: 206, body: "0123" }),
  conditional("If-Range, and it is the same", { "if-range": "{etag}", range: "bytes=0-3" }, {
    status: 206,
    body: "0123"
  }),
  conditional("If-Range, and it is another", { "if-range": "\"0\"", range: "bytes=0-3" }, whole, {
    status: 206,
    body: "0123",
    reason: "does not know If-Range: a download is taken up again with If-Match, which every store knows"
  }),
  { kind: "http", title: "a key that is not there", signed: get, expected: { status: 404, code: "NoSuchKey" } },
  {
    kind: "http",
    title: "HEAD of a key that is not there",
    signed: { method: "HEAD" },
    expected: { status: 404, body: "" }
  },
  {
    kind: "http",
    title: "a URL that has ended",
    given: "an object",
    signed: { ...get, ago: 61, expiresIn: 60 },
    expected: { ...denied, elements: ["Expires", "ServerTime"] },
    store: { elements: [], reason: "the same code, without a message or an element that says why" }
  },
  {
    kind: "http",
    title: "the URL of a PUT",
    given: "an object",
    sent: { method: "GET", body: "" },
    expected: mismatch
  }
]

const origin = "https://page.test"

const preflight = (
  title: string,
  method: string,
  asked: string,
  expected: Expected,
  store: Difference
): Row => ({
  kind: "http",
  title,
  sent: {
    method: "OPTIONS",
    body: "",
    without: [ENCRYPTION, KEY_ID],
    headers: { origin, "access-control-request-method": method, "access-control-request-headers": asked }
  },
  expected,
  store
})

const forbidden: Expected = { status: 403, code: "AccessForbidden" }
const deniesPages: Difference = { ...denied, reason: "the same refusal by another code; a page sees neither" }

const pages: ReadonlyArray<Row> = [
  preflight("may a page PUT with these headers", "PUT", `content-type,${ENCRYPTION},${KEY_ID}`, {
    status: 200,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": /PUT/,
      "access-control-allow-headers": new RegExp(`${ENCRYPTION}.*${KEY_ID}`)
    }
  }, {
    headers: {
      "access-control-allow-origin": origin,
      "access-control-allow-methods": /PUT/,
      "access-control-allow-headers": new RegExp(`${ENCRYPTION}.*${KEY_ID}`)
    },
    reason: "names the page where S3 answers *, which says the same"
  }),
  preflight("may a page send its token to storage", "PUT", "authorization", forbidden, deniesPages),
  preflight("may a page send trace headers to storage", "PUT", "content-type,traceparent", forbidden, deniesPages),
  preflight("may a page DELETE", "DELETE", "content-type", forbidden, deniesPages),
  {
    kind: "http",
    title: "a page's PUT: it can read the etag",
    sent: { headers: { origin } },
    expected: {
      status: 200,
      headers: { etag: ETAG, "access-control-allow-origin": "*", "access-control-expose-headers": /ETag/i }
    }
  },
  {
    kind: "http",
    title: "a page's GET of a range: it can read where it is from",
    given: "an object",
    signed: get,
    sent: { headers: { origin, range: "bytes=0-3" } },
    expected: {
      status: 206,
      headers: { "access-control-allow-origin": "*", "access-control-expose-headers": /content-range/i }
    }
  },
  {
    kind: "http",
    title: "a page's PUT that is refused: it can read why",
    tamper: (url) => url.searchParams.set("X-Amz-Signature", "0".repeat(64)),
    sent: { headers: { origin } },
    expected: { ...mismatch, headers: { "access-control-allow-origin": "*" } },
    store: {
      headers: { "access-control-allow-origin": false },
      reason: "sends no CORS headers with a refusal: a page sees a network error"
    }
  }
]

/** The whole table. */
export const sections: ReadonlyArray<Section> = [
  { title: "A single PUT", rows: singlePuts },
  { title: "A URL that was changed, or whose time is not now", rows: signatures },
  { title: "Parts", rows: parts },
  { title: "Complete", rows: completes },
  { title: "Reads", rows: reads },
  { title: "From a page of another origin", rows: pages }
]
