/** The room that a disk has left. Apart from what else is known of a disk, since a page has none. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { statfs } from "node:fs/promises"
import * as ServerMetrics from "../base/metrics.js"
import type { StorageRefused } from "../StorageRefused.js"
import { failed } from "./disk.js"

/** For rows, their log, and what is under way: of a large disk a gigabyte, and of a small one a hundredth. */
const reserveOf = (size: number): number => Math.min(2 ** 30, size / 100)

/** What a removal may need of it where the disk is full: for rows alone. */
export const removalsIn = (directory: string): Effect.Effect<Uint8Array, StorageRefused> =>
  Effect.tryPromise({ try: () => statfs(directory), catch: failed }).pipe(
    Effect.map(({ blocks, bsize }) => new Uint8Array(Math.min(4 * 2 ** 20, reserveOf(blocks * bsize))))
  )

/** How many bytes the disk of a directory has left for files. */
export const roomIn = (directory: string): Effect.Effect<number, StorageRefused> =>
  Effect.tryPromise({ try: () => statfs(directory), catch: failed }).pipe(
    Effect.map(({ bavail, blocks, bsize }) => Math.max(0, Math.floor(bavail * bsize - reserveOf(blocks * bsize)))),
    Effect.tap((room) => Metric.set(ServerMetrics.room, room))
  )
