import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as S3Xml from "../../src/s3/xml.js"

describe("the XML of S3", () => {
  it("is elements and text, with the five entities and numbers of characters", () => {
    const root = Either.getOrThrow(S3Xml.parse(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<R xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Empty/>" +
        "<Key>a&amp;b &#60;&#x1f6a2;&#x10ffff;&quot;</Key><Part><Size>1</Size></Part><Part><Size>2</Size></Part></R>\n"
    ))
    assert.strictEqual(root.name, "R")
    assert.strictEqual(S3Xml.text(root, "Key"), "a&b <\u{1f6a2}\u{10ffff}\"")
    assert.strictEqual(S3Xml.text(root, "Empty"), "")
    assert.isUndefined(S3Xml.text(root, "None"))
    assert.deepStrictEqual(S3Xml.all(root, "Part").map((part) => S3Xml.text(part, "Size")), ["1", "2"])
  })

  it.each([
    "",
    "text",
    "<a>",
    "<a></b>",
    "<a></a><b></b>",
    "<a></a>text",
    "<a>&unknown;</a>",
    "<a>&</a>",
    "<a>&#x110000;</a>",
    "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>",
    "<a><!-- comment --></a>",
    "<a><![CDATA[text]]></a>",
    "</a>",
    "<a b=c></a>",
    `${"<a>".repeat(20)}${"</a>".repeat(20)}`,
    "<html><head><meta charset=utf-8></head></html>"
  ])("is not %s", (xml) => {
    assert.isTrue(Either.isLeft(S3Xml.parse(xml)))
  })
})
