/** Limits how many bytes are transferred per second, over all uploads and downloads of a runtime. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import { monotonicMillis } from "./base/clock.js"
import { atLeastOne } from "./base/number.js"
import { ByteBucket, pacedPull } from "./base/pace.js"
import type { Turns } from "./base/pace.js"
import type { Pace } from "./storage/pacedBody.js"
import { paced } from "./storage/pacedBody.js"

/**
 * How many bytes may be transferred per second. `Infinity` stands for no limit.
 *
 * @category models
 */
export interface Limit {
  /** In force now, in bytes per second. */
  readonly rate: number
  /**
   * The highest rate that may come into force later, such as at night, in bytes per second. An upload that could finish
   * with it is not given up as impossible.
   */
  readonly most: number
}

/**
 * What can be said about a limit. A rate below one byte per second counts as one; one that is not a number, as none.
 *
 * @category models
 */
export interface Options {
  /** In bytes per second; `Infinity` for no limit. */
  readonly rate: number
  /** The highest rate that may come into force later. Defaults to the rate. */
  readonly most?: number | undefined
}

/**
 * A limit that all transfers of a runtime share. Whoever asks first is served first.
 *
 * @category models
 */
export interface Service {
  /** Waits until this many bytes may be transferred. */
  readonly take: (bytes: number) => Effect.Effect<void>
  /**
   * What an upload asks before each write; `undefined` where no limit can come into force. `onWait` is called with true
   * when a wait begins, and with false when it is over: this is no stall of the connection.
   */
  readonly pace: (onWait: (waits: boolean) => void) => Pace | undefined
  /** The same bytes of a download, handed out as the limit allows. The memory of a piece is valid until the next one. */
  readonly pull: <E>(pull: Effect.Effect<Uint8Array, Option.Option<E>>) => Effect.Effect<Uint8Array, Option.Option<E>>
  /** The limit in force. */
  readonly current: Effect.Effect<Limit>
  /** Changes the limit, also for what already waits: within a quarter of a second. */
  readonly set: (options: Options) => Effect.Effect<void>
}

const none: Limit = { rate: Number.POSITIVE_INFINITY, most: Number.POSITIVE_INFINITY }

const unlimited: Service = {
  take: () => Effect.void,
  pace: () => undefined,
  pull: identity,
  current: Effect.succeed(none),
  set: () => Effect.dieMessage("There is no limit to change: provide BandwidthLimit.layer")
}

/**
 * The limit in force, read when a transfer starts. Without a layer there is none.
 *
 * @category references
 */
export class BandwidthLimit extends Context.Reference<BandwidthLimit>()<"@stevedore/core/BandwidthLimit", Service>(
  "@stevedore/core/BandwidthLimit",
  { defaultValue: () => unlimited }
) {}

const unlimitedRate = (rate: number): number =>
  rate === Number.POSITIVE_INFINITY || Number.isNaN(rate) ? Number.POSITIVE_INFINITY : atLeastOne(rate, 1)

const limitOf = ({ most, rate }: Options): Limit => {
  const now = unlimitedRate(rate)
  return { rate: now, most: Math.max(now, most === undefined ? now : unlimitedRate(most)) }
}

// A waiter looks again at least this often, in milliseconds, because the limit may have changed
const longestSleep = 250

// Writes are this long, in seconds of the limit, so that the transfers that share it take turns
const secondsOfPiece = 0.05

const largestPiece = 262_144

// Without a limit nobody takes turns
const sizeOfPiece = ({ rate }: Limit): number =>
  rate === Number.POSITIVE_INFINITY ? rate : Math.max(1, Math.min(largestPiece, Math.floor(rate * secondsOfPiece)))

/**
 * A limit that starts full and lets a tenth of a second's bytes through at once after a pause. Over any ten seconds it
 * lets at most 3 % more through than its rate.
 *
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service> =>
  Effect.map(Effect.clock, (clock): Service => {
    const now = () => monotonicMillis(clock)
    let limit = limitOf(options)
    const bucket = new ByteBucket(limit.rate, now())

    const until = (position: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        const wait = bucket.wait(position, now())
        return wait <= 0
          ? Effect.void
          : Effect.zipRight(Effect.sleep(Math.min(Math.ceil(wait), longestSleep)), until(position))
      })

    const take: Service["take"] = (bytes) =>
      Effect.suspend(() => {
        const position = bucket.reserve(bytes, now())
        return Effect.onInterrupt(until(position), () => Effect.sync(() => bucket.giveBack(bytes)))
      })

    const piece = () => sizeOfPiece(limit)
    const before = (waiting: (bytes: number) => Effect.Effect<void>): Turns["before"] => (bytes) =>
      limit.rate === Number.POSITIVE_INFINITY ? undefined : waiting(bytes)

    return {
      take,
      pace: (onWait) => {
        const turns: Turns = {
          piece,
          before: before((bytes) =>
            Effect.suspend(() => {
              onWait(true)
              return Effect.ensuring(take(bytes), Effect.sync(() => onWait(false)))
            })
          )
        }
        return { ...turns, body: (body) => paced(body, turns) }
      },
      pull: (pull) => pacedPull(pull, { piece, before: before(take) }),
      current: Effect.sync(() => limit),
      set: (options) =>
        Effect.sync(() => {
          limit = limitOf(options)
          bucket.change(limit.rate, now())
        })
    }
  })

/**
 * {@link make} as a layer. Provide one to the whole runtime: two limits do not know of each other. Calls to the service
 * do not count, nor do headers.
 *
 * @example
 * import { BandwidthLimit, Uploads, UploadSources } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const source = UploadSources.fromBytes("a.txt", new Uint8Array([1]))
 * const polite = Uploads.upload(source).pipe(
 *   Effect.provide(BandwidthLimit.layer({ rate: 5_000_000 }))
 * )
 *
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<never> => Layer.effect(BandwidthLimit, make(options))

/**
 * Changes the limit in force while transfers run.
 *
 * @example
 * import { BandwidthLimit } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const untilMorning = BandwidthLimit.set({ rate: Infinity }).pipe(
 *   Effect.zipRight(Effect.sleep("8 hours")),
 *   Effect.zipRight(BandwidthLimit.set({ rate: 5_000_000, most: Infinity }))
 * )
 *
 * @category combinators
 */
export const set = (options: Options): Effect.Effect<void> =>
  Effect.flatMap(BandwidthLimit, (limit) => limit.set(options))

export type {
  /**
   * What a transfer asks before each write.
   *
   * @category models
   */
  Pace
} from "./storage/pacedBody.js"
