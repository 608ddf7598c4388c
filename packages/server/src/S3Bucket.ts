/**
 * What a bucket needs before a service can use it, set up or looked at: the rule by which pages may send to it, the rule
 * that ends what was never completed, and what keeps files from being replaced.
 *
 * Rules of others are left as they are. Setting up needs `s3:PutBucketCORS` and `s3:PutLifecycleConfiguration`, looking
 * `s3:GetBucketCORS` and `s3:GetLifecycleConfiguration`, besides the rights of `S3FileStore`.
 */
import { Sha256 } from "@aws-crypto/sha256-js"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Identifiers from "./parts/identifiers.js"
import * as StorageCors from "./parts/storageCors.js"
import type { Calls } from "./s3/calls.js"
import * as S3Xml from "./s3/xml.js"
import * as S3FileStore from "./S3FileStore.js"
import * as StorageRefused from "./StorageRefused.js"

/**
 * Whether one thing about a bucket is as it should be, and what to do where it is not.
 *
 * @category models
 */
export interface Finding {
  readonly subject: "rights" | "overwriting" | "cors" | "lifecycle"
  readonly outcome: "ok" | "warning" | "failed"
  readonly message: string
}

/**
 * A document of the bucket: the name of its part of the bucket, and its XML.
 *
 * @category models
 */
export interface Document {
  readonly subresource: "cors" | "lifecycle"
  readonly xml: string
}

const NAMESPACE = " xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\""
const METHODS = ["PUT", "GET", "HEAD"]
const DAYS = 7

const { element } = S3Xml

const corsRule = (origins: ReadonlyArray<string>): S3Xml.Element =>
  element("CORSRule", [
    ...origins.map((origin) => element("AllowedOrigin", origin)),
    ...METHODS.map((method) => element("AllowedMethod", method)),
    ...StorageCors.ALLOWED_HEADERS.map((header) => element("AllowedHeader", header)),
    ...["ETag", ...StorageCors.EXPOSED].map((header) => element("ExposeHeader", header)),
    element("MaxAgeSeconds", "3000")
  ])

const abortRule = element("Rule", [
  element("ID", "stevedore-abort-incomplete"),
  element("Filter", [element("Prefix", "")]),
  element("Status", "Enabled"),
  element("AbortIncompleteMultipartUpload", [element("DaysAfterInitiation", String(DAYS))])
])

const texts = (rule: S3Xml.Element, name: string) => S3Xml.all(rule, name).map(({ text }) => text)

const isAllowed = (origin: string, pattern: string): boolean => {
  const [before = "", ...after] = pattern.split("*")
  return after.length === 0
    ? origin === pattern
    : origin.startsWith(before) && origin.endsWith(after.join("*")) && origin.length >= pattern.length - 1
}

const includes = (found: ReadonlyArray<string>, wanted: string) =>
  found.some((one) => one === "*" || one.toLowerCase() === wanted.toLowerCase())

const allows = (rule: S3Xml.Element, origin: string): boolean =>
  texts(rule, "AllowedOrigin").some((pattern) => isAllowed(origin, pattern)) &&
  METHODS.every((method) => includes(texts(rule, "AllowedMethod"), method)) &&
  StorageCors.ALLOWED_HEADERS.every((header) => includes(texts(rule, "AllowedHeader"), header)) &&
  includes(texts(rule, "ExposeHeader"), "ETag")

const aborts = (rule: S3Xml.Element): boolean =>
  S3Xml.text(rule, "Status") === "Enabled" && S3Xml.all(rule, "AbortIncompleteMultipartUpload").length > 0

/**
 * What {@link setup} writes into a bucket without rules.
 *
 * @category constructors
 */
export const documents = (origins: ReadonlyArray<string>): ReadonlyArray<Document> => [
  ...(origins.length === 0
    ? []
    : [{
      subresource: "cors" as const,
      xml: S3Xml.print(element("CORSConfiguration", [corsRule(origins)]), NAMESPACE)
    }]),
  {
    subresource: "lifecycle",
    xml: S3Xml.print(element("LifecycleConfiguration", [abortRule]), NAMESPACE)
  }
]

// S3 wants a checksum with these
const checksum = (body: string): string => {
  const hash = new Sha256()
  hash.update(body)
  return Encoding.encodeBase64(hash.digestSync())
}

const write = ({ sendAgain }: Calls, { subresource, xml }: Document) =>
  sendAgain({
    method: "PUT",
    query: { [subresource]: "" },
    headers: { "content-type": "application/xml", "x-amz-checksum-sha256": checksum(xml) },
    body: xml
  })

/** The rules that a bucket has; none where it has no such document. */
const rulesOf = ({ sendAgain }: Calls, subresource: Document["subresource"]) =>
  sendAgain({ method: "GET", query: { [subresource]: "" } }).pipe(
    Effect.map(({ xml }) => xml?.children ?? []),
    Effect.catchIf(({ code, status }) => status === 404 && code !== "NoSuchBucket", () => Effect.succeed([]))
  )

