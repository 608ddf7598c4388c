/** The checksums that the command line offers. */

/** The names of the checksums. */
export const names = ["crc32", "sha256", "crc64nvme"] as const

/** The name of a checksum. */
export type Name = typeof names[number]
