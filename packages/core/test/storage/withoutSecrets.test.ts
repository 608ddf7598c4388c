import { assert, describe, it } from "@effect/vitest"
import { PresignedUrl } from "@stevedore/core"
import { FastCheck as fc, Option, Redacted } from "effect"
import { remember, withoutSecrets } from "../../src/storage/withoutSecrets.js"
import { href, signature } from "../fixtures/presignedUrls.js"
import { quotations } from "../fixtures/quotations.js"

// RFC 6750 allows fewer. One with a % would read as encoded itself
const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)).filter((one) =>
  one !== "%"
)
const tokens = fc.string({ unit: visible, minLength: 12, maxLength: 40 })
const words = fc.constantFrom("", "token ", "(", "token=", "/v1/files/", "\u00e9 ", "a-", "?")

const url = Option.getOrThrow(PresignedUrl.fromString(href()))

describe("withoutSecrets", () => {
  it.prop("leaves nothing of a token, in whatever text and form it is quoted", [
    words,
    tokens,
    fc.constantFrom(...Object.values(quotations)),
    fc.constantFrom("", " is wrong", ")", "&page=2", "%")
  ], ([before, token, quoted, after]) => {
    // of a token that could be a URL, some quote its parameters alone, which may be nothing or a few characters
    fc.pre(!URL.canParse(token) || !token.includes("?"))
    const quotation = quoted(token)
    const text = withoutSecrets(`${before}${quotation}${after}`, { token: Redacted.make(token) })
    assert.notInclude(text, token)
    assert.notInclude(text, quotation)
    assert.include(text, "<redacted>")
  })

  it.each(["", "/", "a/", "v1/"])(
    "leaves nothing of a token behind %j, wherever in it Base64 then begins",
    (before) => {
      const token = "api.5ecre770ken"
      for (const quoted of Object.values(quotations)) {
        const text = withoutSecrets(`${before}${quoted(token)}`, { token: Redacted.make(token) })
        assert.notInclude(text, token)
        assert.notInclude(text, quoted(token))
      }
    }
  )

  it.each(Object.entries(quotations))("leaves nothing of a pre-signed URL that is quoted %s", (_, quoted) => {
    for (const secret of [href(), signature, `/${signature}/`, signature.slice(0, 9)]) {
      const text = withoutSecrets(`Cannot PUT ${quoted(secret)} so.`, { url }, 10_000)
      for (const kept of [signature, signature.slice(0, 8), quoted(signature), quoted(signature.slice(0, 9))]) {
        assert.notInclude(text.toLowerCase(), kept.toLowerCase())
      }
      assert.match(text, /^Cannot PUT .*<redacted>/s)
      assert.match(text, / so\.$/)
    }
  })

  it.each(Object.entries(quotations).filter(([name]) => /^(as it is|percent|in Base64|with every)/.test(name)))(
    "leaves nothing of the query of a URL that is not known but is quoted %s",
    (_, quoted) => {
      const text = withoutSecrets(`Cannot PUT ${quoted(href())} now.`)
      assert.notInclude(text, signature)
      assert.notMatch(text, /X-Amz-/)
      assert.match(text, /^Cannot PUT .*<redacted> now\.$/)
    }
  )

  it.each([
    (value: string) => JSON.stringify({ "X-Amz-Signature": value }),
    (value: string) => `X-Amz-Signature: ${value}`,
    (value: string) => `X-Amz-Signature = '${value}'`,
    (value: string) => `X-Amz-Signature&#61;${value}`,
    (value: string) => `"X-Amz-Signature" => "${value}"`,
    (value: string) => `sig =&gt; ${value}`,
    // so long is no word
    (value: string) => `rejected ${value} (see docs)`,
    (value: string) => `/log/${value}/x`,
    (value: string) => Array.from(value.slice(0, 30), (one) => `&#${one.charCodeAt(0)};`).join(""),
    (value: string) => Array.from(value.slice(0, 30), (one) => `\\u00${one.charCodeAt(0).toString(16)}`).join(""),
    (value: string) => `X-Amz-Security-Token&#x3d;&quot;${value}&quot;`
  ])("leaves nothing of a signature whose URL is not known, but which is named: %s", (named) => {
    const value = "0123456789abcdef".repeat(4)
    const text = withoutSecrets(`refused ${named(value)} for you`)
    assert.notInclude(text, value.slice(0, 16))
    assert.match(text, /^refused .*<redacted>/)
  })

  it("knows each token that a service of this process is sent, also where it is not at hand", () => {
    const token = `api.${"n0b0dye1se".repeat(2)}`
    const text = `rejected ${token} (see docs)`
    assert.strictEqual(withoutSecrets(text), text)
    remember(Redacted.make(token))
    assert.strictEqual(withoutSecrets(text), "rejected <redacted> (see docs)")
    for (let one = 0; one < 16; one++) remember(Redacted.make(`another-t0ken-${one}`))
    assert.strictEqual(withoutSecrets(text), text)
  })

  it("leaves what is public of a request: dates, regions, algorithms and header names", () => {
    const text = "the region us-east-1 is wrong for AWS4-HMAC-SHA256 of 20300101T000000Z, content-type;host"
    assert.strictEqual(withoutSecrets(text, { token: Redacted.make("api.5ecre770ken"), url }), text)
  })

  it.prop("leaves nothing of the first eight characters of a token, or of more", [
    tokens,
    fc.integer({ min: 8, max: 40 }),
    fc.constantFrom(...Object.values(quotations))
  ], ([token, length, quoted]) => {
    const begin = token.slice(0, length)
    const text = withoutSecrets(`invalid token ${quoted(begin)}...`, { token: Redacted.make(token) }, 10_000)
    assert.notInclude(text, begin)
    assert.notInclude(text, quoted(begin))
  })

  it("leaves nothing of a token whose ampersand, as an entity, is before letters", () => {
    const token = Redacted.make("&AA!!!!!!!!!!")
    for (const quoted of ["&amp;AA!!!!!", "&ampAA!!!!!", "&amp;amp;AA!!!!!"]) {
      assert.notInclude(withoutSecrets(`invalid token ${quoted}...`, { token }), "AA!!!!!")
    }
  })

  it("keeps a thousand characters of a longer text", () => {
    assert.lengthOf(withoutSecrets("a ".repeat(100_000)), 1001)
  })

  it("leaves nothing of a signature that is quoted without the rest of its URL", () => {
    assert.strictEqual(withoutSecrets(`a&X-Amz-Signature=${signature}&b`), "a&X-Amz-<redacted>")
  })

  it.prop("changes no text that has no secret", [fc.string({ unit: "grapheme" }), tokens], ([text, token]) => {
    assert.strictEqual(
      withoutSecrets(text.replaceAll(token, ""), { token: Redacted.make(token) }),
      text.replaceAll(token, "")
    )
  })

  it("takes a time that grows with the text, not with its square", () => {
    const before = process.cpuUsage()
    for (const text of ["?", "%3f", "%25", "A", "a-", "sig", "&amp;", "\\", "&#", "signature: ", "api.5ecre"]) {
      withoutSecrets(text.repeat(30_000 / text.length), { token: Redacted.make("api.5ecre770ken") }, 100_000)
    }
    // of this process, in microseconds: whatever else the machine does
    assert.isBelow(process.cpuUsage(before).user, 5_000_000)
  })
})
