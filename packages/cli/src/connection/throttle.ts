import type * as FileSystem from "@effect/platform/FileSystem"
import * as BandwidthLimit from "@stevedore/core/BandwidthLimit"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { randomUUID } from "node:crypto"
import * as LimitRate from "../options/limitRate.js"

const off: LimitRate.LimitRate = { text: "off", entries: [{ from: 0, rate: Number.POSITIVE_INFINITY }] }

// Only a timetable asks for the time of day: to look up the time zone takes tens of milliseconds at first
const now = (limit: LimitRate.LimitRate) =>
  limit.entries.length === 1
    ? Effect.succeed(LimitRate.at(limit, 0))
    : Effect.map(Clock.currentTimeMillis, (millis) => LimitRate.at(limit, LimitRate.minuteOf(millis)))

const keepUp = (command: string, first: LimitRate.LimitRate, limit: BandwidthLimit.Service) =>
  Effect.gen(function*() {
    // nobody tells anything to a command that ends before
    yield* Effect.sleep("1 second")
    const register = yield* Effect.flatMap(Effect.promise(() => import("./running.js")), ({ register }) => register)
    const name = `${process.pid}-${randomUUID()}`
    let wanted = first
    const say = (rate: number) =>
      Effect.transposeMapOption(register, ({ say }) =>
        say({
          name,
          running: { pid: process.pid, command, limit: wanted.text, rate: Number.isFinite(rate) ? rate : null }
        }))
    const follow = Effect.gen(function*() {
      const next = yield* now(wanted)
      yield* limit.set(next)
      yield* say(next.rate)
    })
    const change = (text: string) => {
      wanted = Option.getOrElse(LimitRate.parse(text), () => wanted)
      return follow
    }
    const look = Effect.gen(function*() {
      yield* Effect.transposeMapOption(register, ({ take }) => take(name, change))
      const { rate } = yield* limit.current
      if (rate !== (yield* now(wanted)).rate) yield* follow
    })
    yield* Effect.addFinalizer(() => Effect.transposeMapOption(register, ({ leave }) => leave(name)))
    yield* say((yield* limit.current).rate)
    yield* Effect.repeat(look, Schedule.spaced("1 second"))
  }).pipe(Effect.scoped)

/**
 * The bandwidth limit of a command: by its option, by the clock if that is a timetable, and by `stevedore limit` while it
 * runs.
 */
export const layer = (
  command: string,
  given: Option.Option<LimitRate.LimitRate>
): Layer.Layer<never, never, FileSystem.FileSystem> =>
  Layer.scoped(
    BandwidthLimit.BandwidthLimit,
    Effect.gen(function*() {
      const first = Option.getOrElse(given, () => off)
      const limit = yield* BandwidthLimit.make(yield* now(first))
      yield* Effect.forkScoped(keepUp(command, first, limit))
      return limit
    })
  )
