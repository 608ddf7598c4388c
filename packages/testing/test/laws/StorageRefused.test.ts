import { assert, describe, it } from "@effect/vitest"
import { StorageRefused } from "@stevedore/server"

describe("StorageRefused", () => {
  it("toXml writes the XML of an S3 error", () => {
    const refusal = StorageRefused.make("NoSuchKey", { details: { Key: "files/1" } })
    assert.strictEqual(
      StorageRefused.toXml(refusal, "0123456789ABCDEF"),
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>NoSuchKey</Code><Message>The specified key does not exist." +
        "</Message><Key>files/1</Key><RequestId>0123456789ABCDEF</RequestId><HostId>stevedore</HostId></Error>"
    )
  })

  it("toXml escapes markup in details", () => {
    const xml = StorageRefused.toXml(
      StorageRefused.make("NoSuchKey", { details: { Key: "<a href=\"b\">&'</a>" } }),
      "1"
    )
    assert.include(xml, "<Key>&lt;a href=&quot;b&quot;&gt;&amp;&apos;&lt;/a&gt;</Key>")
  })

  it("fromStatus uses the known message of a code, or the code itself if it is unknown", () => {
    assert.strictEqual(StorageRefused.fromStatus(503, "SlowDown").reason, "Please reduce your request rate.")
    assert.strictEqual(StorageRefused.fromStatus(418, "Teapot").reason, "Teapot")
  })
})
