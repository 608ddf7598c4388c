import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { Pull } from "../base/effect.js"
import { closedOnFailure, untilTimer } from "../base/fibers.js"
import { TimedOut } from "../ConnectionError.js"
import type { DownloadError } from "../DownloadError.js"
import { InvalidRange } from "../DownloadError.js"
import { tellRepeat } from "../errors/errorWords.js"
import * as Metrics from "../Metrics.js"
import type { Service as StorageService } from "../ObjectStorage.js"
import { ObjectStorage } from "../ObjectStorage.js"
import * as PresignedUrl from "../PresignedUrl.js"
import * as RetryPolicy from "../RetryPolicy.js"
import type { Service as ApiService } from "../ServiceApi.js"
import { ServiceApi } from "../ServiceApi.js"
import { InvalidResponse } from "../ServiceError.js"
import { SourceChanged } from "../SourceError.js"
import type * as RangedContent from "../storage/range.js"
import type { StorageError } from "../StorageError.js"
import * as Timeouts from "../Timeouts.js"

/**
 * Where to request a file's content. The link is requested from the service once, and again when it no longer works.
 */
export interface Content {
  readonly fileId: string
  /** The size of the file, if the caller knows it. */
  readonly size: Option.Option<number>
  readonly service: ApiService
  readonly storage: StorageService
  link: Option.Option<Link>
  /** Whether it is asked for as a whole, because a range that was asked for was answered with another. */
  isWhole: boolean
}

export interface Link {
  readonly url: PresignedUrl.PresignedUrl
  /** In milliseconds of our clock. */
  readonly receivedAt: number
}

export interface RequestedBytes {
  /** The first byte. */
  readonly start: number
  /** The byte after the last one. */
  readonly end: Option.Option<number>
  readonly etag: Option.Option<string>
}

export interface Answer extends RangedContent.Held {
  readonly peer: "service" | "storage"
  readonly attempt: number
  readonly bytes: Stream.Stream<Uint8Array, DownloadError>
  /** The same in reused memory, if available. */
  readonly pull?: Pull<Uint8Array, DownloadError> | undefined
}

export const contentOf = (
  fileId: string,
  size: number | undefined
): Effect.Effect<Content, never, ServiceApi | ObjectStorage> =>
  Effect.gen(function*() {
    return {
      fileId,
      size: Option.fromNullable(size),
      service: yield* ServiceApi,
      storage: yield* ObjectStorage,
      link: Option.none<Link>(),
      isWhole: false
    }
  })

const wireRequest = (
  { isWhole }: Content,
  { end, etag, start }: RequestedBytes
): RangedContent.RequestedRange => ({
  range: isWhole || (start === 0 && Option.isNone(end))
    ? undefined
    : { start, end: Option.getOrUndefined(Option.map(end, (after) => after - 1)) },
  ifMatch: Option.getOrUndefined(etag)
})

/**
 * The content from a position on: from the service itself, or from where its link points. Retried as the policy in
 * force says.
 */
export const request = (
  content: Content,
  asked: RequestedBytes,
  attempt = 1
): Effect.Effect<Answer, DownloadError, Scope.Scope> =>
  Effect.flatMap(located(content, asked), ({ answer, fresh }) =>
    answer._tag === "Content"
      ? Effect.succeed<Answer>({ ...answer, peer: "service", attempt })
      : Effect.catchAll(
        fromStorage(content, answer.url, asked, attempt),
        (error) => again(content, asked, attempt, fresh, error)
      )).pipe(
      Effect.catchIf((error) => wireRequest(content, asked).range !== undefined && isOfOtherRange(error), () => {
        content.isWhole = true
        return request(content, asked, attempt)
      }),
      Effect.mapError((error) => refined(content, asked, error)),
      Effect.tap((answer) => checkCoding(content, answer))
    )

// Another range, or several in one body: the whole is what everybody can give
const isOfOtherRange = (error: DownloadError): boolean =>
  (error._tag === "StorageRejected" && error.status === 206) ||
  (error._tag === "InvalidResponse" && error.path === "Content-Range")

// A file may be stored in a content coding: its bytes then are as many as it has. Otherwise something in between has put
// them into it, and they are not those of the file.
const checkCoding = (
  { size }: Content,
  { attempt, coding, totalLength }: Answer
): Effect.Effect<void, InvalidResponse> =>
  coding === undefined || Option.isNone(size) || Option.contains(totalLength, size.value)
    ? Effect.void
    : new InvalidResponse({
      operation: "download",
      status: 200,
      path: "Content-Encoding",
      problem: coding,
      issues: [],
      attempts: attempt
    })

