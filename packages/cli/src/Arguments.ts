/** The arguments and options that several commands share. */
import * as Args from "@effect/cli/Args"
import * as HelpDoc from "@effect/cli/HelpDoc"
import * as Options from "@effect/cli/Options"
import * as ValidationError from "@effect/cli/ValidationError"
import type { Sort } from "@stevedore/core/Lists"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as HelpPage from "./HelpPage.js"
import { question } from "./internal/nearest.js"
import { alone, flags, withValues } from "./internal/optionKinds.js"
import * as LimitRate from "./LimitRate.js"

/** What is said about an option that does not exist. */
export const unknownOption = (word: string): string =>
  `Unknown option ${word}: see --help. Write a name that begins with a dash after --, or as ./${word}`

// No word of a command line contains it.
const mark = "\0"

/** A text in which words of {@link afterDashes} are as they were written. */
export const asWritten = (text: string): string => text.replaceAll(mark, "")

/**
 * An argument for a path or an id. If it begins with a dash and does not follow `--`, it is taken for an option that does
 * not exist.
 */
export const text = (name: string, description: string): Args.Args<string> =>
  Args.text({ name }).pipe(
    Args.withDescription(description),
    Args.mapEffect((value) =>
      value.startsWith("-")
        ? Effect.fail(HelpDoc.p(unknownOption(value)))
        : value === ""
        ? Effect.fail(HelpDoc.p(`${name} is empty: is a variable not set?`))
        : Effect.succeed(asWritten(value))
    )
  )

/**
 * The command line without `--`, in which each word after it that begins with a dash is marked, so that it cannot be
 * taken for an option. {@link text} reads it as it was written.
 */
export const afterDashes = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const dashes = words.indexOf("--")
  return dashes === -1
    ? words
    : [
      ...words.slice(0, dashes),
      ...words.slice(dashes + 1).map((word) => word.startsWith("-") ? `${mark}${word}` : word)
    ]
}

/** The words up to `--`. Everything after it is a name. */
export const optionsOf = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  Arr.takeWhile(words, (word) => word !== "--")

const isForHelp = (options: ReadonlyArray<string>): boolean => options.includes("--help") || options.includes("-h")

/**
 * Rearranges the command line so that options work in any order: a word for help becomes the help of its command, the
 * log level goes before the command, all other options go after it, and those that take no value go to the end. Left in
 * place, each could be taken for a word too many, or for an unknown command, or could take a file named `1` or `no` for
 * its value.
 */
export const arrange = (words: ReadonlyArray<string>, commands: ReadonlyArray<string>): ReadonlyArray<string> => {
  const options = optionsOf(words)
  const names = words.slice(options.length)
  if (isForHelp(options)) {
    const command = options.find(isCommandIn(options, commands)) ?? options.find((word) => !word.startsWith("-"))
    return [...Arr.fromNullable(command), "--help"]
  }
  const [others, levels] = Arr.partition(
    options,
    (word, index) => word === "--log-level" || word.startsWith("--log-level=") || options[index - 1] === "--log-level"
  )
  return [
    ...levels,
    ...flagsLast(commandFirst([...standardInput(valuesApart(unclustered(others))), ...afterDashes(names)], commands))
  ]
}

/** The value that the words give to an option; undefined if they do not have it. */
export const valueOf = (words: ReadonlyArray<string>, name: string): string | undefined => {
  const options = optionsOf(words)
  const index = options.findIndex((word) => nameOf(word) === name)
  const word = options[index]
  return word?.includes("=") === true
    ? word.slice(word.indexOf("=") + 1)
    : word === undefined
    ? undefined
    : options[index + 1]
}

/** Whether a command line asks for help. */
export const asksForHelp = (words: ReadonlyArray<string>): boolean => isForHelp(optionsOf(words))

/** Whether a command line starts the wizard, which asks questions, instead of giving everything as arguments. */
export const asks = (words: ReadonlyArray<string>): boolean => {
  const options = optionsOf(words)
  return options.includes("--wizard") && !isForHelp(options)
}

/** Whether a command line asks for JSON, also where it is otherwise wrong. */
export const asksForJson = (words: ReadonlyArray<string>): boolean =>
  optionsOf(words).some((word) => /^--json(?:=(?:true|1|y|yes|on))?$/i.test(word))

