/**
 * JSON that loses no number. A service may send integers of 64 bits and decimals of any length, which JavaScript's
 * numbers cannot hold: they are kept as they were written.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

/**
 * A number of JSON that a JavaScript number cannot hold, such as `9007199254740993` or `1e400`, as it was written.
 * {@link stringify} writes it unchanged. `JSON.stringify` does too where `JSON.rawJSON` exists (Node 22, current
 * browsers); elsewhere it writes the digits as a string.
 *
 * @category models
 */
export class ExactNumber {
  constructor(
    readonly text: string
  ) {}
  toString(): string {
    return this.text
  }
  toJSON(): unknown {
    return Predicate.hasProperty(JSON, "rawJSON") && Predicate.isFunction(JSON.rawJSON)
      ? JSON.rawJSON(this.text)
      : this.text
  }
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[{]|[\]}]/g

const deepest = 500

const longestNumber = 1000

/** The same for all spellings of a value. */
const valueOf = (literal: string): string => {
  const [, whole = "", fraction = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(literal) ?? []
  const digits = (whole + fraction).replace(/^0+/, "")
  const significant = digits.replace(/0+$/, "")
  return significant === ""
    ? whole
    : `${significant}e${Number(exponent) + digits.length - fraction.length}`
}

const isNumber = (token: string): boolean => /^[-\d]/.test(token)

// Fifteen significant digits always fit
const isHeld = (literal: string): boolean =>
  /^-?[\d.]{1,15}$/.test(literal) ||
  literal.length <= longestNumber && Number.isFinite(Number(literal)) &&
    valueOf(literal) === valueOf(String(Number(literal)))

const scan = (text: string): { readonly isTooDeep: boolean; readonly isHeld: boolean } => {
  let depth = 0
  let held = true
  for (const [found] of text.matchAll(token)) {
    if (found === "{" || found === "[") depth += 1
    else if (found === "}" || found === "]") depth -= 1
    else if (isNumber(found)) held &&= isHeld(found)
    if (depth > deepest) return { isTooDeep: true, isHeld: held }
  }
  return { isTooDeep: false, isHeld: held }
}

// Every string begins with an s, and every number that is kept as text with an n, so that none is taken for another
const marked = (text: string): string =>
  text.replace(
    token,
    (found) =>
      found.startsWith("\"") ? `"s${found.slice(1)}` : isNumber(found) && !isHeld(found) ? `"n${found}"` : found
  )

const unmarked = (_: string, value: unknown): unknown => {
  if (typeof value === "string") return value.startsWith("n") ? new ExactNumber(value.slice(1)) : value.slice(1)
  return Predicate.isReadonlyRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name.slice(1), one]))
    : value
}

/**
 * The value of a JSON text, whose numbers are {@link ExactNumber}s where a JavaScript number would be another one. Fails
 * with `syntax` if it is not JSON, and with `depth` if it is nested more than 500 levels deep, which would overflow the
 * stack of whoever prints it.
 *
 * @example
 * import { Json } from "@stevedore/core"
 * import { Either } from "effect"
 *
 * const row = Either.getOrThrow(Json.parse(`{ "id": 9007199254740993, "size": 5 }`))
 * Json.stringify(row) // {"id":9007199254740993,"size":5}
 *
 * @category conversions
 */
export const parse = (text: string): Either.Either<unknown, "syntax" | "depth"> => {
  // a byte order mark, which some servers send
  const json = text.startsWith("\ufeff") ? text.slice(1) : text
  return Either.flatMap(
    Either.try({ try: (): unknown => JSON.parse(json), catch: () => "syntax" as const }),
    (value) => {
      const { isHeld, isTooDeep } = scan(json)
      if (isTooDeep) return Either.left("depth")
      return Either.right(isHeld ? value : JSON.parse(marked(json), unmarked))
    }
  )
}

/**
 * A value as JSON, like `JSON.stringify`, with every {@link ExactNumber} as it was written.
 *
 * @category conversions
 */
export const stringify = (value: unknown): string | undefined => {
  if (value instanceof ExactNumber) return value.text
  if (Array.isArray(value)) return `[${value.map((one) => stringify(one) ?? "null").join(",")}]`
  if (!Predicate.isReadonlyRecord(value) || "toJSON" in value) return JSON.stringify(value)
  const fields = Object.entries(value).flatMap(([name, one]) => {
    const text = stringify(one)
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
  })
  return `{${fields.join(",")}}`
}

/**
 * A value with the nearest JavaScript number in place of every {@link ExactNumber}, as `JSON.parse` gives it.
 *
 * @internal
 */
export const rounded = (value: unknown): unknown => {
  if (value instanceof ExactNumber) return Number(value.text)
  if (Array.isArray(value)) return value.map(rounded)
  return Predicate.isReadonlyRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, rounded(one)]))
    : value
}
