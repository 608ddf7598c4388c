import * as Effect from "effect/Effect"

/**
 * Warns the first time, and then logs at debug level: what fails once, such as on a full disk, fails for each of ten
 * thousand files.
 */
export const make = (): (message: string) => Effect.Effect<void> => {
  let told = false
  return (message) =>
    Effect.suspend(() => {
      if (told) return Effect.logDebug(message)
      told = true
      return Effect.logWarning(message)
    })
}
