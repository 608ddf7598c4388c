/**
 * The console of the help and of wrong usage.
 *
 * @since 0.1.0
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { stripVTControlCharacters } from "node:util"

/**
 * A console that writes colours only where they are wanted: in files and pipes they are noise.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (colours: { readonly out: boolean; readonly error: boolean }): Layer.Layer<never> =>
  Layer.unwrapEffect(Effect.consoleWith((console) => {
    const tidy = (wanted: boolean) => (part: unknown) =>
      typeof part === "string" ? (wanted ? part : stripVTControlCharacters(part)).trimEnd() : part
    return Effect.succeed(Console.setConsole({
      ...console,
      log: (...parts) => console.log(...parts.map(tidy(colours.out))),
      error: (...parts) => console.error(...parts.map(tidy(colours.error)))
    }))
  }))
