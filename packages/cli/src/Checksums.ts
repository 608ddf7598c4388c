/**
 * The checksums that the command line offers.
 *
 * @since 0.1.0
 */

/**
 * The names of the checksums.
 *
 * @since 0.1.0
 * @category constants
 */
export const names = ["crc32", "sha256", "crc64nvme"] as const

/**
 * The name of a checksum.
 *
 * @since 0.1.0
 * @category models
 */
export type Name = typeof names[number]
