/**
 * Files on their way down: as a Stream of bytes, whole or a range, taken up again where a connection broke.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ConnectionFailed, TimedOut } from "./ConnectionError.js"
import type { DownloadError } from "./DownloadError.js"
import { DownloadIncomplete, InvalidRange } from "./DownloadError.js"
import type { Answer, Asked, Content } from "./internal/downloadAnswer.js"
import { changed, request } from "./internal/downloadAnswer.js"
import { unstalled } from "./internal/unstalled.js"
import { ObjectStorage } from "./ObjectStorage.js"
import type * as PresignedUrl from "./PresignedUrl.js"
import * as RangedContent from "./RangedContent.js"
import * as RetryPolicy from "./RetryPolicy.js"
import { ServiceApi } from "./ServiceApi.js"
import * as Timeouts from "./Timeouts.js"

/**
 * Which bytes, and what happens when the connection breaks.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** `offset` from 0; without `length` to the last byte. A range may reach over the end. Omitted: the whole file. */
  readonly range?: { readonly offset: number; readonly length?: number | undefined } | undefined
  /**
   * Whether a download that was cut is taken up where it broke, as the retry policy in force allows. It needs an etag,
   * which proves that the rest is of the same file. Omitted: true.
   */
  readonly resume?: boolean | undefined
}

/**
 * Which bytes of a file that is being downloaded in several sections.
 *
 * @since 0.1.0
 * @category models
 */
export interface SectionOptions extends Options {
  /** The etag that other bytes of the file came with: the section is of the same file, or `SourceChanged`. */
  readonly etag?: string | undefined
  /** Takes everything from `offset` on when the server does not know ranges, and sends everything anyway. */
  readonly orWhole?: boolean | undefined
}

/**
 * Bytes on their way, to be read once, within their scope.
 *
 * @since 0.1.0
 * @category models
 */
export interface Section {
  /** The place of the first byte in the file. */
  readonly offset: number
  /** How many bytes there will be, where it is known. */
  readonly length: Option.Option<number>
  /** The size of the file, where it is known. */
  readonly totalLength: Option.Option<number>
  /** Opaque. Equal ones that are not weak mean equal bytes. */
  readonly etag: Option.Option<string>
  /** Who sends them: the service, whose requests are counted, or the storage. */
  readonly peer: "service" | "storage"
  /** Whether ranges of the file can be had: whether this one was given as it was asked for. */
  readonly ranged: boolean
  readonly bytes: Stream.Stream<Uint8Array, DownloadError>
}

/**
 * A file whose sections can be asked for, also at the same time. Its link is asked for once, and again when it is dead.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenDownload {
  readonly section: (options?: SectionOptions) => Effect.Effect<Section, DownloadError, Scope.Scope>
}

/**
 * What downloads need.
 *
 * @since 0.1.0
 * @category models
 */
export type Requirements = ServiceApi | ObjectStorage

/**
 * The bytes of a file, whole or a range of it. A redirect or a link is followed by hand, without the token. The length
 * is checked: fewer bytes than declared are `DownloadIncomplete`. A connection that breaks or stalls is taken up again
 * where it broke, on the same file or not at all: `SourceChanged`.
 *
 * @example
 * import { Downloads } from "@stevedore/core"
 * import { Stream } from "effect"
 *
 * const counted = Downloads.stream("1kf00nQk9yfWKfsTDni8aO").pipe(
 *   Stream.runFold(0, (sum, bytes) => sum + bytes.byteLength)
 * )
 * const header = Downloads.stream("1kf00nQk9yfWKfsTDni8aO", { range: { offset: 0, length: 512 } })
 *
 * @since 0.1.0
 * @category downloads
 */
export const stream = (
  fileId: string,
  options: Options = {}
): Stream.Stream<Uint8Array, DownloadError, Requirements> =>
  Stream.unwrapScoped(
    open(fileId).pipe(
      Effect.flatMap((download) => download.section(options)),
      Effect.map((section) => section.bytes)
    )
  )

