/** Reads and checks what clients send to the service. Every refusal names the field. */
import * as Metadata from "@stevedore/core/Metadata"
import type * as ServiceProfile from "@stevedore/core/ServiceProfile"
import { charactersIn } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { isHeaderValue } from "../base/text.js"
import type { Declaration, ListedParts } from "../parts/files.js"
import * as ServiceRefused from "../ServiceRefused.js"

/**
 * The largest single upload, and the largest upload of any kind, in bytes: decimal gigabytes (service contract).
 *
 * @category constants
 */
export const LARGEST = { single: 5_000_000_000, multipart: 10_000_000_000 } as const

const mostParts = 10_000

type Names = ServiceProfile.ServiceProfile["fields"]

const Name = Schema.NonEmptyString.pipe(
  Schema.filter((name) =>
    (name.length <= 2048 && charactersIn(name) <= 1024) || "Expected a name of at most 1024 characters"
  ),
  // PostgreSQL has no place for it
  Schema.filter((name) => !name.includes("\0") || "Expected no character U+0000")
)

// a header of each download
const MediaType = Schema.String.pipe(
  Schema.filter((type) =>
    (type.length <= 255 && isHeaderValue(type)) ||
    "Expected at most 255 visible characters of ASCII, such as text/plain"
  )
)

const Fields = (largest: number) =>
  Schema.Struct({
    name: Name,
    type: Schema.optional(Schema.NullOr(MediaType)),
    size: Schema.Int.pipe(Schema.between(1, largest)),
    metadata: Schema.optional(Metadata.Metadata)
  })

const SingleBody = Fields(LARGEST.single)

const MultipartBody = Schema.Struct({
  ...Fields(LARGEST.multipart).fields,
  parts: Schema.optional(Schema.Int.pipe(Schema.between(1, mostParts)))
})

const CompleteBody = ({ completeParts }: Names) =>
  Schema.Struct({
    uploadId: Schema.propertySignature(Schema.NonEmptyString).pipe(Schema.fromKey("upload_id")),
    parts: Schema.propertySignature(Schema.Array(Schema.Unknown).pipe(Schema.minItems(1))).pipe(
      Schema.fromKey(completeParts)
    )
  })

const Part = ({ completeEtag, completePartNumber }: Names) =>
  Schema.Struct({
    partNumber: Schema.propertySignature(Schema.Int.pipe(Schema.positive())).pipe(Schema.fromKey(completePartNumber)),
    etag: Schema.propertySignature(Schema.NonEmptyString).pipe(Schema.fromKey(completeEtag))
  })

/** A problem of an element, at its place in the body. */
const placed = (path: readonly [string, number], actual: unknown, { issue }: ParseResult.ParseError) =>
  new ParseResult.ParseError({ issue: new ParseResult.Pointer(path, actual, issue) })

/** A part that is right, as nearly all are: a Schema would take a second of ten thousand. */
const rightPart = (part: unknown, { completeEtag, completePartNumber }: Names) => {
  const { [completeEtag]: etag, [completePartNumber]: partNumber } = Predicate.isReadonlyRecord(part) ? part : {}
  return typeof partNumber === "number" && Number.isSafeInteger(partNumber) && partNumber > 0 &&
      typeof etag === "string" && etag !== ""
    ? [{ partNumber, etag }]
    : []
}

// Throws on a value that it cannot format, such as a deeply nested one.
const issuesOf = Option.liftThrowable(ParseResult.ArrayFormatter.formatErrorSync)

const invalid =
  (rename: (field: string) => string) =>
  (...errors: ReadonlyArray<ParseResult.ParseError>): ServiceRefused.ServiceRefused => {
    const found = errors.flatMap((error) => Option.getOrElse(issuesOf(error), () => []))
    const issues = found.slice(0, mostIssues).map(({ message, path }) => ({
      code: "ValidationError",
      title: ServiceRefused.titles.ValidationError,
      // it repeats what was sent
      message: message.slice(0, longestText),
      path: path.map((field, depth) => depth === 0 ? rename(String(field)) : String(field)).join(".").slice(
        0,
        longestText
      )
    }))
    const [first, ...others] = issues
    return first === undefined
      ? ServiceRefused.invalid("", "The body is not valid")
      : new ServiceRefused.ServiceRefused({ status: 400, errors: [first, ...others] })
  }

