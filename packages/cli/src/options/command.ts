/** A command: what it accepts, what the help says about it, and what it does, loaded when it runs. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type { Output } from "../print/output.js"
import * as Shared from "./apply.js"
import { invalid, type InvalidInput } from "./invalidInput.js"
import { type Entry, forActions, type Given, isOption, type Parameter } from "./parameter.js"
import * as Parameters from "./parameter.js"
import { name } from "./values.js"

/** What the help says about a command. */
export interface Page {
  readonly name: string
  /** What other tools call it. */
  readonly elsewhere: ReadonlyArray<string>
  /** In the list of commands. */
  readonly summary: string
  readonly help: string
  /** Command lines to start from. */
  readonly examples: ReadonlyArray<string>
  /** Options of other tools for what it does anyway, and what to say of them. */
  readonly unneeded: Readonly<Record<string, string>>
  readonly args: ReadonlyArray<Entry>
  readonly options: ReadonlyArray<Entry>
}

/** A command. */
export interface Command<E, R> extends Page {
  readonly run: Effect.Effect<void, E | InvalidInput, R | Given>
}

type Accepts = Readonly<Record<string, Parameter<unknown>>>

interface Described {
  readonly name: string
  readonly summary: string
  readonly help: string
  readonly examples: ReadonlyArray<string>
  readonly elsewhere?: ReadonlyArray<string>
  readonly unneeded?: Readonly<Record<string, string>>
}

const of = <A, E, R>(
  { elsewhere = [], unneeded = {}, ...page }: Described,
  entries: ReadonlyArray<Entry>,
  run: Effect.Effect<A, E, R | Given>
): Command<E, R> => ({
  ...page,
  elsewhere,
  unneeded,
  args: entries.filter((entry) => !isOption(entry)),
  options: entries.filter(isOption),
  run: Effect.asVoid(run)
})

/** A command, from the record of what it accepts. */
export const make = <A, E, R>(
  { accepts, run, ...page }: Described & { readonly accepts: Accepts; readonly run: Effect.Effect<A, E, R | Given> }
): Command<E, R> => of(page, Object.values(accepts).map(({ entry }) => entry), run)

/** One of the things that a command does. */
export interface Action<E, R> {
  readonly accepts: Accepts
  readonly run: Effect.Effect<unknown, E, R | Given>
}

/**
 * A command whose first argument says which action it is. Each accepts what is its own; the page says of what not all accept
 * which do.
 */
export const ofActions = <E, R>(
  { actions, ...page }: Described & { readonly actions: Readonly<Record<string, Action<E, R>>> }
): Command<E | InvalidInput, R> => {
  const names = Object.keys(actions)
  const which = Parameters.argument({ name: "ACTION", takes: { ...name, choices: names }, help: "What to do" })
  const accepted = Object.entries(actions).flatMap(([action, { accepts }]) =>
    Object.values(accepts).map(({ entry }) => ({ action, entry }))
  )
  const entries = Object.values(Arr.groupBy(accepted, ({ entry }) => entry.names[0])).map((all) =>
    all.length === names.length ? all[0].entry : forActions(all.map(({ action }) => action), all[0].entry)
  )
  const found = Effect.flatMap(which, (word) =>
    Effect.mapError(
      Record.get(actions, word),
      () => invalid("ACTION", `expected one of ${names.join(", ")}, not ${JSON.stringify(word)}`)
    ))
  return of(page, [which.entry, ...entries], Effect.flatMap(found, ({ run }) => run))
}

/** What a command does with what it accepts, loaded when the command runs. */
export const runs = <Options extends Shared.SharedOptions, E, R, Module, A, E2, R2>(
  options: Effect.Effect<Options, E, R>,
  load: () => Promise<Module>,
  programOf: (module: Module) => (options: Options) => Effect.Effect<A, E2, R2>
): Effect.Effect<A, E | E2 | InvalidInput, R | R2 | Output> =>
  Effect.flatMap(
    options,
    (given) => Shared.apply(given, Effect.flatMap(Effect.promise(load), (module) => programOf(module)(given)))
  )

/** What a command does that remembers it: nothing over what a newer version has written. */
export const remembering = <Given, A, E, R>(program: (given: Given) => Effect.Effect<A, E, R>) => (given: Given) =>
  Effect.flatMap(
    Effect.flatMap(Effect.promise(() => import("@stevedore/node/DiskLedger")), (ledger) => ledger.newerDirectory),
    (found): Effect.Effect<A, E | InvalidInput, R> =>
      found === ""
        ? program(given)
        : invalid(found, "was written by a newer version of Stevedore: use that one")
  )

/** An argument as it stands in a usage: `PATH...`, `[PATH]`. */
export const argument = ({ names: [name], optional, repeated }: Entry): string =>
  repeated ? `${name}...` : optional ? `[${name}]` : name

/** An option as it is typed: `-q, --quiet`, `--files NUMBER`, `--filter NAME=VALUE ...`. */
export const option = ({ names, placeholder, repeated }: Entry): string =>
  [
    names.toReversed().join(", "),
    ...(placeholder === undefined ? [] : [placeholder]),
    ...(repeated ? ["..."] : [])
  ].join(" ")

/** How a command is typed: `stevedore upload [OPTIONS] PATH...`. */
export const usage = ({ args, name, options }: Page): string =>
  ["stevedore", name, ...(options.length === 0 ? [] : ["[OPTIONS]"]), ...args.map(argument)].join(" ")
