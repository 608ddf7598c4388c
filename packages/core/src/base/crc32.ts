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

// The words of a buffer have the byte order of the machine: on a big-endian one, bytes are processed one by one.
const isLittleEndian = /* #__PURE__ */ new Uint8Array(/* #__PURE__ */ new Uint16Array([1]).buffer)[0] === 1

/**
 * Continues from the checksum of the preceding bytes; 0 is the checksum of none. It takes eight bytes at a time, as two
 * words of the buffer itself, which is many times faster than one by one.
 */
export const update = (before: number, bytes: Uint8Array): number => {
  const t = table ??= tableOf(8)
  const byte = (crc: number, index: number): number => (crc >>> 8) ^ (t[(crc ^ (bytes[index] ?? 0)) & 0xff] ?? 0)
  const aligned = Math.min(bytes.byteLength, -bytes.byteOffset & 3)
  let crc = ~before
  let index = 0
  while (index < aligned) crc = byte(crc, index++)
  const pairs = isLittleEndian ? (bytes.byteLength - index) >>> 3 : 0
  const words = new Int32Array(bytes.buffer, pairs === 0 ? 0 : bytes.byteOffset + index, 2 * pairs)
  for (let pair = 0; pair < pairs; pair++) {
    const low = crc ^ (words[2 * pair] ?? 0)
    const high = words[2 * pair + 1] ?? 0
    crc = (t[1792 + (low & 0xff)] ?? 0) ^ (t[1536 + ((low >>> 8) & 0xff)] ?? 0) ^
      (t[1280 + ((low >>> 16) & 0xff)] ?? 0) ^ (t[1024 + (low >>> 24)] ?? 0) ^
      (t[768 + (high & 0xff)] ?? 0) ^ (t[512 + ((high >>> 8) & 0xff)] ?? 0) ^
      (t[256 + ((high >>> 16) & 0xff)] ?? 0) ^ (t[high >>> 24] ?? 0)
  }
  index += 8 * pairs
  while (index < bytes.byteLength) crc = byte(crc, index++)
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
 * The checksum of two consecutive runs of bytes, from the checksum of each and the length of the second: a product of
 * polynomials, as in zlib's `crc32_combine`.
 */
export const combine = (first: number, second: number, secondLength: number): number =>
  (multiply(shiftedBy(secondLength), first) ^ second) >>> 0
