import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Pulls from "../base/effect.js"
import { SourceChanged } from "../SourceError.js"

/** A stream that fails where it has another length. By pulls: what streams are put together with would be loaded for it alone. */
export const exactly = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  { name, size }: { readonly name: string; readonly size: number }
): Stream.Stream<Uint8Array, E | SourceChanged> =>
  Stream.unwrapScoped(Effect.map(Pulls.ofStream(stream), (pull) => {
    let given = 0
    const changed = (what: "tooShort" | "tooLong") =>
      Effect.fail(Option.some(
        new SourceChanged({ fileName: name, what, expected: String(size), actual: String(given) })
      ))
    return Pulls.toStream(Effect.matchEffect(pull, {
      onFailure: (end): Effect.Effect<never, Option.Option<E | SourceChanged>> =>
        Option.isNone(end) && given < size ? changed("tooShort") : Effect.fail(end),
      onSuccess: (chunk) => {
        given += chunk.byteLength
        return given > size ? changed("tooLong") : Effect.succeed(chunk)
      }
    }))
  }))
