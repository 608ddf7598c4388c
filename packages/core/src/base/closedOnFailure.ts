import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { lastly } from "./lastly.js"

/** Closes the connection of a failed attempt before the next one starts. Its scope would keep it open to the end. */
export const closedOnFailure = <A, E>(attempt: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, E, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(
      Effect.flatMap(Effect.scope, (parent) => Scope.fork(parent, parent.strategy)),
      (own) =>
        lastly(
          restore(Scope.extend(attempt, own)),
          (exit) => Exit.isSuccess(exit) ? Effect.void : Scope.close(own, exit)
        )
    )
  )
