/** A command: what it accepts, what the help says about it, and what it does, loaded when it runs. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import type { Output } from "../print/output.js"
import * as Shared from "./apply.js"
import type { InvalidInput } from "./invalidInput.js"
import { type Entry, type Given, isOption, type Parameter } from "./parameter.js"

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

/** A command, from the record of what it accepts. */
export const make = <A, E, R>(
  { accepts, elsewhere = [], run, unneeded = {}, ...page }: {
    readonly name: string
    readonly summary: string
    readonly help: string
    readonly examples: ReadonlyArray<string>
    readonly accepts: Readonly<Record<string, Parameter<unknown>>>
    readonly elsewhere?: ReadonlyArray<string>
    readonly unneeded?: Readonly<Record<string, string>>
    readonly run: Effect.Effect<A, E, R | Given>
  }
): Command<E, R> => {
  const entries = Object.values(accepts).map(({ entry }) => entry)
  return {
    ...page,
    elsewhere,
    unneeded,
    args: entries.filter((entry) => !isOption(entry)),
    options: entries.filter(isOption),
    run: Effect.asVoid(run)
  }
}

/** What a command does with what it accepts, loaded when the command runs. */
export const runs = <Options extends Shared.Given, E, R, Module, A, E2, R2>(
  options: Effect.Effect<Options, E, R>,
  load: () => Promise<Module>,
  programOf: (module: Module) => (options: Options) => Effect.Effect<A, E2, R2>
): Effect.Effect<A, E | E2 | InvalidInput, R | R2 | Output | FileSystem.FileSystem | Path.Path> =>
  Effect.flatMap(
    options,
    (given) => Shared.apply(given, Effect.flatMap(Effect.promise(load), (module) => programOf(module)(given)))
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
