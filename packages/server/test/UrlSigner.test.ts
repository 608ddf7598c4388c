import { assert, describe, it } from "@effect/vitest"
import { AwsClient } from "aws4fetch"
import { Effect, FastCheck, Redacted } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import * as UrlSigner from "../src/UrlSigner.js"
import * as UrlVerifier from "../src/UrlVerifier.js"

const text = FastCheck.string({ unit: "grapheme", maxLength: 12 })

const word = FastCheck.stringMatching(/^[A-Za-z0-9-]{1,12}$/)

// a value as HTTP carries it
const headerValue = FastCheck.stringMatching(/^[!-~](?:[ -~]{0,20}[!-~])?$/)

// a segment that a URL would resolve is not one that a key of ours has
const segment = text.filter((one) => one !== "" && one !== "." && one !== ".." && !one.includes("/"))

const unsigned = FastCheck.record({
  method: FastCheck.constantFrom("GET", "PUT", "HEAD", "DELETE"),
  origin: FastCheck.constantFrom("https://s3.example", "http://127.0.0.1:7480"),
  path: FastCheck.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => UrlSigner.pathOf(...segments)),
  query: FastCheck.dictionary(FastCheck.oneof(word, text.filter((name) => name !== "")), text, { maxKeys: 4 })
    .map((query) => Object.fromEntries(Object.entries(query).filter(([name]) => !/^x-amz-/i.test(name)))),
  headers: FastCheck.dictionary(
    FastCheck.oneof(
      FastCheck.constantFrom("content-length", "content-type", "if-none-match", "x-amz-server-side-encryption"),
      word.map((name) => `x-amz-meta-${name.toLowerCase()}`)
    ),
    headerValue,
    { maxKeys: 4 }
  ),
  at: FastCheck.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2040, 0, 1) }),
  expiresIn: FastCheck.integer({ min: 1, max: 604_800 })
})

const credential = FastCheck.record({
  accessKeyId: FastCheck.stringMatching(/^[A-Z0-9]{16,20}$/),
  secretAccessKey: FastCheck.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).map((one) => Redacted.make(one)),
  region: FastCheck.constantFrom("us-east-1", "eu-central-1", "auto")
})

/** The signature by another signer, of the same URL. */
const byAws4fetch = (
  by: UrlSigner.Credential,
  { at, expiresIn, headers, method, origin, path, query }: UrlSigner.UnsignedUrl
) => {
  const url = new URL(`${origin}${path}`)
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.append(name, String(value))
  url.searchParams.set("X-Amz-Expires", String(expiresIn))
  const client = new AwsClient({
    accessKeyId: by.accessKeyId,
    secretAccessKey: Redacted.value(by.secretAccessKey),
    service: "s3",
    region: by.region,
    ...(by.sessionToken === undefined ? {} : { sessionToken: Redacted.value(by.sessionToken) })
  })
  return Effect.promise(() =>
    client.sign(url.href, {
      method,
      headers: { ...headers },
      aws: {
        signQuery: true,
        allHeaders: true,
        datetime: new Date(at).toISOString().replace(/[-:]|\.\d{3}/g, "")
      }
    })
  )
}

const parametersOf = (url: string) => [...new URL(url).searchParams].map(([name, value]) => `${name}=${value}`).sort()

describe("UrlSigner", () => {
  it.effect.prop(
    "signs as aws4fetch does, to the last byte",
    [credential, unsigned],
    ([by, url]) =>
      Effect.gen(function*() {
        const ours = yield* UrlSigner.sign(by, url)
        const theirs = yield* byAws4fetch(by, url)
        assert.deepStrictEqual(parametersOf(ours), parametersOf(theirs.url))
        assert.strictEqual(new URL(ours).pathname, new URL(theirs.url).pathname)
      }),
    { fastCheck: { numRuns: runs(500) } }
  )

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
