import { Effect } from "effect"
import { promises } from "node:fs"
import { syncBuiltinESMExports } from "node:module"

type Replacements = Partial<Record<keyof typeof promises, (...args: never) => Promise<unknown>>>

const assign = (functions: object): void => {
  Object.assign(promises, functions)
  syncBuiltinESMExports()
}

/** Lets `node:fs/promises` answer as on a disk of another system, to every module, until the scope ends. */
export const answering = (replacements: Replacements) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const own = { ...promises }
      assign(replacements)
      return own
    }),
    (own) => Effect.sync(() => assign(own))
  )

/** What the system says when it refuses. */
export const refusal = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code })
