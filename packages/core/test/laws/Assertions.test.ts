import { assert, it } from "@effect/vitest"
import { Option } from "effect"

it("an assertion distinguishes Some from None, even nested", () => {
  const [some, none] = [Option.some(1), Option.none()]
  assert.notDeepEqual<Option.Option<number>>(some, none)
  assert.notDeepEqual<unknown>({ within: [none] }, { within: [some] })
  assert.throws(() => assert.deepInclude({ within: some, beside: 1 }, { within: none }))
  assert.deepStrictEqual<unknown>({ within: some, beside: none }, { within: Option.some(1), beside: Option.none() })
})
