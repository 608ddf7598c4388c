import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import type { TargetUnwritable } from "../DownloadTargetError.js"
import { attempt } from "./downloadTarget.js"
import { untilLetGo, untilReadable } from "./heldFile.js"
import type { PartFile } from "./partFile.js"
import { openOwn, remove } from "./partFile.js"

/**
 * Which file a kept part file belongs to, and which of its parts it has.
 *
 * @internal
 */
export const PartJournal = Schema.Struct({
  version: Schema.Literal(1),
  fileId: Schema.String,
  etag: Schema.String,
  size: Schema.Int.pipe(Schema.positive()),
  partSize: Schema.Int.pipe(Schema.positive()),
  parts: Schema.Array(Schema.Int.pipe(Schema.nonNegative()))
})

/** @internal */
export type PartJournal = typeof PartJournal.Type

const PartJournalJson = Schema.parseJson(PartJournal)

/** @internal */
export const pathOf = (partPath: string): string => `${partPath}.json`

const textOf = async (path: string): Promise<string> => {
  const handle = await openOwn(path, constants.O_RDONLY)
  if (handle === undefined) throw new Error("The journal is another's")
  return handle.readFile("utf8").finally(() => handle.close())
}

/**
 * None if there is no journal, or none that can be trusted: then the download starts over. One that cannot be read just
 * now is read again for a moment first.
 *
 * @internal
 */
export const read = (file: PartFile, fileId: string): Effect.Effect<Option.Option<PartJournal>> =>
  Effect.gen(function*() {
    const text = yield* untilReadable(attempt(file.target, () => textOf(pathOf(file.path))))
    const journal = yield* Schema.decode(PartJournalJson)(text)
    const { size } = yield* untilReadable(attempt(file.target, () => file.handle.stat()))
    return Option.liftPredicate(journal, (one) => one.fileId === fileId && size >= extent(one) && size <= one.size)
  }).pipe(Effect.option, Effect.map(Option.flatten))

const extent = ({ partSize, parts, size }: PartJournal): number =>
  parts.reduce((end, part) => Math.max(end, Math.min(size, (part + 1) * partSize)), 0)

/**
 * Called before anything is written to the file that the journal does not describe. It finishes even if interrupted: a
 * journal that disappeared later would have made the part count as kept, or would belong to another download by then.
 *
 * @internal
 */
export const forget = (file: PartFile): Effect.Effect<void, TargetUnwritable> =>
  Effect.uninterruptible(untilLetGo(attempt(file.target, async () => {
    // first, because a journal that cannot be removed then describes more than is there
    await file.handle.truncate(0)
    await NodeFs.rm(pathOf(file.path), { force: true })
  })))

/**
 * Called after the bytes that it describes have been written; syncs them to disk first. It finishes even if
 * interrupted: a journal written later would describe a part that is gone, or that belongs to another download by then.
 *
 * @internal
 */
export const write = (file: PartFile, journal: PartJournal): Effect.Effect<void, TargetUnwritable> =>
  Effect.suspend(() => {
    const aside = `${pathOf(file.path)}.new`
    const written = attempt(file.target, async () => {
      await file.handle.datasync()
      // never write through a link
      await NodeFs.rm(aside, { force: true })
      await NodeFs.writeFile(aside, Schema.encodeSync(PartJournalJson)(journal), { flag: "wx", mode: 0o600, flush: true })
      await NodeFs.rename(aside, pathOf(file.path))
    })
    return Effect.tapError(untilLetGo(written), () => remove(aside))
  }).pipe(Effect.uninterruptible)
