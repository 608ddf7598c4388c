import { assert, describe, it } from "@effect/vitest"
import { Checksum } from "@stevedore/core"
import { Effect, FastCheck, Option } from "effect"
import { createHash } from "node:crypto"
import * as Zlib from "node:zlib"

const text = (value: string) => new TextEncoder().encode(value)

const bytes = FastCheck.uint8Array({ maxLength: 300 })

const cut = (whole: Uint8Array, places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const offsets = [...places.map((place) => Math.floor(place * whole.length)), 0, whole.length].sort((a, b) => a - b)
  return offsets.slice(1).map((end, index) => whole.subarray(offsets[index], end))
}

const places = FastCheck.array(FastCheck.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 })

const base64 = (crc: number) => {
  const buffer = Buffer.alloc(4)
  buffer.writeUInt32BE(crc)
  return buffer.toString("base64")
}

const withoutCombine: Checksum.ChecksumAlgorithm = {
  name: "sha256",
  begin: () => {
    const hash = createHash("sha256")
    return { update: (chunk) => hash.update(chunk), value: () => hash.copy().digest("base64") }
  }
}

const base64Of = (hexadecimal: string) => Buffer.from(hexadecimal, "hex").toString("base64")

const combinable = [Checksum.crc32, Checksum.crc64nvme]

describe("CRC-64/NVME", () => {
  it("has storage's values: 8 bytes, most significant first, in base64", () => {
    const value = (bytes: Uint8Array) => Checksum.ofBytes(Checksum.crc64nvme, bytes).value
    assert.strictEqual(value(text("123456789")), base64Of("ae8b14860a799888"))
    assert.strictEqual(value(text("")), base64Of("0000000000000000"))
    assert.strictEqual(value(new Uint8Array(32)), base64Of("cf3473434d4ecf3b"))
    assert.strictEqual(value(new Uint8Array(32).fill(0xff)), base64Of("a0a06974c34d63c4"))
  })

  // the definition itself, a bit at a time
  const plain = (bytes: Uint8Array): string => {
    const all = 0xffffffffffffffffn
    let crc = all
    for (const byte of bytes) {
      crc ^= BigInt(byte)
      for (let bit = 0; bit < 8; bit++) crc = (crc & 1n) === 1n ? (crc >> 1n) ^ 0x9a6c9329ac4bc9b5n : crc >> 1n
    }
    return base64Of((crc ^ all).toString(16).padStart(16, "0"))
  }

  it.prop("matches its definition, however the bytes are split and wherever they are in memory", [bytes, places], ([
    whole,
    at
  ]) => {
    const running = Checksum.crc64nvme.begin()
    for (const chunk of cut(whole, at)) running.update(chunk)
    assert.strictEqual(running.value(), plain(whole))
  })
})

describe.each(combinable)("$name", (algorithm) => {
  it.prop(
    "of a whole is combined from its parts, whatever the parts, including empty ones",
    [bytes, places],
    ([whole, at]) => {
      const parts = cut(whole, at).map((part) => ({
        checksum: Checksum.ofBytes(algorithm, part).value,
        size: part.length
      }))
      assert.deepStrictEqual(Checksum.combineAll(algorithm, parts), Option.some(Checksum.ofBytes(algorithm, whole)))
    }
  )

  it.each(["????", "AAAAA", "A", "====="])("combines with %s, which is no base64, without a defect", (other) => {
    const known = Checksum.ofBytes(algorithm, text("a")).value
    assert.isString(algorithm.combine?.(known, other, 1))
    assert.isString(algorithm.combine?.(other, known, 1))
  })

  it("combines lengths of gigabytes as it does step by step", () => {
    const { combine } = algorithm
    assert(combine !== undefined)
    const { value } = Checksum.ofBytes(algorithm, text("stevedore"))
    const zeros = (doublings: number) => {
      let zero = Checksum.ofBytes(algorithm, new Uint8Array(1024)).value
      for (let step = 0; step < doublings; step++) zero = combine(zero, zero, 1024 * 2 ** step)
      return zero
    }
    const four = zeros(22)
    const five = combine(four, zeros(20), 2 ** 30)
    const once = combine(value, five, 5 * 2 ** 30)
    assert.strictEqual(once, combine(combine(value, four, 2 ** 32), zeros(20), 2 ** 30))
    assert.notStrictEqual(once, combine(value, five, 2 ** 30))
  })
})

