import { HttpClient } from "@effect/platform"
import { Clock, Effect, Layer } from "effect"

/** The clock of a machine that is wrong by so much. */
class SkewedClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: typeof Clock.ClockTypeId = Clock.ClockTypeId
  readonly currentTimeMillis: Effect.Effect<number>
  readonly currentTimeNanos: Effect.Effect<bigint>
  constructor(readonly right: Clock.Clock, private readonly millis: number) {
    this.currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())
    this.currentTimeNanos = Effect.sync(() => this.unsafeCurrentTimeNanos())
  }
  unsafeCurrentTimeMillis(): number {
    return this.right.unsafeCurrentTimeMillis() + this.millis
  }
  unsafeCurrentTimeNanos(): bigint {
    return this.right.unsafeCurrentTimeNanos() + BigInt(this.millis) * 1_000_000n
  }
  sleep(duration: Parameters<Clock.Clock["sleep"]>[0]): Effect.Effect<void> {
    return this.right.sleep(duration)
  }
}

/** Runs an effect on a machine whose clock is ahead by so much. */
export const withSkew = (millis: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Clock.clockWith((clock) => Effect.withClock(effect, new SkewedClock(clock, millis)))

/** What a machine sends is answered by the clock of others. */
export const answeredRightly = <E, R>(client: Layer.Layer<HttpClient.HttpClient, E, R>) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.transform((answer) =>
        Clock.clockWith((clock) => clock instanceof SkewedClock ? Effect.withClock(answer, clock.right) : answer)
      )
    )
  ).pipe(Layer.provide(client))
