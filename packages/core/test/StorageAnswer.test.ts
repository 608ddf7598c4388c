import { assert, describe, it } from "@effect/vitest"
import { StorageAnswer } from "@stevedore/core"
import { FastCheck as fc } from "effect"

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

  it.prop("reads any body without failing", { body: fc.string(), inside: fc.string() }, ({ body, inside }) => {
    StorageAnswer.readErrorDocument(body)
    const { code } = StorageAnswer.readErrorDocument(`<Error><Code>${inside}</Code></Error>`)
    assert.isTrue(code === undefined || code.length > 0)
  })
})
