/** What the help and the manual page say about the program as a whole. */
import * as Option from "effect/Option"
import type * as HelpPage from "../HelpPage.js"

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

const entry = (names: ReadonlyArray<string>, description: string, value?: string): HelpPage.Entry => ({
  names,
  value: Option.fromNullable(value),
  repeated: false,
  optional: true,
  description
})

export const help = entry(["--help", "-h"], "Show this help")

export const options: ReadonlyArray<HelpPage.Entry> = [
  entry(["--help", "-h"], "Show this help, or that of a command"),
  entry(["--version"], "Show the version"),
  entry(["--completions"], "Print a completion script for this shell", "sh|bash|fish|zsh"),
  entry(["--wizard"], "Ask for the command and its options")
]

// Where the service is, and how much is printed: every command explains them, after its own
const shared: ReadonlySet<string> = new Set([
  "--base-url",
  "--token-file",
  "--profile",
  "--allow-insecure-http",
  "--quiet",
  "--verbose",
  "--config"
])

export const isShared = ({ names }: HelpPage.Entry): boolean => names.some((name) => shared.has(name))

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
