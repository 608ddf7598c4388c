import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as StorageAnswer from "../../src/storage/answer.js"

const expired = `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>AccessDenied</Code><Message>Request has expired</Message><X-Amz-Expires>10800</X-Amz-Expires>` +
  "<Expires>2030-01-01T03:00:00Z</Expires><ServerTime>2030-01-01T03:00:07Z</ServerTime>" +
  "<RequestId>4442587FB7D0A2F9</RequestId><HostId>host</HostId></Error>"

const nothing: StorageAnswer.ErrorDocument = {
  code: undefined,
  storageMessage: undefined,
  requestId: undefined,
  expires: undefined,
  serverTime: undefined,
  headersNotSigned: []
}

describe("StorageAnswer", () => {
  it("reads the decisive fields of S3's error document", () => {
    assert.deepStrictEqual(StorageAnswer.readErrorDocument(expired), {
      code: "AccessDenied",
      storageMessage: "Request has expired",
      requestId: "4442587FB7D0A2F9",
      expires: new Date(Date.UTC(2030, 0, 1, 3)),
      serverTime: new Date(Date.UTC(2030, 0, 1, 3, 0, 7)),
      headersNotSigned: []
    })
  })

  it("reads the names of unsigned headers, however they are separated, in lower case", () => {
    const { headersNotSigned } = StorageAnswer.readErrorDocument(
      "<Error><Code>AccessDenied</Code><HeadersNotSigned>X-Amz-Acl, content-md5 x-amz-tagging</HeadersNotSigned></Error>"
    )
    assert.deepStrictEqual(headersNotSigned, ["x-amz-acl", "content-md5", "x-amz-tagging"])
  })

  it("an empty element counts as absent, as in Ceph's messages", () => {
    assert.deepStrictEqual(
      StorageAnswer.readErrorDocument("<Error><Code>AccessDenied</Code><Message></Message><RequestId/></Error>"),
      { ...nothing, code: "AccessDenied" }
    )
  })

  it("decodes each entity once", () => {
    assert.strictEqual(
      StorageAnswer.readErrorDocument("<Error><Message>&quot;a&quot; &amp;lt; &lt;b&gt; &apos;</Message></Error>")
        .storageMessage,
      "\"a\" &lt; <b> '"
    )
  })

  it("an invalid date counts as absent", () => {
    assert.isUndefined(StorageAnswer.readErrorDocument("<Error><Expires>soon</Expires></Error>").expires)
  })

  it("a truncated document yields what it has", () => {
    assert.strictEqual(StorageAnswer.readErrorDocument("<Error><Code>SlowDown</Code><Mess").code, "SlowDown")
  })

  it.each([
    "<Error><Code>A</Code></Error>",
    "<s3:Error xmlns:s3=\"http://s3.amazonaws.com/doc/2006-03-01/\"><s3:Code>A</s3:Code></s3:Error>",
    "<Error><Code type=\"string\">A</Code ></Error>",
    "<Error><Code><![CDATA[A]]></Code></Error>",
    "<Error><Code><!-- why -->A</Code></Error>",
    "<Error><Code>&#65;</Code></Error>",
    "<Error><Code>&#x41;</Code></Error>",
    "<!-- by a gateway --><Error><Code>A</Code></Error>",
    "<?xml version='1.0' standalone='yes'?><!DOCTYPE Error><Error ><Code>A</Code></Error>",
    "<ErrorResponse xmlns=\"https://iam.amazonaws.com/\">\n<Error><Type>Sender</Type><Code>A</Code></Error></ErrorResponse>",
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>A</Code></Error>",
    "\uFEFF  <Error xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Code>A</Code></Error>"
  ])("is an error document: %j", (body) => {
    assert.isTrue(StorageAnswer.isErrorDocument(body))
    assert.strictEqual(StorageAnswer.readErrorDocument(body).code, "A")
  })

  it.each([
    "",
    "<html><body><Error><Code>SlowDown</Code></Error></body></html>",
    "<Errors><Code>A</Code></Errors>",
    "{\"Code\":\"A\"}",
    "the bytes of a file: <Error><Code>A</Code></Error>"
  ])("is not an error document, and yields nothing: %j", (body) => {
    assert.isFalse(StorageAnswer.isErrorDocument(body))
    assert.deepStrictEqual(StorageAnswer.readErrorDocument(body), nothing)
  })

  it("reads Azure's times from its sentence", () => {
    const { expires, serverTime, storageMessage } = StorageAnswer.readErrorDocument(
      "\uFEFF<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>AuthenticationFailed</Code><Message>Server failed.</Message>" +
        "<AuthenticationErrorDetail>Signature not valid in the specified time frame: Start [Tue, 01 Jan 2030 00:00:00 GMT] - " +
        "Expiry [Tue, 01 Jan 2030 03:00:00 GMT] - Current [Tue, 01 Jan 2030 03:00:07 GMT]</AuthenticationErrorDetail></Error>"
    )
    assert.deepStrictEqual([expires, serverTime], [
      new Date(Date.UTC(2030, 0, 1, 3)),
      new Date(Date.UTC(2030, 0, 1, 3, 0, 7))
    ])
    assert.match(storageMessage ?? "", /^Server failed\. Signature not valid/)
  })

  it("takes no more time for many elements that do not end", () => {
    const startedAt = performance.now()
    StorageAnswer.readErrorDocument(`<Error>${"<Code>".repeat(200_000)}`)
    StorageAnswer.isErrorDocument(`${"<!-- ".repeat(200_000)}<Error>`)
    // the square of their number would take minutes
    assert.isBelow(performance.now() - startedAt, 2000)
  })

  it.each<readonly [body: string, line: string | undefined]>([
    [
      "<!DOCTYPE html><title>Web page blocked</title><style>h1 { color: red }</style><h1>Blocked by&nbsp;your\n organization: <b>upload</b></h1>",
      "Web page blocked Blocked by your organization: upload"
    ],
    ["  Blocked by policy\r\n\u001b[2J: upload", "Blocked by policy [2J: upload"],
    ["{\"error\":\"blocked\"}", "{\"error\":\"blocked\"}"],
    ["<html></html>", undefined],
    ["", undefined]
  ])("shows what a reader would see of %j", (body, line) => {
    assert.strictEqual(StorageAnswer.excerptOf(body), line)
  })

  it("shows no secret that something in between quotes, and no more than a line", () => {
    const quoted = StorageAnswer.excerptOf("Blocked: https://b.test/k?X-Amz-Signature=5ecre751gna7ure")
    assert.notInclude(quoted, "5ecre751gna7ure")
    assert.isAtMost(StorageAnswer.excerptOf("word ".repeat(10_000))?.length ?? 0, 201)
  })

  it.each<readonly [encoding: string, bytes: Buffer, type: string]>([
    ["utf-8", Buffer.from("<Error><Message>é</Message></Error>"), ""],
    ["utf-8 with a mark", Buffer.from("\ufeff<Error><Message>é</Message></Error>"), ""],
    ["utf-16le with a mark", Buffer.from("\ufeff<Error><Message>é</Message></Error>", "utf16le"), "application/xml"],
    ["utf-16be", Buffer.from("\ufeff<Error><Message>é</Message></Error>", "utf16le").swap16(), "application/xml"],
    ["utf-16le without a mark", Buffer.from("<Error><Message>é</Message></Error>", "utf16le"), ""],
    [
      "declared",
      Buffer.from("<?xml version='1.0' encoding='ISO-8859-1'?><Error><Message>é</Message></Error>", "latin1"),
      ""
    ],
    [
      "of its type",
      Buffer.from("<Error><Message>é</Message></Error>", "latin1"),
      "application/xml; charset=\"iso-8859-1\""
    ],
    ["unknown", Buffer.from("<?xml version='1.0' encoding='x-none'?><Error><Message>é</Message></Error>"), ""]
  ])("reads text that is %s", (_, bytes, type) => {
    assert.strictEqual(StorageAnswer.readErrorDocument(StorageAnswer.textOf(bytes, type)).storageMessage, "é")
  })

  it.prop("reads any body without failing", { body: fc.string(), inside: fc.string() }, ({ body, inside }) => {
    StorageAnswer.readErrorDocument(body)
    const { code } = StorageAnswer.readErrorDocument(`<Error><Code>${inside}</Code></Error>`)
    assert.isTrue(code === undefined || code.length > 0)
  })
})
