import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Choosing from "../Choosing.js"
import * as Quantities from "../Quantities.js"

const pattern = (name: string, description: string) =>
  Options.text(name).pipe(
    Options.withPseudoName("PATTERN"),
    Options.withDescription(description),
    Options.repeated,
    Options.mapEffect(Effect.forEach((given) =>
      Option.match(Choosing.problemOf(given), {
        onNone: () => Effect.succeed(given),
        onSome: (problem) =>
          Effect.fail(ValidationError.invalidValue(HelpDoc.p(`--${name} ${JSON.stringify(given)}: ${problem}`)))
      })
    )),
    Options.withDefault([])
  )

const parsed = (
  name: string,
  pseudoName: string,
  description: string,
  expected: string,
  parse: (text: string) => Effect.Effect<Option.Option<number>>
) =>
  Options.text(name).pipe(
    Options.withPseudoName(pseudoName),
    Options.withDescription(description),
    Options.mapEffect((text) =>
      Effect.flatMap(
        parse(text),
        Option.match({
          onNone: () =>
            Effect.fail(
              ValidationError.invalidValue(HelpDoc.p(`--${name} takes ${expected}, not ${JSON.stringify(text)}`))
            ),
          onSome: (value) => Effect.succeed(value)
        })
      )
    ),
    Options.optional
  )

const time = (name: string, description: string) =>
  parsed(
    name,
    "AGE",
    description,
    "an age such as 36h or 2d, or a date such as 2026-01-31",
    (text) => Effect.map(Clock.currentTimeMillis, (now) => Quantities.time(text, now))
  )

const size = (name: string, description: string) =>
  parsed(
    name,
    "SIZE",
    description,
    "a size such as 500k, 20M or 1.5GB",
    (text) => Effect.succeed(Quantities.bytes(text))
  )

/** `--files-from` and `-0`. */
export const list = {
  filesFrom: Options.text("files-from").pipe(
    Options.withPseudoName("FILE"),
    Options.withDescription(
      "Read what to take from a file, or from standard input with -: one per line, JSON lines, or a table (CSV). For an " +
        "upload, a row may also be an http or https URL"
    ),
    Options.optional
  ),
  nul: Options.boolean("null", { aliases: ["0"] }).pipe(
    Options.withDescription("The list of --files-from is separated by NUL bytes, as of find -print0")
  )
}

/** The options that choose files. */
export const choice = {
  include: pattern("include", "Upload only files that match, such as '*.mp4': as in a gitignore file. Can be repeated"),
  exclude: pattern("exclude", "Leave out files that match, such as 'drafts/': as in a gitignore file. Can be repeated"),
  newerThan: time("newer-than", "Only files changed since: 36h ago, 2d ago, or a date such as 2026-01-31"),
  olderThan: time("older-than", "Only files not changed since then"),
  largerThan: size("larger-than", "Only files of more bytes than this, such as 20M"),
  smallerThan: size("smaller-than", "Only files of fewer bytes than this"),
  followLinks: Options.boolean("follow-links").pipe(
    Options.withDescription("Upload what links in a directory lead to, instead of skipping them")
  ),
  skipEmpty: Options.boolean("skip-empty").pipe(
    Options.withDescription("Skip empty files that are named, too. Those in a directory are always skipped")
  )
}
