/** Limits how much is in flight to storage, over all files of a runtime. */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { constVoid, identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { monotonicMillis } from "./base/clock.js"
import { onExit } from "./base/fibers.js"
import { atLeastOne } from "./base/number.js"
import { Congestion } from "./gate/congestion.js"
import type { Claim } from "./gate/fairQueue.js"
import { FairQueue } from "./gate/fairQueue.js"
import * as FirstParts from "./gate/firstParts.js"
import { Gradual } from "./gate/gradual.js"
import { outcomeOf, pauseAfter } from "./gate/outcome.js"

/**
 * What the gate should know about a transfer.
 *
 * @category models
 */
export interface Passage {
  /**
   * What storage has confirmed if the transfer succeeds, in bytes. The width is based on this. If omitted, every
   * transfer counts the same.
   */
  readonly bytes?: number | undefined
  /** What is held in memory while the transfer waits for its turn and runs, in bytes. Defaults to nothing. */
  readonly buffered?: number | undefined
  /**
   * Whose transfer it is, compared by identity. The owner with the fewest in flight is served first, however much each
   * has waiting.
   */
  readonly owner?: unknown
  /**
   * What its owner has left to send, in bytes. Of owners with equally many in flight, the one with less left goes first;
   * what is large is not overtaken forever. Defaults to nothing.
   */
  readonly left?: number | undefined
}

/**
 * The current state of the gate.
 *
 * @category models
 */
export interface State {
  /** Transfers that may be in flight now. */
  readonly width: number
  /** The maximum width. */
  readonly limit: number
  readonly inFlight: number
  /** Transfers, and claims on memory, that are waiting. */
  readonly waiting: number
  /** Bytes held in memory, over all uploads. */
  readonly bufferedBytes: number
  /** What storage confirms per second while the network is fully used, in bytes; none until measured. */
  readonly throughput: Option.Option<number>
  /** For how long no transfer may start; zero if the gate is open. */
  readonly pausedFor: Duration.Duration
}

/**
 * A gate that all transfers of a runtime pass.
 *
 * A gate by {@link make} learns its width from what passes: wider while storage confirms more, back when it does not, and first narrower if
 * one transfer exceeds 100 MB/s. `TimedOut` narrows it a little, and several by half; an error that asks for `slowDown`
 * halves it. If only some get a connection, it narrows to those. A fall in throughput while too few wait does nothing.
 *
 * @category models
 */
export interface Service {
  /**
   * Runs a transfer when there is room for it on the network and in memory, and storage has not asked everybody to slow
   * down. An interrupted transfer, waiting or running, gives back at once what it holds.
   */
  readonly pass: <A, E, R>(transfer: Effect.Effect<A, E, R>, passage?: Passage) => Effect.Effect<A, E, R>
  /**
   * Waits for this many bytes of memory, which are released with the scope. For what is held longer than one attempt,
   * such as a section of a stream that can be read only once. Do not declare such memory to {@link Service.pass} again.
   */
  readonly hold: (bytes: number, owner?: unknown) => Effect.Effect<void, never, Scope.Scope>
  /**
   * Lets no transfer start for this long: one SlowDown holds back all parts of all files. A transfer that fails with
   * one has already paused the gate: for as long as the error asks, but at least for the shortest pause.
   */
  readonly pause: (duration: Duration.Duration) => Effect.Effect<void>
  /** The current state of the gate. */
  readonly state: Effect.Effect<State>
  /**
   * For the parts of one upload over a network that was not measured, by its progress: each waits with it before it begins,
   * so that storage soon confirms something. If omitted, they begin at once.
   *
   * @internal
   */
  readonly first?: ((progress: FirstParts.Progress) => (bytes: number) => Effect.Effect<void>) | undefined
}

/**
 * The tag of the gate. Provide one to the whole runtime: two gates do not know of each other.
 *
 * @category tags
 */
export class TransferGate extends Context.Tag("@stevedore/core/TransferGate")<TransferGate, Service>() {}

/**
 * The options of every gate.
 *
 * @category models
 */
export interface FixedOptions {
  /** The maximum number of transfers in flight, over all files. Defaults to 32. */
  readonly limit?: number | undefined
  /**
   * The maximum memory held for transfers, over all files, in bytes. A single transfer that needs more runs alone.
   * Defaults to 256 MiB.
   */
  readonly maxBufferedBytes?: number | undefined
  /**
   * The shortest time that a SlowDown holds everybody back: the next in the queue must not find the gate open before
   * the length of the pause is decided. Defaults to half a second.
   */
  readonly shortestPause?: Duration.DurationInput | undefined
}

/**
 * The width of the gate.
 *
 * @category models
 */
export interface Options extends FixedOptions {
  /**
   * The number of transfers in flight at the start. Defaults to 6, as many as browsers open to one host, or to the
   * limit if that is lower.
   */
  readonly initial?: number | undefined
  /** `false` keeps the gate as wide as the limit. By default, the gate finds its width from what storage confirms. */
  readonly adaptive?: boolean | undefined
}

const gauges = {
  inFlight: Metric.gauge("stevedore_transfers_in_flight", { description: "Running transfers" }),
  waiting: Metric.gauge("stevedore_transfers_waiting", { description: "Waiting transfers" }),
  width: Metric.gauge("stevedore_transfers_width", { description: "Transfers that may run at once" }),
  bufferedBytes: Metric.gauge("stevedore_transfers_buffered_bytes", {
    description: "Bytes held in memory"
  })
}

type Counts = Record<keyof typeof gauges, number>

// The counts of several gates add up, so each gate reports how its own change
const report = (before: Counts, now: Counts): void => {
  for (const name of ["inFlight", "waiting", "width", "bufferedBytes"] as const) {
    if (now[name] !== before[name]) gauges[name].unsafeModify(now[name] - before[name], [])
  }
}

/** How many transfers may run now, and what their ends say about that. */
interface Pace {
  readonly width: number
  /** The same for the first transfer of an owner, by how many transfers the owner with the most has in flight. */
  readonly forNewOwner: (most: number) => number
  /** What storage confirms, in bytes per millisecond, if it is measured. */
  readonly rate: number | undefined
  /** What is left of it after a time without transfers. */
  readonly rested: (now: number) => Pace
  /** A transfer begins. What is returned is to be called with its end. */
  readonly began: (now: number) => (exit: Exit.Exit<unknown, unknown>, bytes: number, now: number) => void
}

// Whoever has several in flight starts no more until there are as few again as the width
const adapting = (congestion: Congestion, limit: number): Pace => ({
  get width() {
    return congestion.width
  },
  forNewOwner: (most) => most > 1 ? Math.min(limit, 2 * congestion.width) : congestion.width,
  get rate() {
    return congestion.rate
  },
  rested: (now) => adapting(congestion.rested(now), limit),
  began: (startedAt) => {
    const number = congestion.began(startedAt)
    return (exit, bytes, now) => congestion.ended(number, now, outcomeOf(exit, bytes))
  }
})

const steady = (width: number): Pace => {
  const pace: Pace = {
    width,
    forNewOwner: () => width,
    rate: undefined,
    rested: () => pace,
    began: () => constVoid
  }
  return pace
}

const growing = (limit: number): Pace => {
  const gradual = new Gradual(limit)
  const pace: Pace = {
    get width() {
      return gradual.width
    },
    forNewOwner: () => limit,
    rate: undefined,
    rested: () => pace,
    began: (startedAt) => {
      const ended = gradual.began(startedAt)
      return (exit, bytes, now) => ended(Exit.isSuccess(exit) ? bytes : 0, now)
    }
  }
  return pace
}

type Restore = <A>(effect: Effect.Effect<A>) => Effect.Effect<A>

const nothing: Counts = { inFlight: 0, waiting: 0, width: 0, bufferedBytes: 0 }

// A fiber goes on once all that were met with it are
const laterOn = (claim: Claim): Effect.Effect<Claim> => Effect.succeed(claim)

// Not the wall clock, which may be adjusted during a pause or a measurement
const elapsed: Effect.Effect<number> = Effect.map(Effect.clock, monotonicMillis)

const makeWith = (
  options: FixedOptions,
  limit: number,
  firstPace: Pace
): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.gen(function*() {
    const shortestPause = Duration.decode(options.shortestPause ?? "500 millis")
    const maxBufferedBytes = atLeastOne(options.maxBufferedBytes, 268_435_456)
    const places = new FairQueue()
    const memory = new FairQueue()
    let pace = firstPace
    const scope = yield* Effect.scope
    let pausedUntil = Number.NEGATIVE_INFINITY
    let isTimerRunning = false
    let hasEnded = false
    let reported = nothing

    const counts = (): Counts => ({
      inFlight: places.used,
      waiting: places.waiting + memory.waiting,
      width: pace.width,
      bufferedBytes: memory.used
    })

    const tell = (): void => {
      const now = hasEnded ? nothing : counts()
      report(reported, now)
      reported = now
    }

    const serve = (now: number): void => {
      memory.serve(maxBufferedBytes)
      const isOpen = now >= pausedUntil
      places.serve(isOpen ? pace.width : 0, (most) => isOpen ? pace.forNewOwner(most) : 0)
      tell()
    }

    // To be called uninterruptibly: a claim that is met at once needs no wait, and so no callback
    const take = (restore: Restore, queue: FairQueue, claimed: Omit<Claim, "met">): Effect.Effect<Claim> =>
      Effect.flatMap(elapsed, (now) => {
        let isMet = false
        let goOn = (): void => {}
        const claim: Claim = {
          ...claimed,
          met: () => {
            isMet = true
            goOn()
          }
        }
        if (places.used + places.waiting === 0) pace = pace.rested(now)
        queue.enter(claim)
        serve(now)
        if (isMet) return Effect.succeed(claim)
        const met = Effect.async<Claim>((resume) => {
          goOn = () => resume(laterOn(claim))
          if (isMet) goOn()
        })
        return onExit(restore(met), (exit) => Exit.isSuccess(exit) ? Effect.void : giveBack(queue, claim))
      })

    const giveBack = (queue: FairQueue, claim: Claim, measure = (_now: number): void => {}): Effect.Effect<void> =>
      Effect.map(elapsed, (now) => {
        measure(now)
        queue.leave(claim)
        serve(now)
      })

    const opened: Effect.Effect<void> = Effect.flatMap(elapsed, (now) => {
      if (now < pausedUntil) return Effect.zipRight(Effect.sleep(Math.ceil(pausedUntil - now)), opened)
      isTimerRunning = false
      serve(now)
      return Effect.void
    })

    const pause = (millis: number): Effect.Effect<void> =>
      Effect.flatMap(elapsed, (now) => {
        if (hasEnded) return Effect.void
        pausedUntil = Math.max(pausedUntil, now + millis)
        if (isTimerRunning) return Effect.void
        isTimerRunning = true
        // The caller may be uninterruptible, but the wait for the end of the pause must end with the gate
        return Effect.asVoid(Effect.forkIn(Effect.interruptible(opened), scope))
      })

    const heed = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
      Effect.flatMap(
        pauseAfter(exit, shortestPause),
        (millis) => millis > 0 ? pause(millis) : Effect.void
      )

    const begin = Effect.map(elapsed, (now) => pace.began(now))

    // Fibers that outlive the gate, such as those a disposed runtime has forked, would wait forever for its timer
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        hasEnded = true
        pausedUntil = Number.NEGATIVE_INFINITY
        serve(pausedUntil)
      })
    )
    tell()

    const hold: Service["hold"] = (bytes, owner) =>
      bytes <= 0 ? Effect.void : Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(
          take(restore, memory, { amount: atLeastOne(bytes, 1), owner, left: 0 }),
          (claim) => Effect.addFinalizer(() => giveBack(memory, claim))
        )
      )

    const pass: Service["pass"] = (transfer, { buffered = 0, bytes = 1, left = 0, owner } = {}) => {
      // one uninterruptible region for all steps: a region for each would cost ten more steps per part
      const passing = Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(take(restore, places, { amount: 1, owner, left }), (claim) =>
          Effect.flatMap(begin, (end) =>
            onExit(restore(transfer), (exit) => {
              const left = giveBack(places, claim, (now) =>
                end(exit, bytes, now))
              return Exit.isSuccess(exit) ? left : Effect.ensuring(heed(exit), left)
            })))
      )
      return buffered <= 0 ? passing : Effect.scoped(Effect.zipRight(hold(buffered, owner), passing))
    }

    return {
      pass,
      hold,
      pause: (duration) =>
        pause(Duration.toMillis(duration)),
      state: Effect.map(elapsed, (now) => ({
        ...counts(),
        limit,
        throughput: Option.map(Option.fromNullable(pace.rate), (rate) => rate * 1000),
        pausedFor: Duration.millis(Math.max(0, pausedUntil - now))
      }))
    }
  })

