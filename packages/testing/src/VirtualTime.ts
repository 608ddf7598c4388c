/** Time that passes as fast as the machine can: a program that waits for hours finishes in milliseconds. */
import * as Uploads from "@stevedore/core/Uploads"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { SandboxService } from "./Sandbox.js"
import { Sandbox } from "./Sandbox.js"
import type { Activity } from "./sandbox/activity.js"
import { makeActivity } from "./sandbox/activity.js"

interface Sleeper {
  readonly due: number
  readonly wake: () => void
}

const makeClock = (start: number) => {
  let now = start
  const sleepers = new Set<Sleeper>()
  const schedule = (wake: () => void, duration: Duration.Duration) => {
    const sleeper = { due: now + Duration.toMillis(duration), wake }
    // as with a real clock, a sleep without an end never ends
    if (Number.isFinite(sleeper.due)) {
      sleepers.add(sleeper)
    }
    return () => sleepers.delete(sleeper)
  }
  const clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => now,
    unsafeCurrentTimeNanos: () => BigInt(Math.round(now * 1e6)),
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanos: Effect.sync(() => BigInt(Math.round(now * 1e6))),
    // what repeats without a pause may sleep for no time: it gives way, and never rests
    sleep: (duration) =>
      Duration.toMillis(duration) === 0 ? Effect.yieldNow() : Effect.async<void>((resume) => {
        const cancel = schedule(() => resume(Effect.void), duration)
        return Effect.sync(cancel)
      })
  }
  const goOn = () => {
    const [next] = [...sleepers].sort((one, other) => one.due - other.due)
    if (next === undefined) {
      return false
    }
    now = Math.max(now, next.due)
    sleepers.delete(next)
    next.wake()
    return true
  }
  const catchUp = (time: number) => {
    now = Math.max(now, time)
  }
  return { clock, goOn, catchUp }
}

const clocks = new WeakMap<SandboxService, ReturnType<typeof makeClock>>()

// On one sandbox, time must not go back, and what a run has left asleep, such as the timer of a paused gate, must wake in
// the next
const clockFrom = (start: number | undefined) =>
  Effect.gen(function*() {
    const time = yield* Clock.currentTimeMillis
    const sandbox = Option.getOrUndefined(yield* Effect.serviceOption(Sandbox))
    const known = sandbox === undefined || start !== undefined ? undefined : clocks.get(sandbox)
    if (known !== undefined) {
      known.catchUp(time)
      return known
    }
    const made = makeClock(start ?? time)
    if (sandbox !== undefined) clocks.set(sandbox, made)
    return made
  })

const turn = Effect.async<void>((resume) => {
  const go = () => resume(Effect.void)
  if (typeof setImmediate === "function") {
    setImmediate(go)
  } else {
    setTimeout(go, 0)
  }
})

// the platform, such as the body of a response, may take a few turns of the event loop to go on with a fiber
const STILL_TURNS = 4

const MOST_IDLE_TURNS = 2000

// a fiber that asks again and again, without a sleep, never rests: it may wait for the very time to pass
const MOST_BUSY_TURNS = 10_000

// how many turns the fibers take to come to rest depends on how much they have to do
const settled = (activity: Activity) =>
  Effect.gen(function*() {
    for (let turns = 0, still = 0; still < STILL_TURNS && turns < MOST_BUSY_TURNS; turns++) {
      yield* turn
      still = activity.hasMoved() ? 0 : still + 1
    }
  })

/**
 * Runs an effect to its end with its own clock, which jumps from one sleep to the next whenever no fiber of the effect
 * moves. Timeouts, back-offs, delays, storms and stalls then take no time. It is for programs that stay within the
 * process, such as one over `SandboxLayer.memory`: the clock does not see what waits for a socket or a file. The clock
 * starts at `start`, in milliseconds of the Unix epoch; it defaults to the time of the clock in force, or to the end of
 * the last run on the same sandbox if that is later.
 *
 * A program in which nothing sleeps and nothing moves is a defect.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 * import { FaultScript, SandboxLayer, VirtualTime } from "@stevedore/testing"
 * import { Effect } from "effect"
 *
 * const notes = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"))
 *
 * export const stalls = VirtualTime.run(Uploads.upload(notes)).pipe(
 *   Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("put").stall("answer") }))
 * )
 *
 * @category combinators
 */
export const run = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options?: { readonly start?: number | undefined }
): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    yield* Uploads.loaded
    const { clock, goOn } = yield* clockFrom(options?.start)
    const activity = makeActivity()
    const fiber = yield* Effect.fork(activity.watch(Effect.withClock(effect, clock)))
    const passTime = Effect.gen(function*() {
      let idle = 0
      while (Option.isNone(yield* Fiber.poll(fiber))) {
        yield* settled(activity)
        idle = goOn() ? 0 : idle + 1
        if (idle > MOST_IDLE_TURNS) {
          return yield* Effect.dieMessage(
            "Nothing is scheduled and nothing moves: the program waits for something that never comes"
          )
        }
      }
    })
    // the program may sleep in its finalizers, too
    yield* Effect.onError(passTime, () => Effect.zipRight(Fiber.interruptFork(fiber), passTime))
    return yield* Fiber.join(fiber)
  })
