/**
 * The command line itself, to be shown to a user who may run it again.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"

/**
 * The words after the program's name; none if they are not known.
 *
 * @since 0.1.0
 * @category references
 */
export class CommandWords
  extends Context.Reference<CommandWords>()<"@stevedore/cli/CommandWords", ReadonlyArray<string>>(
    "@stevedore/cli/CommandWords",
    { defaultValue: () => [] }
  )
{}

const quoted = (isWindows: boolean) => (word: string): string => {
  if (/^[\w@%+=:,./-]+$/.test(word) || (isWindows && /^[\w@+=:,./\\-]+$/.test(word))) return word
  return isWindows ? `"${word.replaceAll("\"", "\\\"")}"` : `'${word.replaceAll("'", "'\\''")}'`
}

/**
 * The command in a form that can be typed or pasted into a shell of this platform.
 *
 * @since 0.1.0
 * @category formatting
 */
export const typed = (words: ReadonlyArray<string>, platform: NodeJS.Platform): string =>
  ["stevedore", ...words.map(quoted(platform === "win32"))].join(" ")
