/** The room that a disk has left. Apart from what else is known of a disk, since a page has none. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import { open, statfs, unlink } from "node:fs/promises"
import { join } from "node:path"
import * as ServerMetrics from "../base/metrics.js"
import type { StorageRefused } from "../StorageRefused.js"
import { failed, FILE } from "./disk.js"

/** For rows, their log, and what is under way: of a large disk a gigabyte, and of a small one a hundredth. */
const reserveOf = (size: number): number => Math.min(2 ** 30, size / 100)

/** How many bytes the disk of a directory has left for files. */
export const roomIn = (directory: string): Effect.Effect<number, StorageRefused> =>
  Effect.tryPromise({ try: () => statfs(directory), catch: failed }).pipe(
    Effect.map(({ bavail, blocks, bsize }) => Math.max(0, Math.floor(bavail * bsize - reserveOf(blocks * bsize)))),
    Effect.tap((room) => Metric.set(ServerMetrics.room, room))
  )

const LARGEST_KEPT = 4 * 2 ** 20

/** What removals may use of a disk that is full: a file of zeros. */
const keptIn = (directory: string) => join(directory, "reserve")

/** Gives it up, and answers whether there was any. */
export const giveUp = (directory: string): Effect.Effect<boolean> =>
  Effect.isSuccess(Effect.tryPromise(() => unlink(keptIn(directory))))

/** Keeps as much of it as there is room for, until the scope closes, and after it. */
export const keep = (directory: string) => {
  const kept = Effect.ignore(Effect.tryPromise(async () => {
    const { blocks, bsize } = await statfs(directory)
    const file = await open(keptIn(directory), "a", FILE)
    const { size } = await file.stat()
    await file
      .appendFile(new Uint8Array(Math.min(LARGEST_KEPT, reserveOf(blocks * bsize))).subarray(size))
      .finally(() => file.close())
  }))
  return Effect.zipRight(kept, Effect.forkScoped(Effect.schedule(kept, Schedule.spaced("5 seconds"))))
}
