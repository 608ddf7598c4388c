/** What a service of its own is given, and what a stub was not. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** The context of a call: the services of where its caller got it from, and the caller's own, which win. */
export const contextOf = <R>(services: Context.Context<R>) => <R0>(caller: Context.Context<R0>) =>
  Context.merge(services, caller)

/** An operation that a `layerNoop` was not given: a defect that names it. */
export const notGiven = (operation: string) => (): Effect.Effect<never> =>
  Effect.dieMessage(`${operation} was called, but layerNoop was not given it`)
