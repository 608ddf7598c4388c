/** A file that is held open, and who it is. */
import { systemCode } from "@stevedore/core/ConnectionError"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type { BigIntStats } from "node:fs"

/**
 * What identifies a file whatever its name is. For a disk of Windows, Node 22.12 to 22.16 and 24.0 report a device number
 * of 64 bits by path, and its lower 32 bits by handle.
 */
export const identityOf = ({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): string =>
  `${BigInt.asUintN(32, dev)}:${ino}`

/**
 * `Effect.acquireRelease` for what each small file acquires. The release does not run with the references of the fiber that
 * acquired: bringing them back takes most of the steps.
 */
export const released = <A, E, R>(
  acquire: Effect.Effect<A, E, R>,
  release: (acquired: A) => Effect.Effect<void>
): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.scope, (scope) =>
      Effect.flatMap(acquire, (acquired) =>
        Effect.as(Scope.addFinalizer(scope, Effect.uninterruptible(release(acquired))), acquired)))
  )

// On other systems these say that this user may never do it.
const ofWindows: ReadonlySet<string | undefined> = new Set(["EACCES", "EPERM"])

/** Whether a file could not be renamed or removed because it is open elsewhere. */
export const isHeld = (error: unknown, platform: NodeJS.Platform = process.platform): boolean => {
  const code = systemCode(error)
  return code === "EBUSY" || (platform === "win32" && ofWindows.has(code))
}

// The process or the system has too many files open.
const tooMany: ReadonlySet<string | undefined> = new Set(["EMFILE", "ENFILE"])

const isShortOfFiles = (error: unknown): boolean => tooMany.has(systemCode(error))

// Or a network drive lost its connection.
const passing: ReadonlySet<string | undefined> = new Set([...tooMany, "EAGAIN", "EIO"])

// In milliseconds, each twice the one before: together two and a half seconds
const firstPause = 10
const lastPause = 1280

// Not Effect.retry, which makes a driver of its schedule each time: nearly everything succeeds at the first attempt
const retried = <A, E, R>(
  run: Effect.Effect<A, E, R>,
  isPassing: (error: E) => boolean,
  pause = firstPause
): Effect.Effect<A, E, R> =>
  Effect.catchAll(run, (error) =>
    isPassing(error) && pause <= lastPause
      ? Effect.delay(retried(run, isPassing, pause * 2), pause)
      : Effect.fail(error))

/**
 * Tries again for a moment: Windows does not let a file be renamed, replaced or removed while another program has it
 * open, and a virus scanner or an indexer opens each new one.
 */
export const untilLetGo = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  retried(run, (error) => isHeld(error))

/** Tries again for a moment to read a file: what cannot be read just now may be all that is known of an upload. */
export const untilReadable = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  retried(read, (error) => isHeld(error) || passing.has(systemCode(error)))

// Transfers close their files and connections when they end: up to half a minute
const untilClosed = Schedule.exponential("10 millis").pipe(
  Schedule.union(Schedule.spaced("1 second")),
  Schedule.upTo("30 seconds")
)

/** Waits for a free file descriptor to open something: those of other transfers become free. */
export const untilFree = <A, E, R>(open: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.catchAll(open, (error) =>
    isShortOfFiles(error)
      ? Effect.retry(open, { schedule: untilClosed, while: isShortOfFiles })
      : Effect.fail(error))

/** The same for a moment, where nothing can interrupt it. */
export const untilOpened = <A, E, R>(open: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  retried(open, isShortOfFiles)
