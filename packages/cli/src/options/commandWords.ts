/** The command line itself, to be shown to a user who may run it again. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** The words after the program's name; none if they are not known. */
export class CommandWords
  extends Context.Reference<CommandWords>()<"@stevedore/cli/CommandWords", ReadonlyArray<string>>(
    "@stevedore/cli/CommandWords",
    { defaultValue: () => [] }
  )
{}

/** How the program was started, to be shown before words of its own: `npx @stevedore/cli` where npm has started it. */
export class ProgramName extends Context.Reference<ProgramName>()<"@stevedore/cli/ProgramName", string>(
  "@stevedore/cli/ProgramName",
  { defaultValue: () => "stevedore" }
) {}

const quotedOnWindows = (word: string): string => {
  // to PowerShell, a comma separates words, and an at sign at the start names a variable
  if (/^[\w+=:./\\-]+$/.test(word)) return word
  // a program reads a backslash as itself, unless a quote follows
  return `"${word.replace(/(\\*)("|$)/g, (_, slashes: string, quote) => `${slashes}${slashes}${quote && "\\\""}`)}"`
}

const quoted = (word: string): string => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** The command in a form that can be typed or pasted into a shell of this platform. */
export const typed = (words: ReadonlyArray<string>, platform: NodeJS.Platform, program = "stevedore"): string =>
  [program, ...words.map(platform === "win32" ? quotedOnWindows : quoted)].join(" ")

/** The command line itself, as it can be typed again on this machine. */
export const again: Effect.Effect<string> = Effect.gen(function*() {
  return typed(yield* CommandWords, process.platform, yield* ProgramName)
})