// The choices of the library's own options. Of a wrong one it says that the command does not exist.
const choices: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["--completions", ["sh", "bash", "fish", "zsh"]],
  ["--log-level", ["all", "trace", "debug", "info", "warning", "error", "fatal", "none"]]
])

/** What is wrong with a command line: the word, and what about it. */
export interface Mistake {
  readonly input: string
  readonly problem: string
}

/** What is said about a command that does not exist. */
export const noCommand = (word: string, commands: ReadonlyArray<string>): Mistake => ({
  input: word,
  problem: `no such command${question(word, commands)} See stevedore help`
})

const noOption = (word: string, names: Iterable<string>): Mistake => ({
  input: word,
  problem: `no such option${
    question(word, names)
  } See --help. Write a name that begins with a dash after --, or as ./${word}`
})

const isKnown = (option: string): boolean =>
  alone.has(option) || choices.has(option) || withValues.has(option) || isFlag(option)

const mistakenCommand = (
  options: ReadonlyArray<string>,
  commands: ReadonlyArray<string>
): string | undefined => {
  const [first] = options
  if (first?.startsWith("-") === false) return commands.includes(first) ? undefined : first
  const isValue = (index: number) => withValues.has(options[index - 1] ?? "") || choices.has(options[index - 1] ?? "")
  return options.some(isCommandIn(options, commands))
    ? undefined
    : options.find((word, index) => !word.startsWith("-") && !isValue(index))
}

/** An option that a command does not have. Undefined if it has all of them. */
export const unknownIn = (
  words: ReadonlyArray<string>,
  options: ReadonlyArray<HelpPage.Entry>
): Mistake | undefined => {
  const names = new Set([...options.flatMap(({ names }) => names), ...alone, ...choices.keys()])
  const taking = new Set(
    options.filter(({ value }) => Option.isSome(value)).flatMap(({ names }) => names).concat(...choices.keys())
  )
  const given = optionsOf(words)
  const unknown = given.find((word, index) =>
    word.startsWith("--") && !names.has(nameOf(word)) && !taking.has((given[index - 1] ?? "").toLowerCase())
  )
  return unknown === undefined ? undefined : noOption(unknown.split("=", 1).join(""), names)
}

// As in auto|single|multipart: what stands for something is in capitals, or has a dot in it
const choicesIn = ({ value }: HelpPage.Entry): ReadonlyArray<string> =>
  Option.match(value, {
    onNone: () => [],
    onSome: (text) => /^[a-z\d]+(?:\|[a-z\d]+)+$/.test(text) ? text.split("|") : []
  })

/** A value that is none of an option's choices, or an argument that is missing. Undefined if there is neither. */
export const wrongIn = (words: ReadonlyArray<string>, page: HelpPage.HelpPage): Mistake | undefined => {
  const given = optionsOf(words)
  const named = (word = ""): HelpPage.Entry | undefined =>
    page.options.find(({ names }) => names.includes(nameOf(word)))
  for (const [index, word] of given.entries()) {
    const choices = word.startsWith("-")
      ? Option.match(Option.fromNullable(named(word)), { onNone: () => [], onSome: choicesIn })
      : []
    const value = word.includes("=") ? word.slice(word.indexOf("=") + 1) : given[index + 1] ?? ""
    if (choices.length > 0 && !choices.includes(value)) {
      return { input: nameOf(word), problem: `expected one of ${choices.join(", ")}, not ${JSON.stringify(value)}` }
    }
  }
  const takes = (word = ""): boolean =>
    word.startsWith("-") && !word.includes("=") &&
    (choices.has(word) || Option.isSome(named(word)?.value ?? Option.none()))
  const positional = given.filter((word, index) => (!word.startsWith("-") || word === "-") && !takes(given[index - 1]))
  // the first is the command itself
  const count = positional.length - 1 + Math.max(0, words.length - given.length - 1)
  const [missing] = page.args.filter(({ optional, repeated }) => !optional && !repeated).slice(count)
  return missing === undefined
    ? undefined
    : { input: missing.names.join(), problem: `is missing: ${missing.description.replace(/\.$/, "")}. See --help` }
}

/** The name of an option, without its value. */
export const nameOf = (word: string): string => word.split("=", 1).join("").toLowerCase()

