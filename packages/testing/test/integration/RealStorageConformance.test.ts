import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as page from "../conformance/page.js"
import { perform, unexplained } from "../conformance/perform.js"
import { sections } from "../conformance/rows.js"
import { store } from "../conformance/StoreTarget.js"
import { markdown, outcomes } from "../conformance/table.js"
import { sandbox, StoreTarget } from "../conformance/Target.js"

const both = Layer.merge(sandbox, store)

layer(both, { excludeTestServices: true })("a real store responds like S3, except for the listed differences", (it) => {
  for (const { rows, title } of sections) {
    for (const row of rows) {
      it.effect(`${title}: ${row.title}`, () =>
        Effect.gen(function*() {
          const target = yield* StoreTarget
          assert.deepStrictEqual(unexplained(row, yield* perform(target, row)), [])
        }))
    }
  }

  it.effect("the documentation page shows the responses of the sandbox and the store", () =>
    Effect.gen(function*() {
      assert.strictEqual(page.read(), markdown(yield* outcomes))
    }))
})
