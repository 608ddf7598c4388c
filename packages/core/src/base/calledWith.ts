import * as Context from "effect/Context"

/** The context of a call: the services of where its caller got it from, and the caller's own, which win. */
export const calledWith = <R>(services: Context.Context<R>) => <R0>(caller: Context.Context<R0>) =>
  Context.merge(services, caller)
