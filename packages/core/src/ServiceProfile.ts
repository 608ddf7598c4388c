/**
 * Everything that can differ between services with this protocol, as one typed value. Paths, wire names, limits and
 * encryption headers are defined here and nowhere else.
 */
import { dual } from "effect/Function"
import * as EffectRecord from "effect/Record"
import * as Schema from "effect/Schema"
import { pathOfFile, standardProfile } from "./source/standardProfile.js"

const { fields, limits, paths } = standardProfile

const withDefault = <A, I>(schema: Schema.Schema<A, I>, value: () => A) =>
  Schema.optionalWith(schema, { default: value })

const Path = Schema.String.pipe(Schema.startsWith("/"))

const path = (value: string) => withDefault(Path, () => value)

const PathOfFile = Schema.String.pipe(
  Schema.pattern(pathOfFile, { description: "a path that starts with / and contains {file_id}" })
)

const filePath = (value: string) => withDefault(PathOfFile, () => value)

const wireName = (value: string) => withDefault(Schema.NonEmptyString, () => value)

/**
 * The name of a field of a response, or several names that are tried in this order. A dot leads into an object:
 * `file.id` is the `id` of `{ "file": { "id": … } }`, unless a field is called `file.id` itself.
 *
 * @category models
 */
export const FieldName = Schema.Union(Schema.NonEmptyString, Schema.NonEmptyArray(Schema.NonEmptyString)).annotations({
  identifier: "FieldName"
})

/** @category models */
export type FieldName = typeof FieldName.Type

const fieldName = (value: FieldName) => withDefault<FieldName, FieldName>(FieldName, () => value)

const Count = Schema.Int.pipe(Schema.positive())

const limit = (value: number) => withDefault(Count, () => value)

const Seconds = Schema.Number.pipe(Schema.positive())

/**
 * The paths of the calls, under the base URL. `{file_id}` is replaced by the id; the paths of a file must contain it.
 *
 * @category models
 */
export const Paths = Schema.Struct({
  initiateUpload: path(paths.initiateUpload),
  completeUpload: filePath(paths.completeUpload),
  initiateLargeUpload: path(paths.initiateLargeUpload),
  completeLargeUpload: filePath(paths.completeLargeUpload),
  file: filePath(paths.file),
  download: filePath(paths.download),
  tokenInfo: path(paths.tokenInfo),
  /** Makes a file an entry of a project. The interface does not have it; `dovetail` does. */
  importFile: path(paths.importFile)
}).annotations({ identifier: "ServicePaths" })

/**
 * The names of the fields that services call differently. Those of a page are given.
 *
 * @category models
 */
export const Fields = Schema.Struct({
  /** The file's name, in the body of an initiate call. */
  fileName: wireName(fields.fileName),
  /** The file's media type, in the same body. */
  mediaType: wireName(fields.mediaType),
  /** The file's size in bytes, in the same body. */
  size: wireName(fields.size),
  /** The desired number of parts, in the body of an initiate call for several parts. */
  parts: wireName(fields.parts),
  /** The file's id, in the response to an initiate call: text or a number. */
  fileId: fieldName(fields.fileId),
  /** The pre-signed URL of a single PUT, in the response to an initiate call. */
  uploadUrl: fieldName(fields.uploadUrl),
  /** The upload's id, in the response to an initiate call for several parts: text or a number. */
  uploadId: fieldName(fields.uploadId),
  /** The list of the pre-signed URLs of the parts, in the same response: each is text, or an object that has it. */
  urls: fieldName(fields.urls),
  /** The pre-signed URL, in an element of that list that is an object. */
  partUrl: fieldName(fields.partUrl),
  /** The part's number, from 1, in the same element. If absent, the order of the elements decides. */
  partNumber: fieldName(fields.partNumber),
  /**
   * The size of all parts but the last in bytes, in the response to an initiate call for several parts. It is used if it
   * gives exactly as many parts as there are URLs. Undefined: no such field.
   */
  partSize: Schema.optional(FieldName),
  /**
   * What travels with an upload (`UploadOptions.metadata`), in the body of both initiate calls. Undefined: the service has
   * no place for it, and it is not sent.
   */
  metadata: Schema.optional(Schema.NonEmptyString),
  /** The list of the parts, in the body of Complete large upload. */
  completeParts: wireName(fields.completeParts),
  /** The part's number, in an element of that list. */
  completePartNumber: wireName(fields.completePartNumber),
  /** The part's etag, in the same element. */
  completeEtag: wireName(fields.completeEtag),
  /** The pre-signed URL, in the JSON response to a download in `link` mode. */
  downloadUrl: fieldName(fields.downloadUrl),
  /**
   * The checksum of the whole content in the record of a file: an object with `algorithm` (`crc32`, `crc64nvme` or
   * `sha256`) and `value` in base64. A record with none, or in another form, proves nothing.
   */
  checksum: fieldName(fields.checksum)
}).annotations({ identifier: "ServiceFields" })

