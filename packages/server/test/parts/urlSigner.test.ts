import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import * as UrlSigner from "../../src/parts/urlSigner.js"
import * as UrlVerifier from "../../src/parts/urlVerifier.js"
import { byAws4fetch, credential, parametersOf, unsigned } from "../support/urlSigner.js"

describe("UrlSigner", () => {
  it.effect.prop("signs what UrlVerifier takes", [credential, unsigned], ([by, url]) =>
    Effect.gen(function*() {
      const signed = yield* UrlSigner.sign(by, url)
      const received = {
        method: url.method,
        target: signed.slice(url.origin.length),
        headers: { ...url.headers, host: new URL(url.origin).host }
      }
      const verified = yield* UrlVerifier.verify(by, received, url.at)
      assert.deepStrictEqual(verified.query, { ...url.query })
      const other = yield* Effect.flip(UrlVerifier.verify(by, { ...received, method: "POST" }, url.at))
      assert.strictEqual(other.code, "SignatureDoesNotMatch")
    }))

  it.effect("orders parameters by name and then by value, and not as one text", () =>
    Effect.gen(function*() {
      const by = { accessKeyId: "AKID", secretAccessKey: Redacted.make("secret"), region: "us-east-1" }
      const url: UrlSigner.UnsignedUrl = {
        method: "GET",
        origin: "https://s3.example",
        path: "/a",
        query: { "part": "2", "part-number-marker": "1", "Part": "3" },
        at: 0,
        expiresIn: 60
      }
      const theirs = yield* byAws4fetch(by, url)
      assert.deepStrictEqual(parametersOf(yield* UrlSigner.sign(by, url)), parametersOf(theirs.url))
    }))

  it.effect("signs the token of a session, and none of its secrets is in the URL", () =>
    Effect.gen(function*() {
      const by = {
        accessKeyId: "ASIA",
        secretAccessKey: Redacted.make("the secret"),
        region: "us-east-1",
        sessionToken: Redacted.make("token/+=")
      }
      const url = { method: "GET", origin: "https://s3.example", path: "/a", at: 0, expiresIn: 60 }
      const ours = yield* UrlSigner.sign(by, url)
      assert.deepStrictEqual(parametersOf(ours), parametersOf((yield* byAws4fetch(by, url)).url))
      assert.notInclude(ours, "secret")
    }))
})
