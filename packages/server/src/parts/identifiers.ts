/**
 * The identifiers that a service issues. All of them come from Effect's `Random`, so a seeded `Random` makes a run
 * repeatable to the last character. Where nobody may guess them, give the program the `Random` of {@link layerSecure}.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const HEX = "0123456789abcdef"

/** Several characters of each number that is drawn: of 53 bits, 42 are used, so that none is likelier than another. */
const fromAlphabet = (alphabet: string, length: number): Effect.Effect<string> => {
  const size = alphabet.length
  const atOnce = Math.floor(42 / Math.log2(size))
  const textOf = (drawn: number): string => {
    let text = ""
    for (let rest = drawn; text.length < atOnce; rest = Math.floor(rest / size)) text += alphabet.charAt(rest % size)
    return text
  }
  return Effect.gen(function*() {
    let text = ""
    while (text.length < length) text += textOf(yield* Random.nextIntBetween(0, size ** atOnce))
    return text.slice(0, length)
  })
}

/**
 * The id of a file, an upload or a record: 22 characters of Base62 (service contract: ids).
 *
 * @category constructors
 */
export const recordId: Effect.Effect<string> = fromAlphabet(BASE62, 22)

/**
 * The id of a multipart upload. Opaque to every client, and as long as S3's.
 *
 * @category constructors
 */
export const uploadId: Effect.Effect<string> = fromAlphabet(BASE62, 96)

/**
 * What makes a token nobody can guess: 43 characters of Base62, which are 256 bits.
 *
 * @category constructors
 */
export const secret: Effect.Effect<string> = fromAlphabet(BASE62, 43)

/**
 * A request id as the service and storage send it: 16 upper-case hexadecimal digits.
 *
 * @category constructors
 */
export const requestId: Effect.Effect<string> = Effect.map(fromAlphabet(HEX, 16), (id) => id.toUpperCase())

/**
 * An etag: 32 hexadecimal digits in quotes, new for every write. Like an etag under KMS, it is not a checksum of the
 * bytes: a client that takes it for an MD5 fails here as it would in production.
 *
 * @category constructors
 */
export const etag: Effect.Effect<string> = Effect.map(fromAlphabet(HEX, 32), (digits) => `"${digits}"`)

const WORD = 2 ** 32

// each word of it is used once: to ask the platform for many at a time is cheaper by far
const words = new Uint32Array(512)
let used = words.length

// 53 bits, as many as a number holds
const secureDouble = (): number => {
  if (used === words.length) {
    crypto.getRandomValues(words)
    used = 0
  }
  const [high = 0, low = 0] = words.subarray(used, used += 2)
  return (high * 2 ** 21 + (low >>> 11)) / (WORD * 2 ** 21)
}

const randomOf = (nextDouble: () => number): Random.Random => {
  const next = Effect.sync(nextDouble)
  const nextIntBetween = (min: number, max: number) => Effect.map(next, (at) => min + Math.floor(at * (max - min)))
  return {
    [Random.RandomTypeId]: Random.RandomTypeId,
    next,
    nextBoolean: Effect.map(next, (at) => at < 0.5),
    nextInt: nextIntBetween(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    nextRange: (min, max) => Effect.map(next, (at) => min + at * (max - min)),
    nextIntBetween,
    shuffle: <A>(elements: Iterable<A>) =>
      Effect.reduce(
        Array.from(elements),
        Chunk.empty<A>(),
        (shuffled, element) =>
          Effect.map(
            nextIntBetween(0, shuffled.length + 1),
            (at) => Chunk.appendAll(Chunk.append(Chunk.take(shuffled, at), element), Chunk.drop(shuffled, at))
          )
      )
  }
}

/**
 * A `Random` that nobody can predict, from the platform's Web Crypto. Effect's own is fast, and not made for secrets.
 *
 * @category layers
 */
export const layerSecure: Layer.Layer<never> = Layer.setRandom(randomOf(secureDouble))
