/** The filters of a list as written on a command line: `title.contains=interview`. */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Record from "effect/Record"
import { invalid, type InvalidInput } from "../options/invalidInput.js"

/** What a filter, or one of its operators, is compared with: a value, several values, or `null`. */
export type Value = string | null | ReadonlyArray<string | null>

/** Filters by their names, each a value or operators with values. The Schema of a list decides which ones exist. */
export type Filters = { readonly [name: string]: Value | { readonly [operator: string]: Value } }

interface Written {
  readonly name: string
  readonly operator: string
  readonly value: string | null
}

const split = (text: string): Either.Either<Written, InvalidInput> => {
  const [, name, operator = "", value] = /^([a-z]\w*)(?:\.([a-z]\w*))?=([^]*)$/i.exec(text) ?? []
  return name === undefined || value === undefined
    ? Either.left(
      invalid(`--filter ${text}`, "expected a name and a value, such as title.contains=interview or folder_id=ID")
    )
    : Either.right({ name, operator, value: value === "null" ? null : value })
}

const valueOf = (written: Arr.NonEmptyReadonlyArray<Written>): Value => {
  const values = Arr.map(written, ({ value }) => value)
  return values.length === 1 ? values[0] : values
}

const filterOf = (
  written: Arr.NonEmptyReadonlyArray<Written>,
  name: string
): Either.Either<Filters[string], InvalidInput> => {
  const operators = Arr.groupBy(written, ({ operator }) => operator)
  if (operators[""] === undefined) return Either.right(Record.map(operators, valueOf))
  return operators[""].length === written.length
    ? Either.right(valueOf(written))
    : Either.left(
      invalid(`--filter ${name}`, "given both with and without an operator: use only one")
    )
}

/**
 * The filters in the form that the list's Schema expects. A name that is repeated has several values; `null` stands for
 * no value.
 */
export const parse = (texts: ReadonlyArray<string>): Either.Either<Filters, InvalidInput> =>
  Either.flatMap(
    Either.all(texts.map(split)),
    (written) => Either.all(Record.map(Arr.groupBy(written, ({ name }) => name), filterOf))
  )
