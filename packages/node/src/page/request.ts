import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Json from "@stevedore/core/Json"
import { Metadata } from "@stevedore/core/Metadata"
import type { PageRequest } from "@stevedore/core/ServiceApi"
import type { ServiceProfile } from "@stevedore/core/ServiceProfile"
import { charactersIn } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Readable } from "node:stream"
import type { Refused } from "./refusal.js"
import { bodyIsGone, refused } from "./refusal.js"

type Limits = ServiceProfile["limits"]

const Name = (longest: number) =>
  Schema.NonEmptyString.pipe(
    Schema.filter((name) => charactersIn(name) <= longest || `expected at most ${longest} characters`)
  )

const describedFields = (limits: Limits, largest: number) => ({
  name: Name(limits.nameLength),
  type: Schema.String.pipe(Schema.minLength(1), Schema.maxLength(limits.mediaTypeLength)),
  size: Schema.Int.pipe(Schema.between(1, largest)),
  metadata: Schema.optional(Metadata)
})

export const Initiate = (limits: Limits) => Schema.Struct(describedFields(limits, limits.singleSize))

export const InitiateLarge = (limits: Limits) =>
  Schema.Struct({
    ...describedFields(limits, limits.multipartSize),
    parts: Schema.optional(Schema.Int.pipe(Schema.between(1, limits.parts)))
  })

const Text = Schema.NonEmptyString.pipe(Schema.maxLength(4096))

/** An id, as the service gave it: text, or a number of JSON. */
const Id = Schema.Union(Text, Schema.JsonNumber, Schema.instanceOf(Json.ExactNumber))

/** What a page knows of its file in storage. Pages send it, in case the service wants to be told. */
export const CompleteSingle = Schema.Struct({
  file_id: Schema.optional(Id),
  etag: Schema.optional(Text),
  size: Schema.optional(Schema.Int.pipe(Schema.positive())),
  name: Schema.optional(Text),
  type: Schema.optional(Text)
})

export const CompleteLarge = (limits: Limits) =>
  Schema.Struct({
    upload_id: Id,
    parts: Schema.NonEmptyArray(Schema.Struct({
      part_number: Schema.Int.pipe(Schema.between(1, limits.parts)),
      etag: Text
    })).pipe(Schema.maxItems(limits.parts))
  })

/** Enough for ten thousand parts with long etags. */
const longestBody = 4 * 1024 * 1024

interface Problem {
  readonly message: string
  readonly path: ReadonlyArray<PropertyKey>
}

// Throws on a value that it cannot format, such as a deeply nested one.
const problemsOf: (error: ParseResult.ParseError) => Option.Option<ReadonlyArray<Problem>> = Option.liftThrowable(
  ParseResult.ArrayFormatter.formatErrorSync
)

// What was sent instead follows what was expected.
const sentInstead = /, actual [^]*$/

// What was sent is left out: it may be as long as a whole body.
const invalid = (error: ParseResult.ParseError): Refused => {
  const [first] = Option.getOrElse(problemsOf(error), () => [])
  return refused(
    400,
    first === undefined
      ? {}
      : { message: first.message.replace(sentInstead, ""), path: first.path.map(String).join(".") }
  )
}

// A Node stream that has ended emits nothing more: if its body was not cached, waiting for it would never end.
const hasEnded = (source: unknown): boolean =>
  Predicate.hasProperty(source, "readableEnded") && source.readableEnded === true

// The platform keeps what it has read for whoever asks again.
const isRead = (source: unknown): boolean =>
  source instanceof Readable
    ? source.readableDidRead
    : Predicate.hasProperty(source, "bodyUsed") && source.bodyUsed === true

// The platform does not limit the bodies of web requests, and breaks the connection of a Node request that turns out too
// long, and with it the response.
const limitedText = (
  { source, stream }: HttpServerRequest.HttpServerRequest
): Effect.Effect<string, Refused> => {
  const isOfNode = source instanceof Readable
  return Effect.tryPromise({
    try: async () => {
      const chunks: Array<Buffer> = []
      let length = 0
      const all: AsyncIterable<Uint8Array> = isOfNode
        ? source.iterator({ destroyOnReturn: false })
        : Stream.toAsyncIterable(stream)
      for await (const chunk of all) {
        const bytes = Buffer.from(chunk)
        length += bytes.byteLength
        if (length > longestBody) return undefined
        chunks.push(bytes)
      }
      return Buffer.concat(chunks).toString()
    },
    catch: () => refused(400)
  }).pipe(
    // discards the rest, which is before the next request on the connection
    Effect.tap(() => Effect.sync(() => isOfNode && source.resume())),
    Effect.flatMap((text) => text === undefined ? Effect.fail(refused(413)) : Effect.succeed(text))
  )
}

export const body = <A, I>(
  schema: Schema.Schema<A, I>
): Effect.Effect<A, Refused, HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { headers, source } = request
    // a form on another site cannot send this type
    if (!/^application\/json\s*(;|$)/i.test(headers["content-type"] ?? "")) return yield* refused(415)
    if (Number(headers["content-length"] ?? 0) > longestBody) return yield* refused(413)
    const text = isRead(source) ? Effect.mapError(request.text, () => refused(400)) : limitedText(request)
    const read = text.pipe(
      Effect.flatMap((text) => Effect.mapError(Json.parse(text), () => refused(400, { message: "expected JSON" }))),
      Effect.flatMap((value) => Effect.mapError(Schema.decodeUnknown(schema)(value), invalid))
    )
    return yield* hasEnded(source)
      ? Effect.flatMap(
        Effect.timeoutOption(read, "1 second"),
        Option.match({ onNone: () => bodyIsGone, onSome: Effect.succeed })
      )
      : read
  })

const isPassedOn = (name: string): boolean => name === "sort" || name.startsWith("filter[")

/** What a page may request from a list: the page, a sort and filters. Anything else is dropped here. */
export const page = (
  path: string,
  search: URLSearchParams,
  { pageSize }: Limits
): Effect.Effect<PageRequest, Refused> => {
  const limit = search.get("page[limit]") ?? String(pageSize)
  const cursor = Option.filter(Option.fromNullable(search.get("page[start_cursor]")), (text) => text !== "")
  const query = [...search].filter(([name]) => isPassedOn(name))
  if (!/^\d{1,9}$/.test(limit) || Number(limit) < 1 || Number(limit) > pageSize) {
    return Effect.fail(refused(400, { message: `expected 1 to ${pageSize}`, path: "page[limit]" }))
  }
  return Effect.succeed({ path, limit: Number(limit), cursor, query })
}
