import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { identityOf } from "../../src/internal/fileIdentity.js"

describe("fileIdentity", () => {
  it.prop(
    "is the same by path and by handle, where a device has more than 32 bits by path alone, as on Windows",
    [FastCheck.bigInt({ min: 0n, max: 2n ** 32n - 1n }), FastCheck.bigInt({ min: 0n, max: 2n ** 32n - 1n })],
    ([high, low]) => {
      const ino = 281_474_976_710_999n
      assert.strictEqual(identityOf({ dev: (high << 32n) | low, ino }), identityOf({ dev: low, ino }))
    }
  )

  it("differs between two files of a disk, and between two disks", () => {
    const identities = [[1n, 1n], [1n, 2n], [2n, 1n]].map(([dev = 0n, ino = 0n]) => identityOf({ dev, ino }))
    assert.lengthOf(new Set(identities), 3)
  })
})