const same = (field: string): string => field

/** Whether a body is no deeper and has no more values than any that is right, counted before anything is made of it. */
const isBounded = (text: string): boolean => {
  let depth = 0
  let values = 0
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === "\"") isText = !isText
    else if (isText) at += character === "\\" ? 1 : 0
    else if (character === "]" || character === "}") depth -= 1
    else if (character === "[" || character === "{" || character === ",") {
      values += 1
      depth += character === "," ? 0 : 1
      if (depth > deepest || values > mostValues) return false
    }
  }
  return true
}

const parseObject = (text: string) =>
  isBounded(text)
    ? Effect.try((): unknown => JSON.parse(text)).pipe(
      Effect.filterOrFail(Predicate.isReadonlyRecord),
      Effect.mapError(() => ServiceRefused.invalid("", "The body must be a JSON object"))
    )
    : Effect.fail(ServiceRefused.invalid("", `Expected at most ${mostValues} values, and ${deepest} levels of them`))

/** A list that is no longer than it may be, or anything else, which a Schema refuses. */
const counted = (path: string, value: unknown, most: number, what: string) =>
  Predicate.isObject(value) && Object.keys(value).length > most
    ? Effect.fail(ServiceRefused.invalid(path, `Expected at most ${most} ${what}`))
    : Effect.void

const telling = { errors: "all" } as const

const mostIssues = 100

/** In characters, of what an issue says. */
const longestText = 150

const deepest = 32

const mostValues = 65_536

type Parsed<A> = {
  readonly value: A
  /** Fields that the service does not know. It accepts them silently. */
  readonly unknownFields: ReadonlyArray<string>
}

const initiate = <A, I>(
  text: string,
  names: Names,
  body: Schema.Schema<A, I>,
  wanted: ReadonlyArray<string>
): Effect.Effect<Parsed<A>, ServiceRefused.ServiceRefused> =>
  Effect.gen(function*() {
    const wire = yield* parseObject(text)
    const wireNames: Readonly<Record<string, string>> = {
      name: names.fileName,
      type: names.mediaType,
      size: names.size,
      parts: names.parts,
      ...(names.metadata !== undefined && { metadata: names.metadata })
    }
    const toWire = (field: string) => wireNames[field] ?? field
    const named = wanted.filter((field) => Object.hasOwn(wireNames, field))
    const fields = named.filter((field) => wire[toWire(field)] !== undefined)
    yield* counted(toWire("metadata"), wire[toWire("metadata")], 32, "names")
    const value = yield* Schema.decodeUnknown(body, telling)(
      Object.fromEntries(fields.map((field) => [field, wire[toWire(field)]]))
    ).pipe(Effect.mapError(invalid(toWire)))
    const known = named.map(toWire)
    return { value, unknownFields: Object.keys(wire).filter((field) => !known.includes(field)) }
  })

const toDeclaration = (body: typeof SingleBody.Type): Declaration => ({
  name: body.name,
  type: body.type ?? undefined,
  size: body.size,
  ...(body.metadata && { metadata: body.metadata })
})

/**
 * Parses the body of an initiate request for a single upload.
 *
 * @category constructors
 */
export const parseInitiate = (
  text: string,
  names: Names
): Effect.Effect<Parsed<Declaration>, ServiceRefused.ServiceRefused> =>
  Effect.map(
    initiate(text, names, SingleBody, ["name", "type", "size", "metadata"]),
    ({ unknownFields, value }) => ({ value: toDeclaration(value), unknownFields })
  )