/**
 * How a single resource comes: `none`, without an envelope; `either`, so or as `{ "data": … }`; anything else is the name
 * of the envelope, such as `data` or `result`.
 *
 * @internal
 */
export const Envelope = Schema.NonEmptyString.annotations({ identifier: "ServiceEnvelope" })

/**
 * JSON as it is sent, in which names in braces stand for what is known: `{name}`, `{type}`, `{size}`, `{metadata}` and
 * `{parts}` (how many are wished for) in both initiate calls, `{file_id}`, `{etag}`, `{size}`, `{name}` and `{type}` in
 * Complete upload, `{file_id}` and `{upload_id}` in Complete large upload. A value that is `"{size}"` alone is sent as a
 * number. What is not known is left out.
 *
 * In Complete large upload `{part_number}` and `{etag}` are those of a part: the element of a list in which one of them
 * stands, and the entry of an object in whose name it stands, is repeated for each part. So `["{etag}"]` is the etags in
 * order, `[{ "no": "{part_number}", "tag": "{etag}" }]` a list of objects, and `{ "{part_number}": "{etag}" }` a map.
 *
 * @category models
 */
export type BodyTemplate =
  | string
  | number
  | boolean
  | null
  | ReadonlyArray<BodyTemplate>
  | { readonly [name: string]: BodyTemplate }

const templateList = Schema.Array(Schema.suspend((): Schema.Schema<BodyTemplate> => BodyTemplate))

const templateFields = Schema.Record({
  key: Schema.String,
  value: Schema.suspend((): Schema.Schema<BodyTemplate> => BodyTemplate)
})

/** @category models */
export const BodyTemplate: Schema.Schema<BodyTemplate> = Schema.Union(
  Schema.String,
  Schema.JsonNumber,
  Schema.Boolean,
  Schema.Null,
  templateList,
  templateFields
).annotations({ identifier: "BodyTemplate" })

/**
 * The body of Complete upload: none, or a {@link BodyTemplate} of an object.
 *
 * @category models
 */
export const CompleteUploadBody = Schema.Union(Schema.Literal("none"), templateFields).annotations({
  identifier: "CompleteUploadBody"
})

/** @category models */
export type CompleteUploadBody = typeof CompleteUploadBody.Type

/**
 * The service's limits. Sizes are in bytes; GB is decimal.
 *
 * @category models
 */
export const Limits = Schema.Struct({
  /** The largest file for a single PUT: 5 GB. */
  singleSize: limit(limits.singleSize),
  /** The largest file for a multipart upload: 10 GB. */
  multipartSize: limit(limits.multipartSize),
  /** The smallest part, except for the last: 5 MiB, a rule of object storage. */
  minimumPartSize: limit(limits.minimumPartSize),
  /** The largest part: 5 GiB, a rule of object storage. */
  maximumPartSize: limit(limits.maximumPartSize),
  /** The maximum number of parts in an upload. */
  parts: limit(limits.parts),
  /** The longest file name, in characters. */
  nameLength: limit(limits.nameLength),
  /** The longest media type, in characters. */
  mediaTypeLength: limit(limits.mediaTypeLength),
  /** The maximum number of items per page. */
  pageSize: limit(limits.pageSize)
}).annotations({ identifier: "ServiceLimits" })

/**
 * A rate limit that holds until the service's own headers announce another.
 *
 * @internal
 */
export const RateLimitRule = Schema.Struct({
  requests: Count,
  windowSeconds: Seconds
}).annotations({ identifier: "RateLimitRule" })

const lowerCaseNames = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

const HeaderValues = Schema.Record({ key: Schema.String, value: Schema.String })

// The keys of a record cannot be transformed one by one.
const Headers = Schema.transform(HeaderValues, HeaderValues, {
  strict: true,
  decode: lowerCaseNames,
  encode: (headers) => headers
})

/**
 * A service profile. Decoding takes missing fields from {@link standard}, so a file with two fields is a whole profile.
 *
 * @category models
 */