/**
 * What is wrong with a command line where the library would not say so: a value of one of its own options, an option
 * that does not exist and has no command, or a token, for which there is no option. Undefined if nothing is.
 */
export const mistake = (
  words: ReadonlyArray<string>,
  commands: ReadonlyArray<string>
): Mistake | undefined => {
  const options = optionsOf(words)
  if (isForHelp(options)) return undefined
  for (const [index, word] of options.entries()) {
    const [input = "", value = options[index + 1] ?? ""] = word.split("=")
    const expected = choices.get(input)
    if (expected?.includes(value) === false) return { input, problem: `expected one of ${expected.join(", ")}` }
  }
  const all = afterDashes(words)
  const command = all.find(isCommandIn(all, commands))
  if (command !== "sandbox" && options.some((word) => word === "--token" || word.startsWith("--token="))) {
    return {
      input: "--token",
      problem: "a token is never an argument, because the process list shows arguments: set STEVEDORE_TOKEN, or give " +
        "--token-file with a file that holds it"
    }
  }
  const [first = ""] = options[0]?.split("=") ?? []
  const strange = mistakenCommand(options, commands)
  if (strange !== undefined && (isKnown(first) || !first.startsWith("-"))) {
    return noCommand(strange, commands)
  }
  if (command !== undefined || !first.startsWith("-") || alone.has(first) || choices.has(first)) return undefined
  return isKnown(first)
    ? { input: first, problem: "needs a command: see stevedore help" }
    : noOption(first, [...alone, ...choices.keys()])
}

// The parser takes a lone dash for the end of the options. One after an option with a value is that value.
const standardInput = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.map((word, index) => word === "-" && !mayTakeNext(words[index - 1]) ? `${mark}${word}` : word)

const isFlag = (word: string): boolean => flags.has(word.toLowerCase())

const isCluster = (word: string): boolean => /^-[^-]{2,}$/.test(word)

const lettersOf = (word: string): ReadonlyArray<string> => [...word.slice(1)].map((letter) => `-${letter}`)

const mayTakeNext = (word = ""): boolean =>
  word.startsWith("-") && word !== "-" && !word.includes("=") && !isFlag(word) && !isCluster(word)

// Several flags in one word, each as a word. The parser drops unknown ones if an option of the command can be repeated.
const unclustered = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.flatMap((word, index) =>
    isCluster(word) && !mayTakeNext(words[index - 1]) && lettersOf(word).every(isFlag) ? lettersOf(word) : [word]
  )

/** The first word that looks like several flags in one, such as `-qx`, and of which one is none. */
export const unknownCluster = (words: ReadonlyArray<string>): string | undefined => {
  const options = optionsOf(words)
  return isForHelp(options) ?
    undefined :
    options.find((word, index) => isCluster(word) && !mayTakeNext(options[index - 1]) && !lettersOf(word).every(isFlag))
}

// The parser knows no value behind an equals sign for an option that can be repeated
const valuesApart = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.flatMap((word, index) =>
    /^--[^=]+=/.test(word) && !isFlag(nameOf(word)) && !mayTakeNext(words[index - 1])
      ? [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]
      : [word]
  )

const flagsLast = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [others, last] = Arr.partition(words, (word, index) => isFlag(word) && !mayTakeNext(words[index - 1]))
  return [...others, ...last]
}

const isCommandIn = (words: ReadonlyArray<string>, commands: ReadonlyArray<string>) => (word: string, index: number) =>
  commands.includes(word) && !withValues.has(words[index - 1] ?? "")

const commandFirst = (words: ReadonlyArray<string>, commands: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [before, [command, ...after]] = Arr.splitWhere(words, isCommandIn(words, commands))
  return command !== undefined && before[0]?.startsWith("-") === true ? [command, ...before, ...after] : words
}

/** An option that takes a whole number within bounds. */
export const wholeNumber = (
  name: string,
  bounds: { readonly from: number; readonly to?: number }
): Options.Options<number> => {
  const expected = bounds.to === undefined ? `${bounds.from} or more` : `${bounds.from} to ${bounds.to}`
  const right = (value: number) => value >= bounds.from && value <= (bounds.to ?? Number.MAX_SAFE_INTEGER)
  return Options.text(name).pipe(
    Options.withPseudoName("NUMBER"),
    Options.mapEffect((given) =>
      /^\d+$/.test(given) && right(Number(given))
        ? Effect.succeed(Number(given))
        : Effect.fail(ValidationError.invalidValue(
          HelpDoc.p(`--${name} takes a whole number, ${expected}, not ${JSON.stringify(given)}`)
        ))
    )
  )
}

