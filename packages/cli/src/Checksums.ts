/**
 * The checksums that can be chosen on the command line.
 *
 * @since 0.1.0
 */

/**
 * Their names.
 *
 * @since 0.1.0
 * @category constants
 */
export const names = ["crc32", "sha256", "crc64nvme"] as const

/**
 * One of them.
 *
 * @since 0.1.0
 * @category models
 */
export type Name = typeof names[number]
