import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { createRequire } from "node:module"
import { crc32 } from "node:zlib"
import * as FastCrc32 from "../../src/internal/fastCrc32.js"

const installed: unknown = createRequire(import.meta.url)("@node-rs/crc32")

const sources: Record<string, () => unknown> = {
  "the package": () => installed,
  "nothing, where there is no build for the platform": () => {
    throw new Error("Cannot find native binding")
  },
  "a package without CRC-32": () => ({ crc64: () => 0 }),
  "one that counts wrong": () => ({ crc32: () => 0 }),
  "one that does not go on": () => ({ crc32: (bytes: Uint8Array) => crc32(bytes) })
}

describe("fastCrc32", () => {
  for (const [what, load] of Object.entries(sources)) {
    it.prop(`is CRC-32 with ${what}`, [fc.uint8Array(), fc.uint8Array()], ([first, second]) => {
      const update = FastCrc32.from(load)
      assert.strictEqual(update(update(0, first), second), crc32(Buffer.concat([first, second])))
    })
  }

  it("is the package's here", () => {
    let asked = 0
    const update = FastCrc32.from(() => ({
      crc32: (bytes: Uint8Array, crc: number) => {
        asked += 1
        return crc32(bytes, crc)
      }
    }))
    update(0, Buffer.from("a"))
    assert.strictEqual(asked, 3)
    assert.property(installed, "crc32")
  })
})
