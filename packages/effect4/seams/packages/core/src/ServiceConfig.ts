import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

/** @internal */
export const invalid = (path: ReadonlyArray<string>, message: string): Config.ConfigError =>
  new Config.ConfigError(
    new Schema.SchemaError(new SchemaIssue.Pointer(path, new SchemaIssue.InvalidValue({ message })))
  )

const missing = (path: ReadonlyArray<string>, message: string): Config.ConfigError => invalid(path, message)

const checkedAt = <A, B>(
  path: ReadonlyArray<string>,
  config: Config.Config<A>,
  check: (value: A) => Result.Result<B, string>
): Config.Config<B> =>
  Config.mapEffect(
    config,
    (value) => Effect.fromResult(Result.mapError(check(value), (problem) => invalid(path, problem)))
  )

const checked = <A, B>(
  config: Config.Config<A>,
  check: (value: A) => Result.Result<B, string>
): Config.Config<B> => checkedAt([], config, check)

const ofVariable = <A, B>(
  name: string,
  read: (name: string) => Config.Config<A>,
  check: (value: A) => Result.Result<B, string>
): Config.Config<B> => checkedAt([name], read(name), check)

const orWhereMissing = <A>(config: Config.Config<A>, other: Config.Config<A>): Config.Config<A> =>
  Config.flatMap(Config.option(config), Option.match({ onNone: () => other, onSome: Config.succeed }))
