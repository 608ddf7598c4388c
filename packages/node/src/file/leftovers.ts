import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as NodeFs from "node:fs/promises"
import { join } from "node:path"
import { isRunning } from "./processIdentity.js"

const oneDay = Duration.toMillis("1 day")

const lookedInto = new Map<string, number>()

const isDue = (key: string, now: number): boolean => {
  if (now - (lookedInto.get(key) ?? Number.NEGATIVE_INFINITY) < oneDay) return false
  if (lookedInto.size >= 1000) lookedInto.clear()
  lookedInto.set(key, now)
  return true
}

// In a container, a process often has the number of the one before: what is older than this process is not its own.
const isGone = (pid: number, writtenAt: number, now: number): boolean =>
  pid === process.pid ? writtenAt < now - process.uptime() * 1000 : !isRunning(pid)

/**
 * The files that killed processes left in a directory: named like this, not written to for so long, and not of a running
 * process, whose number is the first group of the pattern, if it has one. Looks once a day; in between there are none.
 */
export const find = (
  directory: string,
  pattern: RegExp,
  longest: Duration.DurationInput
): Effect.Effect<ReadonlyArray<string>> => {
  const isLeft = async (name: string, now: number): Promise<boolean> => {
    const [, pid] = pattern.exec(name) ?? []
    const stats = await NodeFs.lstat(join(directory, name))
    return stats.isFile() && stats.mtimeMs < now - Duration.toMillis(longest) &&
      (pid === undefined || isGone(Number(pid), stats.mtimeMs, now))
  }
  const look = async (now: number): Promise<ReadonlyArray<string>> => {
    const left: Array<string> = []
    for (const name of await NodeFs.readdir(directory)) {
      if (pattern.test(name) && await isLeft(name, now).catch(() => false)) left.push(join(directory, name))
    }
    return left
  }
  return Effect.flatMap(Clock.currentTimeMillis, (now) =>
    isDue(`${directory} ${pattern}`, now)
      ? Effect.orElseSucceed(Effect.tryPromise(() => look(now)), () => [])
      : Effect.succeed([]))
}
