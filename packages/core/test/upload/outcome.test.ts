import { assert, describe, it } from "@effect/vitest"
import { Uploads } from "@stevedore/core"
import type { UploadSource } from "@stevedore/core"
import { FaultScript } from "@stevedore/testing"
import type { Types } from "effect"
import { Effect, Schema, Stream } from "effect"
import * as UploadOutcome from "../../src/upload/outcome.js"
import { recognizable } from "../fixtures/ledgers.js"
import { bytes, inTime, sourceOf, tiny } from "../fixtures/uploads.js"

const Json = Schema.parseJson(UploadOutcome.UploadOutcome)

const written = Schema.encodeSync(Json)

const read = Schema.decodeSync(Json)

type Described = Pick<UploadSource, keyof UploadOutcome.Source>

type WithoutFunctions<Outcome> = Outcome extends { readonly source: unknown }
  ? Types.Simplify<Omit<Outcome, "source"> & { readonly source: Described }>
  : never

const outcomesOf = (sources: ReadonlyArray<UploadSource>) =>
  inTime(Stream.runCollect(Uploads.uploadAll(Stream.fromIterable(sources)))).pipe(Effect.map((all) => [...all]))

describe("UploadOutcome", () => {
  it("is exactly an outcome of uploadAll without the functions of its source", () => {
    const isSame: Types.Equals<
      WithoutFunctions<UploadOutcome.UploadOutcome>,
      WithoutFunctions<Uploads.UploadOutcome>
    > = true
    assert.isTrue(isSame)
  })

  it.effect("of an uploaded file is its record and what identifies its source", () =>
    Effect.gen(function*() {
      const source = recognizable(bytes(95))
      for (const outcome of yield* outcomesOf([source])) {
        const decoded = read(written(outcome))
        const { fingerprint, mediaType, name, size } = source
        assert.deepStrictEqual(decoded, { ...outcome, source: { name, mediaType, size, fingerprint } })
      }
    }).pipe(Effect.provide(tiny())))

  it.effect.each<readonly [string, UploadSource]>([
    ["no name", sourceOf(95, "")],
    ["a size that is no number", { ...sourceOf(95), size: NaN, fingerprint: { kind: "own", size: NaN } }],
    ["a fingerprint that no record can hold", recognizable(bytes(95), { fingerprint: { kind: "", modified: NaN } })]
  ])("of a source of %s says what is wrong with it", ([, source]) =>
    Effect.gen(function*() {
      const [outcome, ...others] = yield* outcomesOf([source])
      assert.lengthOf(others, 0)
      if (outcome?._tag !== "Failed") return assert.fail("expected a failure")
      const text = written(outcome)
      const decoded = read(text)
      assert.strictEqual(decoded._tag === "Failed" ? decoded.error.message : undefined, outcome.error.message)
      assert.deepStrictEqual(decoded.source.fingerprint, source.fingerprint)
      assert.strictEqual(written(decoded), text)
    }).pipe(Effect.provide(tiny())))

  it.effect("shows no signature of a failure", () =>
    Effect.gen(function*() {
      for (const outcome of yield* outcomesOf([sourceOf(95), recognizable(bytes(200))])) {
        assert.strictEqual(outcome._tag, "Failed")
        assert.notMatch(written(outcome), /Signature=|Credential=/i)
      }
    }).pipe(Effect.provide(tiny({ faults: FaultScript.on("put").always().answer(403, "SignatureDoesNotMatch") }))))
})
