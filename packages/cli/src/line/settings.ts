/** The configuration file: a default for every option, in a place where it is found by itself. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Arr from "effect/Array"
import * as Config from "effect/Config"
import * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { Page } from "../options/command.js"
import { readFile, warnOfOthers } from "../options/inputFile.js"
import { fromConfigError, invalid, type InvalidInput } from "../options/invalidInput.js"
import { question } from "../options/nearest.js"
import type { Entry, Words } from "../options/parameter.js"

/** Where the configuration file is. */
export interface Place {
  readonly path: string
  /** Whether `--config` names it; otherwise it was found by itself. */
  readonly named: boolean
}

/** A default of an option: from the top of the file for every command that has the option, or for one command. */
export interface Default {
  /** None for every command. */
  readonly command: Option.Option<string>
  /** As in the file, such as `maxErrors`. */
  readonly field: string
  /** As on the command line; `true` or `false` for a flag. */
  readonly values: ReadonlyArray<string>
}

/** The fields that have a variable, which takes precedence over the file: commands read them as variables. */
const variables: Readonly<Record<string, string>> = {
  baseUrl: "STEVEDORE_BASE_URL",
  // the file should then be readable only by its owner
  token: "STEVEDORE_TOKEN",
  tokenFile: "STEVEDORE_TOKEN_FILE",
  profile: "STEVEDORE_PROFILE"
}

const isVariable = (field: string): boolean => Object.hasOwn(variables, field)

const isProfileName = (profile: string): boolean => profile === "standard" || profile === "dovetail"

// one for the command before one for all
const byCommand = Order.mapInput(Order.boolean, ({ command }: Default) => Option.isNone(command))

/**
 * The path at which the file is looked for: `$XDG_CONFIG_HOME/stevedore.json`, otherwise `~/.config/stevedore.json`; on
 * Windows `%APPDATA%\stevedore.json`. None if the environment has none of these.
 */
export const usualPath: Effect.Effect<Option.Option<string>, ConfigError.ConfigError, Path.Path> = Effect.gen(
  function*() {
    const { join } = yield* Path.Path
    const directory = (name: string) => Config.option(Config.nonEmptyString(name))
    const home = process.platform === "win32"
      ? yield* directory("APPDATA")
      : Option.firstSomeOf([
        yield* directory("XDG_CONFIG_HOME"),
        Option.map(yield* directory("HOME"), (path) => join(path, ".config"))
      ])
    return Option.map(home, (path) => join(path, "stevedore.json"))
  }
)

/** The file for these options: the one that `--config` names, or the usual one if it is there. */
const locate = (
  given: Words
): Effect.Effect<Option.Option<Place>, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const named = given.get("--config")?.at(-1)
    if (named !== undefined) return Option.some({ path: named, named: true })
    const fs = yield* FileSystem.FileSystem
    const usual = yield* usualPath
    if (Option.isNone(usual)) return Option.none()
    // an unreadable one is a failure when it is read
    const isThere = yield* Effect.orElseSucceed(fs.exists(usual.value), () => true)
    return isThere ? Option.some({ path: usual.value, named: false }) : Option.none()
  }).pipe(Effect.catchIf(ConfigError.isConfigError, (error) => Effect.fail(fromConfigError(error))))

const AnyObject = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const decode = Schema.decode(Schema.parseJson(AnyObject))

const fieldOf = ({ names: [name] }: Entry): string =>
  name.slice(2).replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())

const scalar = Predicate.or(Predicate.isString, Predicate.isNumber)

const expected = ({ placeholder, repeated }: Entry): string =>
  placeholder === undefined
    ? "expected true or false"
    : repeated
    ? "expected a text or a list of texts"
    : "expected a text or a number"

// Undefined if the option does not take such a value. The value is not repeated anywhere: it may be a secret
const valuesOf = (
  { isPath, placeholder, repeated }: Entry,
  value: unknown,
  resolve: (path: string) => string
): ReadonlyArray<string> | undefined => {
  if (placeholder === undefined) return typeof value === "boolean" ? [String(value)] : undefined
  const values = Array.isArray(value) && repeated ? value : [value]
  if (!values.every(scalar)) return undefined
  return values.map((one) => isPath && one !== "-" ? resolve(String(one)) : String(one))
}

const optionsOf = (pages: ReadonlyArray<Page>): ReadonlyMap<string, Entry> =>
  new Map(
    pages.flatMap(({ options }) => options.map((entry) => [fieldOf(entry), entry] as const)).filter(([field]) =>
      field !== "config"
    )
  )

