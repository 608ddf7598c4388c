import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { requestHead, targetOf } from "../../src/internal/requestHead.js"

describe("targetOf", () => {
  it("keeps path and query as they were signed, without resolving, decoding or encoding", () => {
    for (const target of ["/a/../b/./c", "/it's?X-Amz-Signature=a%2fb%2F'", "//x//y?", "/{a}|b^`\"<>?q={}|'", "/%"]) {
      assert.strictEqual(targetOf(`https://user:word@bucket.test:8443${target}`), target)
    }
  })

  it("encodes only characters that cannot be sent, omits the fragment, and is never empty", () => {
    assert.strictEqual(targetOf("http://host/ä€?q=é#there"), "/%C3%A4%E2%82%AC?q=%C3%A9")
    assert.strictEqual(targetOf("http://host/\ud800"), "/%EF%BF%BD")
    assert.strictEqual(targetOf("http://host"), "/")
    assert.strictEqual(targetOf("HTTP:///host?a"), "/?a")
  })

  it.effect.prop(
    "starts with a slash and contains only visible ASCII characters, for any URL",
    [fc.webUrl({ withQueryParameters: true, withFragments: true })],
    ([href]) => Effect.sync(() => assert.match(targetOf(href), /^\/[\x21-\x7e]*$/))
  )
})

describe("requestHead", () => {
  it("throws if the name or value of a header contains a line break", () => {
    assert.throws(() => requestHead("PUT", "http://host/", { "content-type": "a/b\r\nx-amz-acl: public-read" }))
    assert.throws(() => requestHead("PUT", "http://host/", { "a: b\r\nc": "d" }))
  })
})