describe("Checksum", () => {
  it("has storage's values: 4 bytes, most significant first, in base64", () => {
    assert.deepStrictEqual(Checksum.ofBytes(Checksum.crc32, text("123456789")), {
      algorithm: "crc32",
      value: base64(0xcbf43926)
    })
    assert.strictEqual(Checksum.ofBytes(Checksum.crc32, text("")).value, base64(0))
    assert.strictEqual(Checksum.ofBytes(Checksum.crc32, new Uint8Array(32)).value, base64(0x190a55ad))
  })

  it.prop(
    "matches zlib's CRC-32, however the bytes are split and wherever they are in memory",
    [bytes, places],
    ([whole, at]) => {
      const running = Checksum.crc32.begin()
      for (const chunk of cut(whole, at)) running.update(chunk)
      assert.strictEqual(running.value(), base64(Zlib.crc32(whole)))
      assert.strictEqual(running.value(), running.value())
    }
  )

  it("is correct for long inputs too", () => {
    const long = Uint8Array.from({ length: 3_000_001 }, (_, index) => (index * 31 + (index >>> 9)) & 0xff)
    assert.strictEqual(Checksum.ofBytes(Checksum.crc32, long).value, base64(Zlib.crc32(long)))
  })

  it("combines parts of gigabytes: 10,000 parts of 1 MiB of zeros have zlib's value for all of them", () => {
    const mebibyte = 1_048_576
    const zeros = new Uint8Array(mebibyte)
    const one = Checksum.ofBytes(Checksum.crc32, zeros).value
    const count = 10_000
    const combined = Checksum.combineAll(
      Checksum.crc32,
      Array.from({ length: count }, () => ({ checksum: one, size: mebibyte }))
    )
    // 10,000 MiB as 40 times 250 MiB, each of which is computed
    let quarter = 0
    for (let index = 0; index < 250; index++) quarter = Zlib.crc32(zeros, quarter)
    const large = Checksum.combineAll(
      Checksum.crc32,
      Array.from({ length: 40 }, () => ({ checksum: base64(quarter), size: 250 * mebibyte }))
    )
    assert.deepStrictEqual(combined, large)
  })

  it("of a whole is absent if a part has none, if there is no part, and if the algorithm cannot combine", () => {
    const part = { checksum: base64(1), size: 1 }
    assert.deepStrictEqual(Checksum.combineAll(Checksum.crc32, []), Option.none())
    assert.deepStrictEqual(Checksum.combineAll(Checksum.crc32, [{ size: 1 }]), Option.none())
    assert.deepStrictEqual(Checksum.combineAll(Checksum.crc32, [part, { size: 1 }]), Option.none())
    assert.deepStrictEqual(Checksum.combineAll(withoutCombine, [part, part]), Option.none())
  })

  it("of a whole in one part is that part's, even if the algorithm cannot combine", () => {
    const { algorithm, value } = Checksum.ofBytes(withoutCombine, text("hello"))
    assert.deepStrictEqual(
      Checksum.combineAll(withoutCombine, [{ checksum: value, size: 5 }]),
      Option.some({ algorithm, value })
    )
  })

  it.effect("is CRC-32 unless a layer says otherwise", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* Checksum.Algorithm).name, "crc32")
      const chosen = yield* Checksum.Algorithm.pipe(Effect.provide(Checksum.layer(withoutCombine)))
      assert.strictEqual(chosen.name, "sha256")
    }))
})
