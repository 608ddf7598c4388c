import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { InvalidInput } from "../InvalidInput.js"

/**
 * What the command reads its standard input from.
 *
 * @internal
 */
export class StandardInput extends Context.Reference<StandardInput>()<
  "@stevedore/cli/StandardInput",
  () => AsyncIterable<Uint8Array>
>("@stevedore/cli/StandardInput", { defaultValue: () => () => process.stdin }) {}

/** @internal */
export const bytes: Stream.Stream<Uint8Array, unknown> = Stream.unwrap(
  Effect.map(StandardInput, (open) => Stream.fromAsyncIterable(open(), (cause) => cause))
)

/** @internal */
export const text = (input: string): Effect.Effect<string, InvalidInput> =>
  Effect.mapError(
    Stream.mkString(Stream.decodeText(bytes)),
    () => new InvalidInput({ input, problem: "cannot read standard input" })
  )
