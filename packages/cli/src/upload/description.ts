import { checkDescription } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { invalid, type InvalidInput } from "../options/invalidInput.js"

/** Checks what options say about the files, before any file is read: it would be wrong for each of them. */
export const check = (
  { mediaType, name }: { readonly mediaType: Option.Option<string>; readonly name: Option.Option<string> }
): Effect.Effect<void, InvalidInput> =>
  Effect.mapError(
    checkDescription(
      Option.getOrElse(name, () => "any"),
      Option.getOrElse(mediaType, () => "any/any")
    ),
    ({ expected, field }) => invalid(field === "name" ? "--name" : "--media-type", `expected ${expected}`)
  )
