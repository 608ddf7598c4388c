import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc, Redacted } from "effect"
import { withoutSecrets } from "../../src/internal/withoutSecrets.js"
import { href, signature } from "../fixtures/presignedUrls.js"
import { quotations } from "../fixtures/quotations.js"

// RFC 6750 allows fewer. One with a % would read as encoded itself
const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)).filter((one) =>
  one !== "%"
)
const tokens = fc.string({ unit: visible, minLength: 12, maxLength: 40 })
const words = fc.constantFrom("", "token ", "(", "token=", "/v1/files/", "\u00e9 ", "a-", "?")

describe("withoutSecrets", () => {
  it.prop("leaves nothing of a token, in whatever text and form it is quoted", [
    words,
    tokens,
    fc.constantFrom(...Object.values(quotations)),
    fc.constantFrom("", " is wrong", ")", "&page=2", "%")
  ], ([before, token, quoted, after]) => {
    const quotation = quoted(token)
    const text = withoutSecrets(`${before}${quotation}${after}`, Redacted.make(token))
    assert.notInclude(text, token)
    assert.notInclude(text, quotation)
    assert.include(text, "<redacted>")
  })

  it.each(["", "/", "a/", "v1/"])(
    "leaves nothing of a token behind %j, wherever in it Base64 then begins",
    (before) => {
      const token = "api.5ecre770ken"
      for (const quoted of Object.values(quotations)) {
        const text = withoutSecrets(`${before}${quoted(token)}`, Redacted.make(token))
        assert.notInclude(text, token)
        assert.notInclude(text, quoted(token))
      }
    }
  )

  it.each(Object.entries(quotations))("leaves nothing of a pre-signed URL that is quoted %s", (_, quoted) => {
    const text = withoutSecrets(`Cannot PUT ${quoted(href())} now.`)
    assert.notInclude(text, signature)
    assert.notMatch(text, /X-Amz-/)
    assert.match(text, /^Cannot PUT .*<redacted> now\.$/)
  })

  it("leaves nothing of a signature that is quoted without the rest of its URL", () => {
    assert.strictEqual(withoutSecrets(`a&X-Amz-Signature=${signature}&b`), "a&X-Amz-<redacted>")
  })

  it.prop("changes no text that has no secret", [fc.string({ unit: "grapheme" }), tokens], ([text, token]) => {
    assert.strictEqual(withoutSecrets(text.replaceAll(token, ""), Redacted.make(token)), text.replaceAll(token, ""))
  })

  it("takes a time that grows with the text, not with its square", () => {
    const began = performance.now()
    for (const text of ["?", "%3f", "%25", "A", "a-", "sig"]) {
      withoutSecrets(text.repeat(300_000 / text.length), Redacted.make("api.5ecre770ken"))
    }
    assert.isBelow(performance.now() - began, 5000)
  })
})
