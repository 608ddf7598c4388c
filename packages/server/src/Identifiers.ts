/**
 * The identifiers that the sandbox issues. All of them come from Effect's `Random`, so a seeded `Random` makes a run
 * repeatable to the last character.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const HEX = "0123456789abcdef"

const fromAlphabet = (alphabet: string, length: number): Effect.Effect<string> =>
  Random.nextIntBetween(0, alphabet.length).pipe(
    Effect.map((index) => alphabet.charAt(index)),
    Effect.replicateEffect(length),
    Effect.map((characters) => characters.join(""))
  )

/**
 * The id of a file, an upload or a record: 22 characters of Base62 (service contract: ids).
 *
 * @since 0.1.0
 * @category constructors
 */
export const recordId: Effect.Effect<string> = fromAlphabet(BASE62, 22)

/**
 * The id of a multipart upload. Opaque to every client, and as long as S3's.
 *
 * @since 0.1.0
 * @category constructors
 */
export const uploadId: Effect.Effect<string> = fromAlphabet(BASE62, 96)

/**
 * A request id as the service and storage send it: 16 upper-case hexadecimal digits.
 *
 * @since 0.1.0
 * @category constructors
 */
export const requestId: Effect.Effect<string> = Effect.map(fromAlphabet(HEX, 16), (id) => id.toUpperCase())

/**
 * An etag: 32 hexadecimal digits in quotes, new for every write. Like an etag under KMS, it is not a checksum of the
 * bytes: a client that takes it for an MD5 fails here as it would in production.
 *
 * @since 0.1.0
 * @category constructors
 */
export const etag: Effect.Effect<string> = Effect.map(fromAlphabet(HEX, 32), (digits) => `"${digits}"`)
