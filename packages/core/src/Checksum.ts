/**
 * Checksums of what is sent: of each part while it is sent, and of the whole file, combined from its parts without a
 * second pass.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Crc32 from "./base/crc32.js"
import type { Crc64 } from "./base/crc64.js"
import * as Crc64s from "./base/crc64.js"

/**
 * A checksum in storage's notation.
 *
 * @category models
 */
export const Checksum = /* #__PURE__ */ Schema.Struct({
  /** The suffix of storage's header `x-amz-checksum-<algorithm>`, such as `crc32`. */
  algorithm: Schema.NonEmptyString,
  /** The bytes of the checksum, most significant first, in base64. */
  value: Schema.NonEmptyString
}).annotations({ identifier: "Checksum" })

/**
 * A checksum in storage's notation: its algorithm, and its value in base64.
 *
 * @category models
 */
export interface Checksum extends Schema.Schema.Type<typeof Checksum> {}

/**
 * A checksum in progress.
 *
 * @category models
 */
export interface RunningChecksum {
  readonly update: (chunk: Uint8Array) => void
  /** The value of all chunks so far, in base64. */
  readonly value: () => string
}

/**
 * A way to compute checksums. {@link Algorithm} holds the one in force.
 *
 * @category models
 */
export interface ChecksumAlgorithm {
  readonly name: string
  readonly begin: () => RunningChecksum
  /**
   * The checksum of two consecutive runs of bytes, from the checksum of each and the length of the second in bytes.
   * Absent if the algorithm cannot combine: a file of several parts then has no checksum as a whole.
   */
  readonly combine?: ((first: string, second: string, secondLength: number) => string) | undefined
  /** `false` does not compute the checksum of what is sent: see {@link none}. */
  readonly whileSending?: boolean | undefined
}

const bytesOf = (word: number): ReadonlyArray<number> => [
  word >>> 24,
  (word >>> 16) & 0xff,
  (word >>> 8) & 0xff,
  word & 0xff
]

const wordOf = (bytes: Uint8Array): number => bytes.reduce((word, byte) => ((word << 8) | byte) >>> 0, 0)

const isBase64 = (value: string): boolean => value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value)

const decodedBytes = (value: string): Uint8Array =>
  Uint8Array.from(isBase64(value) ? atob(value) : "", (character) => character.charCodeAt(0))

// Every platform has base64 built in, so a page need not load tables for it
const encodedBytes = (bytes: ReadonlyArray<number>): string => btoa(String.fromCharCode(...bytes))

const encode = (crc: number): string => encodedBytes(bytesOf(crc))

const decode = (value: string): number => wordOf(decodedBytes(value))

const encode64 = ({ high, low }: Crc64): string => encodedBytes([...bytesOf(high), ...bytesOf(low)])

const decode64 = (value: string): Crc64 => {
  const bytes = decodedBytes(value)
  return { high: wordOf(bytes.subarray(0, 4)), low: wordOf(bytes.subarray(4)) }
}

/**
 * CRC-32 as in zlib, PNG and S3, on top of a function that continues a checksum with more bytes.
 *
 * @internal
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
 * CRC-32 in JavaScript, for every platform. The Node layer uses a native one instead.
 *
 * @category algorithms
 */
export const crc32: ChecksumAlgorithm = crc32With(Crc32.update)

/**
 * CRC-64/NVME, which S3 keeps for a whole object whatever its parts. It is JavaScript on every platform, at 3 CPU
 * seconds per GiB on a machine where CRC-32 takes 1.2 in JavaScript and 0.3 with zlib. Use it where the store keeps and
 * compares this checksum.
 *
 * @example
 * import { Checksum, Uploads, type UploadSource } from "@stevedore/core"
 * import { Effect } from "effect"
 *
 * const upload = (source: UploadSource) =>
 *   Uploads.upload(source).pipe(Effect.provide(Checksum.layer(Checksum.crc64nvme)))
 *
 * @category algorithms
 */
export const crc64nvme: ChecksumAlgorithm = {
  name: "crc64nvme",
  begin: () => {
    let crc = Crc64s.empty
    return {
      update: (chunk) => {
        crc = Crc64s.update(crc, chunk)
      },
      value: () => encode64(crc)
    }
  },
  combine: (first, second, secondLength) => encode64(Crc64s.combine(decode64(first), decode64(second), secondLength))
}

/**
 * The algorithm in force, read when an upload starts.
 *
 * @category references
 */
export class Algorithm extends Context.Reference<Algorithm>()<"@stevedore/core/Checksum/Algorithm", ChecksumAlgorithm>(
  "@stevedore/core/Checksum/Algorithm",
  { defaultValue: () => crc32 }
) {}

/**
 * The algorithms that are available where a pre-signed URL demands the checksum of what is sent. Defaults to `crc32`; on
 * Node, `NodeStevedore` adds what Node computes.
 *
 * @category references
 */
export class Known extends Context.Reference<Known>()<
  "@stevedore/core/Checksum/Known",
  ReadonlyArray<ChecksumAlgorithm>
>("@stevedore/core/Checksum/Known", { defaultValue: () => [crc32] }) {}

/**
 * Uses another algorithm, for an application (provided to its layer) or for a single effect. Merged with a ready-made
 * layer, it counts only if it comes after it, because that layer has captured the algorithm in force.
 *
 * @category layers
 */
export const layer = (algorithm: ChecksumAlgorithm): Layer.Layer<never> => Layer.succeed(Algorithm, algorithm)

/**
 * Computes no checksum of what is sent, for an application or for a single effect. In a page, this saves reading the
 * whole file a second time. The uploaded file then has no `sent.checksum`, and an interrupted upload is resumed if the
 * source's fingerprint is the same, without comparing the stored parts: in a page, the fingerprint has a sample of the
 * content; on disk, it has size, modification date and inode. `verify: "all"` still compares the stored parts, and
 * starts over if they have no checksums. `Uploads.readBack` still compares every byte, by CRC-32.
 *
 * @example
 * import { BrowserStevedore } from "@stevedore/browser"
 * import { Checksum } from "@stevedore/core"
 * import { Layer } from "effect"
 *
 * const quick = BrowserStevedore.layer({ baseUrl: "/api" }).pipe(Layer.provide(Checksum.none))
 *
 * @category layers
 */
export const none: Layer.Layer<never> = /* #__PURE__ */ Layer.sync(Algorithm, () => ({ ...crc32, whileSending: false }))

/**
 * The checksum of bytes in memory.
 *
 * @category constructors
 */
export const ofBytes = (algorithm: ChecksumAlgorithm, bytes: Uint8Array): Checksum => {
  const running = algorithm.begin()
  running.update(bytes)
  return { algorithm: algorithm.name, value: running.value() }
}

/**
 * The checksum of a whole file, from those of its parts in order. None if the algorithm cannot combine checksums, or if
 * a part has none.
 *
 * @internal
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

export {
  /**
   * The checksums of a whole in the headers of storage, in base64, by their algorithms. One that is made from those of the parts
   * says nothing about the bytes, and is left out.
   *
   * @internal
   */
  checksumsOf
} from "./storage/range.js"
