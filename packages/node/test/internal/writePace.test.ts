import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { WritePace } from "../../src/internal/writePace.js"

const least = 262_144
const most = 524_288

/** The pieces of each block, taken in so many milliseconds of a clock of its own. */
const take = (blocks: ReadonlyArray<Uint8Array>, milliseconds: (piece: number) => number) => {
  let now = 0
  const pace = new WritePace(() => now)
  return blocks.map((block) => {
    const pieces: Array<Uint8Array> = []
    for (const piece of pace.pieces(block)) {
      pieces.push(piece)
      now += milliseconds(pieces.length - 1)
    }
    return pieces
  })
}

const sizes = (blocks: ReadonlyArray<Uint8Array>, milliseconds: (piece: number) => number) =>
  take(blocks, milliseconds).flat().map(({ byteLength }) => byteLength)

const block = (bytes: number) => new Uint8Array(bytes)

describe("WritePace", () => {
  it.prop(
    "yields every byte once and in order, as views of the given memory, at any pace",
    [
      FastCheck.array(FastCheck.integer({ min: 0, max: 3 * least }), { maxLength: 4 }),
      FastCheck.array(FastCheck.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 5 })
    ],
    ([lengths, paces]) => {
      const blocks = lengths.map(block)
      take(blocks, (piece) => paces[piece % paces.length] ?? 0).forEach((pieces, index) => {
        let end = 0
        for (const piece of pieces) {
          assert.strictEqual(piece.buffer, blocks[index]?.buffer)
          assert.strictEqual(piece.byteOffset, end)
          assert.isAtLeast(piece.byteLength, 1)
          assert.isAtMost(piece.byteLength, most)
          end += piece.byteLength
        }
        assert.strictEqual(end, blocks[index]?.byteLength)
      })
    }
  )

  it("starts with the smallest size, and only the last piece of a block is smaller", () => {
    assert.deepStrictEqual(sizes([block(most + 1)], () => 1000), [least, least, 1])
  })

  it("grows while writes are quick, and keeps the size for the next block", () => {
    assert.deepStrictEqual(sizes([block(2 * most), block(2 * most)], () => 1), [least, most, least, most, most])
  })

  it("keeps the piece size at a medium pace", () => {
    assert.deepStrictEqual(sizes([block(4 * least)], (piece) => piece === 0 ? 1 : 100), [least, most, least])
    assert.deepStrictEqual(sizes([block(3 * least)], () => 100), [least, least, least])
  })

  it("uses the smallest size after a slow write", () => {
    assert.deepStrictEqual(sizes([block(3 * most)], (piece) => piece === 1 ? 201 : 1), [least, most, least, most])
  })
})
