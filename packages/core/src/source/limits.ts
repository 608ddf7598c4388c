/**
 * The limits that are known when a source is made, before there is a service: those of the standard profile. The limits
 * of another profile are checked when an upload starts.
 */
import * as Either from "effect/Either"
import type { ServiceProfile } from "../ServiceProfile.js"
import { InvalidSource } from "../SourceError.js"
import { standardProfile } from "./standardProfile.js"

const { limits } = standardProfile

/** The largest file of an upload, in bytes: 10 GB. */
export const size: number = limits.multipartSize

/**
 * The longest name, in characters as the service counts them: 1024. JavaScript's `length` counts some of them twice.
 */
export const nameLength: number = limits.nameLength

/**
 * How many characters a name has, as the service counts them: an emoji such as the ship is one, where JavaScript's
 * `length` says two.
 */
export const charactersIn = (name: string): number => [...name].length

/** The longest media type, in characters: 255. */
export const mediaTypeLength: number = limits.mediaTypeLength

const upTo = (longest: number): string => `1 to ${longest} characters`

/**
 * Checks what the service will be told about a source. For sources of your own: a name that is empty or too long, or a
 * media type that cannot be sent, then fails where the source is made, not when its upload starts. The limits default
 * to those of the standard profile.
 */
export const checkDescription = (
  name: string,
  mediaType: string,
  { mediaTypeLength, nameLength }: Pick<ServiceProfile["limits"], "mediaTypeLength" | "nameLength"> = limits
): Either.Either<void, InvalidSource> => {
  const invalid = (field: InvalidSource["field"], expected: string) =>
    Either.left(new InvalidSource({ fileName: name, field, expected }))
  if (name === "" || charactersIn(name) > nameLength) return invalid("name", upTo(nameLength))
  if (mediaType.length > mediaTypeLength) return invalid("mediaType", upTo(mediaTypeLength))
  return /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+ *(;[ -~]*)?$/.test(mediaType)
    ? Either.void
    : invalid("mediaType", "a type such as video/mp4")
}
