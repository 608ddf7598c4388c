/** The calls of the service: for each, a pure function that builds the request and one that reads the response. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { openRecord } from "../base/effect.js"
import { FileRecord } from "../FileRecord.js"
import * as Json from "../Json.js"
import type { Metadata } from "../Metadata.js"
import { filled, type Known } from "../parts/template.js"
import type * as PresignedUrl from "../PresignedUrl.js"
import type { ServiceError } from "../ServiceError.js"
import type { BodyTemplate, ServiceProfile } from "../ServiceProfile.js"
import type { MultipartSession, PartReceipt, SingleSession, UploadSession } from "../UploadSession.js"
import type { ServiceAnswer } from "./answer.js"
import { decode, invalid } from "./answer.js"
import { RawPage } from "./page.js"
import type { Fields } from "./resource.js"
import { resourceOf, textOf, valueOf } from "./resource.js"
import { endingInTime, idIn, partSizeOf, sessionFields, urlIn, urlsInOrder } from "./session.js"

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

const withFileId = (path: string, fileId: string): string => path.replace("{file_id}", encodeURIComponent(fileId))

/** What a body can tell. */
interface Told extends Omit<CompletedUpload, "fileId"> {
  readonly fileId?: string
  readonly uploadId?: string
  readonly metadata?: Metadata | undefined
  readonly wished?: number | undefined
}

const idInJson = ({ numericIds, ...ids }: Told, name: "fileId" | "uploadId"): unknown =>
  numericIds?.includes(name) ? new Json.ExactNumber(String(ids[name])) : ids[name]

// A number that JavaScript cannot hold is sent as it came
const postJson = (path: string, body: unknown): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.bodyText(HttpClientRequest.post(path), Json.stringify(body) ?? "", "application/json")

const post = (path: string, template: BodyTemplate, told: Told, parts?: ReadonlyArray<Known>) =>
  postJson(
    path,
    filled(
      template,
      {
        "{file_id}": idInJson(told, "fileId"),
        "{upload_id}": idInJson(told, "uploadId"),
        "{etag}": told.etag,
        "{name}": told.name,
        "{type}": told.mediaType,
        "{size}": told.size,
        "{metadata}": told.metadata,
        "{parts}": told.wished
      },
      parts
    )
  )

const initiateBody = ({ fields, initiateBody }: ServiceProfile): Readonly<Record<string, BodyTemplate>> =>
  initiateBody ?? {
    [fields.fileName]: "{name}",
    [fields.mediaType]: "{type}",
    [fields.size]: "{size}",
    ...(fields.metadata && { [fields.metadata]: "{metadata}" })
  }

