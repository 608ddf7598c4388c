/** A command line: which command it is for, and what it gives to it. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { FileVariables } from "../options/apply.js"
import type { Page } from "../options/command.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { question } from "../options/nearest.js"
import { type Entry, Given, isOption, type Words } from "../options/parameter.js"
import { levelOf } from "../options/shared.js"
import { isTrue } from "../options/values.js"
import { Output } from "../print/output.js"
import * as Version from "../print/version.js"
import { commands, type Run } from "./commands.js"
import * as Completions from "./completions.js"
import * as Help from "./help.js"
import { type Line, parse } from "./parse.js"
import * as RootHelp from "./programHelp.js"
import * as Settings from "./settings.js"

const every = [...RootHelp.options, ...commands.flatMap(({ options }) => options)]

/** The words told apart, whatever their command: an option takes a value in all of them, or in none. */
export const read = (words: ReadonlyArray<string>): Line => parse(words, every)

const unknown = (word: string, options: ReadonlyArray<Entry>, unneeded: Page["unneeded"]): InvalidInput => {
  const reason = unneeded[word]
  if (reason !== undefined) return invalid(word, `not needed: ${reason}`)
  const known = options.find(({ elsewhere }) => elsewhere.includes(word))
  const names = word.startsWith("--") ? options.flatMap(({ names }) => names) : []
  const meant = question(word, names, known?.names[0])
  return invalid(
    word,
    `no such option${meant} See --help. Write a name that begins with a dash after --, or as ./${word}`
  )
}

const checked = (
  { mistake }: Line,
  options: ReadonlyArray<Entry>,
  unneeded: Page["unneeded"] = {}
): Effect.Effect<void, InvalidInput> =>
  Effect.asVoid(Effect.transposeMapOption(mistake, (found) =>
    found._tag === "Unknown"
      ? unknown(found.word, options, unneeded)
      : invalid(found.entry.names[0], `needs a value: ${found.entry.placeholder}`)))

/** The arguments by their names, in their order. */
const argumentsOf = (
  { args, name }: Page,
  words: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<readonly [string, ReadonlyArray<string>]>, InvalidInput> => {
  const tooMany = args.some(({ repeated }) => repeated) ? undefined : words[args.length]
  return tooMany === undefined
    ? Effect.succeed(
      args.map(({ names: [name], repeated }, index) => [name, words.slice(index, repeated ? undefined : index + 1)])
    )
    : invalid(tooMany, `one argument too many: see stevedore help ${name}`)
}

// The process list shows arguments. Only a sandbox makes its own token
const checkToken = ({ names: [command], options }: Line): Effect.Effect<void, InvalidInput> =>
  command !== "sandbox" && options.has("--token")
    ? invalid(
      "--token",
      "a token is never an argument, because the process list shows arguments: set STEVEDORE_TOKEN, or give " +
        "--token-file with a file that holds it"
    )
    : Effect.void

/** What is typed for one action of a command, and given to another. */
const checkAction = ({ args, name, options }: Page, { names: [, ...given], options: typed }: Line) => {
  const [action = ""] = given
  const isAction = args.some(({ choices }) => choices.includes(action))
  const isTyped = (entry: Entry) => isOption(entry) ? typed.has(entry.names[0]) : args.indexOf(entry) < given.length
  const strange = [...args, ...options].find((entry) =>
    isAction && entry.actions.length > 0 && !entry.actions.includes(action) && isTyped(entry)
  )
  return strange === undefined
    ? Effect.void
    : invalid(strange.names[0], `means nothing to ${name} ${action}: see stevedore help ${name}`)
}

const levelled = (level: Option.Option<string>) => <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Option.match(
    Option.flatMap(level, levelOf),
    {
      onNone: () => run,
      onSome: (level) => Logger.withMinimumLogLevel(run, level)
    }
  )

// Who mistypes an option knows it; who mistyped it last year in a file does not
const blamed = (added: Words, { input, problem }: InvalidInput): InvalidInput => {
  const words = (added.get(input) ?? []).map((value) => `${input}=${value}`)
  const source = `\nThe configuration file adds ${words.join(" ")}: see stevedore config`
  return invalid(input, words.length === 0 ? problem : `${problem}${source}`)
}

type Services = Exclude<Effect.Effect.Context<Run>, Given>

/** A command line that is complete: what is left is to do it. */
export interface Ready {
  readonly run: Effect.Effect<void, Effect.Effect.Error<Run>, Services>
  /** Whether its failure is told as JSON. */
  readonly json: boolean
}

const decodeFlag = (word: string) => Schema.decodeOption(isTrue.schema())(word)

/** What the last word of a flag says, if it is one. */
const flagOf = (options: Words, name: string): Option.Option<boolean> =>
  Option.flatMap(Option.fromNullable(options.get(name)?.at(-1)), decodeFlag)

/** Whether options ask for JSON. */
export const asksForJson = (options: Words): boolean => Option.contains(flagOf(options, "--json"), true)

/** Whether a flag is there that is not said to be off. */
const isOn = (options: Words, name: string): boolean =>
  options.has(name) && !Option.contains(flagOf(options, name), false)

/** Finds what the words after the program's name stand for, with the defaults of the configuration file. */
export const prepare = (
  words: ReadonlyArray<string>
): Effect.Effect<Ready, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const all = read(words)
    const { names: [name], options } = all
    const [first] = options.keys()
    const ready = (run: Ready["run"]): Ready => ({ run, json: asksForJson(options) })
    if (isOn(options, "--help")) {
      const named = Arr.findFirst(all.names, (name) => commands.some((command) => command.name === name))
      return ready(Help.show(Option.orElse(named, () => Option.fromNullable(name)), commands))
    }
    yield* checkToken(all)
    const [level, shell] = yield* Effect.provideService(
      Effect.all([RootHelp.accepts.logLevel, RootHelp.accepts.completions]),
      Given,
      options
    )
    if (isOn(options, "--version")) {
      return ready(
        Effect.flatMap(Output, ({ lines }) => Effect.flatMap(Version.current, (version) => lines([version])))
      )
    }
    if (Option.isSome(shell)) {
      return ready(Effect.flatMap(Output, ({ styled }) => styled(Completions.script(shell.value, commands))))
    }
    if (name === undefined) {
      yield* checked(all, RootHelp.options)
      return first === undefined
        ? ready(Help.show(Option.none(), commands))
        : yield* invalid(first, "needs a command: see stevedore help")
    }
    const command = commands.find((command) => command.name === name)
    if (command === undefined) return yield* Help.noCommand(name, commands)
    const accepted = [...command.options, ...RootHelp.options]
    const line = parse(words, accepted)
    yield* checked(line, accepted, command.unneeded)
    const args = yield* argumentsOf(command, line.names.slice(1))
    yield* checkAction(command, line)
    const applied = yield* Settings.applied(line.options, command, commands)
    const performed: Run = command.run
    return {
      json: asksForJson(applied.options),
      run: performed.pipe(
        Effect.provideService(FileVariables, applied.variables),
        Effect.provideService(Given, new Map([...applied.options, ...args])),
        levelled(level),
        Effect.catchTag("InvalidInput", (error) => Effect.fail(blamed(applied.added, error)))
      )
    }
  })
