import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { perform, unexplained } from "../conformance/perform.js"
import { sections } from "../conformance/rows.js"
import { store } from "../conformance/StoreTarget.js"
import { StoreTarget } from "../conformance/Target.js"

layer(store, { excludeTestServices: true })("a real store answers as S3 documents it, but for what is listed", (it) => {
  for (const { rows, title } of sections) {
    for (const row of rows) {
      it.effect(`${title}: ${row.title}`, () =>
        Effect.gen(function*() {
          const target = yield* StoreTarget
          assert.deepStrictEqual(unexplained(row, yield* perform(target, row)), [])
        }))
    }
  }
})
