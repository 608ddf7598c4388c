import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

const report = (before: Counts, now: Counts): void => {
  for (const name of ["inFlight", "waiting", "width", "bufferedBytes"] as const) {
    if (now[name] !== before[name]) gauges[name].modifyUnsafe(now[name] - before[name], Context.empty())
  }
}

// on 4 a fiber goes on within the call that wakes it, which may be the end of another one that is interrupted
const laterOn = (claim: Claim): Effect.Effect<Claim> => Effect.as(Effect.yieldNow, claim)
