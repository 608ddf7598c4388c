import * as Context from "effect/Context"

const report = (before: Counts, now: Counts): void => {
  for (const name of ["inFlight", "waiting", "width", "bufferedBytes"] as const) {
    if (now[name] !== before[name]) gauges[name].modifyUnsafe(now[name] - before[name], Context.empty())
  }
}
