import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { differences, perform } from "../conformance/perform.js"
import { sections } from "../conformance/rows.js"
import { sandbox, SandboxTarget } from "../conformance/Target.js"

layer(sandbox, { excludeTestServices: true })("the sandbox responds as S3 documents", (it) => {
  for (const { rows, title } of sections) {
    for (const row of rows) {
      it.effect(`${title}: ${row.title}`, () =>
        Effect.gen(function*() {
          const target = yield* SandboxTarget
          assert.deepStrictEqual(differences(row.expected, yield* perform(target, row)), [])
        }))
    }
  }
})