/** `POST`: opens a session for a single PUT, up to 5 GB. */
export const initiateUpload: Endpoint<FileDescription, SingleSession> = {
  operation: "initiateUpload",
  repeatable: false,
  request: (profile, file) => post(profile.paths.initiateUpload, initiateBody(profile), file),
  respond: (profile, answer) =>
    Either.gen(function*() {
      const opened = yield* resourceOf(profile, answer, profile.fields.uploadUrl)
      const url = yield* urlIn(profile, opened, "uploadUrl")
      const fields = yield* sessionFields(profile, opened, url)
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
    post(
      profile.paths.initiateLargeUpload,
      profile.initiateLargeBody ?? { ...initiateBody(profile), [profile.fields.parts]: "{parts}" },
      { ...file, wished: Option.getOrUndefined(file.parts) }
    ),
  respond: (profile, answer, file) =>
    Either.gen(function*() {
      const opened = yield* resourceOf(profile, answer, profile.fields.urls)
      const urls = yield* urlsInOrder(profile, opened, file.size)
      const uploadId = yield* idIn(profile, opened, "uploadId")
      const fields = yield* sessionFields(profile, opened, urls[0])
      const partSize = partSizeOf(profile, opened)
      return {
        _tag: "MultipartSession",
        ...fields,
        uploadId,
        urls: Arr.map(urls, endingInTime(profile, fields.openedAt)),
        ...(partSize && { partSize })
      }
    })
}

const recordOf = (profile: ServiceProfile, fields: Fields = {}, fileId: string): FileRecord => {
  const checksum = valueOf(fields, profile.fields.checksum)
  return Option.getOrElse(
    // the id by which the file was asked for is the one that works
    Schema.decodeUnknownOption(FileRecord)({ ...fields, ...(checksum !== undefined && { checksum }), id: fileId }),
    () => ({ id: fileId })
  )
}

// The interface does not show the response, so any success is one, whatever its body.
const anySuccess = <A>(
  profile: ServiceProfile,
  answer: ServiceAnswer,
  wanted: string,
  make: (fields?: Fields) => A
): Either.Either<A, ServiceError> =>
  Either.match(resourceOf(profile, answer, wanted), {
    onLeft: (error) => error._tag === "InvalidResponse" ? Either.right(make()) : Either.left(error),
    onRight: ({ fields }) => Either.right(make(fields))
  })

const completed: Endpoint<{ readonly fileId: string }, FileRecord>["respond"] = (profile, answer, { fileId }) =>
  anySuccess(profile, answer, "status", (fields) => recordOf(profile, fields, fileId))

/** The file whose upload is complete. The profile says whether the service is told more than the id. */
export interface CompletedUpload {
  readonly fileId: string
  /** As in the session: an id that came as a number is sent back as one. */
  readonly numericIds?: UploadSession["numericIds"]
  /** Storage's etag of the bytes, verbatim. */
  readonly etag?: string | undefined
  /** In bytes. */
  readonly size?: number | undefined
  readonly name?: string | undefined
  readonly mediaType?: string | undefined
}

/**
 * `POST`: reports that the whole file is in storage. Any success ends the upload well, whatever its body. Safe to repeat.
 */
export const completeUpload: Endpoint<CompletedUpload, FileRecord> = {
  operation: "completeUpload",
  repeatable: true,
  request: ({ completeUploadBody, paths }, upload) => {
    const path = withFileId(paths.completeUpload, upload.fileId)
    return completeUploadBody === "none" ? HttpClientRequest.post(path) : post(path, completeUploadBody, upload)
  },
  respond: completed
}

/** What Complete large upload is told: every part, with its etag verbatim. */
export interface CompletedLargeUpload {
  readonly fileId: string
  readonly uploadId: string
  /** As in the session: an id that came as a number is sent back as one. */
  readonly numericIds?: UploadSession["numericIds"]
  readonly parts: ReadonlyArray<PartReceipt>
}

/**
 * `POST`: reports that every part is in storage. Parts are listed in ascending order, each with its etag verbatim. Any
 * success ends the upload well, whatever its body. Safe to repeat.
 */
export const completeLargeUpload: Endpoint<CompletedLargeUpload, FileRecord> = {
  operation: "completeLargeUpload",
  repeatable: true,
  request: ({ completeLargeUploadBody, fields, paths }, upload) =>
    post(
      withFileId(paths.completeLargeUpload, upload.fileId),
      completeLargeUploadBody ?? {
        upload_id: "{upload_id}",
        [fields.completeParts]: [{ [fields.completePartNumber]: "{part_number}", [fields.completeEtag]: "{etag}" }]
      },
      upload,
      [...upload.parts]
        .sort((a, b) => a.partNumber - b.partNumber)
        .map(({ etag, partNumber }) => ({ "{part_number}": partNumber, "{etag}": etag }))
    ),
  respond: completed
}

/** `GET`: the record of a file. */
export const file: Endpoint<{ readonly fileId: string }, FileRecord> = {
  operation: "file",
  repeatable: true,
  request: (profile, { fileId }) => HttpClientRequest.get(withFileId(profile.paths.file, fileId)),
  respond: (profile, answer, { fileId }) =>
    Either.map(resourceOf(profile, answer, "status"), ({ fields }) => recordOf(profile, fields, fileId))
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
  request: (_, { cursor, limit, path, query }) => {
    const start = Option.getOrUndefined(cursor)
    return HttpClientRequest.get(path, {
      urlParams: [
        ["page[limit]", String(limit)],
        ...(start ? [["page[start_cursor]", start] as const] : []),
        ...query
      ]
    })
  },
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
    // what is no object is no TokenInfo
    saysNothing(answer)
      ? Either.right(Option.none())
      : anySuccess(profile, answer, "id", Schema.decodeUnknownOption(TokenInfo))
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
    postJson(profile.paths.importFile, {
      file_id: fileId,
      project_id: projectId,
      title,
      fields: fields && Object.entries(fields).map(([label, value]) => ({ label, value }))
    }),
  respond: (profile, answer) =>
    anySuccess(profile, answer, "id", (fields) => {
      const id = textOf(fields?.["id"])
      return id ? { id } : {}
    })
}

/** The link of a download in `link` mode. */
export const downloadLink = (
  profile: ServiceProfile,
  answer: ServiceAnswer
): Either.Either<PresignedUrl.PresignedUrl, ServiceError> =>
  Either.flatMap(
    resourceOf(profile, answer, profile.fields.downloadUrl),
    (resource) => urlIn(profile, resource, "downloadUrl")
  )

/** `GET`: the content of a file. The response is read by `ServiceApi.download`, because it is not JSON. */
export const downloadRequest = (profile: ServiceProfile, fileId: string): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.get(withFileId(profile.paths.download, fileId))
