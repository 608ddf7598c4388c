/** The calls of the service: for each, a pure function that builds the request and one that reads the response. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as EffectRecord from "effect/Record"
import * as Schema from "effect/Schema"
import { openRecord } from "../base/effect.js"
import { FileRecord } from "../FileRecord.js"
import * as Json from "../Json.js"
import type { Metadata } from "../Metadata.js"
import type * as PresignedUrl from "../PresignedUrl.js"
import type { ServiceError } from "../ServiceError.js"
import type { CompleteUploadBody, ServiceProfile } from "../ServiceProfile.js"
import type { MultipartSession, PartReceipt, SingleSession, UploadSession } from "../UploadSession.js"
import type { ServiceAnswer } from "./answer.js"
import { decode, invalid } from "./answer.js"
import { RawPage } from "./page.js"
import type { Resource } from "./resource.js"
import { invalidField, namesOf, resourceOf, textOf, valueOf } from "./resource.js"
import { endingInTime, partSizeOf, sessionFields, urlAt, urlsInOrder } from "./session.js"

/**
 * One call. `repeatable` says whether making it twice is safe. A call that is not is retried only if the first attempt
 * is known not to have been carried out.
 */
export interface Endpoint<in Input, out Output> {
  readonly operation: string
  readonly repeatable: boolean
  readonly request: (profile: ServiceProfile, input: Input) => HttpClientRequest.HttpClientRequest
  readonly respond: (
    profile: ServiceProfile,
    answer: ServiceAnswer,
    input: Input
  ) => Either.Either<Output, ServiceError>
}

/** What the service is told about a file. */
export interface FileDescription {
  readonly name: string
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
  /** Sent if the profile names a field for it. */
  readonly metadata?: Metadata | undefined
}

// A number that JavaScript cannot hold is sent as it came
const withJson = (request: HttpClientRequest.HttpClientRequest, body: object): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.bodyText(request, Json.stringify(body) ?? "", "application/json")

type NumericIds = UploadSession["numericIds"]

const idInJson = (id: string, name: "fileId" | "uploadId", numeric: NumericIds = []): string | Json.ExactNumber =>
  numeric.includes(name) ? new Json.ExactNumber(id) : id

const withFileId = (path: string, fileId: string): string => path.replace("{file_id}", encodeURIComponent(fileId))

const describe = (profile: ServiceProfile, file: FileDescription) => ({
  [profile.fields.fileName]: file.name,
  [profile.fields.mediaType]: file.mediaType,
  [profile.fields.size]: file.size,
  ...(profile.fields.metadata !== undefined && file.metadata && { [profile.fields.metadata]: file.metadata })
})

/** `POST`: opens a session for a single PUT, up to 5 GB. */
export const initiateUpload: Endpoint<FileDescription, SingleSession> = {
  operation: "initiateUpload",
  repeatable: false,
  request: (profile, file) =>
    HttpClientRequest.post(profile.paths.initiateUpload).pipe(
      HttpClientRequest.bodyUnsafeJson(describe(profile, file))
    ),
  respond: (profile, answer) =>
    Either.gen(function*() {
      const opened = yield* resourceOf(profile, answer, "upload_url")
      const url = yield* urlAt(opened, "upload_url", opened.fields["upload_url"])
      const fields = yield* sessionFields(profile, opened, url, ["upload_url"])
      return { _tag: "SingleSession", ...fields, url: endingInTime(profile, fields.openedAt)(url) }
    })
}

/** What the service is told about a file for a multipart upload. */
export interface LargeFileDescription extends FileDescription {
  /** The number that is asked for. The service decides: its URLs are the plan. If none, it is not asked. */
  readonly parts: Option.Option<number>
}

/** `POST`: opens a multipart session, up to 10 GB. */
export const initiateLargeUpload: Endpoint<LargeFileDescription, MultipartSession> = {
  operation: "initiateLargeUpload",
  repeatable: false,
  request: (profile, file) =>
    HttpClientRequest.post(profile.paths.initiateLargeUpload).pipe(
      HttpClientRequest.bodyUnsafeJson({
        ...describe(profile, file),
        ...Option.match(file.parts, { onNone: () => ({}), onSome: (parts) => ({ [profile.fields.parts]: parts }) })
      })
    ),
  respond: (profile, answer, file) =>
    Either.gen(function*() {
      const opened = yield* resourceOf(profile, answer, "urls")
      const urls = yield* urlsInOrder(profile, opened, file.size)
      const uploadId = textOf(opened.fields["upload_id"])
      if (uploadId === undefined) return yield* Either.left(invalidField(opened, "upload_id", {}))
      const named = profile.fields.partSize === undefined ? [] : namesOf(profile.fields.partSize)
      const fields = yield* sessionFields(profile, opened, urls[0], ["upload_id", "urls", ...named])
      const partSize = partSizeOf(profile, opened)
      return {
        _tag: "MultipartSession",
        ...fields,
        uploadId,
        urls: Arr.map(urls, endingInTime(profile, fields.openedAt)),
        ...(partSize === undefined ? {} : { partSize })
      }
    })
}

