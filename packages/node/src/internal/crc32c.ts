import type { ChecksumAlgorithm } from "@stevedore/core/Checksum"

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
