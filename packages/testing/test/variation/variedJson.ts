import * as Arr from "effect/Array"
import * as Hash from "effect/Hash"
import * as Order from "effect/Order"
import type { ServiceVariation } from "./ServiceVariation.js"

export type Fields = Readonly<Record<string, unknown>>

// JSON.stringify has no other way to a number that a double cannot hold
const mark = "\u0000number:"

/** A number as its digits, whatever a double makes of it. @internal */
export const digits = (number: string): string => `${mark}${number}`

const marked = /"\\u0000number:([^"]*)"/g

export const write = (value: unknown): string => JSON.stringify(value).replace(marked, "$1")

/** A field under a name in which each dot leads into an object. @internal */
export const placed = (name: string, value: unknown): Fields => {
  const [first = "", ...rest] = name.split(".")
  return { [first]: rest.length === 0 ? value : placed(rest.join("."), value) }
}

export const nested = (depth: number): unknown => {
  let value: unknown = "at the bottom"
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { deeper: value }
  return value
}

const values: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1.5,
  digits("12345678901234567890"),
  digits("1e400"),
  digits("0.1000000000000000055511151231257827"),
  "",
  "text",
  "é ∑ 😀 \u2028 \ud800",
  "long ".repeat(100),
  [],
  {},
  [[], [null, { a: [1, { b: false }] }]],
  nested(40)
]

// none that a client has a reason to read
const names = [
  "extra",
  "an extra field",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "",
  "0",
  "then",
  "_tag",
  "_links",
  "meta",
  "$schema",
  "länge",
  "errors",
  "error",
  "message",
  "warnings"
]

const speaksOfErrors = new Set(["errors", "error"])

/** Objects as this service writes them: with more fields than anybody expects, in an order of its own. @internal */
export const objects = ({ records, seed }: ServiceVariation) => {
  const chance = (word: string): number => Hash.string(`${seed} ${word}`) >>> 0
  const byChance = (words: ReadonlyArray<string>) => Arr.sort(words, Order.mapInput(Order.number, chance))
  const extra = byChance(names).slice(0, records.extraFields).map((name) =>
    [name, speaksOfErrors.has(name) ? [null, []][chance(name) % 2] : values[chance(name) % values.length]] as const
  )
  return (fields: Fields): Fields => {
    const all = Object.fromEntries([...extra, ...Object.entries(fields)])
    const keys = Object.keys(all)
    const order = records.fieldOrder === "usual"
      ? keys
      : records.fieldOrder === "reversed"
      ? Arr.reverse(keys)
      : byChance(keys)
    return Object.fromEntries(order.map((name) => [name, all[name]]))
  }
}
