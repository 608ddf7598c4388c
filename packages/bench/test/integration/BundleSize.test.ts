import { assert, beforeAll, describe, it } from "@effect/vitest"
import { byEsbuild, byRollup } from "../../src/BundleSize.js"

const modules = ["effectAlone", "both", "stevedore", "queue", "reads"] as const

const sizes = new Map<string, number>()

const KiB = (module: typeof modules[number]) => (sizes.get(module) ?? NaN) / 1024

let byRollupKiB = NaN

// What a page loads, minified and gzipped. These are the figures that were reached: none may grow unseen.
describe("the size of a page's script", () => {
  beforeAll(async () => {
    for (const module of modules) sizes.set(module, await byEsbuild(module))
    byRollupKiB = (await byRollup("stevedore") ?? NaN) / 1024
  })

  it("an upload by itself, Effect included, is at most 121.4 KiB by esbuild", () => {
    assert.isBelow(KiB("stevedore"), 121.4)
  })

  it("and at most 115.65 KiB by rollup", () => {
    assert.isBelow(byRollupKiB, 115.65)
  })

  it("an upload adds at most 41.65 KiB to an application that has Effect, Schema and HttpClient", () => {
    assert.isBelow(KiB("both") - KiB("effectAlone"), 41.65)
  })

  it("the queue adds at most 3.85 KiB to an upload", () => {
    assert.isBelow(KiB("queue") - KiB("stevedore"), 3.85)
  })

  it("lists and downloads add at most 8.55 KiB to an upload", () => {
    assert.isBelow(KiB("reads") - KiB("stevedore"), 8.55)
  })
})
