/**
 * Checksums of what is sent: of each part while it is on its way, and of the whole file, combined from its parts
 * without a second pass.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Encoding from "effect/Encoding"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Crc32 from "./internal/crc32.js"

/**
 * A checksum as storage writes it.
 *
 * @since 0.1.0
 * @category models
 */
export const Checksum = Schema.Struct({
  /** As in the storage's header `x-amz-checksum-<algorithm>`, such as `crc32`. */
  algorithm: Schema.NonEmptyString,
  /** The bytes of the checksum, most significant first, in base64. */
  value: Schema.NonEmptyString
}).annotations({ identifier: "Checksum" })

/**
 * A checksum as storage writes it: its algorithm and its value in base64.
 *
 * @since 0.1.0
 * @category models
 */
export type Checksum = typeof Checksum.Type

/**
 * A checksum that is being computed.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunningChecksum {
  readonly update: (chunk: Uint8Array) => void
  /** The value of all chunks so far, in base64. */
  readonly value: () => string
}

/**
 * A way to compute checksums. Which one is in force is told by {@link Algorithm}.
 *
 * @since 0.1.0
 * @category models
 */
export interface ChecksumAlgorithm {
  readonly name: string
  readonly begin: () => RunningChecksum
  /**
   * The value of two runs of bytes one after the other, from the value of each and the second's length in bytes.
   * Absent where the algorithm cannot: then a file of several parts has no checksum as a whole.
   */
  readonly combine?: ((first: string, second: string, secondLength: number) => string) | undefined
}

const encode = (crc: number): string =>
  Encoding.encodeBase64(Uint8Array.of(crc >>> 24, (crc >>> 16) & 0xff, (crc >>> 8) & 0xff, crc & 0xff))

const decode = (value: string): number =>
  Option.match(Option.getRight(Encoding.decodeBase64(value)), {
    onNone: () => 0,
    onSome: (bytes) => bytes.reduce((crc, byte) => ((crc << 8) | byte) >>> 0, 0)
  })

/**
 * CRC-32 as of zlib, PNG and S3, over a function that goes on from a checksum with more bytes.
 *
 * @since 0.1.0
 * @category algorithms
 */
export const crc32With = (update: (crc: number, chunk: Uint8Array) => number): ChecksumAlgorithm => ({
  name: "crc32",
  begin: () => {
    let crc = 0
    return {
      update: (chunk) => {
        crc = update(crc, chunk)
      },
      value: () => encode(crc)
    }
  },
  combine: (first, second, secondLength) => encode(Crc32.combine(decode(first), decode(second), secondLength))
})

/**
 * CRC-32 in JavaScript, for every platform. Node's layer has a native one in its place.
 *
 * @since 0.1.0
 * @category algorithms
 */
export const crc32: ChecksumAlgorithm = crc32With(Crc32.update)

/**
 * The algorithm in force, read when an upload begins.
 *
 * @since 0.1.0
 * @category references
 */
export class Algorithm extends Context.Reference<Algorithm>()<"@stevedore/core/Checksum/Algorithm", ChecksumAlgorithm>(
  "@stevedore/core/Checksum/Algorithm",
  { defaultValue: () => crc32 }
) {}

/**
 * Another algorithm, for an application or for one effect.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (algorithm: ChecksumAlgorithm): Layer.Layer<never> => Layer.succeed(Algorithm, algorithm)

/**
 * The checksum of bytes in memory.
 *
 * @since 0.1.0
 * @category constructors
 */
export const ofBytes = (algorithm: ChecksumAlgorithm, bytes: Uint8Array): Checksum => {
  const running = algorithm.begin()
  running.update(bytes)
  return { algorithm: algorithm.name, value: running.value() }
}

/**
 * The checksum of a whole file from those of its parts, in their order; none when the algorithm cannot combine, or a
 * part has none.
 *
 * @since 0.1.0
 * @category combinators
 */
export const combineAll = (
  algorithm: ChecksumAlgorithm,
  parts: ReadonlyArray<{ readonly checksum?: string | undefined; readonly size: number }>
): Option.Option<Checksum> => {
  const { combine, name } = algorithm
  const [first, ...rest] = parts
  if (first?.checksum === undefined) return Option.none()
  let value = first.checksum
  for (const part of rest) {
    if (part.checksum === undefined || combine === undefined) return Option.none()
    value = combine(value, part.checksum, part.size)
  }
  return Option.some({ algorithm: name, value })
}
