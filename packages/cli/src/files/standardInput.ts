import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import { textOf } from "../options/inputFile.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"

/** What the command reads its standard input from. */
export class StandardInput extends Context.Reference<StandardInput>()<
  "@stevedore/cli/StandardInput",
  () => AsyncIterable<Uint8Array>
>("@stevedore/cli/StandardInput", { defaultValue: () => () => process.stdin }) {}

export const bytes: Stream.Stream<Uint8Array, unknown> = Stream.unwrap(
  Effect.map(StandardInput, (open) => Stream.fromAsyncIterable(open(), (cause) => cause))
)

export const text = (input: string): Effect.Effect<string, InvalidInput> =>
  Stream.runCollect(bytes).pipe(
    Effect.mapError(() => "cannot read standard input"),
    Effect.flatMap((chunks) =>
      Either.mapLeft(textOf(Buffer.concat([...chunks])), (problem) => `standard input ${problem}`)
    ),
    Effect.mapError((problem) => invalid(input, problem))
  )
