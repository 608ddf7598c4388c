import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"

/**
 * `Effect.acquireRelease` for what each small file acquires. The release does not run with the references of the fiber that
 * acquired: bringing them back takes most of the steps.
 */
export const released = <A, E, R>(
  acquire: Effect.Effect<A, E, R>,
  release: (acquired: A) => Effect.Effect<void>
): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.scope, (scope) =>
      Effect.flatMap(acquire, (acquired) =>
        Effect.as(Scope.addFinalizer(scope, Effect.uninterruptible(release(acquired))), acquired)))
  )
