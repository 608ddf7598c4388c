import * as Either from "effect/Either"

/** An argument of a call. */
export type Value = string | number | { readonly [name: string]: Value } | Calls

/** A chain of calls used as a value. */
export class Calls {
  constructor(readonly calls: ReadonlyArray<Call>) {}
}

export const isCalls = (value: Value | undefined): value is Calls => value instanceof Calls

export interface Call {
  readonly name: string
  readonly args: ReadonlyArray<Value>
}

type Read<A> = Either.Either<A, string>

/** Takes a sentence apart, from its front. */
class Reader {
  #at = 0
  constructor(readonly text: string) {}

  /** What stands here behind blanks, if it is that: the group of the pattern that is found, or all of it. */
  take(pattern: RegExp): string | undefined {
    const here = new RegExp(`\\s*(?:${pattern.source})`, "iy")
    here.lastIndex = this.#at
    const found = here.exec(this.text)
    if (found === null) return undefined
    this.#at = here.lastIndex
    return found.slice(1).find((group) => group !== undefined) ?? found[0].trim()
  }

  expected(what: string): Read<never> {
    const found = this.take(/\w+|\S/)
    return Either.left(`expected ${what} at ${found === undefined ? "the end" : JSON.stringify(found)}`)
  }
}

const listUntil = <A>(reader: Reader, end: RegExp, one: (reader: Reader) => Read<A>): Read<ReadonlyArray<A>> =>
  Either.gen(function*() {
    const found: Array<A> = []
    while (reader.take(end) === undefined) {
      if (found.length > 0 && reader.take(/,/) === undefined) return yield* reader.expected(`a comma or ${end.source}`)
      found.push(yield* one(reader))
    }
    return found
  })

const text = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/

const unescaped = (text: string): string => text.replace(/\\(.)/g, "$1")

const field = (reader: Reader): Read<readonly [string, Value]> => {
  const name = reader.take(text) ?? reader.take(/[a-z]\w*/)
  return name === undefined || reader.take(/:/) === undefined
    ? reader.expected("a name and a colon")
    : Either.map(value(reader), (value) => [unescaped(name), value])
}

const value = (reader: Reader): Read<Value> => {
  const quoted = reader.take(text)
  if (quoted !== undefined) return Either.right(unescaped(quoted))
  const number = reader.take(/-?\d[\d_]*(?:\.\d+)?/)
  if (number !== undefined) return Either.right(Number(number.replaceAll("_", "")))
  return reader.take(/[{]/) === undefined
    ? Either.map(chain(reader), (calls) => new Calls(calls))
    : Either.map(listUntil(reader, /[}]/, field), (fields): Value => Object.fromEntries(fields))
}

const chain = (reader: Reader): Read<ReadonlyArray<Call>> =>
  Either.gen(function*() {
    const calls: Array<Call> = []
    // the namespace, as written in a program
    reader.take(/FaultScript(?=[.])/)
    reader.take(/[.]/)
    if (reader.take(/empty\b(?![(])/) !== undefined && reader.take(/[.]/) === undefined) return calls
    do {
      const name = reader.take(/[a-z]\w*/)
      if (name === undefined) return yield* reader.expected("a string, a number, { } or a name")
      if (reader.take(/[(]/) === undefined) return yield* reader.expected(`a parenthesis after ${name}`)
      calls.push({ name, args: yield* listUntil(reader, /[)]/, value) })
    } while (reader.take(/[.]/) !== undefined)
    return calls
  })

/** A chain of calls with literal arguments, such as `on("put").times(2).reset()`. */
export const parseCalls = (sentence: string): Read<ReadonlyArray<Call>> => {
  const reader = new Reader(sentence.trimEnd())
  return Either.flatMap(
    chain(reader),
    (calls) => reader.take(/$/) === undefined ? reader.expected("the end") : Either.right(calls)
  )
}
