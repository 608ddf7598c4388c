import { assert, describe, it } from "@effect/vitest"
import * as fc from "effect/FastCheck"
import { createRequire } from "node:module"
import { crc32 } from "node:zlib"
import * as FastCrc32 from "../../src/file/crc.js"

const installed: unknown = createRequire(import.meta.url)("@node-rs/crc32")

const sources: Record<string, () => unknown> = {
  "the installed package": () => installed,
  "a package that fails to load": () => {
    throw new Error("Cannot find native binding")
  },
  "a package without a crc32 function": () => ({ crc64: () => 0 }),
  "a package that computes a wrong checksum": () => ({ crc32: () => 0 }),
  "a package that ignores the previous checksum": () => ({ crc32: (bytes: Uint8Array) => crc32(bytes) })
}

describe("fastCrc32", () => {
  for (const [what, load] of Object.entries(sources)) {
    it.prop(`computes CRC-32 with ${what}`, [fc.uint8Array(), fc.uint8Array()], ([first, second]) => {
      const update = FastCrc32.from(load)
      assert.strictEqual(update(update(0, first), second), crc32(Buffer.concat([first, second])))
    })
  }

  it("calls a package's function that computes correctly, and the installed package has one", () => {
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
