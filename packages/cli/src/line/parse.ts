/**
 * The words of a command line: options in any order, before or after the command, with values as `--name value` or
 * `--name=value`, flags also as `-qv` or `--json=false`. Every word after `--` is a name, and so is a lone dash.
 */
import * as Arr from "effect/Array"
import type * as Option from "effect/Option"
import { parseArgs } from "node:util"
import type { Entry, Words } from "../options/parameter.js"

/** What is wrong with a word. */
export type Mistake =
  | { readonly _tag: "Unknown"; readonly word: string }
  | { readonly _tag: "ValueMissing"; readonly entry: Entry }

/** The words of a command line, told apart. */
export interface Line {
  /** What is given to each option; `true` to a flag. */
  readonly options: Words
  /** The other words: the command, and its arguments. */
  readonly names: ReadonlyArray<string>
  readonly mistake: Option.Option<Mistake>
}

type Find = (name: string) => Entry | undefined

const finding = (accepted: ReadonlyArray<Entry>): Find => {
  const all = new Map(accepted.flatMap((entry) => entry.names.map((name) => [name, entry] as const)))
  return (name) => all.get(name.toLowerCase())
}

const typeOf = ({ placeholder }: Entry) => placeholder === undefined ? "boolean" as const : "string" as const

// Names are typed in either case: those that are in the words are told to the parser as they are written
const optionsFor = (words: ReadonlyArray<string>, accepted: ReadonlyArray<Entry>, find: Find) => {
  const long = words.flatMap((word) => {
    const [name = ""] = word.split("=", 1)
    const entry = name.startsWith("--") ? find(name) : undefined
    return entry === undefined ? [] : [[name.slice(2), { type: typeOf(entry) }] as const]
  })
  const short = accepted.flatMap((entry) =>
    entry.names.flatMap((name) => {
      const letter = name.slice(1)
      return letter.length > 1
        ? []
        : [letter, letter.toUpperCase()].map((short) => [`-${short}`, { type: typeOf(entry), short }] as const)
    })
  )
  return Object.fromEntries([...short, ...long])
}

/** Reads words with what may be among them: of one command, or of all. */
export const parse = (words: ReadonlyArray<string>, accepted: ReadonlyArray<Entry>): Line => {
  const find = finding(accepted)
  const { tokens } = parseArgs({
    args: [...words],
    options: optionsFor(words, accepted, find),
    strict: false,
    allowPositionals: true,
    tokens: true
  })
  const given = tokens.flatMap((token) => token.kind === "option" ? [{ ...token, entry: find(token.rawName) }] : [])
  // several letters are one word: where one is unknown, none of them is an option
  const strange = new Set(given.filter(({ entry }) => entry === undefined).map(({ index }) => index))
  const known = given.flatMap(({ entry, index, value }) =>
    entry === undefined || strange.has(index)
      ? []
      : [{ entry, value: entry.placeholder === undefined ? value ?? "true" : value }]
  )
  const mistakes = given.flatMap(({ entry, index, rawName, value }): ReadonlyArray<Mistake> =>
    entry === undefined
      // what follows an equals sign may be a secret
      ? [{ _tag: "Unknown", word: rawName.startsWith("--") ? rawName : words[index] ?? rawName }]
      : value === undefined && entry.placeholder !== undefined
      ? [{ _tag: "ValueMissing", entry }]
      : []
  )
  return {
    options: new Map(
      Object.entries(Arr.groupBy(known, ({ entry: { names: [name] } }) => name)).map(([name, all]) => [
        name,
        all.flatMap(({ value }) => value === undefined ? [] : [value])
      ])
    ),
    names: tokens.flatMap((token) => token.kind === "positional" ? [token.value] : []),
    mistake: Arr.head(mistakes)
  }
}