/**
 * Creates a gate that finds its width from what storage confirms, unless `adaptive` is false. The owner with the fewest
 * transfers in flight is served first, then the one with less {@link Passage.left}, then in turn; the transfers of one
 * owner in order of arrival. An owner with none in flight does not wait for one with several: it starts beyond the width,
 * and the other one starts no more until there are as few again.
 *
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.suspend(() => {
    const limit = atLeastOne(options.limit, 32)
    return options.adaptive === false
      ? makeFixed(options, limit)
      : Effect.map(
        makeWith(
          options,
          limit,
          adapting(new Congestion(Math.min(limit, atLeastOne(options.initial, 6)), limit), limit)
        ),
        (gate) => {
          const isMeasured = Effect.map(gate.state, ({ throughput }) => Option.isSome(throughput))
          return { ...gate, first: (progress) => FirstParts.make(progress, isMeasured) }
        }
      )
  })

const makeFixed = (options: FixedOptions, limit: number): Effect.Effect<Service, never, Scope.Scope> =>
  makeWith(options, limit, steady(limit))

/**
 * Creates a gate for where there are only few connections, as in a page. Each owner has one of them while there are
 * fewer owners than `limit`. What one owner may have in flight starts with one transfer, so that storage confirms
 * something early, and grows to the limit while transfers take less than 5 seconds or more at once are faster.
 *
 * @category constructors
 */
