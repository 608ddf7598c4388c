import { readFileSync, writeFileSync } from "node:fs"
import Module from "node:module"
import { dirname } from "node:path"
import { Script } from "node:vm"
import { crc32 } from "node:zlib"

const crcLength = 4

const stampLength = 2 * crcLength

const stamp = (source: Uint8Array, compiled: Uint8Array): Buffer => {
  const sums = Buffer.alloc(stampLength)
  sums.writeUInt32LE(crc32(source), 0)
  sums.writeUInt32LE(crc32(compiled), crcLength)
  return sums
}

// V8 refuses code compiled by another version of it, but does not check whether it was compiled from this source, or is
// complete
const read = (path: string, source: Uint8Array): Buffer | undefined => {
  try {
    const kept = readFileSync(path)
    const compiled = kept.subarray(stampLength)
    return stamp(source, compiled).equals(kept.subarray(0, stampLength)) ? compiled : undefined
  } catch {
    return undefined
  }
}

const write = (path: string, source: Uint8Array, compiled: Uint8Array): void => {
  try {
    // written in place: a concurrent reader sees it as incomplete
    writeFileSync(path, Buffer.concat([stamp(source, compiled), compiled]), { mode: 0o600 })
  } catch {
    // the next start compiles again
  }
}

/**
 * Runs a CommonJS script from V8's compiled code of an earlier run, and returns whether it could. If it could not, the
 * code of every function that ran is saved for the next time when the process ends. `node:module` has such a cache too,
 * but only from Node 22 on, and per module, which takes longer.
 */
export const run = (
  path: string,
  keptAt: string | undefined,
  atExit: (keep: () => void) => void = (keep) => process.once("exit", keep)
): boolean => {
  const source = readFileSync(path)
  const kept = keptAt === undefined ? undefined : read(keptAt, source)
  // of ASCII alone, which is read in a fifth of the time that UTF-8 takes
  const script = new Script(Module.wrap(source.toString("latin1")), { filename: path, cachedData: kept })
  const wasCompiled = script.cachedDataRejected === false
  if (keptAt !== undefined && !wasCompiled) atExit(() => write(keptAt, source, script.createCachedData()))
  const module = { exports: {} }
  script.runInThisContext()(module.exports, Module.createRequire(path), module, path, dirname(path))
  return wasCompiled
}
