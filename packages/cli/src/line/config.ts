/** `stevedore config`: the settings in force, and where each comes from. */
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { Page } from "../options/command.js"
import { fromConfigError } from "../options/invalidInput.js"
import type { Accepted } from "../options/parameter.js"
import type { ofService } from "../options/shared.js"
import { Output } from "../print/output.js"
import * as Table from "../print/table.js"
import * as Settings from "./settings.js"

type Options = Accepted<typeof ofService>

/** A setting, as a line of `--json`. */
export const Setting = Schema.Struct({
  type: Schema.Literal("setting"),
  /** As in the configuration file: `baseUrl`, or `upload.files` for one command. */
  name: Schema.String,
  /** Null if it is not set. Of the token, only that it is set. */
  value: Schema.NullOr(Schema.String),
  /** An option, a variable, the path of the configuration file, or `default`. */
  from: Schema.String
}).annotations({ identifier: "Setting" })

type Setting = typeof Setting.Type

interface Source {
  readonly value: string
  readonly from: string
}

const setting = (name: string, sources: ReadonlyArray<Option.Option<Source>>, otherwise: string | null): Setting =>
  Option.match(Option.firstSomeOf(sources), {
    onNone: () => ({ type: "setting", name, value: otherwise, from: "default" }),
    onSome: ({ from, value }) => ({ type: "setting", name, value, from })
  })

const given = (option: string, value: Option.Option<string>) =>
  Option.map(value, (value): Source => ({ value, from: option }))

const variable = (name: string): Effect.Effect<Option.Option<Source>, ConfigError> =>
  Effect.map(Config.option(Config.nonEmptyString(name)), Option.map((value) => ({ value, from: name })))

const hidden = Option.map(({ from }: Source): Source => ({ value: "(set, not shown)", from }))

const connection = (options: Options, settings: Option.Option<Settings.Settings>) =>
  Effect.gen(function*() {
    const ofFile = (name: string) =>
      Option.flatMap(settings, ({ place: { path }, variables }) =>
        Option.map(Record.get(variables, name), (value): Source => ({ value, from: path })))
    const [baseUrl, token, tokenFile, profile] = yield* Effect.all([
      variable("STEVEDORE_BASE_URL"),
      variable("STEVEDORE_TOKEN"),
      variable("STEVEDORE_TOKEN_FILE"),
      variable("STEVEDORE_PROFILE")
    ])
    return [
      setting("baseUrl", [given("--base-url", options.baseUrl), baseUrl, ofFile("STEVEDORE_BASE_URL")], null),
      setting("token", [
        given("--token-file", options.tokenFile),
        hidden(token),
        tokenFile,
        hidden(ofFile("STEVEDORE_TOKEN")),
        ofFile("STEVEDORE_TOKEN_FILE")
      ], null),
      setting(
        "profile",
        [given("--profile", options.profile), profile, ofFile("STEVEDORE_PROFILE")],
        "standard"
      )
    ]
  })

const ofDefaults = ({ defaults, place }: Settings.Settings): ReadonlyArray<Setting> =>
  defaults.map(({ command, field, values }) => ({
    type: "setting",
    name: [...Option.toArray(command), field].join("."),
    value: values.join(", "),
    from: place.path
  }))

const columns: ReadonlyArray<Table.Column> = [
  { header: "SETTING", width: 20 },
  { header: "VALUE", width: undefined },
  { header: "FROM", width: 26, spare: true }
]

/** Prints the settings. */
export const run = (options: Options, pages: ReadonlyArray<Page>) =>
  Effect.gen(function*() {
    const output = yield* Output
    const usual = yield* Settings.usualPath
    const place = Option.map(options.config, (path): Settings.Place => ({
      path,
      named: !Option.contains(usual, path)
    }))
    const settings = yield* Effect.transposeMapOption(place, (found) => Settings.read(found, pages))
    const all = [
      ...yield* connection(options, settings),
      ...Option.match(settings, { onNone: () => [], onSome: ofDefaults })
    ]
    if (options.json) return yield* output.json(all)
    yield* Table.print(columns, all.map(({ from, name, value }) => [name, value ?? "(not set)", from]))
    yield* output.note(
      Option.match(Option.orElse(options.config, () => usual), {
        onNone: () => "There is no configuration file",
        onSome: (path) =>
          Option.isSome(place) ? `Configuration file: ${path}` : `There is no configuration file at ${path}`
      })
    )
  }).pipe(Effect.catchTag("ConfigError", (error) => Effect.fail(fromConfigError(error))))
