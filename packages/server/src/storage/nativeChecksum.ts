/** The checksum of what is stored in files, by what Node has built in. Apart from other stores, since a page has none of it. */
import * as Checksum from "@stevedore/core/Checksum"
import * as Zlib from "node:zlib"

/** CRC-32. */
export const crc32: Checksum.ChecksumAlgorithm = Checksum.crc32With((crc, bytes) => Zlib.crc32(bytes, crc))

/** A value of it, as it is kept in a column. */
export const valued = (value: string | null): Checksum.Checksum | undefined =>
  value === null ? undefined : { algorithm: crc32.name, value }
