/** Content codings without compression: every decoder reads them, and nothing asynchronous is needed to write them. */
const table = Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ 0xed_b8_83_20 : value >>> 1
  return value >>> 0
})

const crc32 = (bytes: Uint8Array): number => {
  let crc = 0xff_ff_ff_ff
  for (const byte of bytes) crc = (table[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xff_ff_ff_ff) >>> 0
}

const adler32 = (bytes: Uint8Array): number => {
  let [low, high] = [1, 0]
  for (const byte of bytes) {
    low = (low + byte) % 65_521
    high = (high + low) % 65_521
  }
  return high * 65_536 + low
}

const number32 = (value: number, order: "little" | "big"): ReadonlyArray<number> => {
  const bytes = [0, 8, 16, 24].map((shift) => (value >>> shift) & 0xff)
  return order === "little" ? bytes : bytes.reverse()
}

const LARGEST_BLOCK = 65_535

const blocks = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const starts = Array.from(
    { length: Math.max(1, Math.ceil(bytes.byteLength / LARGEST_BLOCK)) },
    (_, index) => index * LARGEST_BLOCK
  )
  return starts.flatMap((start, index) => {
    const block = bytes.subarray(start, start + LARGEST_BLOCK)
    const length = block.byteLength
    const head = [
      index === starts.length - 1 ? 1 : 0,
      length & 0xff,
      length >>> 8,
      ~length & 0xff,
      (~length >>> 8) & 0xff
    ]
    return [Uint8Array.from(head), block]
  })
}

const joined = (pieces: ReadonlyArray<Uint8Array | ReadonlyArray<number>>): Uint8Array => {
  const bytes = pieces.map((piece) => piece instanceof Uint8Array ? piece : Uint8Array.from(piece))
  const all = new Uint8Array(bytes.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const piece of bytes) {
    all.set(piece, at)
    at += piece.byteLength
  }
  return all
}

export const encode = (coding: "gzip" | "deflate", bytes: Uint8Array): Uint8Array =>
  coding === "gzip"
    ? joined([
      [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255],
      ...blocks(bytes),
      number32(crc32(bytes), "little"),
      number32(bytes.byteLength, "little")
    ])
    : joined([[0x78, 0x01], ...blocks(bytes), number32(adler32(bytes), "big")])
