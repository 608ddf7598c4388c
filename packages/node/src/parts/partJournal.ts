import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import type { TargetUnwritable } from "../DownloadTargetError.js"
import * as FastCrc32 from "../file/crc.js"
import { untilLetGo, untilOpened, untilReadable } from "../file/heldFile.js"
import { attempt } from "./downloadTarget.js"
import type { PartFile } from "./partFile.js"
import { openOwn, read as readPart, remove } from "./partFile.js"

/** Which file a kept part file belongs to, and which of its parts it has. */
export const PartJournal = Schema.Struct({
  version: Schema.Literal(1),
  fileId: Schema.String,
  etag: Schema.String,
  size: Schema.Int.pipe(Schema.positive()),
  partSize: Schema.Int.pipe(Schema.positive()),
  parts: Schema.Array(Schema.Int.pipe(Schema.nonNegative())),
  /** The CRC-32 of each of these parts, in their order. Absent from journals written before there were any. */
  crc32: Schema.optional(Schema.Array(Schema.Int))
})

export interface PartJournal extends Schema.Schema.Type<typeof PartJournal> {}

const PartJournalJson = Schema.parseJson(PartJournal)

export const pathOf = (partPath: string): string => `${partPath}.json`

const textOf = async (path: string): Promise<string> => {
  const handle = await openOwn(path, constants.O_RDONLY)
  if (handle === undefined) throw new Error("The journal is another's")
  return handle.readFile("utf8").finally(() => handle.close())
}

/**
 * None if there is no journal, or none that can be trusted: then the download starts over. One that cannot be read just
 * now is read again for a moment first. Whether the parts are still what they were is for {@link proven} to say.
 */
export const read = (file: PartFile, fileId: string): Effect.Effect<Option.Option<PartJournal>> =>
  Effect.gen(function*() {
    const text = yield* untilReadable(attempt(file.target, () => textOf(pathOf(file.path))))
    const journal = yield* Schema.decode(PartJournalJson)(text)
    const { size } = yield* untilReadable(attempt(file.target, () => file.handle.stat()))
    return Option.liftPredicate(journal, (one) => one.fileId === fileId && isPossible(one, size))
  }).pipe(Effect.option, Effect.map(Option.flatten))

const isPossible = (journal: PartJournal, size: number): boolean =>
  size <= journal.size &&
  (journal.crc32 === undefined ? size >= extent(journal) : journal.crc32.length === journal.parts.length)

const extent = ({ partSize, parts, size }: PartJournal): number =>
  parts.reduce((end, part) => Math.max(end, Math.min(size, (part + 1) * partSize)), 0)

/** Where a part is in the file. */
export const rangeOf = ({ partSize, size }: PartJournal, part: number) => ({
  offset: part * partSize,
  length: Math.min(partSize, size - part * partSize)
})

/**
 * The parts that are still what was written, with their CRC-32: read once more, because a disk may have lost or damaged
 * them, or something else may have written to them. The others are to be fetched again. A journal without checksums is
 * believed.
 */
export const proven = (
  file: PartFile,
  journal: PartJournal
): Effect.Effect<ReadonlyMap<number, number>> =>
  Effect.map(
    Effect.forEach(journal.parts, (part, index) => {
      let crc = 0
      const reading = readPart(file, rangeOf(journal, part), (chunk) => {
        crc = FastCrc32.update(crc, chunk)
      })
      return Effect.match(reading, {
        // a bad block, or the end of the file
        onFailure: () => [],
        onSuccess: () => journal.crc32 === undefined || journal.crc32[index] === crc ? [[part, crc] as const] : []
      })
    }),
    (parts) => new Map(parts.flat())
  )

/**
 * Called before anything is written to the file that the journal does not describe. It finishes even if interrupted: a
 * journal that disappeared later would have made the part count as kept, or would belong to another download by then.
 */
export const forget = (file: PartFile): Effect.Effect<void, TargetUnwritable> =>
  Effect.uninterruptible(Effect.zipRight(
    file.held,
    untilLetGo(attempt(file.target, async () => {
      // first, because a journal that cannot be removed then describes more than is there
      await file.handle.truncate(0)
      await NodeFs.rm(pathOf(file.path), { force: true })
    }))
  ))

/**
 * Called after the bytes that it describes have been written; syncs them to disk first. It finishes even if
 * interrupted: a journal written later would describe a part that is gone, or that belongs to another download by then.
 */
export const write = (file: PartFile, journal: PartJournal): Effect.Effect<void, TargetUnwritable> =>
  Effect.suspend(() => {
    const aside = `${pathOf(file.path)}.new`
    const written = attempt(file.target, async () => {
      // never write through a link
      await NodeFs.rm(aside, { force: true })
      await NodeFs.writeFile(aside, Schema.encodeSync(PartJournalJson)(journal), {
        flag: "wx",
        mode: 0o600,
        flush: true
      })
      await NodeFs.rename(aside, pathOf(file.path))
    })
    const flushed = Effect.zipRight(file.flushes.now, file.held)
    return Effect.zipRight(flushed, Effect.tapError(untilOpened(untilLetGo(written)), () => remove(aside)))
  }).pipe(Effect.uninterruptible)
