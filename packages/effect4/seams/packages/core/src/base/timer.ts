import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

const isLive = (clock: Clock.Clock): boolean => clock === Clock.Clock.defaultValue()

export const timer: Effect.Effect<Timer> = /* #__PURE__ */ Effect.map(
  /* #__PURE__ */ Effect.context<never>(),
  (context): Timer =>
    timerOf(Context.get(context, Clock.Clock), (effect) => {
      const fiber = Effect.runForkWith(context)(Effect.interruptible(effect))
      return () => fiber.interruptUnsafe()
    })
)
