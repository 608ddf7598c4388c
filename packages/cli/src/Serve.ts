/**
 * `stevedore serve`: the service itself, over a directory of this machine.
 *
 * @since 0.1.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createRequire } from "node:module"
import * as ServeInstalled from "./internal/serveInstalled.js"
import { InvalidInput } from "./InvalidInput.js"
import { Output, type OutputFailed } from "./Output.js"
import type { Serving } from "./Reports.js"

/**
 * The options of the command.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** 0 for any free one. */
  readonly port: number
  /** Where the files and their rows are kept. */
  readonly directory: string
  /** The origin by which clients reach the service; if none, where it listens. */
  readonly publicUrl: Option.Option<string>
  readonly json: boolean
}

const checkOrigin = (text: string) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && new URL(text).pathname === "/"
    ? Effect.succeed(text)
    : new InvalidInput({ input: "--public-url", problem: "expected an origin, such as https://files.example" })

const instructions = ({ api, profile, token }: typeof Serving.Type): ReadonlyArray<string> => [
  `The service is running at ${api}, for this machine alone.`,
  "In another terminal:",
  "",
  `  export STEVEDORE_BASE_URL=${api}`,
  `  export STEVEDORE_TOKEN=${token}`,
  `  export STEVEDORE_PROFILE=${profile}`,
  "  stevedore upload FILE",
  "",
  "Press Ctrl-C to stop it. It keeps what it stores."
]

/**
 * Serves until interrupted. Then it takes no more requests, lets those under way end, and ends.
 *
 * @since 0.1.0
 * @category programs
 */
export const run = (
  options: Options
): Effect.Effect<never, InvalidInput | OutputFailed, Output | FileSystem.FileSystem | Path.Path> =>
  Effect.scoped(Effect.gen(function*() {
    const output = yield* Output
    const problem = ServeInstalled.problem(createRequire(import.meta.url))
    if (problem !== undefined) return yield* new InvalidInput({ input: "serve", problem })
    const publicUrl = yield* Effect.transposeMapOption(options.publicUrl, checkOrigin)
    const NodeServe = yield* Effect.promise(() => import("@stevedore/server/NodeServe"))
    const { baseUrl, profile, token } = yield* NodeServe.serve({
      port: options.port,
      directory: options.directory,
      publicUrl: Option.getOrUndefined(publicUrl)
    }).pipe(Effect.mapError(({ option, problem }) => new InvalidInput({ input: `--${option}`, problem })))
    const serving: typeof Serving.Type = { type: "listening", api: baseUrl, token: Redacted.value(token), profile }
    yield* options.json ? output.json([serving]) : output.lines(instructions(serving))
    return yield* Effect.never
  }))
