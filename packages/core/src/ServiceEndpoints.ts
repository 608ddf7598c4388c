/**
 * The calls of the service: for each, a pure function that builds the request and one that reads the response.
 *
 * @since 0.1.0
 */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { FileRecord } from "./FileRecord.js"
import { endingInTime, inPartOrder, OpenedMultipart, OpenedSingle, sessionFields } from "./internal/sessionAnswer.js"
import { RawPage } from "./Page.js"
import * as PresignedUrl from "./PresignedUrl.js"
import type { ServiceAnswer } from "./ServiceAnswer.js"
import { decode, decodeData, encrypted, invalid } from "./ServiceAnswer.js"
import type { ServiceError } from "./ServiceError.js"
import type { ServiceProfile } from "./ServiceProfile.js"
import type { MultipartSession, PartReceipt, SingleSession } from "./UploadSession.js"

/**
 * One call. `repeatable` says whether making it twice is safe. A call that is not is retried only if the first attempt
 * is known not to have been carried out.
 *
 * @since 0.1.0
 * @category models
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

/**
 * What the service is told about a file.
 *
 * @since 0.1.0
 * @category models
 */
export interface FileDescription {
  readonly name: string
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
}

const withFileId = (path: string, fileId: string): string => path.replace("{file_id}", encodeURIComponent(fileId))

const describe = (profile: ServiceProfile, file: FileDescription) => ({
  [profile.fields.fileName]: file.name,
  [profile.fields.mediaType]: file.mediaType,
  size: file.size
})

/**
 * `POST`: opens a session for a single PUT, up to 5 GB.
 *
 * @since 0.1.0
 * @category endpoints
 */
export const initiateUpload: Endpoint<FileDescription, SingleSession> = {
  operation: "initiateUpload",
  repeatable: false,
  request: (profile, file) =>
    HttpClientRequest.post(profile.paths.initiateUpload).pipe(
      HttpClientRequest.bodyUnsafeJson(describe(profile, file))
    ),
  respond: (profile, answer) =>
    Either.gen(function*() {
      const opened = yield* decodeData(answer, OpenedSingle)
      const url = yield* encrypted(answer, "data.upload_url")(opened.upload_url)
      const fields = yield* sessionFields(answer, opened, url)
      return { _tag: "SingleSession", ...fields, url: endingInTime(profile, fields.openedAt)(url) }
    })
}

/**
 * What the service is told about a file for a multipart upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface LargeFileDescription extends FileDescription {
  /** If none, the service chooses. */
  readonly parts: Option.Option<number>
}

/**
 * `POST`: opens a multipart session, up to 10 GB.
 *
 * @since 0.1.0
 * @category endpoints
 */
export const initiateLargeUpload: Endpoint<LargeFileDescription, MultipartSession> = {
  operation: "initiateLargeUpload",
  repeatable: false,
  request: (profile, file) =>
    HttpClientRequest.post(profile.paths.initiateLargeUpload).pipe(
      HttpClientRequest.bodyUnsafeJson({
        ...describe(profile, file),
        ...Option.match(file.parts, { onNone: () => ({}), onSome: (parts) => ({ parts }) })
      })
    ),
  respond: (profile, answer, file) =>
    Either.gen(function*() {
      const opened = yield* decodeData(answer, OpenedMultipart)
      const urls = yield* inPartOrder(answer, opened.urls)
      const fields = yield* sessionFields(answer, opened, urls[0])
      if (Option.exists(file.parts, (parts) => parts !== urls.length)) {
        return yield* Either.left(invalid(answer, "data.urls", `${urls.length} URLs for another number of parts`))
      }
      // one part would replace another
      if (new Set(urls.map(PresignedUrl.reveal)).size < urls.length) {
        return yield* Either.left(invalid(answer, "data.urls", "the same URL for several parts"))
      }
      return {
        _tag: "MultipartSession",
        ...fields,
        uploadId: opened.upload_id,
        urls: Arr.map(urls, endingInTime(profile, fields.openedAt))
      }
    })
}

