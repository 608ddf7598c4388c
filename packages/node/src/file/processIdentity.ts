import type * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { uptime } from "node:os"

/** A process, distinguished by its start time from a later process with the same id, if the platform reports it. */
export interface ProcessIdentity {
  readonly pid: number
  /** Opaque. Absent if the platform does not report it. */
  readonly startedAt?: string | undefined
  /** A time at which it was alive, in milliseconds since 1970. */
  readonly seenAt?: number | undefined
}

/**
 * A process's state and its start, in clock ticks since boot, from Linux's `/proc/PID/stat`. The command's name
 * precedes them, in parentheses, and may contain anything.
 */
export const parseStat = (stat: string): Option.Option<{ readonly state: string; readonly ticks: string }> => {
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 1).trim().split(/\s+/)
  // `state` is the third field of the file, `starttime` the twenty-second
  const ticks = fields[18]
  return state === undefined || ticks === undefined || !/^\d+$/.test(ticks)
    ? Option.none()
    : Option.some({ state, ticks })
}

/** Whether there is a process of this number, whichever it is. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // the process exists, and belongs to another user
    return Predicate.hasProperty(error, "code") && error.code === "EPERM"
  }
}

const ended: ReadonlySet<string> = new Set(["Z", "X", "x"])

// A confined process, such as a service of systemd with `ProcSubset=pid`, does not see the boot id
const isSameStart = (one: string, other: string): boolean => {
  const [machine, ticks] = one.split(":")
  const [otherMachine, otherTicks] = other.split(":")
  return ticks === otherTicks && (machine === otherMachine || machine === "" || otherMachine === "")
}

// Two clocks are compared, which may have been set to each other meanwhile
const margin = Duration.toMillis("1 minute")

/**
 * How often a process whose start nobody can look up shows that it is there, and how long it may be silent: then its
 * number is another's. Longer than a machine is busy, and a sleeping machine runs nobody else either.
 */
export const beat = Duration.minutes(1)

const longestSilence = Duration.toMillis("10 minutes")

// Only Linux tells when another process started. Elsewhere, its number may be another's by now, and after a start of the
// machine it often is: the first numbers are given out again.
const isBeforeBoot = (seenAt: number, secondsUp: number): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (now) => seenAt < now - secondsUp * 1000 - margin)

export const make = (fs: FileSystem.FileSystem, secondsUp: () => number = uptime) =>
  Effect.gen(function*() {
    // Ticks count from boot: combined with the boot id they are unique.
    const machineStart = yield* Effect.option(fs.readFileString("/proc/sys/kernel/random/boot_id"))

    const lookUp = (pid: number) =>
      Effect.map(
        Effect.option(fs.readFileString(`/proc/${pid}/stat`)),
        (stat) =>
          Option.map(Option.flatMap(stat, parseStat), ({ state, ticks }) => ({
            state,
            startedAt: `${Option.getOrElse(machineStart, () => "").trim()}:${ticks}`
          }))
      )

    const startedAt = Option.getOrUndefined(Option.map(yield* lookUp(process.pid), (found) => found.startedAt))

    // Seen as late as can be: a service that starts with the machine may do so before its clock is right
    const own: Effect.Effect<ProcessIdentity> = Effect.map(
      Clock.currentTimeMillis,
      (seenAt) => ({ pid: process.pid, startedAt, seenAt })
    )

    const isSilent = (shownAt: number | undefined): Effect.Effect<boolean> =>
      Effect.map(Clock.currentTimeMillis, (now) => shownAt !== undefined && shownAt < now - longestSilence)

    const isAlive = (
      { pid, seenAt, startedAt }: ProcessIdentity,
      /** When it last showed that it is there, in milliseconds since 1970, if it does so. */
      shownAt?: number
    ): Effect.Effect<boolean> =>
      Effect.flatMap(lookUp(pid), (found) => {
        if (Option.isSome(found)) {
          if (ended.has(found.value.state)) return Effect.succeed(false)
          if (startedAt !== undefined) return Effect.succeed(isSameStart(startedAt, found.value.startedAt))
        } else if (!isRunning(pid)) return Effect.succeed(false)
        const isReused = seenAt === undefined ? Effect.succeed(false) : isBeforeBoot(seenAt, secondsUp())
        // one that others can look up does not show itself, even if this process may not look just now
        const lastShown = startedAt !== undefined || shownAt === undefined
          ? undefined
          : Math.max(seenAt ?? shownAt, shownAt)
        return Effect.zipWith(isReused, isSilent(lastShown), (reused, silent) => !reused && !silent)
      })

    return { own, isAlive, isRecognizable: startedAt !== undefined }
  })
