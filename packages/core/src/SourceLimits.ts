/**
 * What is known of a service's limits when a source is made, before there is a service: those of the standard profile.
 * The limits of another profile are checked when an upload begins.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { standardProfile } from "./internal/standardProfile.js"
import { InvalidSource } from "./SourceError.js"

const { limits } = standardProfile

/**
 * The largest file of an upload, in bytes: 10 GB.
 *
 * @since 0.1.0
 * @category constants
 */
export const size: number = limits.multipartSize

/**
 * The longest name, in characters as the service counts them: 1024. JavaScript's own length counts some of them twice.
 *
 * @since 0.1.0
 * @category constants
 */
export const nameLength: number = limits.nameLength

/**
 * How many characters a name has, as the service counts them: a ship in one emoji is one, where JavaScript's own length
 * says two.
 *
 * @example
 * import { SourceLimits } from "@stevedore/core"
 *
 * SourceLimits.charactersIn("🚢.mp4") // 5
 *
 * @since 0.1.0
 * @category accessors
 */
export const charactersIn = (name: string): number => [...name].length

/**
 * The longest media type, in characters: 255.
 *
 * @since 0.1.0
 * @category constants
 */
export const mediaTypeLength: number = limits.mediaTypeLength

const upTo = (longest: number): string => `1 to ${longest} characters`

/**
 * Checks what a service will be told of a source. For sources of your own: a name or a media type that is empty or too
 * long fails where the source is made, and not when it is its turn to go up.
 *
 * @example
 * import { SourceLimits } from "@stevedore/core"
 * import { Either } from "effect"
 *
 * SourceLimits.checkDescription("interview.mp4", "video/mp4") // right
 * Either.mapLeft(SourceLimits.checkDescription("", "video/mp4"), (error) => error.field) // left("name")
 *
 * @since 0.1.0
 * @category validation
 */
export const checkDescription = (name: string, mediaType: string): Either.Either<void, InvalidSource> => {
  if (name === "" || charactersIn(name) > nameLength) {
    return Either.left(new InvalidSource({ name, field: "name", expected: upTo(nameLength) }))
  }
  return mediaType === "" || mediaType.length > mediaTypeLength
    ? Either.left(new InvalidSource({ name, field: "mediaType", expected: upTo(mediaTypeLength) }))
    : Either.void
}
