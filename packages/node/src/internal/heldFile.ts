import { systemCode } from "@stevedore/core/ConnectionError"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

// On other systems these say that this user may never do it.
const ofWindows: ReadonlySet<string | undefined> = new Set(["EACCES", "EPERM"])

/**
 * Whether a file could not be renamed or removed because it is open elsewhere.
 *
 * @internal
 */
export const isHeld = (error: unknown, platform: NodeJS.Platform = process.platform): boolean => {
  const code = systemCode(error)
  return code === "EBUSY" || (platform === "win32" && ofWindows.has(code))
}

// The process or the system has too many files open, or a network drive lost its connection.
const passing: ReadonlySet<string | undefined> = new Set(["EMFILE", "ENFILE", "EAGAIN", "EIO"])

// Together two and a half seconds
const pauses = Schedule.intersect(Schedule.exponential("10 millis"), Schedule.recurs(8))

/**
 * Tries again for a moment: Windows does not let a file be renamed, replaced or removed while another program has it
 * open, and a virus scanner or an indexer opens each new one.
 *
 * @internal
 */
export const untilLetGo = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(run, { schedule: pauses, while: (error) => isHeld(error) })

/**
 * Tries again for a moment to read a file: what cannot be read just now may be all that is known of an upload.
 *
 * @internal
 */
export const untilReadable = <A, E, R>(read: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(read, { schedule: pauses, while: (error) => isHeld(error) || passing.has(systemCode(error)) })
