/** What kind of failure an error is, so that a program can handle dozens of errors in five branches. */
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/**
 * Who can do something about a failure, and what:
 *
 * - `input`: the caller, with another file, name or option
 * - `tryLater`: the same again, after a while or over another network
 * - `configuration`: whoever runs the program, with another token, profile, permission or more space
 * - `outcomeUnknown`: look first, because it may have been carried out
 * - `refused`: the other side does not do it, or did it wrongly: only its operator can help
 *
 * @category models
 */
export const ErrorKind = /* #__PURE__ */ Schema.Literal(
  "input",
  "tryLater",
  "configuration",
  "outcomeUnknown",
  "refused"
).annotations({ identifier: "ErrorKind" })

/** @category models */
export type ErrorKind = typeof ErrorKind.Type

/**
 * The field that every error has. It has the same value in every error of a tag, and in its encoded form. An encoded
 * form without it can be decoded.
 *
 * @category fields
 */
export const field = <const Kind extends ErrorKind>(kind: Kind) =>
  Schema.optionalWith(Schema.Literal(kind), { default: () => kind }).pipe(Schema.withConstructorDefault(() => kind))

/**
 * Each error of this package: its kind, and the HTTP status that an `HttpApi` responds with if a handler fails with it.
 * The statuses are those of a server whose visitor sent the file, and follow from the kind: only `input` is the visitor's
 * and has a 4xx, `tryLater` can be tried again later, and 502 is a failure behind the server, whatever the service
 * answered to that server: its token, its base URL.
 *
 * @category constants
 */
export const table = {
  EmptySource: ["input", 422],
  InvalidSource: ["input", 422],
  SourceChanged: ["input", 422],
  SourceUnreadable: ["input", 422],
  SizeExceeded: ["input", 413],
  InvalidPartCount: ["input", 422],
  InvalidUploadOption: ["input", 422],
  UnfinishedUploadNotFound: ["input", 404],
  UploadLocked: ["tryLater", 503],
  DeadlineUnreachable: ["tryLater", 503],

  ConnectionFailed: ["tryLater", 503],
  TimedOut: ["tryLater", 503],

  SignedHeaderMissing: ["configuration", 502],
  SignatureMismatch403: ["configuration", 502],
  UrlExpired: ["tryLater", 503],
  UrlNotYetValid: ["tryLater", 503],
  UrlAltered: ["configuration", 502],
  HeadersNotSigned: ["configuration", 502],
  StorageForbidden: ["configuration", 502],
  StorageRejected: ["refused", 502],
  StorageUnavailable: ["tryLater", 503],
  EtagMissing: ["configuration", 502],
  ChecksumMismatch: ["tryLater", 503],

  Unauthorized: ["configuration", 502],
  Forbidden: ["configuration", 502],
  NotFound: ["refused", 502],
  UploadConflict: ["refused", 502],
  RequestRejected: ["refused", 502],
  RateLimited: ["tryLater", 503],
  ServiceUnavailable: ["tryLater", 503],
  InvalidResponse: ["configuration", 502],

  CompletionUnknown: ["outcomeUnknown", 502],
  StoredSizeDiffers: ["refused", 502],
  ContentDiffers: ["refused", 502],
  ContentUnverified: ["outcomeUnknown", 502],

  DownloadIncomplete: ["tryLater", 502],
  DownloadCorrupted: ["tryLater", 502],
  InvalidChecksum: ["input", 422],
  InvalidRange: ["input", 422],

  InvalidPageSize: ["input", 422],
  InvalidListOption: ["input", 422],
  CheckpointMismatch: ["input", 422],
  CursorRejected: ["input", 422],
  PaginationBroken: ["refused", 502],
  ItemInvalid: ["configuration", 502]
} as const satisfies Readonly<Record<string, readonly [kind: ErrorKind, status: number]>>

/**
 * Those of the errors `E` that are of the kind `Kind`.
 *
 * @category type-level
 */
export type OfKind<E, Kind extends ErrorKind> = Extract<E, { readonly kind: Kind }>

/**
 * Whether an error is of a kind.
 *
 * @category predicates
 */
export const isKind = <const Kind extends ErrorKind>(kind: Kind) => <E>(error: E): error is OfKind<E, Kind> =>
  Predicate.hasProperty(error, "kind") && error.kind === kind

/**
 * Handles all errors of one kind. The others remain, and their types say so.
 *
 * @example
 * import { ErrorKind, Uploads, type UploadSource } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const told = (source: UploadSource) =>
 *   Uploads.upload(source).pipe(
 *     Effect.as("Uploaded."),
 *     ErrorKind.catchKind("input", (error) => Effect.succeed(`Choose another file: ${error.message}`)),
 *     ErrorKind.catchKind("tryLater", () => Effect.succeed("Try again in a few minutes.")),
 *     ErrorKind.catchKind("outcomeUnknown", (error) => Effect.succeed(`Look for ${error.fileId} first.`)),
 *     // what is left concerns whoever runs this program
 *     Effect.tapError((error) => Effect.logError(error))
 *   )
 *
 * @category combinators
 */
export const catchKind: {
  <E, const Kind extends ErrorKind, A2, E2, R2>(
    kind: Kind,
    f: (error: NoInfer<OfKind<E, Kind>>) => Effect.Effect<A2, E2, R2>
  ): <A, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A | A2, Exclude<E, OfKind<E, Kind>> | E2, R | R2>
  <A, E, R, const Kind extends ErrorKind, A2, E2, R2>(
    self: Effect.Effect<A, E, R>,
    kind: Kind,
    f: (error: OfKind<E, Kind>) => Effect.Effect<A2, E2, R2>
  ): Effect.Effect<A | A2, Exclude<E, OfKind<E, Kind>> | E2, R | R2>
} = /* #__PURE__ */ dual(
  3,
  <A, E, R, Kind extends ErrorKind, A2, E2, R2>(
    self: Effect.Effect<A, E, R>,
    kind: Kind,
    f: (error: OfKind<E, Kind>) => Effect.Effect<A2, E2, R2>
  ): Effect.Effect<A | A2, Exclude<E, OfKind<E, Kind>> | E2, R | R2> => Effect.catchIf(self, isKind(kind), f)
)
