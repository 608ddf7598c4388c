/** The console that prints help and usage errors. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { stripVTControlCharacters } from "node:util"
import { asWritten } from "./Arguments.js"
import * as Completions from "./internal/completions.js"
import * as Printable from "./Printable.js"

const indentOf = (line: string): string => /^ */.exec(stripVTControlCharacters(line))?.[0] ?? ""

const broken = (line: string, columns: number): string => {
  const indent = indentOf(line)
  return Printable.wrapped(line.trimStart(), columns - indent.length).map((words) => indent + words).join("\n")
}

/**
 * Text made readable: lines break between words, and keep their indent. A completion script is for a shell, not for
 * readers.
 */
export const tidied = (text: string, columns = Infinity): string =>
  Completions.mended(text) ??
    text.split("\n").map((line) => broken(line.trimEnd(), columns)).join("\n").trimEnd()

/** How to format a stream. */
export interface Look {
  readonly colours: boolean
  /** Of its terminal; undefined if there is none. */
  readonly columns: number | undefined
}

/** How to format standard output, and how to write it. */
export interface Out extends Look {
  readonly print: (text: string) => Effect.Effect<void>
}

// What is wrong with a command line quotes its words: a name may contain anything, and a colour is one of the things.
const quoting = (columns: number | undefined) => (part: unknown): unknown =>
  typeof part === "string"
    ? tidied(stripVTControlCharacters(asWritten(part)), columns).split("\n").map(Printable.line).join("\n")
    : part

/**
 * A console that uses colours only where they are wanted, and wraps lines only on a terminal: in files and pipes, both
 * are noise. Errors have no colours, and are not printed if `error` is undefined: something else then reports them.
 */
export const layer = (looks: { readonly out: Out; readonly error: Look | undefined }): Layer.Layer<never> =>
  Layer.unwrapEffect(Effect.consoleWith((console) => {
    const { error, out } = looks
    const tidy = (part: unknown) =>
      typeof part === "string" ? tidied(out.colours ? part : stripVTControlCharacters(part), out.columns) : part
    return Effect.succeed(Console.setConsole({
      ...console,
      log: (...parts) => out.print(`${parts.map(tidy).join(" ")}\n`),
      error: (...parts) => {
        const quoted = error === undefined ? [] : parts.map(quoting(error.columns))
        return quoted.every((part) => part === "") ? Effect.void : console.error(...quoted)
      }
    }))
  }))
