/**
 * The port to the object storage: pre-signed URLs, no bearer token, no trace headers. No redirect of a PUT
 * is followed. A PUT results in a receipt or in one typed error.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Pace } from "./BandwidthLimit.js"
import { notGiven } from "./base/services.js"
import * as Checksum from "./Checksum.js"
import { contentHeader } from "./errors/storageWords.js"
import * as PresignedUrl from "./PresignedUrl.js"
import type { SourceError } from "./SourceError.js"
import type * as RangedContent from "./storage/range.js"
import type { PutReceipt } from "./storage/response.js"
import type { StorageError } from "./StorageError.js"
import { SignedHeaderMissing, UrlExpired } from "./StorageError.js"
import type { ChunkObserver, SourceSection } from "./UploadSource.js"

/**
 * One attempt to PUT bytes.
 *
 * @category models
 */
export interface PutRequest {
  readonly url: PresignedUrl.PresignedUrl
  readonly section: SourceSection
  /** The source's name, for messages. */
  readonly name: string
  /** From {@link putHeaders}. */
  readonly headers: Readonly<Record<string, string>>
  /** The server's clock minus ours, in milliseconds. */
  readonly clockOffset: number
  /** From 1. */
  readonly attempt: number
  /** Called with the number of bytes each time some are handed to the network. */
  readonly onSent: (bytes: number) => void
  /**
   * What to ask before each write. Absent if there can be no limit. `Transport.storageOver` asks for a transport that does
   * not.
   */
  readonly pace?: Pace | undefined
}

/**
 * One attempt to GET bytes.
 *
 * @category models
 */
export interface GetRequest extends RangedContent.RequestedRange {
  readonly url: PresignedUrl.PresignedUrl
  readonly attempt: number
}

/**
 * The bytes of a response. Read them within the scope of the call.
 *
 * @category models
 */
export interface GetAnswer extends RangedContent.Held {
  readonly bytes: Stream.Stream<Uint8Array, StorageError>
  /**
   * The same bytes for a consumer that takes them one chunk at a time and keeps none: the memory of a chunk is valid
   * until the next one is requested. Fails with `None` at the end. Absent if an adapter has only the Stream. Use one of
   * the two, once.
   */
  readonly pull?: Effect.Effect<Uint8Array, Option.Option<StorageError>> | undefined
}

/**
 * The port to an object storage. On Node and in tests it is an HTTP client, in browsers XHR.
 *
 * @category models
 */
export interface Service {
  /** PUTs one section, once. An expired URL is refused before anything is sent. */
  readonly put: (request: PutRequest) => Effect.Effect<PutReceipt, StorageError | SourceError>
  /** GETs an object or a range of it, once. */
  readonly get: (request: GetRequest) => Effect.Effect<GetAnswer, StorageError, Scope.Scope>
}

/**
 * The tag of the object storage. Uploads and downloads by link require it.
 *
 * @category tags
 */
export class ObjectStorage extends Context.Tag("@stevedore/core/ObjectStorage")<ObjectStorage, Service>() {}

/**
 * What determines the headers of a PUT.
 *
 * @category models
 */
export interface PutHeaders {
  readonly url: PresignedUrl.PresignedUrl
  /** A single PUT carries the file's media type and the encryption headers; a part carries only what is signed. */
  readonly kind: "single" | "part"
  readonly mediaType: string
  /** The encryption headers of the profile, with names in lower case. */
  readonly encryptionHeaders: Readonly<Record<string, string>>
}

/**
 * The headers of a PUT, except `Content-Length`. The encryption headers belong to the single PUT: on a part, storage
 * rejects them unless the URL's signed headers list them. A signed header that the profile does not provide is an error
 * before anything is sent, but for those of {@link contentHeaders}.
 *
 * @category constructors
 */
