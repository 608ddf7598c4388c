/** A checksum of 64 bits as two halves of 32, which JavaScript can compute without BigInt. */
export interface Crc64 {
  readonly high: number
  readonly low: number
}

// CRC-64/NVME, bit-reversed
const polynomialHigh = 0x9a6c9329
const polynomialLow = 0xac4bc9b5

// Low and high half side by side: one memory access finds both.
const tableOf = (slots: number): Int32Array => {
  const table = new Int32Array(slots * 512)
  for (let byte = 0; byte < 256; byte++) {
    let low = byte
    let high = 0
    for (let bit = 0; bit < 8; bit++) {
      const carry = low & 1
      low = (low >>> 1) | (high << 31)
      high >>>= 1
      if (carry !== 0) {
        low ^= polynomialLow
        high ^= polynomialHigh
      }
    }
    table[2 * byte] = low
    table[2 * byte + 1] = high
  }
  for (let index = 512; index < table.length; index += 2) {
    const low = table[index - 512] ?? 0
    const high = table[index - 511] ?? 0
    const place = 2 * (low & 0xff)
    table[index] = ((low >>> 8) | (high << 24)) ^ (table[place] ?? 0)
    table[index + 1] = (high >>> 8) ^ (table[place + 1] ?? 0)
  }
  return table
}

let table: Int32Array | undefined

/** The checksum of no bytes. */
export const empty: Crc64 = { high: 0, low: 0 }

/** Continues from the checksum of the preceding bytes. It takes eight bytes at a time. */
export const update = (before: Crc64, bytes: Uint8Array): Crc64 => {
  const t = table ??= tableOf(8)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let low = ~before.low
  let high = ~before.high
  let index = 0
  for (; index + 8 <= bytes.byteLength; index += 8) {
    const first = low ^ view.getInt32(index, true)
    const second = high ^ view.getInt32(index + 4, true)
    const a = 3584 + ((first & 0xff) << 1)
    const b = 3072 + ((first >>> 7) & 0x1fe)
    const c = 2560 + ((first >>> 15) & 0x1fe)
    const d = 2048 + ((first >>> 23) & 0x1fe)
    const e = 1536 + ((second & 0xff) << 1)
    const f = 1024 + ((second >>> 7) & 0x1fe)
    const g = 512 + ((second >>> 15) & 0x1fe)
    const h = (second >>> 23) & 0x1fe
    low = (t[a] ?? 0) ^ (t[b] ?? 0) ^ (t[c] ?? 0) ^ (t[d] ?? 0) ^ (t[e] ?? 0) ^ (t[f] ?? 0) ^ (t[g] ?? 0) ^ (t[h] ?? 0)
    high = (t[a + 1] ?? 0) ^ (t[b + 1] ?? 0) ^ (t[c + 1] ?? 0) ^ (t[d + 1] ?? 0) ^
      (t[e + 1] ?? 0) ^ (t[f + 1] ?? 0) ^ (t[g + 1] ?? 0) ^ (t[h + 1] ?? 0)
  }
  for (; index < bytes.byteLength; index++) {
    const place = ((low ^ (bytes[index] ?? 0)) & 0xff) << 1
    low = ((low >>> 8) | (high << 24)) ^ (t[place] ?? 0)
    high = (high >>> 8) ^ (t[place + 1] ?? 0)
  }
  return { high: ~high >>> 0, low: ~low >>> 0 }
}

// The highest bit is the coefficient of x^0, because the bits are reversed.
const one: Crc64 = { high: 0x80000000, low: 0 }

const multiply = (a: Crc64, b: Crc64): Crc64 => {
  let high = 0
  let low = 0
  let shiftedHigh = b.high
  let shiftedLow = b.low
  for (let bit = 63; bit >= 0; bit--) {
    if (((bit >= 32 ? a.high >>> (bit - 32) : a.low >>> bit) & 1) === 1) {
      high ^= shiftedHigh
      low ^= shiftedLow
    }
    const carry = shiftedLow & 1
    shiftedLow = (shiftedLow >>> 1) | (shiftedHigh << 31)
    shiftedHigh >>>= 1
    if (carry !== 0) {
      shiftedLow ^= polynomialLow
      shiftedHigh ^= polynomialHigh
    }
  }
  return { high: high >>> 0, low: low >>> 0 }
}

const shiftedBy = (bytes: number): Crc64 => {
  // x to the power of 8: one byte
  let power: Crc64 = { high: 0x00800000, low: 0 }
  let shift = one
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) shift = multiply(power, shift)
    power = multiply(power, power)
  }
  return shift
}

/** The checksum of two consecutive runs of bytes, from the checksum of each and the length of the second. */
export const combine = (first: Crc64, second: Crc64, secondLength: number): Crc64 => {
  const moved = multiply(shiftedBy(secondLength), first)
  return { high: (moved.high ^ second.high) >>> 0, low: (moved.low ^ second.low) >>> 0 }
}
