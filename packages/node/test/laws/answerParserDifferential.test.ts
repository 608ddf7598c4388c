import { assert, describe, it } from "@effect/vitest"
import { mutation, takenByNode, takenByUs } from "../support/parserMutations.js"

const count = Number(process.env["PARSER_MUTATIONS"] ?? 3000)
const seed = Number(process.env["PARSER_SEED"] ?? 1)

/**
 * Where both take a response and see another one in it, and why ours is right. Where Node takes what we refuse, nothing is
 * listed: stricter is safe.
 */
const exceptions: ReadonlyArray<{ readonly isIt: (bytes: Buffer) => boolean; readonly because: string }> = []

describe("AnswerParser beside the parser of Node", () => {
  it(`takes of ${count} mutated responses only what Node takes, and sees the same in them`, async () => {
    let taken = 0
    for (let one = seed; one < seed + count; one++) {
      const bytes = mutation(one)
      const byBytes = takenByUs(bytes, 1)
      const atOnce = takenByUs(bytes, bytes.byteLength)
      assert.deepStrictEqual(atOnce?.[0], byBytes?.[0], `seed ${one}: however it is split`)
      if (byBytes === undefined || exceptions.some(({ isIt }) => isIt(bytes))) continue
      taken++
      const [ours, length] = byBytes
      assert.deepStrictEqual(
        await takenByNode(bytes.subarray(0, length)),
        ours,
        `seed ${one}: ${JSON.stringify(bytes.toString("latin1"))}`
      )
    }
    // otherwise nothing was compared
    assert.isAbove(taken, count / 10)
    if (count > 3000) process.stdout.write(`${count} mutations, ${taken} of them taken by both\n`)
  }, 1_800_000)
})
