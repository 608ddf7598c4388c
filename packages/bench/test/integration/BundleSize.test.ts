import { assert, beforeAll, describe, it } from "@effect/vitest"
import { byEsbuild, byRollup } from "../../src/BundleSize.js"

const modules = ["effectAlone", "both", "bothCore", "core", "stevedore", "queue", "reads"] as const

const sizes = new Map<string, number>()

const KiB = (module: typeof modules[number]) => (sizes.get(module) ?? NaN) / 1024

let byRollupKiB = NaN

// What a page loads, minified and gzipped. These are the figures that were reached: none may grow unseen.
describe("the size of a page's script", () => {
  beforeAll(async () => {
    for (const module of modules) sizes.set(module, await byEsbuild(module))
    byRollupKiB = (await byRollup("stevedore") ?? NaN) / 1024
  })

  it("an upload by itself, Effect included, is at most 132.6 KiB by esbuild", () => {
    assert.isBelow(KiB("stevedore"), 132.6)
  })

  it("and at most 126.7 KiB by rollup", () => {
    assert.isBelow(byRollupKiB, 126.7)
  })

  it("an upload adds at most 52.7 KiB to an application that has Effect, Schema and HttpClient", () => {
    assert.isBelow(KiB("both") - KiB("effectAlone"), 52.7)
  })

  // `npm run effect4` weighs the same two for Effect 4
  it("an upload with the core alone is at most 128.9 KiB", () => {
    assert.isBelow(KiB("core"), 128.9)
  })

  it("and adds at most 49.5 KiB to such an application", () => {
    assert.isBelow(KiB("bothCore") - KiB("effectAlone"), 49.5)
  })

  // Whole, not on top of an upload: what an upload does without comes back with them
  it("an upload with the queue is at most 136.9 KiB", () => {
    assert.isBelow(KiB("queue"), 136.9)
  })

  it("an upload with lists and downloads is at most 142.7 KiB", () => {
    assert.isBelow(KiB("reads"), 142.7)
  })
})
