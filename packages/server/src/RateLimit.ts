/** How many requests a tenant may make. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as RateWindow from "./base/rateWindow.js"

/**
 * Counts a request of a tenant. None means that there is no limit, and no header says one.
 *
 * @category models
 */
export type RateLimitService = (tenant: string) => Effect.Effect<Option.Option<RateWindow.Admission>>

/**
 * The limit as a reference: none, unless one is provided.
 *
 * @category references
 */
export class RateLimit extends Context.Reference<RateLimit>()("@stevedore/server/RateLimit", {
  defaultValue: (): RateLimitService => () => Effect.succeedNone
}) {}

/**
 * A limit for each tenant, counted by this instance alone: of several instances, each allows as much.
 *
 * @category layers
 */
export const layerMemory = (options: {
  readonly limit: number
  readonly window: Duration.DurationInput
}): Layer.Layer<never> =>
  Layer.sync(RateLimit, () => {
    const windows = new Map<string, (now: number) => RateWindow.Admission>()
    const windowOf = (tenant: string) => {
      const known = windows.get(tenant)
      if (known !== undefined) return known
      const made = RateWindow.make({ limit: options.limit, windowMillis: Duration.toMillis(options.window) })
      windows.set(tenant, made)
      return made
    }
    return (tenant) => Effect.map(Clock.currentTimeMillis, (now) => Option.some(windowOf(tenant)(now)))
  })

export type {
  /**
   * How many requests are left in a window, and until when.
   *
   * @category models
   */
  Admission
} from "./base/rateWindow.js"
