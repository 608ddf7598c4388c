import { assert, describe, it } from "@effect/vitest"
import { ServiceProfile, UploadOptions } from "@stevedore/core"
import type { Types } from "effect"
import { Either, FastCheck, Schema } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import * as SourceFingerprint from "../src/source/fingerprint.js"
import { sourceOf } from "./fixtures/uploads.js"

const { limits } = ServiceProfile.standard

const anyNumber = FastCheck.oneof(
  // JSON has no negative zero
  FastCheck.double().map((number) => number === 0 ? 0 : number),
  FastCheck.constantFrom(NaN, Infinity, -Infinity, -1, 0, 1.5)
)

const Json = Schema.parseJson(UploadOptions.UploadOptions)

const given = <A extends object>(fields: A) =>
  Object.fromEntries(Object.entries(fields).filter(([, one]) => one !== undefined))

describe("UploadOptions", () => {
  it("are exactly what their Schema says", () => {
    const isSame: Types.Equals<typeof UploadOptions.UploadOptions.Type, UploadOptions.UploadOptions> = true
    assert.isTrue(isSame)
  })

  it.prop("survive JSON", { options: UploadOptions.UploadOptions }, ({ options }) => {
    assert.deepStrictEqual({ ...Schema.decodeSync(Json)(Schema.encodeSync(Json)(options)) }, given(options))
  })

  it.each([Infinity, 0, 0.5, Number.MAX_VALUE])("a threshold of %d survives JSON", (threshold) => {
    assert.deepStrictEqual(Schema.decodeSync(Json)(Schema.encodeSync(Json)({ threshold })), { threshold })
  })

  it.prop("are accepted as JSON if an upload accepts them, and refused otherwise", {
    options: FastCheck.record({
      threshold: anyNumber,
      concurrency: FastCheck.oneof(anyNumber, FastCheck.integer({ min: 0, max: 33 })),
      maxSessions: FastCheck.oneof(anyNumber, FastCheck.integer({ min: 0, max: 101 }))
    }, { requiredKeys: [] })
  }, ({ options }) => {
    const taken = Either.isRight(UploadOptions.check(sourceOf(95), options, limits))
    assert.strictEqual(Either.isRight(Schema.encodeEither(UploadOptions.UploadOptions)(options)), taken)
    const named = Object.entries(options).map((
      [key, number]
    ) => [key, Number.isFinite(number) ? number : String(number)])
    assert.strictEqual(Either.isRight(Schema.decodeEither(Json)(JSON.stringify(Object.fromEntries(named)))), taken)
  }, { fastCheck: { numRuns: runs(1000) } })

  it("an upload that cannot finish in time fails unless it is told to continue", () => {
    const of = (options: UploadOptions.UploadOptions) =>
      Either.getOrThrow(UploadOptions.check(sourceOf(95), options, limits)).onImpossible
    assert.deepStrictEqual([of({}), of({ onImpossible: "continue" })], ["fail", "continue"])
  })

  it("that are misspelt are refused, not ignored", () => {
    const text = JSON.stringify({ verfy: "download" })
    assert.include(String(Either.flip(Schema.decodeEither(Json)(text))), "verfy")
  })

  it.prop("an accepted fingerprint survives JSON", {
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

  it("an invalid size of a source is reported as the size, even if its fingerprint repeats it", () => {
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
