/** What the help says about a command, as data: from what the command accepts, so that nothing is written twice. */
import * as CliConfig from "@effect/cli/CliConfig"
import * as CommandDescriptor from "@effect/cli/CommandDescriptor"
import type * as HelpDoc from "@effect/cli/HelpDoc"
import type * as Span from "@effect/cli/HelpDoc/Span"
import * as Arr from "effect/Array"
import * as Option from "effect/Option"
import * as Order from "effect/Order"

/** An option or an argument. */
export interface Entry {
  /** As it is typed, without a value: `--files`, or `--quiet` and `-q`; for an argument, `PATH`. */
  readonly names: ReadonlyArray<string>
  /** What it takes, such as `NUMBER` or `auto|single`; none if it is a flag. */
  readonly value: Option.Option<string>
  /** Whether it can be given more than once. */
  readonly repeated: boolean
  /** Whether an argument can be left out. An option always can. */
  readonly optional: boolean
  readonly description: string
}

/** The help of one command. */
export interface HelpPage {
  readonly name: string
  readonly description: ReadonlyArray<string>
  /** Command lines to start from. */
  readonly examples: ReadonlyArray<string>
  readonly args: ReadonlyArray<Entry>
  readonly options: ReadonlyArray<Entry>
}

const textOf = (span: Span.Span): string => {
  switch (span._tag) {
    case "Sequence":
      return `${textOf(span.left)}${textOf(span.right)}`
    case "Text":
    case "URI":
      return span.value
    case "Highlight":
    case "Strong":
    case "Weak":
      return textOf(span.value)
  }
}

const parts = (doc: HelpDoc.HelpDoc): ReadonlyArray<Exclude<HelpDoc.HelpDoc, HelpDoc.Sequence | HelpDoc.Empty>> =>
  doc._tag === "Sequence" ? [...parts(doc.left), ...parts(doc.right)] : doc._tag === "Empty" ? [] : [doc]

const paragraphs = (doc: HelpDoc.HelpDoc): ReadonlyArray<string> =>
  parts(doc).flatMap((part) => part._tag === "Paragraph" ? [textOf(part.value)] : [])

const repeated = /^This (?:argument|option) may be repeated zero or more times\.$/

const optional = /^This setting is optional\.$/

const mandatory = /^This argument (?:must|may) be repeated /

// What the library says about each, whatever it is. What it takes stands in its usage.
const isObvious = (text: string): boolean =>
  text === "A true or false value." || text === "A user-defined piece of text." ||
  text.startsWith("One of the following: ") ||
  repeated.test(text) || optional.test(text) || mandatory.test(text)

// `--output` before `-o`
const byLength = Order.reverse(Order.mapInput(Order.number, (name: string) => name.length))

const isName = (word: string, index: number): boolean => index === 0 || word.startsWith("-")

const entryOf = ([span, doc]: readonly [Span.Span, HelpDoc.HelpDoc]): Entry => {
  const said = paragraphs(doc)
  const usage = textOf(span).replace(/\.\.\.$/, "").replace(/^[(<]|[)>]$/g, "").replaceAll(" | ", "|")
  const [value, names] = Arr.partition(usage.split(" "), isName)
  return {
    names: Arr.sort(names.map((name) => name.replace(/,$/, "")), byLength),
    value: Option.map(Option.liftPredicate(value, Arr.isNonEmptyReadonlyArray), (words) => words.join(" ")),
    repeated: said.some((text) => repeated.test(text)),
    optional: said.some((text) => optional.test(text)),
    description: said.filter((text) => !isObvious(text)).join(" ")
  }
}

const section = (doc: HelpDoc.HelpDoc, title: string) => {
  const all = parts(doc)
  const start = all.findIndex((part) => part._tag === "Header" && textOf(part.value) === title)
  return start === -1 ? [] : Arr.takeWhile(all.slice(start + 1), (part) => part._tag !== "Header")
}

const entries = (doc: HelpDoc.HelpDoc, title: string): ReadonlyArray<Entry> =>
  section(doc, title).flatMap((part) => part._tag === "DescriptionList" ? part.definitions.map(entryOf) : [])

const prompt = "$ "

/** The page of a command. */
export const make = <A>(name: string, command: CommandDescriptor.Command<A>): HelpPage => {
  const doc = CommandDescriptor.getHelp(command, { ...CliConfig.defaultConfig, showBuiltIns: false })
  const [examples, description] = Arr.partition(
    section(doc, "DESCRIPTION").flatMap((part) => part._tag === "Paragraph" ? [textOf(part.value)] : []),
    (text) => !text.startsWith(prompt)
  )
  return {
    name,
    description,
    examples: examples.map((example) => example.slice(prompt.length)),
    args: entries(doc, "ARGUMENTS"),
    options: entries(doc, "OPTIONS")
  }
}

/** An argument as it stands in a usage: `PATH...`, `[PATH]`. */
export const argument = ({ names: [name = ""], optional, repeated }: Entry): string =>
  repeated ? `${name}...` : optional ? `[${name}]` : name

/** An option as it is typed: `-q, --quiet`, `--files NUMBER`, `--filter NAME=VALUE ...`. */
export const option = ({ names, repeated, value }: Entry): string =>
  [
    names.toReversed().join(", "),
    ...Option.toArray(value),
    ...(repeated ? ["..."] : [])
  ].join(" ")

/** How a command is typed: `stevedore upload [OPTIONS] PATH...`. */
export const usage = ({ args, name, options }: HelpPage): string =>
  ["stevedore", name, ...(options.length === 0 ? [] : ["[OPTIONS]"]), ...args.map(argument)].join(" ")