const isSort = (text: string): text is Sort<string> => /^[^:]+:(?:asc|desc)$/.test(text)

/** `--sort`, repeated for each field to sort by. */
export const sort: Options.Options<ReadonlyArray<Sort<string>>> = Options.text("sort").pipe(
  Options.withPseudoName("FIELD:asc|desc"),
  Options.withDescription("Sort order, such as title:asc. Repeat for a second field. Default: created_at:desc"),
  Options.repeated,
  Options.mapEffect(Effect.forEach((given) =>
    isSort(given)
      ? Effect.succeed(given)
      : Effect.fail(ValidationError.invalidValue(
        HelpDoc.p(`--sort takes a field and a direction, such as title:asc, not ${JSON.stringify(given)}`)
      ))
  )),
  Options.withDefault([])
)

/** `--on-impossible`. */
export const onImpossible: Options.Options<"fail" | "continue"> = Options.choice("on-impossible", ["fail", "continue"])
  .pipe(
    Options.withDescription(
      "If the connection is too slow to finish before a file's URLs expire: fail, or try anyway"
    ),
    Options.withDefault("fail" as const)
  )

/** `--limit-rate`. */
export const limitRate: Options.Options<Option.Option<LimitRate.LimitRate>> = Options.text("limit-rate").pipe(
  Options.withPseudoName("RATE"),
  Options.withDescription(
    "Maximum bytes per second over all files, such as 20M, or by the time of day: \"08:00,5M 18:00,off\". stevedore limit " +
      "changes it while the command runs"
  ),
  Options.mapEffect((given) =>
    Option.match(LimitRate.parse(given), {
      onNone: () =>
        Effect.fail(ValidationError.invalidValue(
          HelpDoc.p(`--limit-rate takes ${LimitRate.expected}, not ${JSON.stringify(given)}`)
        )),
      onSome: (limit) => Effect.succeed(limit)
    })
  ),
  Options.optional
)

/** `--json`. */
export const json: Options.Options<boolean> = Options.boolean("json").pipe(
  Options.withDescription("Print one JSON object per line, for programs")
)

/** Where the service is, with which token, and which dialect it speaks. */
export const connection = {
  baseUrl: Options.text("base-url").pipe(
    Options.withPseudoName("URL"),
    Options.withDescription("URL of the service, such as https://host/api. Default: STEVEDORE_BASE_URL"),
    Options.optional
  ),
  tokenFile: Options.text("token-file").pipe(
    Options.withPseudoName("FILE"),
    Options.withDescription(
      "File that contains the token. Default: STEVEDORE_TOKEN, or the file named by STEVEDORE_TOKEN_FILE. The token " +
        "itself is never an argument, because the process list shows arguments"
    ),
    Options.optional
  ),
  profile: Options.text("profile").pipe(
    Options.withPseudoName("standard|dovetail|FILE.json"),
    Options.withDescription(
      "Dialect of the service. Fields missing from FILE.json are as in standard. Default: STEVEDORE_PROFILE, or standard"
    ),
    Options.optional
  ),
  allowInsecureHttp: Options.boolean("allow-insecure-http").pipe(
    Options.withDescription("Allow http: to other hosts, although the token or the file is then sent in clear text")
  )
}

/** What every command takes: the verbosity, and a configuration file. */
export const shared = {
  quiet: Options.boolean("quiet", { aliases: ["q"] }).pipe(
    Options.withDescription("Print only results and failures")
  ),
  verbose: Options.boolean("verbose", { aliases: ["v"] }).pipe(
    Options.withDescription("Log each step to standard error. Tokens and signatures are never shown")
  ),
  config: Options.text("config").pipe(
    Options.withPseudoName("FILE.json"),
    Options.withDescription(
      "Configuration file with a default for any option. Environment variables override it, and options override both. " +
        "Default: stevedore.json in $XDG_CONFIG_HOME or ~/.config"
    ),
    Options.optional
  )
}