/**
 * Nothing is asked for before the first section.
 *
 * @since 0.1.0
 * @category downloads
 */
export const open = (fileId: string): Effect.Effect<OpenDownload, never, Requirements> =>
  Effect.gen(function*() {
    const content: Content = {
      fileId,
      service: yield* ServiceApi,
      storage: yield* ObjectStorage,
      link: yield* Ref.make(Option.none<PresignedUrl.PresignedUrl>())
    }
    return { section: (options = {}) => openSection(content, options) }
  })

const openSection = (
  content: Content,
  options: SectionOptions
): Effect.Effect<Section, DownloadError, Scope.Scope> =>
  Effect.gen(function*() {
    const asked = yield* wantedOf(content, options)
    const answer = yield* request(content, asked)
    const wanted = options.orWhole === true && !answer.partial ? { ...asked, end: Option.none() } : asked
    yield* checkSame(content, { etag: wanted.etag, totalLength: Option.none() }, answer)
    if (wanted.start > 0 && Option.exists(answer.totalLength, (total) => wanted.start >= total)) {
      return yield* outside(content.fileId, options)
    }
    const end = endOf(wanted, answer)
    const { etag, partial, peer, totalLength } = answer
    return {
      offset: wanted.start,
      length: Option.map(end, (after) => after - wanted.start),
      totalLength,
      etag,
      peer,
      ranged: partial,
      bytes: bytesFrom(
        { content, asked: { start: wanted.start, end, etag }, totalLength, resume: options.resume ?? true },
        answer,
        wanted.start
      )
    }
  })

const wantedOf = (content: Content, options: SectionOptions): Effect.Effect<Asked, InvalidRange> => {
  const offset = options.range?.offset ?? 0
  const length = options.range?.length
  return Number.isSafeInteger(offset) && offset >= 0 && (length === undefined || isLength(length, offset))
    ? Effect.succeed({
      start: offset,
      end: length === undefined ? Option.none() : Option.some(offset + length),
      etag: Option.fromNullable(options.etag)
    })
    : outside(content.fileId, options)
}

const isLength = (length: number, offset: number): boolean =>
  Number.isInteger(length) && length >= 1 && Number.isSafeInteger(offset + length)

const outside = (fileId: string, { range }: Options): Effect.Effect<never, InvalidRange> =>
  Effect.fail(new InvalidRange({ fileId, offset: range?.offset ?? 0, length: range?.length }))

const least = (one: Option.Option<number>, other: Option.Option<number>): Option.Option<number> =>
  Option.orElse(Option.zipWith(one, other, Math.min), () => Option.orElse(one, () => other))

// A range may reach over the end of the file, and what a server tells of the end decides.
const endOf = (wanted: Asked, answer: Answer): Option.Option<number> => {
  const told = Option.map(answer.length, (length) => answer.start + length)
  return least(wanted.end, Option.orElse(answer.totalLength, () => told))
}

interface Transfer {
  readonly content: Content
  readonly asked: Asked
  readonly totalLength: Option.Option<number>
  readonly resume: boolean
}

const bytesFrom = (transfer: Transfer, answer: Answer, from: number): Stream.Stream<Uint8Array, DownloadError> =>
  Stream.suspend(() => {
    const { asked, content } = transfer
    let position = from
    const counted = Stream.map(wantedBytes(transfer, answer, from), (chunk) => {
      position += chunk.byteLength
      return chunk
    })
    const checked = Stream.suspend(() =>
      Option.exists(asked.end, (end) => position < end)
        ? Stream.fail(
          new DownloadIncomplete({
            fileId: content.fileId,
            expected: Option.getOrElse(asked.end, () => position) - asked.start,
            received: position - asked.start
          })
        )
        : Stream.empty
    )
    return Stream.catchAll(
      Stream.concat(counted, checked),
      // What made progress begins to count anew: a long download on a bad line is cut more often than a request may fail.
      (error) => resumed(transfer, withAttempts(error, position > from ? 1 : answer.attempt), position)
    )
  })

