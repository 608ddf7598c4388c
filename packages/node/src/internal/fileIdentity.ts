import type { BigIntStats } from "node:fs"

/**
 * What identifies a file whatever its name is. For a disk of Windows, Node 22.12 to 22.16 and 24.0 report a device number
 * of 64 bits by path, and its lower 32 bits by handle.
 */
export const identityOf = ({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): string =>
  `${BigInt.asUintN(32, dev)}:${ino}`