/**
 * `POST`: reports that the whole file is in storage. Safe to repeat.
 *
 * @since 0.1.0
 * @category endpoints
 */
export const completeUpload: Endpoint<{ readonly fileId: string }, FileRecord> = {
  operation: "completeUpload",
  repeatable: true,
  request: (profile, { fileId }) => HttpClientRequest.post(withFileId(profile.paths.completeUpload, fileId)),
  respond: (_, answer) => decodeData(answer, FileRecord)
}

/**
 * `POST`: reports that every part is in storage. Parts are listed in ascending order, each with its etag verbatim. Safe
 * to repeat.
 *
 * @since 0.1.0
 * @category endpoints
 */
export const completeLargeUpload: Endpoint<
  { readonly fileId: string; readonly uploadId: string; readonly parts: ReadonlyArray<PartReceipt> },
  FileRecord
> = {
  operation: "completeLargeUpload",
  repeatable: true,
  request: (profile, { fileId, parts, uploadId }) =>
    HttpClientRequest.post(withFileId(profile.paths.completeLargeUpload, fileId)).pipe(
      HttpClientRequest.bodyUnsafeJson({
        upload_id: uploadId,
        parts: [...parts]
          .sort((a, b) => a.partNumber - b.partNumber)
          .map(({ etag, partNumber }) => ({ part_number: partNumber, etag }))
      })
    ),
  respond: (_, answer) => decodeData(answer, FileRecord)
}

/**
 * `GET`: the record of a file.
 *
 * @since 0.1.0
 * @category endpoints
 */
export const file: Endpoint<{ readonly fileId: string }, FileRecord> = {
  operation: "file",
  repeatable: true,
  request: (profile, { fileId }) => HttpClientRequest.get(withFileId(profile.paths.file, fileId)),
  respond: (_, answer) => decodeData(answer, FileRecord)
}

/**
 * One page of any list. Query parameters are sent in the given order; an empty cursor is never sent.
 *
 * @since 0.1.0
 * @category models
 */
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

/**
 * `GET`: one page of a list.
 *
 * @since 0.1.0
 * @category endpoints
 */
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
  respond: (_, answer) => decode(answer, RawPage)
}

/**
 * Whom a token belongs to.
 *
 * @since 0.1.0
 * @category models
 */
export const TokenInfo = Schema.Struct({ id: Schema.String, subdomain: Schema.String }).annotations({
  identifier: "TokenInfo"
})

/**
 * @since 0.1.0
 * @category models
 */
export type TokenInfo = typeof TokenInfo.Type

/**
 * `GET`: whom the token belongs to.
 *
 * @since 0.1.0
 * @category endpoints
 */
export const tokenInfo: Endpoint<void, TokenInfo> = {
  operation: "tokenInfo",
  repeatable: true,
  request: (profile) => HttpClientRequest.get(profile.paths.tokenInfo),
  respond: (_, answer) => decodeData(answer, TokenInfo)
}

/**
 * The link of a download in `link` mode.
 *
 * @since 0.1.0
 * @category interpreters
 */
export const downloadLink = (
  profile: ServiceProfile,
  answer: ServiceAnswer
): Either.Either<PresignedUrl.PresignedUrl, ServiceError> => {
  const { downloadUrl } = profile.fields
  const path = `data.${downloadUrl}`
  return Either.flatMap(
    decodeData(answer, Schema.Struct({ [downloadUrl]: Schema.Unknown })),
    ({ [downloadUrl]: href }) =>
      Either.fromOption(
        PresignedUrl.fromString(typeof href === "string" ? href : ""),
        () => invalid(answer, path, Predicate.isNullable(href) ? "a field is missing" : "not an http or https URL")
      )
  ).pipe(Either.flatMap(encrypted(answer, path)))
}

/**
 * `GET`: the content of a file. The response is read by `ServiceApi.download`, because it is not JSON.
 *
 * @since 0.1.0
 * @category endpoints
 */
export const downloadRequest = (profile: ServiceProfile, fileId: string): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.get(withFileId(profile.paths.download, fileId))
