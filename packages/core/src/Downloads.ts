/** Downloads files as a Stream of bytes, whole or a range, and resumes where a connection broke. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Pulls from "./base/effect.js"
import { contextOf } from "./base/services.js"
import type { Content, RequestedBytes } from "./download/answer.js"
import { begun, contentOf } from "./download/answer.js"
import { bytesOf, checkSame, drained, endOf } from "./download/transfer.js"
import type { DownloadError } from "./DownloadError.js"
import { InvalidRange } from "./DownloadError.js"
import type { ObjectStorage } from "./ObjectStorage.js"
import type { ServiceApi } from "./ServiceApi.js"

/**
 * What is known of a file before it is downloaded.
 *
 * @category models
 */
export interface FileOptions {
  /**
   * Its size in bytes, such as the record's. More bytes fail with `DownloadIncomplete` as soon as the first of them
   * arrives, and bytes that something has put into a content coding fail with `InvalidResponse`.
   */
  readonly size?: number | undefined
}

/**
 * Which bytes to download, and what to do when the connection breaks.
 *
 * @category models
 */
export interface Options extends FileOptions {
  /**
   * `offset` counts from 0; without `length`, the range ends with the last byte. A range may extend past the end.
   * Defaults to the whole file.
   */
  readonly range?: { readonly offset: number; readonly length?: number | undefined } | undefined
  /**
   * Whether a download that was cut resumes where it broke, as the retry policy in force allows. This takes an etag,
   * which proves that the rest belongs to the same file. Defaults to true.
   */
  readonly resume?: boolean | undefined
}

/**
 * Which bytes to download, for a file that is downloaded in several sections.
 *
 * @category models
 */
export interface SectionOptions extends Omit<Options, keyof FileOptions> {
  /**
   * The etag that came with other bytes of the file: the section is of the same file, or fails with `SourceChanged`.
   */
  readonly etag?: string | undefined
  /** If the server does not support ranges and sends the whole file, take everything from `offset` on. */
  readonly orWhole?: boolean | undefined
}

/**
 * Bytes in transit. Read them within their scope, once, and in one of the two forms.
 *
 * @category models
 */
export interface Section {
  /** The position of the first byte in the file. */
  readonly offset: number
  /** How many bytes there will be, if known. */
  readonly length: Option.Option<number>
  /** The size of the file, if known. */
  readonly totalLength: Option.Option<number>
  /** Opaque. Equal etags that are not weak mean equal bytes. */
  readonly etag: Option.Option<string>
  /** The checksums of the file that storage sent with it, in base64, by algorithm such as `crc32`. Usually empty. */
  readonly checksums: Readonly<Record<string, string>>
  /** Who sends the bytes: the service, whose requests count against the rate limit, or storage. */
  readonly peer: "service" | "storage"
  /** Whether ranges of the file are available: whether this one came as it was requested. */
  readonly ranged: boolean
  readonly bytes: Stream.Stream<Uint8Array, DownloadError>
  /**
   * Passes the same bytes to a sink, chunk by chunk, without a Stream in between: for large amounts, this costs a
   * fraction. The memory of a chunk is valid until the sink is done with it.
   */
  readonly drain: <E, R>(
    sink: (chunk: Uint8Array) => Effect.Effect<void, E, R>
  ) => Effect.Effect<void, DownloadError | E, R>
}

/**
 * A file whose sections can be requested, also concurrently. Its link is requested once, and again when it no longer
 * works.
 *
 * @category models
 */
export interface OpenDownload {
  readonly section: (options?: SectionOptions) => Effect.Effect<Section, DownloadError, Scope.Scope>
}

/**
 * The services that a download needs.
 *
 * @category models
 */
export type Requirements = ServiceApi | ObjectStorage

/**
 * Downloads that require nothing of their callers, for a service of your own. Each method does what the function of the
 * same name does.
 *
 * @category models
 */
export interface Service {
  readonly stream: (fileId: string, options?: Options) => Stream.Stream<Uint8Array, DownloadError>
  readonly open: (fileId: string, options?: FileOptions) => Effect.Effect<OpenDownload>
}

/**
 * Downloads with the services of where this runs, such as the constructor of a service of your own. What a caller
 * provides wins: its span, its retry policy, its timeouts.
 *
 * @category constructors
 */
