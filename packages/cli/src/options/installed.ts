import * as Effect from "effect/Effect"
import { invalid, type InvalidInput } from "./invalidInput.js"

const nameOf = (wanted: string): string => wanted.replace(/@[\d.]+$/, "")

export const manifest = (from: NodeJS.Require, name: string): string | undefined => {
  try {
    return from.resolve(`${name}/package.json`)
  } catch {
    return undefined
  }
}

/** The line that installs packages beside this one. @internal */
export const line = (wanted: ReadonlyArray<string>): string =>
  `In one directory:\n  npm install @stevedore/cli ${wanted.join(" ")}`

/**
 * What is missing of packages that a command needs beside this one, with the line that installs them; undefined if
 * nothing is.
 */
export const problem = (from: NodeJS.Require, wanted: ReadonlyArray<string>): string | undefined => {
  const missing = wanted.map(nameOf).filter((name) => manifest(from, name) === undefined)
  return missing.length === 0 ? undefined : `needs ${missing.join(", ")} beside this package. ${line(wanted)}`
}

/** Fails with what is missing for a command, if anything is. */
export const check = (command: string, problem: string | undefined): Effect.Effect<void, InvalidInput> =>
  problem === undefined ? Effect.void : invalid(command, problem)