export const putHeaders = (
  { encryptionHeaders, kind, mediaType, url }: PutHeaders
): Either.Either<Readonly<Record<string, string>>, SignedHeaderMissing> => {
  const signed = new Set(url.signedHeaders)
  const available: Readonly<Record<string, string>> = { ...encryptionHeaders, "content-type": mediaType }
  const headers = Object.fromEntries(
    Object.entries(available).filter(([name]) => kind === "single" || signed.has(name))
  )
  const missing = url.signedHeaders.filter((name) =>
    !Object.hasOwn(available, name) && name !== "content-length" && contentHeader(name) === undefined
  )
  return missing.length === 0
    ? Either.right(headers)
    : Either.left(new SignedHeaderMissing({ part: Option.getOrUndefined(url.partNumber), headers: missing }))
}

/**
 * The signed headers whose values follow from the bytes: `Content-MD5`, `x-amz-content-sha256` and `x-amz-checksum-*`. If
 * there are any, the bytes are read once more, before they are sent. An algorithm that is not in `Checksum.Known` is an
 * error.
 *
 * @internal
 */
export const contentHeaders = <E, R>(
  url: PresignedUrl.PresignedUrl,
  readThrough: (observe: ChunkObserver) => Effect.Effect<void, E, R>
): Effect.Effect<Readonly<Record<string, string>>, E | SignedHeaderMissing, R> =>
  Effect.gen(function*() {
    const signed = url.signedHeaders.flatMap((name) => {
      const header = contentHeader(name)
      return header === undefined ? [] : [{ name, ...header }]
    })
    if (signed.length === 0) return {}
    const known = [...(yield* Checksum.Known), yield* Checksum.Algorithm]
    const running = new Map<string, Checksum.RunningChecksum>()
    for (const { algorithm } of signed) {
      const found = known.find(({ name }) => name === algorithm)
      if (found !== undefined) running.set(algorithm, found.begin())
    }
    const missing = signed.filter(({ algorithm }) => !running.has(algorithm)).map(({ name }) => name)
    if (missing.length > 0) {
      return yield* new SignedHeaderMissing({ part: Option.getOrUndefined(url.partNumber), headers: missing })
    }
    yield* readThrough((chunk) => running.forEach(({ update }) => update(chunk)))
    return Object.fromEntries(
      signed.map(({ algorithm, name, valueOf }) => [name, valueOf(running.get(algorithm)?.value() ?? "")])
    )
  })

/**
 * Refuses an expired URL: storage would refuse it too, but only after receiving the whole body.
 *
 * @internal
 */
export const refuseExpired = (
  request: Pick<PutRequest, "url" | "clockOffset" | "attempt">,
  now: number
): Either.Either<void, UrlExpired> => {
  const serverNow = now + request.clockOffset
  return PresignedUrl.hasEnded(request.url, serverNow)
    ? Either.left(
      new UrlExpired({
        part: Option.getOrUndefined(request.url.partNumber),
        reason: request.url.isAssumed ? "Assumed" : "Deadline",
        deadline: Option.getOrUndefined(request.url.deadline),
        serverTime: new Date(serverNow),
        attempts: request.attempt - 1
      })
    )
    : Either.void
}

/**
 * A stub for tests: it has the operations that it is given. Any other call is a defect that names the operation.
 *
 * @category layers
 */
export const layerNoop = (service: Partial<Service>): Layer.Layer<ObjectStorage> =>
  Layer.succeed(ObjectStorage, {
    put: notGiven("ObjectStorage.put"),
    get: notGiven("ObjectStorage.get"),
    ...service
  })

export type {
  /**
   * What storage answered to a PUT that it took.
   *
   * @category models
   */
  PutReceipt
} from "./storage/response.js"

export type {
  /**
   * The range that an answer holds.
   *
   * @category models
   */
  Held as HeldRange,
  /**
   * The range of an object that is asked for, and the etag that it must still have.
   *
   * @category models
   */
  RequestedRange as AskedRange
} from "./storage/range.js"
