import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as FiberRefs from "effect/FiberRefs"
import { constVoid } from "effect/Function"
import * as Runtime from "effect/Runtime"

// The timers of the platform fire at once if they are set to more than this
const longestTimer = 2 ** 31 - 1

const isLive = (clock: Clock.Clock): boolean => clock === Context.get(DefaultServices.liveServices, Clock.Clock)

/** Runs an effect after this long by Effect's clock, in a fiber of its own. Returns a function that cancels it. */
export type Timer = (limit: Duration.Duration, late: Effect.Effect<void>) => () => void

const timerOf = (clock: Clock.Clock, start: (effect: Effect.Effect<void>) => () => void): Timer => (limit, late) => {
  const millis = Duration.toMillis(limit)
  if (!isLive(clock)) return start(Effect.zipRight(Effect.sleep(limit), late))
  if (millis > longestTimer) return constVoid
  let cancel = () => clearTimeout(timeout)
  const timeout = setTimeout(() => {
    cancel = start(late)
  }, millis)
  return () => cancel()
}

/**
 * The timer of where this runs. With the live clock it is one of the platform, and costs no fiber before the time is up;
 * with any other, such as the one of a test, it is a fiber that sleeps.
 */
export const timer: Effect.Effect<Timer> = /* #__PURE__ */ Effect.map(
  /* #__PURE__ */ Effect.runtime<never>(),
  (runtime): Timer =>
    timerOf(
      Context.get(FiberRefs.getOrDefault(runtime.fiberRefs, DefaultServices.currentServices), Clock.Clock),
      (effect) => {
        const fiber = Runtime.runFork(runtime)(Effect.interruptible(effect))
        return () => fiber.unsafeInterruptAsFork(FiberId.none)
      }
    )
)
