/** What kind of failure an error is, so that a program can handle dozens of errors in five branches. */
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Recovery } from "./Recovery.js"

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

const signature = <const Kind extends ErrorKind>(kind: Kind) =>
  Schema.withDefaults(Schema.optional(Schema.Literal(kind)), { constructor: () => kind, decoding: () => kind })

const fields = {
  input: /* #__PURE__ */ signature("input"),
  tryLater: /* #__PURE__ */ signature("tryLater"),
  configuration: /* #__PURE__ */ signature("configuration"),
  outcomeUnknown: /* #__PURE__ */ signature("outcomeUnknown"),
  refused: /* #__PURE__ */ signature("refused")
}

/**
 * The field that every error has. It has the same value in every error of a tag, and in its encoded form. An encoded
 * form without it can be decoded.
 *
 * @category fields
 */
export const field = <const Kind extends ErrorKind>(kind: Kind): (typeof fields)[Kind] => fields[kind]

/**
 * What becomes of an upload that ends with an error, for the decisions of an upload to read:
 *
 * - `kept`: its session stays, so that running it again goes on; `lost`: and Complete may have been carried out
 * - `gone`: its session is over; one that an earlier run left is opened anew. `over`: the run may open another
 * - `final`: its session is over, and no other is opened; `garbled`: and Complete may have been carried out
 * - `late`: as `final`, but for a session that this run has opened
 *
 * @internal
 */
export type AfterUpload = "kept" | "lost" | "gone" | "over" | "final" | "garbled" | "late"

/**
 * What each error of this package means: its kind; the HTTP status that an `HttpApi` responds with if a handler fails
 * with it; what a retry can do, if the error itself does not say more; and what becomes of an upload. The statuses are
 * those of a server whose visitor sent the file, and follow from the kind: only `input` is the visitor's and has a 4xx,
 * `tryLater` can be tried again later, and 502 is a failure behind the server, whatever the service answered to that
 * server: its token, its base URL.
 *
 * @category constants
 */
export const table = {
  InvalidConfiguration: ["configuration", 502, "none"],
  EmptySource: ["input", 422, "none", "final"],
  InvalidSource: ["input", 422, "none", "final"],
  SourceChanged: ["input", 422, "none", "final"],
  SourceUnreadable: ["input", 422, "none", "kept"],
  SizeExceeded: ["input", 413, "none", "final"],
  InvalidPartCount: ["input", 422, "none", "final"],
  InvalidUploadOption: ["input", 422, "none", "final"],
  UnfinishedUploadNotFound: ["input", 404, "none", "kept"],
  // an immediate retry does not help
  UploadLocked: ["tryLater", 503, "none", "kept"],
  DeadlineUnreachable: ["tryLater", 503, "none", "late"],

  ConnectionFailed: ["tryLater", 503, "retry", "lost"],
  TimedOut: ["tryLater", 503, "retry", "lost"],

  SignedHeaderMissing: ["configuration", 502, "none", "final"],
  SignatureMismatch403: ["configuration", 502, "none", "final"],
  UrlExpired: ["tryLater", 503, "newSession", "over"],
  UrlNotYetValid: ["tryLater", 503, "retry", "kept"],
  UrlAltered: ["configuration", 502, "none", "final"],
  HeadersNotSigned: ["configuration", 502, "none", "final"],
  StorageForbidden: ["configuration", 502, "none", "gone"],
  StorageRejected: ["refused", 502, "none", "gone"],
  StorageUnavailable: ["tryLater", 503, "retry", "kept"],
  EtagMissing: ["configuration", 502, "none", "final"],
  // the same bytes may arrive intact
  ChecksumMismatch: ["tryLater", 503, "retry", "kept"],

  Unauthorized: ["configuration", 502, "none", "kept"],
  Forbidden: ["configuration", 502, "none", "kept"],
  NotFound: ["refused", 502, "none", "gone"],
  UploadConflict: ["refused", 502, "newSession", "over"],
  RequestRejected: ["refused", 502, "none", "final"],
  RateLimited: ["tryLater", 503, "slowDown", "kept"],
  ServiceUnavailable: ["tryLater", 503, "retry", "lost"],
  InvalidResponse: ["configuration", 502, "none", "garbled"],

  CompletionUnknown: ["outcomeUnknown", 502, "none", "lost"],
  StoredSizeDiffers: ["refused", 502, "none", "final"],
  ContentDiffers: ["refused", 502, "none", "final"],
  ContentUnverified: ["outcomeUnknown", 502, "none", "final"],

  DownloadIncomplete: ["tryLater", 502, "retry"],
  // a second download may arrive intact
  DownloadCorrupted: ["tryLater", 502, "retryOnce"],
  InvalidChecksum: ["input", 422, "none"],
  InvalidRange: ["input", 422, "none"],

  InvalidPageSize: ["input", 422, "none"],
  InvalidListOption: ["input", 422, "none"],
  CheckpointMismatch: ["input", 422, "none"],
  CursorRejected: ["input", 422, "none"],
  PaginationBroken: ["refused", 502, "none"],
  ItemInvalid: ["configuration", 502, "none"]
} as const satisfies Readonly<
  Record<string, readonly [kind: ErrorKind, status: number, Recovery, upload?: AfterUpload]>
>

/**
 * The field `kind` of the errors with this tag.
 *
 * @category type-level
 */
export type FieldOf<Tag extends keyof typeof table> = ReturnType<typeof field<(typeof table)[Tag][0]>>

/**
 * Those of the errors `E` that are of the kind `Kind`.
 *
 * @category type-level
 */
export type OfKind<E, Kind extends ErrorKind> = Extract<E, { readonly kind: Kind }>

const isKind = <const Kind extends ErrorKind>(kind: Kind) => <E>(error: E): error is OfKind<E, Kind> =>
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
