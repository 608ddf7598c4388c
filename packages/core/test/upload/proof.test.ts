import { assert, describe, it } from "@effect/vitest"
import { Checksum } from "@stevedore/core"
import { FastCheck as fc } from "effect"
import { provenBy } from "../../src/upload/proof.js"

const part = fc.record({ bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }), proven: fc.boolean() })

const receiptOf = ({ bytes, proven }: { readonly bytes: Uint8Array; readonly proven: boolean }, index: number) => ({
  partNumber: index + 1,
  etag: `"${index}"`,
  size: bytes.length,
  attempts: 1,
  checksum: Checksum.ofBytes(Checksum.crc32, bytes).value,
  proven
})

const upload = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => ({
  receipts: parts.map(receiptOf),
  whole: Checksum.ofBytes(Checksum.crc32, Uint8Array.from(parts.flatMap(({ bytes }) => Array.from(bytes))))
}))

// what proves nothing: none, another algorithm, a composite value, digits
const silent = fc.constantFrom(
  undefined,
  { algorithm: "sha256", value: "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=" },
  { algorithm: "crc32", value: "N/eC4Q==-3" },
  { algorithm: "crc32", value: "cbf43926" }
)

describe("what is proven of an upload", () => {
  it.prop("a whole that is the same is stored, and no mismatch", [upload], ([{ receipts, whole }]) => {
    const file = { id: "f", checksum: whole }
    const proven = { checksum: whole, proof: "stored" as const, mismatch: undefined }
    assert.deepStrictEqual(provenBy(Checksum.crc32, receipts, file), proven)
  })

  it.prop("a whole with one other byte is a mismatch", [upload, fc.nat(255)], ([{ receipts, whole }, byte]) => {
    const other = Checksum.ofBytes(Checksum.crc32, Uint8Array.of(byte, ...new TextEncoder().encode(whole.value)))
    fc.pre(other.value !== whole.value)
    const { mismatch } = provenBy(Checksum.crc32, receipts, { id: "f", checksum: other })
    assert.deepInclude(mismatch, { fileId: "f", sent: whole.value, stored: other.value })
  })

  it.prop(
    "without a word of the service it is what storage said of every part",
    [upload, silent],
    ([one, checksum]) => {
      const file = checksum === undefined ? { id: "f" } : { id: "f", checksum }
      const { mismatch, proof } = provenBy(Checksum.crc32, one.receipts, file)
      assert.strictEqual(proof, one.receipts.every(({ proven }) => proven) ? "stored" : "unproven")
      assert.isUndefined(mismatch)
    }
  )

  it("an upload of which no receipt is left proves nothing", () => {
    const file = { id: "f", checksum: { algorithm: "crc32", value: "N/eC4Q==" } }
    const nothing = { checksum: undefined, proof: "unproven" as const, mismatch: undefined }
    assert.deepStrictEqual(provenBy(Checksum.crc32, [], file), nothing)
  })
})
