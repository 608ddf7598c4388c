/**
 * What a command accepts, as data. The parser, the help, the manual page, the completion scripts, the configuration file
 * and the guide all read it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { invalid, type InvalidInput } from "./invalidInput.js"
import { isTrue, type Value } from "./values.js"

/** An option or an argument, as all that is said of it. */
export interface Entry {
  /** As it is typed: `--files`, or `--quiet` and `-q`; for an argument, `PATH`. */
  readonly names: readonly [string, ...ReadonlyArray<string>]
  /** What other tools call it: whoever types that is told the first name. */
  readonly elsewhere: ReadonlyArray<string>
  /** What it takes, such as `NUMBER` or `auto|single`; undefined for a flag. */
  readonly placeholder: string | undefined
  /** The only values that it takes, if there are only some. */
  readonly choices: ReadonlyArray<string>
  /** Whether its value names a file or a directory. */
  readonly isPath: boolean
  /** Whether it can be given more than once, each time with another value. */
  readonly repeated: boolean
  /** Whether it can be left out, as every option can. */
  readonly optional: boolean
  /** The actions of the command that it is for; none if it is for all. */
  readonly actions: ReadonlyArray<string>
  readonly help: string
}

/** Whether it is an option; otherwise it is an argument. */
export const isOption = ({ names: [name] }: Entry): boolean => name.startsWith("-")

/** What a command line gives to each option and argument, by its first name. */
export type Words = ReadonlyMap<string, ReadonlyArray<string>>

/** The words of the command that runs. */
export class Given extends Context.Tag("@stevedore/cli/Given")<Given, Words>() {}

type Decode<A> = (words: ReadonlyArray<string>) => Effect.Effect<A, string>

/** An option or an argument: an effect that reads its value from the words of the command. */
export class Parameter<A> extends Effectable.Class<A, InvalidInput, Given> {
  constructor(readonly entry: Entry, readonly decode: Decode<A>) {
    super()
  }
  override commit() {
    const [input] = this.entry.names
    return Effect.flatMap(Given, (given) =>
      Effect.mapError(
        this.decode(given.get(input) ?? []),
        (problem) => invalid(input, problem)
      ))
  }
}

/** What a record of options and arguments gives to a command. */
export type Accepted<Parameters extends Readonly<Record<string, Parameter<unknown>>>> = {
  readonly [Name in keyof Parameters]: Effect.Effect.Success<Parameters[Name]>
}

// Where a word is read: what reads it is compiled then, and not for every option at every start
const read = <A>({ schema }: Value<A>) => (word: string): Effect.Effect<A, string> =>
  Effect.mapError(
    Schema.decode(schema())(word),
    (error) => ParseResult.ArrayFormatter.formatErrorSync(error).map(({ message }) => message).join("; ")
  )

interface Described {
  readonly name: string
  readonly help: string
}

/** The same of those actions alone. */
export const forActions = (actions: ReadonlyArray<string>, entry: Entry): Entry => ({
  ...entry,
  optional: true,
  actions,
  help: `${actions.join(", ")}: ${entry.help}`
})

interface OfOption extends Described {
  /** Another name of it: a letter, or a word. */
  readonly alias?: string
  readonly elsewhere?: ReadonlyArray<string>
}

interface Taking<A> extends OfOption {
  readonly takes: Value<A>
}

const dashed = (name: string): string => name.length === 1 ? `-${name}` : `--${name}`

const entryOfOption = ({ alias, elsewhere = [], help, name }: OfOption): Entry => ({
  names: [dashed(name), ...(alias === undefined ? [] : [dashed(alias)])],
  elsewhere: elsewhere.map(dashed),
  placeholder: undefined,
  choices: [],
  isPath: false,
  repeated: false,
  optional: true,
  actions: [],
  help
})

const taking = <A>(option: Taking<A>): Entry => {
  const { choices, isPath, placeholder } = option.takes
  return { ...entryOfOption(option), choices, isPath, placeholder }
}

const last = <A>(value: Value<A>): Decode<Option.Option<A>> => {
  const decode = read(value)
  return (words) => Effect.transposeMapOption(Option.fromNullable(words.at(-1)), decode)
}

const flagOf = read(isTrue)

/** An option without a value: true if it is given. */
export const flag = (option: OfOption): Parameter<boolean> =>
  new Parameter(entryOfOption(option), (words) => {
    const word = words.at(-1)
    return word === undefined ? Effect.succeed(false) : flagOf(word)
  })

/** An option with a value. Where it is given more than once, the last one counts. */
export const option = <A>(option: Taking<A>): Parameter<Option.Option<A>> =>
  new Parameter(taking(option), last(option.takes))

/** The same with a default, which the help tells. */
export const optionOr = <A extends string | number>(
  option: Taking<A> & { readonly default: A }
): Parameter<A> => {
  const decode = last(option.takes)
  return new Parameter(
    taking({ ...option, help: `${option.help}. Default: ${option.default}` }),
    (words) => Effect.map(decode(words), Option.getOrElse(() => option.default))
  )
}

/** An option that can be given more than once. */
export const options = <A>(option: Taking<A>): Parameter<ReadonlyArray<A>> =>
  new Parameter({ ...taking(option), repeated: true }, Effect.forEach(read(option.takes)))

interface OfArgument<A> extends Described {
  readonly takes: Value<A>
}

const entryOfArgument = <A>({ help, name, takes: { choices, isPath } }: OfArgument<A>): Entry => ({
  names: [name],
  elsewhere: [],
  placeholder: undefined,
  choices,
  isPath,
  repeated: false,
  optional: true,
  actions: [],
  help: choices.length === 0 ? help : `${help}: ${choices.join(", ")}`
})

/** An argument. */
export const argument = <A>(argument: OfArgument<A>): Parameter<A> => {
  const entry = entryOfArgument(argument)
  const { choices } = argument.takes
  const decode = read(argument.takes)
  const missing = choices.length === 0 ? entry.help : `expected one of ${choices.join(", ")}`
  return new Parameter(
    { ...entry, optional: false },
    ([word]) => word === undefined ? Effect.fail(`is missing: ${missing}. See --help`) : decode(word)
  )
}

/** An argument that can be left out. */
export const optionalArgument = <A>(argument: OfArgument<A>): Parameter<Option.Option<A>> =>
  new Parameter(entryOfArgument(argument), last(argument.takes))

/** Any number of arguments. */
export const argumentsOf = <A>(argument: OfArgument<A>): Parameter<ReadonlyArray<A>> =>
  new Parameter({ ...entryOfArgument(argument), repeated: true }, Effect.forEach(read(argument.takes)))
