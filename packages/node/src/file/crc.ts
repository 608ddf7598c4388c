/** CRC-32C, and the fastest CRC-32 that this machine has. */
import type { ChecksumAlgorithm } from "@stevedore/core/Checksum"
import * as Predicate from "effect/Predicate"
import * as Module from "node:module"
import * as Zlib from "node:zlib"

const polynomial = 0x82f63b78

const tableOf = (): Int32Array =>
  Int32Array.from({ length: 256 }, (_, byte) => {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1
    return value
  })

let table: Int32Array | undefined

/** CRC-32C (Castagnoli), for pre-signed URLs that demand it. @internal */
export const crc32c: ChecksumAlgorithm = {
  name: "crc32c",
  begin: () => {
    const t = table ??= tableOf()
    let crc = -1
    return {
      update: (chunk) => {
        for (const byte of chunk) crc = (crc >>> 8) ^ (t[(crc ^ byte) & 0xff] ?? 0)
      },
      value: () => {
        const bytes = Buffer.alloc(4)
        bytes.writeUInt32BE(~crc >>> 0)
        return bytes.toString("base64")
      }
    }
  }
}

/** Extends a checksum with more bytes. */
export type Update = (crc: number, chunk: Uint8Array) => number

const byZlib: Update = (crc, chunk) => Zlib.crc32(chunk, crc)

type Native = (bytes: Uint8Array, crc: number) => number

// the check value that every description of CRC-32 gives, reached in two steps
const isCrc32 = (candidate: unknown): candidate is Native =>
  Predicate.isFunction(candidate) &&
  candidate(Buffer.from("6789"), candidate(Buffer.from("12345"), 0)) === 0xcbf43926

/**
 * Uses a package's CRC-32 if it loads and computes correctly, and otherwise zlib's: a package with binaries exists for
 * most platforms, but not for all.
 */
export const from = (load: () => unknown): Update => {
  try {
    const native = load()
    if (!Predicate.hasProperty(native, "crc32")) return byZlib
    const { crc32 } = native
    return isCrc32(crc32) ? (crc, chunk) => crc32(chunk, crc) : byZlib
  } catch {
    return byZlib
  }
}

let found: Update | undefined

/** Loaded with the first bytes: programs that hash nothing load nothing. */
export const update: Update = (crc, chunk) => {
  // a bundler that follows it stops at the binary: Turbopack builds nothing then
  found ??= from(() =>
    Module.createRequire(import.meta.url)(/* webpackIgnore: true */ /* turbopackIgnore: true */ "@node-rs/crc32")
  )
  return found(crc, chunk)
}
