/** Invalid input. */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import type { InvalidConfiguration } from "@stevedore/core/ServiceConfig"
import type * as ServeSettings from "@stevedore/server/ServeSettings"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ExitCode from "../print/exitCode.js"

/** The input to the command is invalid; the service was not called. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>("@stevedore/cli/InvalidInput")("InvalidInput", {
  kind: ErrorKind.field("input"),
  /** The option, variable or file. */
  input: Schema.String,
  /** What is wrong with it, and what would be valid. */
  problem: Schema.String
}) {
  get exitCode(): number {
    return ExitCode.usage
  }
  override get message(): string {
    return `${this.input}: ${this.problem}`
  }
}

/** Input that is invalid: the option, variable or file, and what is wrong with it. */
export const invalid = (input: string, problem: string): InvalidInput => new InvalidInput({ input, problem })

const remedies: Readonly<Record<string, string>> = {
  STEVEDORE_BASE_URL: "set it to the URL of the service, such as https://host/api, or give --base-url",
  STEVEDORE_TOKEN: "set it to the token of the service, or give --token-file with a file that holds it"
}

/** A setting of the service that is missing or malformed, with the option of the command for it. */
export const fromConfiguration = ({ expected, field, problem, where }: InvalidConfiguration): InvalidInput =>
  invalid(
    where ?? field,
    problem === "missing"
      ? `not set: ${remedies[where ?? field] ?? "set it, or give the option for it"}`
      : `expected ${expected}`
  )

/** A setting of one's own service, whose error is what the command says of it. */
export const setting = <A, R>(
  read: Effect.Effect<A, ServeSettings.SettingInvalid, R>
): Effect.Effect<A, InvalidInput, R> => Effect.mapError(read, ({ problem, variable }) => invalid(variable, problem))

/** A variable that cannot be read. */
export const fromConfigError = (error: ConfigError.ConfigError): InvalidInput =>
  error._op === "And" || error._op === "Or"
    ? fromConfigError(error.left)
    : invalid(error.path.join("_") || "configuration", error.message)
