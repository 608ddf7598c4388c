import { AwsClient } from "aws4fetch"
import { Effect, FastCheck, Redacted } from "effect"
import * as UrlSigner from "../../src/parts/urlSigner.js"

export const text = FastCheck.string({ unit: "grapheme", maxLength: 12 })

export const word = FastCheck.stringMatching(/^[A-Za-z0-9-]{1,12}$/)

// a value as HTTP carries it
export const headerValue = FastCheck.stringMatching(/^[!-~](?:[ -~]{0,20}[!-~])?$/)

// a segment that a URL would resolve is not one that a key of ours has
export const segment = text.filter((one) => one !== "" && one !== "." && one !== ".." && !one.includes("/"))

export const unsigned = FastCheck.record({
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

export const credential = FastCheck.record({
  accessKeyId: FastCheck.stringMatching(/^[A-Z0-9]{16,20}$/),
  secretAccessKey: FastCheck.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).map((one) => Redacted.make(one)),
  region: FastCheck.constantFrom("us-east-1", "eu-central-1", "auto")
})

/** The signature by another signer, of the same URL. */
export const byAws4fetch = (
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

export const parametersOf = (url: string) =>
  [...new URL(url).searchParams].map(([name, value]) => `${name}=${value}`).sort()
