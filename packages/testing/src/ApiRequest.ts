/**
 * Reads and checks what clients send to the service. Every refusal names the field.
 *
 * @since 0.1.0
 */
import * as SourceLimits from "@stevedore/core/SourceLimits"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import type { Declaration } from "./SandboxFiles.js"
import type { Settings } from "./SandboxOptions.js"
import * as ServiceRefused from "./ServiceRefused.js"

/**
 * The largest single upload, and the largest upload of any kind, in bytes: decimal gigabytes (service contract).
 *
 * @since 0.1.0
 * @category constants
 */
export const LARGEST = { single: 5_000_000_000, multipart: 10_000_000_000 } as const

const Name = Schema.NonEmptyString.pipe(
  Schema.filter((name) => SourceLimits.charactersIn(name) <= 1024 || "Expected a name of at most 1024 characters")
)

const Fields = (largest: number) =>
  Schema.Struct({
    name: Name,
    type: Schema.optional(Schema.NullOr(Schema.String.pipe(Schema.maxLength(255)))),
    size: Schema.Int.pipe(Schema.between(1, largest))
  })

const SingleBody = Fields(LARGEST.single)

const MultipartBody = Schema.Struct({
  ...Fields(LARGEST.multipart).fields,
  parts: Schema.optional(Schema.Int.pipe(Schema.between(1, 10_000)))
})

const CompleteBody = Schema.Struct({
  upload_id: Schema.NonEmptyString,
  parts: Schema.Array(Schema.Struct({
    part_number: Schema.Int.pipe(Schema.positive()),
    etag: Schema.NonEmptyString
  })).pipe(Schema.minItems(1), Schema.maxItems(10_000))
})

const Json = Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))

// Throws on a value that it cannot format, such as a deeply nested one.
const issuesOf = Option.liftThrowable(ParseResult.ArrayFormatter.formatErrorSync)

const invalid =
  (rename: (field: string) => string) => (error: ParseResult.ParseError): ServiceRefused.ServiceRefused => {
    const issues = Option.getOrElse(issuesOf(error), () => []).map(({ message, path }) => ({
      code: "ValidationError",
      title: ServiceRefused.titles.ValidationError,
      message,
      path: path.map((field, depth) => depth === 0 ? rename(String(field)) : String(field)).join(".")
    }))
    const [first, ...others] = issues
    return first === undefined
      ? ServiceRefused.invalid("", "The body is not valid")
      : new ServiceRefused.ServiceRefused({ status: 400, errors: [first, ...others] })
  }

const same = (field: string): string => field

const parseObject = (text: string) =>
  Effect.mapError(
    Schema.decodeUnknown(Json)(text),
    () => ServiceRefused.invalid("", "The body must be a JSON object")
  )

type Parsed<A> = {
  readonly value: A
  /** Fields that the service does not know. It accepts them silently. */
  readonly unknownFields: ReadonlyArray<string>
}

const initiate = <A, I>(
  text: string,
  names: Settings["initiateFields"],
  body: Schema.Schema<A, I>,
  wanted: ReadonlyArray<string>
): Effect.Effect<Parsed<A>, ServiceRefused.ServiceRefused> =>
  Effect.gen(function*() {
    const wire = yield* parseObject(text)
    const toWire = (field: string) => field === "name" ? names.name : field === "type" ? names.type : field
    const fields = wanted.filter((field) => wire[toWire(field)] !== undefined)
    const value = yield* Schema.decodeUnknown(body, { errors: "all" })(
      Object.fromEntries(fields.map((field) => [field, wire[toWire(field)]]))
    ).pipe(Effect.mapError(invalid(toWire)))
    const known = wanted.map(toWire)
    return { value, unknownFields: Object.keys(wire).filter((field) => !known.includes(field)) }
  })

const toDeclaration = (body: typeof SingleBody.Type): Declaration => ({
  name: body.name,
  type: body.type ?? undefined,
  size: body.size
})

/**
 * Parses the body of an initiate request for a single upload.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parseInitiate = (
  text: string,
  names: Settings["initiateFields"]
): Effect.Effect<Parsed<Declaration>, ServiceRefused.ServiceRefused> =>
  Effect.map(
    initiate(text, names, SingleBody, ["name", "type", "size"]),
    ({ unknownFields, value }) => ({ value: toDeclaration(value), unknownFields })
  )

/**
 * Parses the body of an initiate request for a multipart upload.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parseInitiateLarge = (
  text: string,
  names: Settings["initiateFields"]
): Effect.Effect<
  Parsed<{ readonly declared: Declaration; readonly parts: number | undefined }>,
  ServiceRefused.ServiceRefused
> =>
  Effect.map(
    initiate(text, names, MultipartBody, ["name", "type", "size", "parts"]),
    ({ unknownFields, value }) => ({ value: { declared: toDeclaration(value), parts: value.parts }, unknownFields })
  )

/**
 * Parses the body of a complete request for a multipart upload.
 *
 * @since 0.1.0
 * @category constructors
 */
export const parseCompleteLarge = (
  text: string
): Effect.Effect<
  {
    readonly uploadId: string
    readonly parts: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }>
  },
  ServiceRefused.ServiceRefused
> =>
  parseObject(text).pipe(
    Effect.flatMap((wire) =>
      Effect.mapError(Schema.decodeUnknown(CompleteBody, { errors: "all" })(wire), invalid(same))
    ),
    Effect.map((body) => ({
      uploadId: body.upload_id,
      parts: body.parts.map(({ etag, part_number }) => ({ partNumber: part_number, etag }))
    }))
  )
