import { UrlSigner } from "@stevedore/server"
import { Clock, Effect, Either, Stream } from "effect"
import { randomUUID } from "node:crypto"
import type { Answer } from "./exchange.js"
import { exchange } from "./exchange.js"
import type { CompleteRow, Expected, HttpRow, Row, Sent, Signed, Wanted } from "./Row.js"
import type { Target } from "./Target.js"

/** What a storage answered to a row. `size` is of the object that a Complete made. */
export interface Observed extends Answer {
  readonly size?: number
}

const encodePath = (key: string): string =>
  key.split("/").map((segment) =>
    encodeURIComponent(segment).replace(
      /[!'()*]/g,
      (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
    )
  ).join("/")

const signedHeaders = (target: Target, { headers, method, part }: Signed): Readonly<Record<string, string>> =>
  headers ?? ((method ?? "PUT") === "PUT" && part === undefined ? target.encryptionHeaders : {})

const urlOf = (target: Target, key: string, signed: Signed | false, uploadId: string) =>
  Effect.gen(function*() {
    const bucket = signed === false ? target.bucket : signed.bucket ?? target.bucket
    const path = `/${bucket}/${encodePath(key)}`
    if (signed === false) return `${target.origin}${path}`
    const { part } = signed
    const now = yield* Clock.currentTimeMillis
    return yield* UrlSigner.sign({
      ...target.credential,
      accessKeyId: signed.accessKeyId ?? target.credential.accessKeyId,
      region: signed.region ?? target.credential.region
    }, {
      method: signed.method ?? "PUT",
      origin: target.origin,
      path,
      query: part === undefined ? {} : {
        partNumber: String(part.number),
        uploadId: part.upload === "unknown" ? "never-was" : uploadId
      },
      headers: signedHeaders(target, signed),
      at: now - (signed.ago ?? 0) * 1000,
      expiresIn: signed.expiresIn ?? 900
    })
  })

const send = (
  href: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  { body = method === "PUT" ? "hello" : "", declared, framing = "length", hangUp = false }: Sent
) => {
  const { host, origin } = new URL(href)
  const length = framing === "chunked"
    ? { "transfer-encoding": "chunked" }
    : framing === "length" && method === "PUT"
    ? { "content-length": String(declared ?? body.length) }
    : {}
  return exchange({
    origin,
    method,
    target: href.slice(origin.length),
    headers: Object.entries({ host, ...length, ...headers }),
    body,
    chunked: framing === "chunked",
    hangUp
  })
}

const prepared = (target: Target, key: string, { given }: HttpRow) =>
  Effect.gen(function*() {
    if (given === "an upload") {
      return { etag: "", uploadId: yield* target.store.createUpload(key, { contentType: "text/plain" }) }
    }
    if (given === "an object") {
      const url = yield* urlOf(target, key, {}, "")
      const headers = { ...target.encryptionHeaders, "content-type": "text/plain" }
      const { headers: answered, status } = yield* send(url, "PUT", headers, { body: "0123456789" })
      const etag = answered["etag"]
      return status === 200 && etag !== undefined
        ? { etag, uploadId: "" }
        : yield* Effect.dieMessage(`The object that the row needs was refused with ${status}`)
    }
    return { etag: "", uploadId: "" }
  })

const performHttp = (target: Target, row: HttpRow) =>
  Effect.gen(function*() {
    const signed = row.signed ?? {}
    const sent = row.sent ?? {}
    const key = `conformance/${randomUUID()}${signed === false ? "" : signed.suffix ?? ""}`
    const { etag, uploadId } = yield* prepared(target, key, row)
    const url = new URL(yield* urlOf(target, key, signed, uploadId))
    row.tamper?.(url)
    const headers = {
      ...Object.fromEntries(
        Object.entries(signed === false ? {} : signedHeaders(target, signed))
          .filter(([name]) => sent.without?.includes(name) !== true)
      ),
      ...Object.fromEntries(
        Object.entries(sent.headers ?? {}).map(([name, value]) => [
          name,
          value.replace("{etag}", etag)
        ])
      )
    }
    const method = sent.method ?? (signed === false ? undefined : signed.method) ?? "PUT"
    const answer = yield* send(url.href, method, headers, sent)
    return row.readBack === true
      ? yield* send(yield* urlOf(target, key, { method: "GET" }, ""), "GET", {}, {})
      : answer
  })

const performComplete = ({ store }: Target, row: CompleteRow) =>
  Effect.gen(function*() {
    const key = `conformance/${randomUUID()}`
    const uploadId = yield* store.createUpload(key)
    const parts = yield* Effect.forEach(row.parts, ([number, size], index) =>
      store.putPart(key, uploadId, number, Stream.make(new Uint8Array(size).fill(index + 1))))
    const listed = row.listed.flatMap((entry) => {
      const part = typeof entry === "number" ? parts[entry] : { partNumber: entry.number, etag: entry.etag }
      return part === undefined ? [] : [{ partNumber: part.partNumber, etag: part.etag }]
    })
    if (row.before === "aborted") {
      yield* store.abortUpload(key, uploadId)
    }
    if (row.before === "completed") {
      yield* store.completeUpload(key, uploadId, listed)
    }
    const named = row.upload === "unknown" ? "never-was" : uploadId
    return yield* Effect.match(store.completeUpload(key, named, listed), {
      onFailure: ({ code, status }): Observed => ({ status, headers: {}, body: `<Error><Code>${code}</Code></Error>` }),
      onSuccess: ({ etag, size }): Observed => ({ status: 200, headers: { etag }, body: "", size })
    })
  })

/** Tries a row on a storage. */
export const perform = (target: Target, row: Row) =>
  Effect.catchTag(
    row.kind === "http" ? performHttp(target, row) : performComplete(target, row),
    "StorageRefused",
    ({ message }) => Effect.dieMessage(`What the row needs was refused: ${message}`)
  )

/** An element of an error document. */
export const elementOf = (answer: Answer, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(answer.body)?.[1]

const fits = (wanted: Wanted, actual: string | undefined): boolean =>
  typeof wanted === "string"
    ? actual === wanted
    : typeof wanted === "boolean"
    ? (actual !== undefined) === wanted
    : actual !== undefined && wanted.test(actual)

/** In what an answer is not the expected one; nothing when it is. */
export const differences = (
  expected: Expected & { readonly size?: number },
  actual: Observed
): ReadonlyArray<string> => [
  ...(actual.status === expected.status ? [] : [`status ${actual.status}, not ${expected.status}`]),
  ...(expected.code === undefined || elementOf(actual, "Code") === expected.code
    ? []
    : [`code ${elementOf(actual, "Code")}, not ${expected.code}`]),
  ...(expected.elements ?? [])
    .filter((name) => elementOf(actual, name) === undefined)
    .map((name) => `no <${name}>`),
  ...Object.entries(expected.headers ?? {})
    .filter(([name, wanted]) => !fits(wanted, actual.headers[name]))
    .map(([name, wanted]) => `${name}: ${actual.headers[name]}, not ${wanted}`),
  ...(expected.body === undefined || actual.body === expected.body
    ? []
    : [`body ${JSON.stringify(actual.body.slice(0, 80))}, not ${JSON.stringify(expected.body)}`]),
  ...(expected.size === undefined || actual.size === expected.size
    ? []
    : [`${actual.size} bytes, not ${expected.size}`])
]

/** What the real store is expected to answer: what S3 documents, but for the difference that is listed. */
export const expectedOfStore = ({ expected, store }: Row): Row["expected"] => {
  if (store === undefined) return expected
  const { reason: _reason, ...difference } = store
  return difference.status === undefined || difference.status === expected.status
    ? { ...expected, ...difference }
    // another status is another answer altogether
    : { ...difference, status: difference.status }
}

/** Whether the real store answered as the table says; else what is unexplained. */
export const unexplained = (row: Row, actual: Observed): ReadonlyArray<string> =>
  row.store !== undefined && differences(row.expected, actual).length === 0
    ? ["it answers as S3 does, though a difference is listed"]
    : differences(expectedOfStore(row), actual)

/** {@link perform} as a value, so that one row that breaks does not end the table. */
export const attempt = (target: Target, row: Row): Effect.Effect<Observed> =>
  Effect.map(
    Effect.either(Effect.sandbox(perform(target, row))),
    Either.getOrElse((cause): Observed => ({
      status: 0,
      headers: {},
      body: String(cause)
    }))
  )
