import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Forecast from "../print/forecast.js"

/** How long the calls take that are left, if the service limits them. */
export interface CallsLeft {
  readonly perFile: number
  readonly time: (calls: number) => Effect.Effect<Option.Option<Duration.Duration>>
}

export const none: CallsLeft = { perFile: 0, time: () => Effect.succeedNone }

export const make = (perFile: number): Effect.Effect<CallsLeft, never, ServiceApi> =>
  Effect.map(ServiceApi, ({ profile, rateLimit }) => ({
    perFile,
    time: (calls) =>
      Effect.zipWith(rateLimit, Clock.currentTimeMillis, (status, now) =>
        Option.map(
          Forecast.ruleOf(profile, status),
          (rule) => Forecast.ofCallsFrom(calls, rule, status, now)
        ))
  }))
