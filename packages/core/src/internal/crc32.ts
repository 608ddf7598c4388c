const polynomial = 0xedb88320

const tableOf = (slots: number): Int32Array => {
  const table = new Int32Array(slots * 256)
  for (let byte = 0; byte < 256; byte++) {
    let value = byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1
    table[byte] = value
  }
  for (let index = 256; index < table.length; index++) {
    const previous = table[index - 256] ?? 0
    table[index] = (previous >>> 8) ^ (table[previous & 0xff] ?? 0)
  }
  return table
}

let table: Int32Array | undefined

/**
 * Goes on from the checksum of the bytes before; 0 is the checksum of none. Eight bytes are taken at a time, which is
 * three times as fast as one by one.
 *
 * @internal
 */
export const update = (before: number, bytes: Uint8Array): number => {
  const t = table ??= tableOf(8)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let crc = ~before
  let index = 0
  for (; index + 8 <= bytes.byteLength; index += 8) {
    const low = crc ^ view.getInt32(index, true)
    const high = view.getInt32(index + 4, true)
    crc = (t[1792 + (low & 0xff)] ?? 0) ^ (t[1536 + ((low >>> 8) & 0xff)] ?? 0) ^
      (t[1280 + ((low >>> 16) & 0xff)] ?? 0) ^ (t[1024 + (low >>> 24)] ?? 0) ^
      (t[768 + (high & 0xff)] ?? 0) ^ (t[512 + ((high >>> 8) & 0xff)] ?? 0) ^
      (t[256 + ((high >>> 16) & 0xff)] ?? 0) ^ (t[high >>> 24] ?? 0)
  }
  for (; index < bytes.byteLength; index++) {
    crc = (crc >>> 8) ^ (t[(crc ^ (bytes[index] ?? 0)) & 0xff] ?? 0)
  }
  return ~crc >>> 0
}

const multiply = (a: number, b: number): number => {
  let product = 0
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= b
    b = b & 1 ? (b >>> 1) ^ polynomial : b >>> 1
  }
  return product >>> 0
}

const shiftedBy = (bytes: number): number => {
  let power = multiply(0x40000000, 0x40000000)
  for (let doubling = 1; doubling < 3; doubling++) power = multiply(power, power)
  let shift = 0x80000000
  for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) shift = multiply(power, shift)
    power = multiply(power, power)
  }
  return shift
}

/**
 * The checksum of two runs of bytes one after the other, from the checksum of each and the second's length: a product
 * of polynomials, as in zlib's `crc32_combine`.
 *
 * @internal
 */
export const combine = (first: number, second: number, secondLength: number): number =>
  (multiply(shiftedBy(secondLength), first) ^ second) >>> 0
