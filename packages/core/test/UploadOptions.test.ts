import { assert, describe, it } from "@effect/vitest"
import { ServiceProfile, SourceFingerprint, UploadOptions } from "@stevedore/core"
import { Either, FastCheck, Schema } from "effect"
import { sourceOf } from "./fixtures/uploads.js"

const { limits } = ServiceProfile.standard

const anyNumber = FastCheck.oneof(FastCheck.double(), FastCheck.constantFrom(NaN, Infinity, -Infinity, -1, 0, 1.5))

describe("UploadOptions", () => {
  it.prop("a fingerprint that is let through is the same after a way through JSON", {
    kind: FastCheck.string({ maxLength: 3 }),
    size: anyNumber,
    modified: anyNumber
  }, (fingerprint) => {
    const checked = UploadOptions.check({ ...sourceOf(95), fingerprint }, {}, limits)
    if (Either.isLeft(checked)) {
      assert.deepInclude(checked.left, { _tag: "InvalidSource", field: "fingerprint", attempts: 0 })
    } else {
      const Json = Schema.parseJson(SourceFingerprint.SourceFingerprint)
      const { modified, ...others } = Schema.decodeSync(Json)(Schema.encodeSync(Json)(fingerprint))
      assert.deepStrictEqual(others, { kind: fingerprint.kind, size: fingerprint.size })
      assert.isTrue(modified === fingerprint.modified)
    }
  })

  it("of a source of no such size the size is wrong, also where its fingerprint repeats it", () => {
    const source = { ...sourceOf(95), size: NaN, fingerprint: { kind: "stream", size: NaN } }
    const refused = Either.getOrThrow(Either.flip(UploadOptions.check(source, {}, limits)))
    assert.deepInclude(refused, { _tag: "InvalidSource", field: "size" })
  })

  it.each([
    [undefined, 3],
    [Number.NaN, 3],
    [0, 1],
    [-Infinity, 1],
    [2.9, 2],
    [Infinity, Number.MAX_SAFE_INTEGER]
  ])("a wish for %s of something is one for %s, where 3 is meant by none", (wished, number) => {
    assert.strictEqual(UploadOptions.atLeastOne(wished, 3), number)
  })
})