export const ServiceProfile = Schema.Struct({
  /** The base URL to use if the configuration has none. */
  baseUrl: Schema.optional(Schema.String),
  /** The headers that make storage encrypt a single PUT: one or several names and values. */
  encryptionHeaders: withDefault(Headers, () => standardProfile.encryptionHeaders),
  /**
   * What a download returns: the bytes (or a redirect to them), or JSON with a pre-signed URL. It is never guessed from
   * the body, because an uploaded JSON file could pose as a link.
   */
  download: withDefault<"content" | "link", "content" | "link">(
    Schema.Literal("content", "link"),
    () => standardProfile.download
  ),
  /** How long a URL lives if it does not say so itself, in seconds: 3 hours. */
  urlLifetimeSeconds: withDefault(Seconds, () => standardProfile.urlLifetimeSeconds),
  /**
   * The states of a file's record that prove that its content is there. In any other state but `failed`, such as
   * `pending`, only reading a byte of the content proves it: a record may exist before its content. Asked only after a
   * Complete whose outcome is unknown.
   */
  finalStates: withDefault(Schema.Array(Schema.String), () => standardProfile.finalStates),
  /** If undefined, no limit is assumed until the service's headers announce one. */
  rateLimit: Schema.optional(RateLimitRule),
  /** How a single resource is wrapped. */
  envelope: withDefault<typeof Envelope.Type, typeof Envelope.Type>(Envelope, () => standardProfile.envelope),
  /**
   * The body of both initiate calls. Undefined: an object of the fields `fileName`, `mediaType`, `size` and `metadata`.
   */
  initiateBody: Schema.optional(templateFields),
  /** That of an initiate call for several parts, if it is another one: else it is the same, and the field `parts`. */
  initiateLargeBody: Schema.optional(templateFields),
  /**
   * The body of Complete large upload. Undefined: `upload_id`, and the list `completeParts` of objects of
   * `completePartNumber` and `completeEtag`.
   */
  completeLargeUploadBody: Schema.optional(Schema.Union(templateList, templateFields)),
  /** The body of Complete upload. */
  completeUploadBody: withDefault<CompleteUploadBody, CompleteUploadBody>(
    CompleteUploadBody,
    () => standardProfile.completeUploadBody
  ),
  paths: withDefault(Paths, () => Paths.make({})),
  fields: withDefault(Fields, () => Fields.make({})),
  limits: withDefault(Limits, () => Limits.make({}))
}).annotations({ identifier: "ServiceProfile" })

/** @category models */
export interface ServiceProfile extends Schema.Schema.Type<typeof ServiceProfile> {}

/**
 * The interface as given, with a default for each gap.
 *
 * @category profiles
 */
export const standard: ServiceProfile = standardProfile

type AnyOf<A> = { readonly [Name in keyof A]?: A[Name] | undefined }

/**
 * What can be changed in a profile: any field, and within `paths`, `fields` and `limits` each entry. Undefined fields
 * stay as they were, except what is optional in a profile, such as `baseUrl` and `initiateBody`: undefined removes it.
 *
 * @category models
 */
export interface Changes extends AnyOf<Omit<ServiceProfile, "paths" | "fields" | "limits">> {
  readonly paths?: AnyOf<typeof Paths.Type> | undefined
  readonly fields?: AnyOf<typeof Fields.Type> | undefined
  readonly limits?: AnyOf<typeof Limits.Type> | undefined
}

const changed = <A extends object>(before: A, changes: AnyOf<A> = {}): A => ({
  ...before,
  ...EffectRecord.filter({ ...changes }, (value) => value !== undefined)
})

/**
 * A profile with some fields changed.
 *
 * @example
 * import { ServiceProfile } from "@stevedore/core"
 * import { Config, Schema } from "effect"
 *
 * const archive = ServiceProfile.extend(ServiceProfile.standard, {
 *   encryptionHeaders: {
 *     "x-amz-server-side-encryption": "aws:kms",
 *     "x-amz-server-side-encryption-aws-kms-key-id": "key-1"
 *   },
 *   download: "link"
 * })
 *
 * // a profile from the environment, as JSON
 * const fromEnvironment = Schema.Config("ARCHIVE_PROFILE", Schema.parseJson(ServiceProfile.ServiceProfile)).pipe(
 *   Config.map(ServiceProfile.extend({ download: "link" }))
 * )
 *
 * @category combinators
 */
export const extend: {
  (changes: Changes): (profile: ServiceProfile) => ServiceProfile
  (profile: ServiceProfile, changes: Changes): ServiceProfile
} = /* #__PURE__ */ dual(2, (profile: ServiceProfile, changes: Changes): ServiceProfile => ({
  ...profile,
  ...changes,
  encryptionHeaders: lowerCaseNames(changes.encryptionHeaders ?? profile.encryptionHeaders),
  download: changes.download ?? profile.download,
  urlLifetimeSeconds: changes.urlLifetimeSeconds ?? profile.urlLifetimeSeconds,
  finalStates: changes.finalStates ?? profile.finalStates,
  envelope: changes.envelope ?? profile.envelope,
  completeUploadBody: changes.completeUploadBody ?? profile.completeUploadBody,
  paths: changed(profile.paths, changes.paths),
  fields: changed(profile.fields, changes.fields),
  limits: changed(profile.limits, changes.limits)
}))

/**
 * The live service whose public reference fills the gaps of the interface: its base URL, downloads by link, 200
 * requests per minute.
 *
 * @category profiles
 */
export const dovetail: ServiceProfile = extend(standard, {
  baseUrl: "https://dovetail.com/api",
  download: "link",
  rateLimit: { requests: 200, windowSeconds: 60 }
})
