import { assert, it } from "@effect/vitest"
import { ServiceProfile } from "@stevedore/core"
import { standardLimits } from "../../src/internal/standardLimits.js"

it("the limits of a page are those of the standard profile", () => {
  assert.deepInclude(ServiceProfile.standard.limits, standardLimits)
})
