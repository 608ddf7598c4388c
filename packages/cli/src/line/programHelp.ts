/** What the help and the manual page say about the program as a whole. */
import { type Entry, flag, option } from "../options/parameter.js"
import { connection, logLevel, shared } from "../options/shared.js"
import { choice } from "../options/values.js"

export const description: ReadonlyArray<string> = [
  "Upload files, download them, and list what the service has. What is interrupted resumes when the same command runs " +
  "again; what is uploaded is not uploaded twice."
]

export const examples: ReadonlyArray<string> = [
  "stevedore sandbox",
  "stevedore doctor",
  "stevedore upload interview.mp4",
  "stevedore upload recordings/ --include '*.wav' --report last-night.csv",
  "stevedore download 1kf00nQk9yfWKfsTDni8aO -o interview.mp4",
  "source <(stevedore --completions bash)"
]

/** The options that mean the same without a command. */
export const accepts = {
  help: flag({ name: "help", alias: "h", help: "Show this help" }),
  version: flag({ name: "version", help: "Show the version" }),
  completions: option({
    name: "completions",
    takes: choice("sh", "bash", "fish", "zsh"),
    help: "Print a completion script for this shell"
  }),
  logLevel
}

export const options: ReadonlyArray<Entry> = Object.values(accepts).map(({ entry }) => entry)

/** Those that every command explains after its own: where the service is, and how much is printed. */
export const everywhere: ReadonlyArray<Entry> = Object.values({ ...connection, ...shared }).map(({ entry }) => entry)

export const isShared = (entry: Entry): boolean => everywhere.includes(entry)

export const environment: ReadonlyArray<readonly [string, string]> = [
  ["STEVEDORE_BASE_URL", "URL of the service"],
  ["STEVEDORE_TOKEN", "The token"],
  ["STEVEDORE_TOKEN_FILE", "A file that contains it"],
  ["STEVEDORE_PROFILE", "Dialect of the service"],
  ["NO_COLOR, TERM=dumb", "Print without colours"]
]

export const exitCodes: ReadonlyArray<readonly [string, string]> = [
  ["0", "success"],
  ["1", "an upload, a check or the command itself failed"],
  ["2", "wrong usage or invalid input: nothing of it was sent to the service"],
  ["3", "the service rejected the token"],
  ["129", "the terminal was closed: stopped as by Ctrl-C"],
  ["130", "interrupted, such as by Ctrl-C"]
]