/**
 * Parses the body of an initiate request for a multipart upload.
 *
 * @category constructors
 */
export const parseInitiateLarge = (
  text: string,
  names: Names
): Effect.Effect<
  Parsed<{ readonly declared: Declaration; readonly parts: number | undefined }>,
  ServiceRefused.ServiceRefused
> =>
  Effect.map(
    initiate(text, names, MultipartBody, ["name", "type", "size", "parts", "metadata"]),
    ({ unknownFields, value }) => ({ value: { declared: toDeclaration(value), parts: value.parts }, unknownFields })
  )

/**
 * Parses the body of a complete request for a multipart upload.
 *
 * @category constructors
 */
export const parseCompleteLarge = (
  text: string,
  names: Names
): Effect.Effect<ListedParts, ServiceRefused.ServiceRefused> =>
  Effect.gen(function*() {
    const wire = yield* parseObject(text)
    yield* counted(names.completeParts, wire[names.completeParts], mostParts, "parts")
    const { parts, uploadId } = yield* Schema.decodeUnknown(CompleteBody(names), telling)(wire).pipe(
      Effect.mapError(invalid(same))
    )
    const right = parts.map((part) => rightPart(part, names))
    const decode = Schema.decodeUnknownEither(Part(names), telling)
    const wrong = right.flatMap((found, index) => found.length === 0 ? [index] : []).slice(0, mostIssues)
    const problems = wrong.flatMap((index) =>
      Either.match(decode(parts[index]), {
        onLeft: (error) => [placed([names.completeParts, index], parts[index], error)],
        onRight: () => []
      })
    )
    return problems.length === 0 ? { uploadId, parts: right.flat() } : yield* invalid(same)(...problems)
  })

const ImportBody = Schema.Struct({
  file_id: Schema.String,
  project_id: Schema.String,
  title: Schema.optional(Schema.String),
  fields: Schema.optional(Schema.Array(Schema.Struct({ label: Schema.String, value: Schema.String })))
})

/**
 * Parses the body of a request that makes a file an entry of a project.
 *
 * @category constructors
 */
export const parseImport = (
  text: string
): Effect.Effect<typeof ImportBody.Type, ServiceRefused.ServiceRefused> =>
  Effect.flatMap(
    parseObject(text),
    (wire) =>
      Effect.zipRight(
        counted("fields", wire["fields"], 1000, "fields"),
        Effect.mapError(Schema.decodeUnknown(ImportBody, telling)(wire), invalid(same))
      )
  )

/** Where a body is not as a template says, and what is expected there. */
const misfits = (
  template: ServiceProfile.BodyTemplate,
  value: unknown,
  path = ""
): ReadonlyArray<readonly [path: string, expected: ServiceProfile.BodyTemplate]> => {
  if (typeof template === "object" && template !== null) {
    const inside: Readonly<Record<string, unknown>> = Predicate.isObject(value) ? { ...value } : {}
    return Object.entries(template).flatMap(([name, one]) =>
      misfits(one, inside[name], path === "" ? name : `${path}.${name}`)
    )
  }
  const fits = typeof template === "string" && /\{(?:file_id|etag|size)\}/.test(template)
    ? typeof value === (template === "{size}" ? "number" : "string")
    : value === template
  return fits ? [] : [[path, template]]
}

/**
 * Checks the body of a complete request for a single upload: it must have every entry that the profile names, each of
 * the right type, and fixed values as they are.
 *
 * @category constructors
 */
export const checkComplete = (
  text: string,
  expected: Exclude<ServiceProfile.CompleteUploadBody, "none">
): Effect.Effect<void, ServiceRefused.ServiceRefused> =>
  Effect.flatMap(parseObject(text), (wire) => {
    const [first] = misfits(expected, wire)
    return first === undefined
      ? Effect.void
      : Effect.fail(ServiceRefused.invalid(first[0], `Expected ${JSON.stringify(first[1])}`))
  })