export const makeGradual = (
  options: FixedOptions & { readonly limit: number }
): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.suspend(() => {
    const limit = atLeastOne(options.limit, 32)
    return makeWith(options, limit, growing(limit))
  })

/**
 * {@link make} as a layer.
 *
 * @example
 * import { TransferGate } from "@stevedore/core"
 *
 * const narrow = TransferGate.layer({ limit: 8 })
 * const fixed = TransferGate.layer({ limit: 8, adaptive: false })
 *
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<TransferGate> => Layer.scoped(TransferGate, make(options))

/**
 * A gate for tests that holds nobody back: every transfer passes at once and nothing is counted, except by the
 * operations that it is given.
 *
 * @example
 * import { TransferGate } from "@stevedore/core"
 * import { Duration, Effect } from "effect"
 *
 * const heard: Array<number> = []
 * const listening = TransferGate.layerNoop({
 *   pause: (duration) => Effect.sync(() => void heard.push(Duration.toMillis(duration)))
 * })
 *
 * @category layers
 */
export const layerNoop = (service: Partial<Service>): Layer.Layer<TransferGate> =>
  Layer.succeed(TransferGate, {
    pass: identity,
    hold: () => Effect.void,
    pause: () => Effect.void,
    state: Effect.succeed({
      width: Number.POSITIVE_INFINITY,
      limit: Number.POSITIVE_INFINITY,
      inFlight: 0,
      waiting: 0,
      bufferedBytes: 0,
      throughput: Option.none(),
      pausedFor: Duration.zero
    }),
    ...service
  })
