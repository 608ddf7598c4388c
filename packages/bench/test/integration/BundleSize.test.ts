import { beforeAll, describe, it } from "@effect/vitest"
import { withinBudget } from "../../../node/test/support/budgets.js"
import { byEsbuild, byRollup } from "../../src/BundleSize.js"

const modules = ["effectAlone", "both", "bothCore", "core", "stevedore", "queue", "reads"] as const

const sizes = new Map<string, number>()

const KiB = (module: typeof modules[number]) => (sizes.get(module) ?? NaN) / 1024

let byRollupKiB = NaN

// What a page loads, minified and gzipped.
describe("the size of a page's script", () => {
  beforeAll(async () => {
    for (const module of modules) sizes.set(module, await byEsbuild(module))
    byRollupKiB = (await byRollup("stevedore") ?? NaN) / 1024
  })

  it("is within its budgets", () => {
    withinBudget({
      "bundle of an upload, KiB": KiB("stevedore"),
      "bundle of an upload by rollup, KiB": byRollupKiB,
      // added to an application that has Effect, Schema and HttpClient
      "bundle of an upload beside Effect, KiB": KiB("both") - KiB("effectAlone"),
      // `npm run effect4` weighs the same two for Effect 4
      "bundle of the core, KiB": KiB("core"),
      "bundle of the core beside Effect, KiB": KiB("bothCore") - KiB("effectAlone"),
      // Whole, not on top of an upload: what an upload does without comes back with them
      "bundle with the queue, KiB": KiB("queue"),
      "bundle with lists and downloads, KiB": KiB("reads")
    })
  })
})
