import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { identityOf } from "../../src/internal/fileIdentity.js"

describe("fileIdentity", () => {
  it.prop(
    "uses only the low 32 bits of the device number, so path and handle agree on Windows",
    [FastCheck.bigInt({ min: 0n, max: 2n ** 32n - 1n }), FastCheck.bigInt({ min: 0n, max: 2n ** 32n - 1n })],
    ([high, low]) => {
      const ino = 281_474_976_710_999n
      assert.strictEqual(identityOf({ dev: (high << 32n) | low, ino }), identityOf({ dev: low, ino }))
    }
  )

  it("differs between two files on one disk, and between two disks", () => {
    const identities = [[1n, 1n], [1n, 2n], [2n, 1n]].map(([dev = 0n, ino = 0n]) => identityOf({ dev, ino }))
    assert.lengthOf(new Set(identities), 3)
  })
})
