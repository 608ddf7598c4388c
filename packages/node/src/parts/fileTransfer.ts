import type { Checksum } from "@stevedore/core/Checksum"
import type { ConnectionFailed } from "@stevedore/core/ConnectionError"
import type { DownloadError } from "@stevedore/core/DownloadError"
import { DownloadIncomplete } from "@stevedore/core/DownloadError"
import type * as Downloads from "@stevedore/core/Downloads"
import * as Transport from "@stevedore/core/parts/transport"
import { SourceChanged } from "@stevedore/core/SourceError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { TargetUnwritable } from "../DownloadTargetError.js"
import * as FastCrc32 from "../file/crc.js"
import * as Comparison from "./comparison.js"
import * as PartFile from "./partFile.js"
import * as PartJournal from "./partJournal.js"

/** The transfer of one file into a part file. */
export interface Transfer {
  readonly fileId: string
  readonly file: PartFile.PartFile
  readonly keep: boolean
  readonly download: Downloads.OpenDownload
  readonly wanted: Option.Option<Comparison.Wanted>
  readonly size: Option.Option<number>
  readonly concurrency: number
  readonly partSize: number
  readonly onProgress: ((received: number, size: Option.Option<number>) => void) | undefined
}

export interface Whole {
  readonly size: number
  readonly etag: Option.Option<string>
  readonly checksum: Option.Option<Checksum>
}

type Failure = DownloadError | TargetUnwritable

/** Gets every byte into the part file: only the missing ones if some of the same file were kept, otherwise all. */
export const run = (transfer: Transfer): Effect.Effect<Whole, Failure> =>
  Effect.flatMap(
    transfer.keep ? PartJournal.read(transfer.file, transfer.fileId) : Effect.succeedNone,
    Option.match({
      onNone: () => fromStart(transfer),
      onSome: (journal) =>
        Option.exists(transfer.size, (size) => size !== journal.size)
          ? fromStart(transfer)
          : Effect.catchTag(
            goOn(transfer, journal),
            "SourceChanged",
            (changed) => fromStart(transfer, { changed, journal })
          )
    })
  ).pipe(
    // never continue from damaged bytes
    Effect.tapErrorTag("DownloadCorrupted", () => transfer.keep ? PartJournal.forget(transfer.file) : Effect.void)
  )

const fromStart = (
  transfer: Transfer,
  kept?: { readonly changed: SourceChanged; readonly journal: PartJournal.PartJournal }
): Effect.Effect<Whole, Failure> =>
  Effect.gen(function*() {
    const { download, file, fileId, keep, partSize } = transfer
    const first = yield* download.section({ range: { offset: 0, length: partSize }, orWhole: true }).pipe(
      // an empty file has no ranges
      Effect.catchTag("InvalidRange", () => download.section())
    )
    const etag = Option.filter(first.etag, Transport.isStrong)
    const size = first.totalLength
    // if only the expected size is wrong, the kept bytes stay
    yield* checkSize(fileId, transfer.size, size)
    if (kept !== undefined) {
      const isSameSize = Option.contains(size, kept.journal.size)
      // storage had an etag for the file: a response of another size without one may be a network's sign-in page
      if (Option.isNone(first.etag) && !isSameSize) return yield* kept.changed
      // the same file after all: what seemed to be another one was from something in between
      if (first.ranged && isSameSize && Option.contains(etag, kept.journal.etag)) {
        return yield* goOn(transfer, kept.journal)
      }
    }
    if (keep) yield* PartJournal.forget(file)
    if (first.ranged && Option.isSome(size) && Option.isSome(etag)) {
      const journal = journalOf(transfer, { etag: etag.value, size: size.value, partSize })
      return yield* inParts(transfer, journal, Option.some(first))
    }
    return yield* whole(transfer, first)
  }).pipe(Effect.scoped)

const goOn = (transfer: Transfer, journal: PartJournal.PartJournal): Effect.Effect<Whole, Failure> =>
  // The last part is requested again: its response proves that storage still has the same file.
  inParts(
    transfer,
    { ...journal, parts: journal.parts.slice(0, -1), crc32: journal.crc32?.slice(0, -1) },
    Option.none()
  )

const journalOf = (
  { fileId }: Transfer,
  told: Pick<PartJournal.PartJournal, "etag" | "size" | "partSize">
): PartJournal.PartJournal => ({ version: 1, fileId, parts: [], ...told })

const checkSize = (
  fileId: string,
  expected: Option.Option<number>,
  actual: Option.Option<number>
): Effect.Effect<void, DownloadIncomplete> =>
  Option.match(Option.all([expected, actual]), {
    onNone: () => Effect.void,
    onSome: ([expected, received]) =>
      expected === received ? Effect.void : Effect.fail(new DownloadIncomplete({ fileId, expected, received }))
  })

// A file of another size is a different one, even if its etag is the same or was not compared.
const resized = (
  { fileId }: Transfer,
  size: number,
  actual: Option.Option<number>
): Effect.Effect<never, SourceChanged> =>
  Effect.fail(
    new SourceChanged({
      fileName: fileId,
      what: "size",
      expected: `${size} bytes`,
      actual: Option.getOrUndefined(Option.map(actual, (bytes) => `${bytes} bytes`)),
      transfer: "download"
    })
  )

const comparisonFor = (
  { file, fileId, wanted }: Transfer,
  section: Option.Option<Downloads.Section>
): Effect.Effect<Comparison.Comparison> =>
  Effect.map(
    Option.isSome(wanted) || Option.isNone(section)
      ? Effect.succeed(wanted)
      : Comparison.reportedChecksum(section.value.checksums),
    (what) => Comparison.make(fileId, file, what)
  )

