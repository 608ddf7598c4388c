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

type Token =
  | { readonly _tag: "Name" | "Text" | "Mark"; readonly text: string }
  | { readonly _tag: "Number"; readonly value: number }

const pattern = /\s*(?:([a-z]\w*)|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(-?\d[\d_]*(?:\.\d+)?)|([.(){}:,]))/giy

const tokenOf = ([, name, double, single, number, mark]: RegExpExecArray): Token => {
  if (name !== undefined) return { _tag: "Name", text: name }
  if (number !== undefined) return { _tag: "Number", value: Number(number.replaceAll("_", "")) }
  if (mark !== undefined) return { _tag: "Mark", text: mark }
  return { _tag: "Text", text: (double ?? single ?? "").replace(/\\(.)/g, "$1") }
}

const tokensOf = (sentence: string): Either.Either<ReadonlyArray<Token>, string> => {
  const text = sentence.trimEnd()
  const tokens: Array<Token> = []
  pattern.lastIndex = 0
  while (pattern.lastIndex < text.length) {
    const at = pattern.lastIndex
    const found = pattern.exec(text)
    if (found === null) return Either.left(`syntax error at ${JSON.stringify(text.slice(at, at + 20))}`)
    tokens.push(tokenOf(found))
  }
  return Either.right(tokens)
}

class Reader {
  #at = 0
  constructor(readonly tokens: ReadonlyArray<Token>) {}

  peek(): Token | undefined {
    return this.tokens[this.#at]
  }
  isAt(mark: string): boolean {
    const token = this.peek()
    return token?._tag === "Mark" && token.text === mark
  }
  take(): Token | undefined {
    return this.tokens[this.#at++]
  }
  skip(mark: string): boolean {
    const found = this.isAt(mark)
    if (found) this.#at += 1
    return found
  }
}

const expected = (what: string, token: Token | undefined): Either.Either<never, string> => {
  const found = token === undefined ? "the end" : JSON.stringify(token._tag === "Number" ? token.value : token.text)
  return Either.left(`expected ${what} at ${found}`)
}

const listUntil = <A>(
  reader: Reader,
  end: string,
  one: () => Either.Either<A, string>
): Either.Either<ReadonlyArray<A>, string> =>
  Either.gen(function*() {
    const found: Array<A> = []
    while (!reader.skip(end)) {
      if (found.length > 0 && !reader.skip(",")) return yield* expected(`a comma or ${end}`, reader.peek())
      found.push(yield* one())
    }
    return found
  })

const field = (reader: Reader) => (): Either.Either<readonly [string, Value], string> =>
  Either.gen(function*() {
    const name = reader.take()
    if (name === undefined || (name._tag !== "Name" && name._tag !== "Text") || !reader.skip(":")) {
      return yield* expected("a name and a colon", name)
    }
    return [name.text, yield* value(reader)()]
  })

const value = (reader: Reader) => (): Either.Either<Value, string> => {
  const token = reader.peek()
  if (token?._tag === "Name") return Either.map(chain(reader), (calls) => new Calls(calls))
  reader.take()
  if (token?._tag === "Text") return Either.right(token.text)
  if (token?._tag === "Number") return Either.right(token.value)
  return token?._tag === "Mark" && token.text === "{"
    ? Either.map(listUntil(reader, "}", field(reader)), (fields): Value => Object.fromEntries(fields))
    : expected("a string, a number or { }", token)
}

const chain = (reader: Reader): Either.Either<ReadonlyArray<Call>, string> =>
  Either.gen(function*() {
    const calls: Array<Call> = []
    reader.skip(".")
    do {
      const name = reader.take()
      if (name?._tag !== "Name") return yield* expected("a name", name)
      // the namespace, as written in a program
      if (name.text === "FaultScript" && calls.length === 0 && reader.isAt(".")) continue
      if (name.text === "empty" && calls.length === 0 && !reader.isAt("(")) continue
      if (!reader.skip("(")) return yield* expected(`a parenthesis after ${name.text}`, reader.peek())
      calls.push({ name: name.text, args: yield* listUntil(reader, ")", value(reader)) })
    } while (reader.skip("."))
    return calls
  })

/** A chain of calls with literal arguments, such as `on("put").times(2).reset()`. */
export const parseCalls = (sentence: string): Either.Either<ReadonlyArray<Call>, string> =>
  Either.flatMap(tokensOf(sentence), (tokens) => {
    const reader = new Reader(tokens)
    return Either.flatMap(chain(reader), (calls) => {
      const rest = reader.peek()
      return rest === undefined ? Either.right(calls) : expected("the end", rest)
    })
  })