export const make: Effect.Effect<Service, never, Requirements> = /* #__PURE__ */ Effect.map(
  /* #__PURE__ */ Effect.context<Requirements>(),
  (services): Service => {
    const ours = contextOf(services)
    return {
      stream: (fileId, options) => Stream.mapInputContext(stream(fileId, options), ours<never>),
      open: (fileId, options) => Effect.mapInputContext(open(fileId, options), ours<never>)
    }
  }
)

/**
 * The bytes of a file, or of a range of it. Redirects and links are followed without the token. The length is checked:
 * fewer bytes than declared, or more than the range has, fail with `DownloadIncomplete`. When a connection breaks or
 * stalls, the download resumes where it broke, and fails with `SourceChanged` if the file is no longer the same.
 *
 * A file may come over a few redirects (`StorageAttempt.mostRedirects`). A response that brings less than 1024 bytes in the
 * time of `Timeouts.stall` has stalled.
 *
 * The bytes are those in storage, as long as the transport does not decode them; Node's does not. Fetch decodes what is
 * stored with a `Content-Encoding`: the length is then unknown, a broken download is not resumed, and only ranges from
 * the start are available.
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
 * @category downloads
 */
export const stream = (
  fileId: string,
  options: Options = {}
): Stream.Stream<Uint8Array, DownloadError, Requirements> =>
  Stream.unwrapScoped(
    open(fileId, options).pipe(
      Effect.flatMap((download) => download.section(options)),
      Effect.map((section) => section.bytes)
    )
  )

/**
 * A file whose sections are requested one by one, in any order and also concurrently. Nothing is requested before the
 * first section. To read a file from front to back, use {@link stream}.
 *
 * @example
 * import { Downloads } from "@stevedore/core"
 * import { Console, Effect, Option } from "effect"
 *
 * const atOnce = Effect.gen(function*() {
 *   const file = yield* Downloads.open("1kf00nQk9yfWKfsTDni8aO")
 *   const first = yield* file.section({ range: { offset: 0, length: 1_000_000 } })
 *   // the same file, or it fails with `SourceChanged`
 *   const rest = yield* file.section({ range: { offset: 1_000_000 }, etag: Option.getOrUndefined(first.etag) })
 *   yield* Effect.forEach(
 *     [first, rest],
 *     ({ drain, offset }) => drain((bytes) => Console.log(`${bytes.byteLength} bytes of those from ${offset}`)),
 *     { concurrency: 2, discard: true }
 *   )
 * }).pipe(Effect.scoped)
 *
 * @category downloads
 */
export const open = (
  fileId: string,
  { size }: FileOptions = {}
): Effect.Effect<OpenDownload, never, Requirements> =>
  Effect.map(contentOf(fileId, size), (content) => ({ section: (options = {}) => openSection(content, options) }))

const openSection = (
  content: Content,
  options: SectionOptions
): Effect.Effect<Section, DownloadError, Scope.Scope> =>
  Effect.gen(function*() {
    const asked = yield* wantedOf(content, options)
    const { answer, close } = yield* begun(content, asked)
    const wanted = options.orWhole === true && !answer.partial ? { ...asked, end: Option.none() } : asked
    yield* checkSame(content, { etag: wanted.etag, totalLength: Option.none() }, answer)
    if (wanted.start > 0 && Option.exists(answer.totalLength, (total) => wanted.start >= total)) {
      return yield* outside(content.fileId, options, Option.getOrUndefined(answer.totalLength))
    }
    const end = endOf(wanted, answer)
    const { checksums, etag, partial, peer, totalLength } = answer
    const transfer = {
      content,
      asked: { start: wanted.start, end: wanted.end, etag },
      resume: options.resume ?? true,
      close
    }
    return {
      offset: wanted.start,
      length: Option.map(end, (after) => after - wanted.start),
      totalLength,
      etag,
      checksums,
      peer,
      ranged: partial,
      bytes: Stream.unwrapScoped(
        Effect.map(bytesOf({ ...transfer, passing: false }, answer), Pulls.toStream)
      ),
      drain: (sink) => drained(transfer, answer, sink)
    }
  })

const wantedOf = (content: Content, options: SectionOptions): Effect.Effect<RequestedBytes, InvalidRange> => {
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

const outside = (
  fileId: string,
  { range }: SectionOptions,
  totalLength?: number
): Effect.Effect<never, InvalidRange> =>
  Effect.fail(new InvalidRange({ fileId, offset: range?.offset ?? 0, length: range?.length, totalLength }))
