import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/**
 * A process, distinguished by its start time from a later process with the same id, if the platform reports it.
 *
 * @internal
 */
export interface ProcessIdentity {
  readonly pid: number
  /** Opaque. Absent if the platform does not report it. */
  readonly startedAt?: string | undefined
}

/**
 * A process's state and its start, in clock ticks since boot, from Linux's `/proc/PID/stat`. The command's name
 * precedes them, in parentheses, and may contain anything.
 *
 * @internal
 */
export const parseStat = (stat: string): Option.Option<{ readonly state: string; readonly ticks: string }> => {
  const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 1).trim().split(/\s+/)
  // `state` is the third field of the file, `starttime` the twenty-second
  const ticks = fields[18]
  return state === undefined || ticks === undefined || !/^\d+$/.test(ticks)
    ? Option.none()
    : Option.some({ state, ticks })
}

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // the process exists, and belongs to another user
    return Predicate.hasProperty(error, "code") && error.code === "EPERM"
  }
}

const ended: ReadonlySet<string> = new Set(["Z", "X", "x"])

/** @internal */
export const make = (fs: FileSystem.FileSystem) =>
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

    const own: ProcessIdentity = {
      pid: process.pid,
      startedAt: Option.getOrUndefined(Option.map(yield* lookUp(process.pid), ({ startedAt }) => startedAt))
    }

    const isAlive = ({ pid, startedAt }: ProcessIdentity): Effect.Effect<boolean> =>
      Effect.map(lookUp(pid), (found) => {
        if (Option.isNone(found)) return isRunning(pid)
        if (ended.has(found.value.state)) return false
        return startedAt === undefined || startedAt === found.value.startedAt
      })

    return { own, isAlive }
  })
