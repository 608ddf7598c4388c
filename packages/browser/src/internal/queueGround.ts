import type { Requirements } from "@stevedore/core/Uploads"
import type * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"

/** What a queue runs on. Its fibers end with it. */
export interface Ground<E> {
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>
  readonly provided: <A, E2>(effect: Effect.Effect<A, E2, Requirements>) => Effect.Effect<A, E | E2>
}