// Without ranges, or without proof that two ranges belong to the same file, one section has to have it all.
const whole = (transfer: Transfer, first: Downloads.Section): Effect.Effect<Whole, Failure, Scope.Scope> =>
  Effect.gen(function*() {
    const { download, fileId, onProgress } = transfer
    const section = first.ranged ? yield* download.section() : first
    yield* checkSize(fileId, transfer.size, section.totalLength)
    const comparison = yield* comparisonFor(transfer, Option.some(section))
    let received = 0
    // a response that ends with its connection tells no length, but the range before it may have
    const told = Option.firstSomeOf([section.totalLength, first.totalLength, transfer.size])
    const { size } = yield* written(transfer, section, comparison, {
      offset: 0,
      length: Option.getOrElse(told, () => Number.POSITIVE_INFINITY),
      onBytes: (bytes) => {
        received += bytes
        onProgress?.(received, section.totalLength)
      }
    })
    yield* checkSize(fileId, told, Option.some(size))
    return { size, etag: section.etag, checksum: yield* comparison.end }
  })

const inParts = (
  transfer: Transfer,
  journal: PartJournal.PartJournal,
  first: Option.Option<Downloads.Section>
): Effect.Effect<Whole, Failure> =>
  Effect.gen(function*() {
    const { concurrency, download, onProgress } = transfer
    const { etag, partSize, size } = journal
    const comparison = yield* comparisonFor(transfer, first)
    const done = new Map(yield* PartJournal.proven(transfer.file, journal))
    let received = [...done.keys()].reduce((sum, part) => sum + PartJournal.rangeOf(journal, part).length, 0)
    const onBytes = (bytes: number) => {
      received += bytes
      onProgress?.(received, Option.some(size))
    }
    const noted = yield* Effect.makeSemaphore(1)
    const note = (part: number, crc: number) =>
      noted.withPermits(1)(Effect.suspend(() => {
        done.set(part, crc)
        return transfer.keep
          ? PartJournal.write(transfer.file, { ...journal, parts: [...done.keys()], crc32: [...done.values()] })
          : Effect.void
      }))
    const count = Math.ceil(size / partSize)
    let working = Math.min(concurrency, count)
    const left: Array<number> = []
    // The network may allow fewer connections: a part without one is left to those that go on.
    const leave = (part: number, error: ConnectionFailed): Effect.Effect<Option.Option<number>, ConnectionFailed> =>
      Effect.suspend(() => {
        if (error.attempts === 1 || working === 1) return Effect.fail(error)
        working--
        left.push(part)
        return Effect.succeedNone
      })
    const take = (section: Downloads.Section, part: number): Effect.Effect<Option.Option<number>, Failure> =>
      Option.exists(section.totalLength, (total) => total !== size)
        ? resized(transfer, size, section.totalLength)
        : Effect.map(
          written(transfer, section, comparison, { ...PartJournal.rangeOf(journal, part), onBytes }),
          ({ crc }) => Option.some(crc)
        )
    /** The checksum of what was written; none if the part was left to others. */
    const get = (part: number): Effect.Effect<Option.Option<number>, Failure> =>
      Option.match(part === 0 ? first : Option.none(), {
        onNone: () => download.section({ range: PartJournal.rangeOf(journal, part), etag }),
        onSome: Effect.succeed
      }).pipe(
        Effect.matchEffect({
          onFailure: (error: DownloadError): Effect.Effect<Option.Option<number>, Failure> =>
            error._tag === "ConnectionFailed" ? leave(part, error) : Effect.fail(error),
          onSuccess: (section) => take(section, part)
        }),
        Effect.catchTag(
          "InvalidRange",
          ({ totalLength }) => resized(transfer, size, Option.fromNullable(totalLength))
        ),
        Effect.scoped
      )
    let next = 0
    // Not as a list: storage may report a size with more parts than fit in memory.
    const following = (): number | undefined => {
      while (done.has(next)) next++
      return left.pop() ?? (next < count ? next++ : undefined)
    }
    const inTurn: Effect.Effect<void, Failure> = Effect.suspend(() => {
      const part = following()
      if (part !== undefined) {
        return Effect.flatMap(
          get(part),
          Option.match({ onNone: () => Effect.void, onSome: (crc) => Effect.zipRight(note(part, crc), inTurn) })
        )
      }
      working--
      return Effect.void
    })
    yield* Effect.forEach(done.keys(), (part) => comparison.reread(PartJournal.rangeOf(journal, part)), {
      discard: true
    })
    yield* Effect.replicateEffect(inTurn, working, { concurrency: "unbounded", discard: true })
    return { size, etag: Option.some(etag), checksum: yield* comparison.end }
  })

interface Expected {
  /** Where the bytes belong: none goes beyond that, whatever is sent. */
  readonly offset: number
  readonly length: number
  readonly onBytes: (bytes: number) => void
}

const written = (
  { file, fileId, keep }: Transfer,
  section: Downloads.Section,
  comparison: Comparison.Comparison,
  { length, offset, onBytes }: Expected
): Effect.Effect<{ readonly size: number; readonly crc: number }, Failure> =>
  Effect.suspend(() => {
    const hashing = comparison.begin(section.offset)
    const end = offset + length
    let position = section.offset
    let crc = 0
    const writing = section.drain((chunk): Effect.Effect<void, Failure> => {
      const at = position
      const arrived = chunk.byteLength
      position += arrived
      if (position > end) {
        return Effect.fail(new DownloadIncomplete({ fileId, expected: length, received: position - offset }))
      }
      hashing.update(chunk)
      if (keep) crc = FastCrc32.update(crc, chunk)
      return Effect.map(PartFile.write(file, chunk, at), () => onBytes(arrived))
    })
    return Effect.map(writing, () => ({ size: position - section.offset, crc }))
  })
