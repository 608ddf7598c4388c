/** Files to upload. */
import * as Effect from "effect/Effect"
import { randomFillSync } from "node:crypto"
import { mkdir, open, writeFile } from "node:fs/promises"
import { join } from "node:path"

const block = 2 ** 20

/**
 * A file of that size in the folder: its path. Its bytes do not compress, and are in the page cache and on the disk
 * afterwards.
 */
export const make = (folder: string, size: number): Effect.Effect<string> =>
  Effect.promise(async () => {
    const path = join(folder, `${size}.bin`)
    const bytes = randomFillSync(Buffer.alloc(block))
    const file = await open(path, "w")
    for (let rest = size; rest > 0; rest -= block) await file.write(bytes, 0, Math.min(rest, block))
    // otherwise the kernel would write it while it is measured
    await file.sync()
    await file.close()
    return path
  })

/** `1.bin` to `<count>.bin` in a folder of their own: its path. */
export const makeMany = (folder: string, count: number, size: number): Effect.Effect<string> =>
  Effect.promise(async () => {
    const path = join(folder, `${count}-files`)
    await mkdir(path, { recursive: true })
    const bytes = randomFillSync(Buffer.alloc(size))
    for (let number = 1; number <= count; number++) await writeFile(join(path, `${number}.bin`), bytes)
    return path
  })