const resumed = (
  transfer: Transfer,
  error: DownloadError,
  position: number
): Stream.Stream<Uint8Array, DownloadError> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const { asked, content, resume, totalLength } = transfer
    const policy = yield* RetryPolicy.RetryPolicy
    const provable = position === asked.start || Option.exists(asked.etag, RangedContent.isStrong)
    if (!resume || !provable || !RetryPolicy.repeats(policy, error)) return Stream.fail(error)
    yield* Effect.sleep(yield* RetryPolicy.wait(policy, error))
    const etag = Option.filter(asked.etag, RangedContent.isStrong)
    const answer = yield* request(content, { ...asked, start: position, etag }, error.attempts + 1)
    yield* checkSame(content, { etag: asked.etag, totalLength }, answer)
    return bytesFrom(transfer, answer, position)
  }))

const checkSame = (
  content: Content,
  before: { readonly etag: Option.Option<string>; readonly totalLength: Option.Option<number> },
  answer: Answer
): Effect.Effect<void, DownloadError> => {
  const differ = <A>(one: Option.Option<A>, other: Option.Option<A>) =>
    Option.isSome(one) && Option.isSome(other) && one.value !== other.value
  if (differ(before.etag, answer.etag)) {
    return Effect.fail(changed(content, before.etag, answer.etag, answer.attempt))
  }
  if (differ(before.totalLength, answer.totalLength)) {
    const bytes = Option.map((size: number) => `${size} bytes`)
    return Effect.fail(changed(content, bytes(before.totalLength), bytes(answer.totalLength), answer.attempt))
  }
  return Effect.void
}

const patient = ({ attempt, bytes, peer }: Answer): Stream.Stream<Uint8Array, DownloadError> =>
  Stream.unwrap(
    Effect.map(Timeouts.Timeouts, ({ stall }) =>
      unstalled(bytes, stall, () => new TimedOut({ peer, phase: "body", after: stall, attempts: attempt })))
  )

// A server that does not know ranges gives everything: what is there already and what was not asked for is left out.
const wantedBytes = (
  { asked }: Transfer,
  answer: Answer,
  from: number
): Stream.Stream<Uint8Array, DownloadError> => {
  const bytes = patient(answer)
  const end = Option.getOrElse(asked.end, () => Infinity)
  const told = Option.map(answer.length, (length) => answer.start + length)
  const isExact = answer.start === from && (end === Infinity || Option.exists(told, (after) => after <= end))
  return isExact ? bytes : sliced(bytes, from - answer.start, end - answer.start)
}

const sliced = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  start: number,
  end: number
): Stream.Stream<Uint8Array, E> =>
  Stream.suspend(() => {
    let seen = 0
    return bytes.pipe(
      Stream.map((chunk) => {
        const before = seen
        seen += chunk.byteLength
        return before >= start && seen <= end
          ? chunk
          : chunk.subarray(Math.max(0, start - before), Math.max(0, end - before))
      }),
      Stream.filter((chunk) => chunk.byteLength > 0),
      Stream.takeUntil(() => seen >= end)
    )
  })

const withAttempts = (error: DownloadError, attempts: number): DownloadError => {
  switch (error._tag) {
    case "ConnectionFailed": {
      const { arrived, code, origin, peer } = error
      return new ConnectionFailed({ arrived, code, origin, peer, attempts })
    }
    case "DownloadIncomplete": {
      const { expected, fileId, received } = error
      return new DownloadIncomplete({ expected, fileId, received, attempts })
    }
    case "TimedOut": {
      const { after, peer, phase } = error
      return new TimedOut({ after, peer, phase, attempts })
    }
    default:
      return error
  }
}
