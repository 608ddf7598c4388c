import { assert, describe, it } from "@effect/vitest"
import { FastCheck as fc } from "effect"
import * as Crc32 from "../../src/base/crc32.js"

// By the definition, one bit at a time.
const defined = (bytes: Uint8Array): number => {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

const view = fc.record({
  bytes: fc.uint8Array({ maxLength: 80 }),
  from: fc.nat(12),
  length: fc.nat(80)
}).map(({ bytes, from, length }) => bytes.subarray(from, from + length))

describe("crc32", () => {
  it.prop("is what it is defined as, wherever in its buffer the bytes begin and end", [view], ([bytes]) => {
    assert.strictEqual(Crc32.update(0, bytes), defined(bytes))
  })

  it.prop("goes on over any cut", [view, fc.nat(80)], ([bytes, cut]) => {
    const first = Crc32.update(0, bytes.subarray(0, cut))
    assert.strictEqual(Crc32.update(first, bytes.subarray(cut)), defined(bytes))
  })
})
