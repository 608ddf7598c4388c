import * as Effect from "effect/Effect"

/**
 * A module that few uploads need: it is loaded once it is needed, and a page does not begin with it. What a page cannot
 * load is asked for again by whoever needs it next.
 */
export const lazily = <Module, E>(load: () => Promise<Module>, failed: () => E): Effect.Effect<Module, E> => {
  let loaded: Module | undefined
  return Effect.suspend(() =>
    loaded === undefined
      ? Effect.map(Effect.tryPromise({ try: load, catch: failed }), (module) => {
        loaded = module
        return module
      })
      : Effect.succeed(loaded)
  )
}