/**
 * Creates the bucket, unless it is there and one's own.
 *
 * @category programs
 */
export const create = (
  options: S3FileStore.Options
): Effect.Effect<void, StorageRefused.StorageRefused, HttpClient.HttpClient> =>
  Effect.flatMap(S3FileStore.calls(options), ({ sendAgain }) => sendAgain({ method: "PUT" })).pipe(
    Effect.catchIf(({ code }) => code === "BucketAlreadyOwnedByYou", () => Effect.void),
    Effect.asVoid
  )

/**
 * Adds the rules that are missing: that pages of these origins may send and read, and that what is never completed is ended
 * after seven days, should the service itself be gone.
 *
 * @category programs
 */
export const setup = (
  options: S3FileStore.Options,
  origins: ReadonlyArray<string>
): Effect.Effect<void, StorageRefused.StorageRefused, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const calls = yield* S3FileStore.calls(options)
    const cors = yield* rulesOf(calls, "cors")
    const missing = origins.filter((origin) => !cors.some((rule) => allows(rule, origin)))
    if (missing.length > 0) {
      const root = element("CORSConfiguration", [...cors, corsRule(missing)])
      yield* write(calls, { subresource: "cors", xml: S3Xml.print(root, NAMESPACE) })
    }
    const lifecycle = yield* rulesOf(calls, "lifecycle")
    if (!lifecycle.some(aborts)) {
      const root = element("LifecycleConfiguration", [...lifecycle, abortRule])
      yield* write(calls, { subresource: "lifecycle", xml: S3Xml.print(root, NAMESPACE) })
    }
  })

const protections: Readonly<Record<S3FileStore.Protection, Pick<Finding, "outcome" | "message">>> = {
  "versions": { outcome: "ok", message: "The bucket keeps versions: the one that was completed is served" },
  "if-none-match": {
    outcome: "ok",
    message: "The store refuses a second PUT: URLs sign If-None-Match, which the profile of the clients must have"
  },
  "copy": {
    outcome: "ok",
    message:
      "The store copies what was completed to where no URL of a PUT leads. Versioning of the bucket would save the copy"
  },
  "none": { outcome: "failed", message: "Nothing keeps the URL of a PUT from replacing a completed file" }
}

const findingOf = (
  subject: Finding["subject"],
  looked: Effect.Effect<Pick<Finding, "outcome" | "message">, StorageRefused.StorageRefused>
): Effect.Effect<Finding> =>
  Effect.match(looked, {
    onFailure: ({ message }) => ({ subject, outcome: "failed", message }),
    onSuccess: (found) => ({ subject, ...found })
  })

/**
 * Looks at all that the service needs of a bucket. Nothing is changed but for a small object that is stored and removed.
 *
 * @category programs
 */
export const check = (
  options: S3FileStore.Options,
  origins: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Finding>, StorageRefused.StorageRefused, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const calls = yield* S3FileStore.calls(options)
    const protecting = yield* Effect.context<HttpClient.HttpClient>()
    const key = `stevedore-probe/${yield* Identifiers.recordId}`
    const store = yield* S3FileStore.make(options, "none")
    const rights = Effect.gen(function*() {
      const uploadId = yield* store.createUpload(key)
      const open = yield* store.opened(key)
      yield* store.abortUpload(key, uploadId)
      const missing = yield* Effect.flip(store.head(key)).pipe(
        Effect.mapError(() => StorageRefused.make("InternalError", { reason: "An object is there that nobody stored" }))
      )
      if (!open.includes(uploadId)) {
        return { outcome: "failed" as const, message: "An upload that was opened is not listed" }
      }
      return missing.status === 404
        ? { outcome: "ok" as const, message: "Uploads are opened, listed and aborted, and a missing object is told" }
        : {
          outcome: "failed" as const,
          message: `A missing object is answered with ${missing.status}: the credential lacks s3:ListBucket`
        }
    })
    const cors = Effect.map(rulesOf(calls, "cors"), (rules) => {
      const missing = origins.filter((origin) => !rules.some((rule) => allows(rule, origin)))
      return missing.length === 0
        ? {
          outcome: "ok" as const,
          message: origins.length === 0
            ? `${rules.length} rules for pages; name an origin to have it looked at`
            : "Pages of these origins can send, and read etags"
        }
        : { outcome: "failed" as const, message: `No rule lets pages of ${missing.join(", ")} send and read etags` }
    })
    const lifecycle = Effect.map(rulesOf(calls, "lifecycle"), (rules) =>
      rules.some(aborts)
        ? { outcome: "ok" as const, message: "What is never completed is ended by the bucket itself" }
        : {
          outcome: "warning" as const,
          message: "No rule ends what is never completed, should the service be gone"
        })
    return yield* Effect.all([
      findingOf("rights", rights),
      findingOf(
        "overwriting",
        Effect.map(Effect.provide(S3FileStore.protectionOf(options), protecting), (one) => protections[one])
      ),
      findingOf("cors", cors),
      findingOf("lifecycle", lifecycle)
    ])
  })