/** What a configuration file says. */
export interface Settings {
  readonly place: Place
  readonly defaults: ReadonlyArray<Default>
  /** The variables that it stands for. */
  readonly variables: Readonly<Record<string, string>>
}

/**
 * Reads a configuration file. Its fields are the options of the commands, in camel case, and the names of commands,
 * each with an object of fields for it alone. A field that does not exist is an error which names the most similar one.
 */
export const read = (
  place: Place,
  pages: ReadonlyArray<Page>
): Effect.Effect<Settings, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const { dirname, join, resolve } = yield* Path.Path
    const home = yield* Effect.orElseSucceed(Config.option(Config.string("HOME")), () => Option.none<string>())
    const beside = (path: string): string =>
      path.startsWith("~/") && Option.isSome(home)
        ? join(home.value, path.slice(2))
        : resolve(dirname(place.path), path)
    const wrong = (problem: string) => invalid("--config", `${place.path}: ${problem}`)
    const text = yield* readFile("--config", place.path)
    const fields = yield* Effect.mapError(decode(text), () => wrong("not a JSON object"))

    const defaultsOf = (
      section: ReadonlyArray<readonly [field: string, value: unknown]>,
      options: ReadonlyMap<string, Entry>,
      command: Option.Option<string>
    ) =>
      Effect.forEach(section, ([field, value]): Effect.Effect<Default, InvalidInput> => {
        const at = [...Option.toArray(command), field].join(".")
        const entry = options.get(field)
        if (entry === undefined) {
          return Effect.fail(wrong(`${at}: unknown field${question(field, options.keys())}`))
        }
        const values = valuesOf(entry, value, beside)
        return values === undefined
          ? Effect.fail(wrong(`${at}: ${expected(entry)}`))
          : Effect.succeed({ command, field, values })
      })

    const names = pages.map(({ name }) => name)
    const [top, sections] = Arr.partitionMap(Record.toEntries(fields), ([field, value]) =>
      names.includes(field) && Predicate.isRecord(value)
        ? Either.right([field, value] as const)
        : Either.left([field, value] as const))
    const [general, connection] = Arr.partition(top, ([field]) =>
      isVariable(field))
    const set = yield* Effect.forEach(connection, ([field, value]) => {
      if (!Predicate.isString(value) || value === "") {
        return wrong(`${field}: expected a non-empty string`)
      }
      const isPath = field === "tokenFile" || (field === "profile" && !isProfileName(value))
      return Effect.succeed([variables[field] ?? field, isPath ? beside(value) : value] as const)
    })
    if ("token" in fields) {
      yield* warnOfOthers(place.path)
    }
    if (!place.named && "token" in fields) {
      return yield* wrong("token: not here. Write it to a file of its own, and name that file in tokenFile")
    }
    const own = yield* Effect.forEach(sections, ([name, section]) =>
      defaultsOf(
        Object.entries(section),
        new Map([...optionsOf(pages.filter((page) =>
          page.name === name
        ))].filter(([field]) => !isVariable(field))),
        Option.some(name)
      ))
    const ofAll = yield* defaultsOf(general, optionsOf(pages), Option.none())
    return { place, defaults: [...ofAll, ...own.flat()], variables: Record.fromEntries(set) }
  })

/** The options of a command with its defaults, and what was added, as it would be typed. */
export interface Applied {
  readonly options: Words
  readonly added: Words
  readonly variables: Settings["variables"]
}

/**
 * The options with the defaults for their command that they do not override, and that have no variable. What is for the
 * command alone comes before what is for all.
 */
export const applied = (
  given: Words,
  page: Page,
  pages: ReadonlyArray<Page>
): Effect.Effect<Applied, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    // help takes none
    const place = page.options.length === 0 ? Option.none() : yield* locate(given)
    if (Option.isNone(place)) return { options: given, added: new Map(), variables: {} }
    const { defaults, variables } = yield* read(place.value, pages)
    const added = [...optionsOf([page])].flatMap(([field, { names: [name] }]) => {
      const found = defaults.filter((one) =>
        one.field === field && Option.getOrElse(one.command, () => page.name) === page.name
      )
      const [own] = Arr.sort(found, byCommand)
      return own === undefined || given.has(name) ? [] : [[name, own.values] as const]
    })
    const options = new Map([...added, ["--config", [place.value.path]] as const, ...given])
    return { options, added: new Map(added), variables }
  })