const recordOf = (profile: ServiceProfile, { fields }: Resource, fileId: string): FileRecord => {
  const checksum = valueOf(fields, profile.fields.checksum)
  return Option.getOrElse(
    // the id by which the file was asked for is the one that works
    Schema.decodeUnknownOption(FileRecord)({ ...fields, ...(checksum !== undefined && { checksum }), id: fileId }),
    () => ({ id: fileId })
  )
}

// The interface does not show the response, so any success is one, whatever its body.
const completed = (
  profile: ServiceProfile,
  answer: ServiceAnswer,
  fileId: string
): Either.Either<FileRecord, ServiceError> =>
  Either.match(resourceOf(profile, answer, "status"), {
    onLeft: (error) => error._tag === "InvalidResponse" ? Either.right({ id: fileId }) : Either.left(error),
    onRight: (resource) => Either.right(recordOf(profile, resource, fileId))
  })

/** The file whose upload is complete. The profile says whether the service is told more than the id. */
export interface CompletedUpload {
  readonly fileId: string
  /** As in the session: an id that came as a number is sent back as one. */
  readonly numericIds?: NumericIds
  /** Storage's etag of the bytes, verbatim. */
  readonly etag?: string | undefined
  /** In bytes. */
  readonly size?: number | undefined
  readonly name?: string | undefined
  readonly mediaType?: string | undefined
}

const completionBody = (
  template: Exclude<CompleteUploadBody, "none">,
  { etag, fileId, mediaType, name, numericIds, size }: CompletedUpload
): Readonly<Record<string, unknown>> => {
  const known: Readonly<Record<string, string | number | Json.ExactNumber | undefined>> = {
    "{file_id}": idInJson(fileId, "fileId", numericIds),
    "{etag}": etag,
    "{size}": size,
    "{name}": name,
    "{type}": mediaType
  }
  return EffectRecord.filterMap(template, (value) => {
    if (typeof value !== "string") return Option.some<unknown>(value)
    if (Object.hasOwn(known, value)) return Option.fromNullable<unknown>(known[value])
    const parts = value.split(/(\{(?:file_id|etag|size|name|type)\})/)
    const filled = parts.map((part) => Object.hasOwn(known, part) ? known[part] : part)
    return filled.includes(undefined) ? Option.none() : Option.some<unknown>(filled.join(""))
  })
}

/**
 * `POST`: reports that the whole file is in storage. Any success ends the upload well, whatever its body. Safe to repeat.
 */
export const completeUpload: Endpoint<CompletedUpload, FileRecord> = {
  operation: "completeUpload",
  repeatable: true,
  request: (profile, upload) => {
    const request = HttpClientRequest.post(withFileId(profile.paths.completeUpload, upload.fileId))
    return profile.completeUploadBody === "none"
      ? request
      : withJson(request, completionBody(profile.completeUploadBody, upload))
  },
  respond: (profile, answer, { fileId }) => completed(profile, answer, fileId)
}

/** What Complete large upload is told: every part, with its etag verbatim. */
export interface CompletedLargeUpload {
  readonly fileId: string
  readonly uploadId: string
  /** As in the session: an id that came as a number is sent back as one. */
  readonly numericIds?: NumericIds
  readonly parts: ReadonlyArray<PartReceipt>
}

/**
 * `POST`: reports that every part is in storage. Parts are listed in ascending order, each with its etag verbatim. Any
 * success ends the upload well, whatever its body. Safe to repeat.
 */
export const completeLargeUpload: Endpoint<CompletedLargeUpload, FileRecord> = {
  operation: "completeLargeUpload",
  repeatable: true,
  request: ({ fields, paths }, { fileId, numericIds, parts, uploadId }) =>
    withJson(HttpClientRequest.post(withFileId(paths.completeLargeUpload, fileId)), {
      upload_id: idInJson(uploadId, "uploadId", numericIds),
      [fields.completeParts]: [...parts]
        .sort((a, b) => a.partNumber - b.partNumber)
        .map(({ etag, partNumber }) => ({ [fields.completePartNumber]: partNumber, [fields.completeEtag]: etag }))
    }),
  respond: (profile, answer, { fileId }) => completed(profile, answer, fileId)
}

/** `GET`: the record of a file. */
export const file: Endpoint<{ readonly fileId: string }, FileRecord> = {
  operation: "file",
  repeatable: true,
  request: (profile, { fileId }) => HttpClientRequest.get(withFileId(profile.paths.file, fileId)),
  respond: (profile, answer, { fileId }) =>
    Either.map(resourceOf(profile, answer, "status"), (resource) => recordOf(profile, resource, fileId))
}

