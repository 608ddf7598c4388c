/** The kinds of values that options and arguments take. */
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { LazyArg } from "effect/Function"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Quantities from "./quantities.js"

/** What a value is, and how it is written. */
export interface Value<A> {
  /** What stands for it in the help. */
  readonly placeholder: string
  /** The message of its error ends the sentence that begins with the option. Made for those that are given. */
  readonly schema: LazyArg<Schema.Schema<A, string>>
  readonly choices: ReadonlyArray<string>
  readonly isPath: boolean
}

const value = <A>(
  placeholder: string,
  schema: LazyArg<Schema.Schema<A, string>>,
  { choices = [], isPath = false }: Partial<Pick<Value<A>, "choices" | "isPath">> = {}
): Value<A> => {
  let made: Schema.Schema<A, string> | undefined
  return { placeholder, schema: () => made ??= schema(), choices, isPath }
}

const expecting = (what: string) => <A>(schema: Schema.Schema<A, string>): Schema.Schema<A, string> =>
  schema.annotations({
    message: ({ actual }) => ({ message: `expected ${what}, not ${JSON.stringify(actual)}`, override: true })
  })

/** Any text. */
export const text = (placeholder: string): Value<string> => value(placeholder, () => Schema.String)

/** The name of a file or a directory. */
export const path = (placeholder: string): Value<string> => value(placeholder, () => Schema.String, { isPath: true })

const nameSchema = () => Schema.NonEmptyString.annotations({ message: () => "it is empty: is a variable not set?" })

/** What an argument is: it is not empty. */
export const name: Value<string> = value("", nameSchema)

/** The same, of a file or a directory. */
export const pathName: Value<string> = value("", nameSchema, { isPath: true })

/** One of a few words. */
export const choice = <const Words extends readonly [string, ...ReadonlyArray<string>]>(
  ...words: Words
): Value<Words[number]> =>
  value(words.join("|"), () => expecting(`one of ${words.join(", ")}`)(Schema.Literal(...words)), { choices: words })

/** What may stand after `=` of a flag. */
export const isTrue: Value<boolean> = value(
  "",
  () =>
    expecting("true or false")(
      Schema.compose(
        Schema.Lowercase,
        Schema.transformLiterals(
          ["true", true],
          ["1", true],
          ["y", true],
          ["yes", true],
          ["on", true],
          ["false", false],
          ["0", false],
          ["n", false],
          ["no", false],
          ["off", false]
        )
      )
    )
)

/** A whole number within bounds. */
export const wholeNumber = (from: number, to = Number.MAX_SAFE_INTEGER): Value<number> =>
  value(
    "NUMBER",
    () =>
      expecting(`a whole number, ${to === Number.MAX_SAFE_INTEGER ? `${from} or more` : `${from} to ${to}`}`)(
        Schema.compose(Schema.String.pipe(Schema.pattern(/^\d+$/)), Schema.NumberFromString).pipe(
          Schema.between(from, to)
        )
      )
  )

/** The same, with what stands for it in the help. */
export const called = <A>(placeholder: string, value: Value<A>): Value<A> => ({ ...value, placeholder })

/** What is read from a text by a function, and written by another. */
export const parsed = <A>(
  placeholder: string,
  expected: string,
  to: Schema.Schema<A>,
  read: (text: string) => Effect.Effect<Option.Option<A>>,
  write: (value: A) => string
): Value<A> =>
  value(
    placeholder,
    () =>
      expecting(expected)(
        Schema.transformOrFail(Schema.String, to, {
          strict: true,
          decode: (text, _, ast) =>
            Effect.flatMap(
              read(text),
              Option.match({
                onNone: () => ParseResult.fail(new ParseResult.Type(ast, text)),
                onSome: ParseResult.succeed
              })
            ),
          encode: (value) => ParseResult.succeed(write(value))
        })
      )
  )

/** A number of bytes. */
export const size: Value<number> = parsed(
  "SIZE",
  "a size such as 500k, 20M or 1.5GB",
  Schema.Number,
  (text) => Effect.succeed(Quantities.bytes(text)),
  String
)

/** A point in time, in milliseconds since 1970. */
export const time: Value<number> = parsed(
  "AGE",
  "an age such as 36h or 2d, or a date such as 2026-01-31",
  Schema.Number,
  (text) => Effect.map(Clock.currentTimeMillis, (now) => Quantities.time(text, now)),
  (millis) => DateTime.formatIso(DateTime.unsafeMake(millis))
)

/** A text of which a function says what is wrong, if anything. */
export const checked = (
  placeholder: string,
  problemOf: (text: string) => Option.Option<string>
): Value<string> =>
  value(
    placeholder,
    () =>
      Schema.String.pipe(
        Schema.filter((text) => Option.getOrUndefined(problemOf(text)))
      )
  )

/** The same, by a pattern. */
export const like = (placeholder: string, expected: string, pattern: RegExp): Value<string> =>
  value(placeholder, () => expecting(expected)(Schema.String.pipe(Schema.pattern(pattern))))

/** A text of which it is known what it looks like. */
export const matching = <A extends string>(
  placeholder: string,
  expected: string,
  is: (text: string) => text is A
): Value<A> => value(placeholder, () => expecting(expected)(Schema.String.pipe(Schema.filter(is))))