/** The first response, in a scope of its own: its connection is closed by itself if it breaks. */
export const begun = (
  content: Content,
  asked: RequestedBytes
): Effect.Effect<{ readonly answer: Answer; readonly close: Effect.Effect<void> }, DownloadError, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.flatMap(Effect.scope, (parent) => Scope.fork(parent, parent.strategy))
    const answer = yield* Scope.extend(request(content, asked), scope)
    return { answer, close: Scope.close(scope, Exit.void) }
  })

const located = (content: Content, asked: RequestedBytes) =>
  Effect.gen(function*() {
    const { link } = content
    const now = yield* Clock.currentTimeMillis
    if (Option.isSome(link) && !isDead(link.value, now)) {
      return { fresh: false, answer: { _tag: "Link" as const, url: link.value.url } }
    }
    const answer = yield* content.service.download(content.fileId, wireRequest(content, asked))
    if (answer._tag === "Link") {
      const receivedAt = yield* Clock.currentTimeMillis
      content.link = Option.some({ url: answer.url, receivedAt })
    }
    return { fresh: true, answer }
  })

// Judged in the signer's time, which was at least that of the signature when the link arrived: our own clock may be
// wrong.
const isDead = ({ receivedAt, url }: Link, now: number): boolean =>
  Option.exists(url.signedAt, (signedAt) => PresignedUrl.hasEnded(url, signedAt.getTime() + now - receivedAt))

const fromStorage = (content: Content, url: PresignedUrl.PresignedUrl, asked: RequestedBytes, attempt: number) =>
  Effect.flatMap(Timeouts.Timeouts, (limits) =>
    untilTimer(
      Effect.map(
        Effect.zipRight(
          Metrics.countAttempt("get"),
          content.storage.get({ url, ...wireRequest(content, asked), attempt })
        ),
        (answer): Answer => ({ ...answer, peer: "storage", attempt })
      ),
      limits.answer,
      Effect.suspend(() => new TimedOut({ peer: "storage", phase: "answer", after: limits.answer, attempts: attempt }))
    ).pipe(closedOnFailure))

const again = (
  content: Content,
  asked: RequestedBytes,
  attempt: number,
  fresh: boolean,
  error: StorageError
): Effect.Effect<Answer, DownloadError, Scope.Scope> =>
  Effect.gen(function*() {
    const policy = yield* RetryPolicy.RetryPolicy
    const dead = error._tag === "UrlExpired"
    if (dead) content.link = Option.none()
    // Requesting a new link is not a retry of the same request, so no policy applies, as long as the dead link was not
    // a fresh one.
    if (dead && !fresh) return yield* request(content, asked, attempt)
    const repeated = dead ? attempt < policy.attempts : RetryPolicy.repeats(policy, error)
    if (!repeated) return yield* Effect.fail(error)
    yield* pause(content, policy, error)
    return yield* request(content, asked, attempt + 1)
  })

/** The wait before the next attempt, counted and logged like that of a part. */
export const pause = (
  { fileId }: Content,
  policy: RetryPolicy.Policy,
  error: DownloadError
): Effect.Effect<void> =>
  RetryPolicy.pause(policy, error, (error, wait) => tellRepeat(`to download ${fileId}`, error, wait))

const refined = (content: Content, { end, etag, start }: RequestedBytes, error: DownloadError): DownloadError => {
  if (error._tag !== "StorageRejected" && error._tag !== "RequestRejected") return error
  switch (error.status) {
    case 412:
      return changed(content, etag, Option.none(), error.attempts)
    case 416:
      return new InvalidRange({
        fileId: content.fileId,
        offset: start,
        length: Option.getOrUndefined(Option.map(end, (after) => after - start)),
        totalLength: error.totalLength,
        attempts: error.attempts
      })
    default:
      return error
  }
}

export const changed = (
  content: Content,
  expected: Option.Option<string>,
  actual: Option.Option<string>,
  attempts: number
): SourceChanged =>
  new SourceChanged({
    fileName: content.fileId,
    what: "identity",
    expected: Option.getOrUndefined(expected),
    actual: Option.getOrUndefined(actual),
    transfer: "download",
    attempts
  })