/** One page of any list. Query parameters are sent in the given order; an empty cursor is never sent. */
export interface PageRequest {
  /** Such as `/v1/projects`. */
  readonly path: string
  /** `page[limit]`, 1 to 100. */
  readonly limit: number
  /** `page[start_cursor]`, exactly as received. */
  readonly cursor: Option.Option<string>
  /** Sort and filters, already encoded: `[["sort", "title:asc"], ["filter[title][contains]", "x"]]`. */
  readonly query: ReadonlyArray<readonly [string, string]>
}

/** A hundred times what the interface has on a page. Each item is decoded, checked and printed by itself. */
const mostItems = 10_000

/** `GET`: one page of a list. */
export const listPage: Endpoint<PageRequest, RawPage> = {
  operation: "listPage",
  repeatable: true,
  request: (_, { cursor, limit, path, query }) =>
    HttpClientRequest.get(path, {
      urlParams: [
        ["page[limit]", String(limit)],
        ...Option.match(Option.filter(cursor, (value) => value !== ""), {
          onNone: () => [],
          onSome: (value) => [["page[start_cursor]", value] as const]
        }),
        ...query
      ]
    }),
  respond: (_, answer) =>
    Either.filterOrLeft(
      decode(answer, RawPage),
      ({ data }) => data.length <= mostItems,
      ({ data }) => invalid(answer, "data", `${data.length} items on a page`)
    )
}

/** Whom a token belongs to, as far as the service tells. */
export const TokenInfo = openRecord("TokenInfo", {
  id: Schema.optional(Schema.String),
  subdomain: Schema.optional(Schema.String)
})

export interface TokenInfo extends Schema.Schema.Type<typeof TokenInfo> {}

// There is no such path, or nothing that says whom the token belongs to. The interface does not have this call.
const saysNothing = ({ status }: ServiceAnswer): boolean => [404, 405, 410, 501].includes(status)

/** `GET`: whom the token belongs to. None if the service does not tell. */
export const tokenInfo: Endpoint<void, Option.Option<TokenInfo>> = {
  operation: "tokenInfo",
  repeatable: true,
  request: (profile) => HttpClientRequest.get(profile.paths.tokenInfo),
  respond: (profile, answer) =>
    saysNothing(answer) ? Either.right(Option.none()) : Either.match(resourceOf(profile, answer, "id"), {
      onLeft: (error) => error._tag === "InvalidResponse" ? Either.right(Option.none()) : Either.left(error),
      onRight: ({ fields }) => Either.right(Schema.decodeUnknownOption(TokenInfo)(fields))
    })
}

/** What becomes an entry of which project. */
export interface FileImport {
  /** An uploaded file. */
  readonly fileId: string
  readonly projectId: string
  /** If omitted, the service chooses one. */
  readonly title?: string | undefined
  /** Further fields of the entry: their values by their labels. */
  readonly fields?: Readonly<Record<string, string>> | undefined
}

/** An entry of a project that was made of a file. */
export interface ImportedEntry {
  readonly id?: string | undefined
}

/**
 * `POST`: makes a file an entry of a project. Any success is one, whatever its body. Repeating it makes another entry.
 */
export const importFile: Endpoint<FileImport, ImportedEntry> = {
  operation: "importFile",
  repeatable: false,
  request: (profile, { fields, fileId, projectId, title }) =>
    HttpClientRequest.post(profile.paths.importFile).pipe(
      HttpClientRequest.bodyUnsafeJson({
        file_id: fileId,
        project_id: projectId,
        title,
        fields: fields === undefined ? undefined : Object.entries(fields).map(([label, value]) => ({ label, value }))
      })
    ),
  respond: (profile, answer) =>
    Either.match(resourceOf(profile, answer, "id"), {
      onLeft: (error) => error._tag === "InvalidResponse" ? Either.right({}) : Either.left(error),
      onRight: ({ fields }) => {
        const id = textOf(fields["id"])
        return Either.right(id === undefined ? {} : { id })
      }
    })
}

/** The link of a download in `link` mode. */
export const downloadLink = (
  profile: ServiceProfile,
  answer: ServiceAnswer
): Either.Either<PresignedUrl.PresignedUrl, ServiceError> => {
  const { downloadUrl } = profile.fields
  return Either.flatMap(
    resourceOf(profile, answer, downloadUrl),
    (resource) => urlAt(resource, namesOf(downloadUrl)[0], valueOf(resource.fields, downloadUrl), "fields.downloadUrl")
  )
}

/** `GET`: the content of a file. The response is read by `ServiceApi.download`, because it is not JSON. */
export const downloadRequest = (profile: ServiceProfile, fileId: string): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.get(withFileId(profile.paths.download, fileId))
