/**
 * How much is in flight to the storage, over all files of a runtime.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * A gate that all transfers of a runtime pass.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** Runs a transfer when there is room for it, and when storage has not asked everybody to slow down. */
  readonly pass: <A, E, R>(transfer: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Lets no transfer begin for this long: one SlowDown holds all parts of all files. */
  readonly pause: (duration: Duration.Duration) => Effect.Effect<void>
}

/**
 * The tag of the gate. Give one to the whole runtime: two gates know nothing of each other.
 *
 * @since 0.1.0
 * @category tags
 */
export class TransferGate extends Context.Tag("@stevedore/core/TransferGate")<TransferGate, Service>() {}

/**
 * How wide the gate is.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Transfers in flight at the most, over all files. Omitted: 32. */
  readonly limit?: number | undefined
}

/**
 * A gate of its own. Transfers pass in the order in which they came; an interrupted one gives its place back.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<Service> =>
  Effect.map(Effect.makeSemaphore(Math.max(1, Math.floor(options.limit ?? 32))), (semaphore) => {
    let closedUntil = 0
    const opened: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      now >= closedUntil
        ? Effect.void
        : Effect.zipRight(Effect.sleep(Duration.millis(Math.ceil(closedUntil - now))), Effect.suspend(() => opened)))
    return {
      pass: (transfer) => semaphore.withPermits(1)(Effect.zipRight(opened, transfer)),
      pause: (duration) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          closedUntil = Math.max(closedUntil, now + Duration.toMillis(duration))
        })
    }
  })

/**
 * {@link make} as a layer.
 *
 * @example
 * import { TransferGate } from "@stevedore/core"
 *
 * const narrow = TransferGate.layer({ limit: 8 })
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<TransferGate> => Layer.effect(TransferGate, make(options))
