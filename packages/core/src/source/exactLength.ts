import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { SourceChanged } from "../SourceError.js"

export const exactly = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  options: { readonly name: string; readonly size: number }
): Stream.Stream<Uint8Array, E | SourceChanged> => {
  const changed = (what: "tooShort" | "tooLong", actual: number) =>
    new SourceChanged({ fileName: options.name, what, expected: String(options.size), actual: String(actual) })
  return Stream.suspend(() => {
    let given = 0
    const counted = Stream.tap(stream, (chunk) => {
      given += chunk.byteLength
      return given > options.size ? Effect.fail(changed("tooLong", given)) : Effect.void
    })
    const end = Stream.suspend(() => given < options.size ? Stream.fail(changed("tooShort", given)) : Stream.empty)
    return Stream.concat(counted, end)
  })
}
