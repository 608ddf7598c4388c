import { assert, beforeAll, describe, it } from "@effect/vitest"
import { byEsbuild } from "../../src/BundleSize.js"

const modules = ["effectAlone", "both", "stevedore", "queue", "reads"] as const

const sizes = new Map<string, number>()

const KiB = (module: typeof modules[number]) => (sizes.get(module) ?? NaN) / 1024

// What a page loads, minified and gzipped. These are the figures that were reached: none may grow unseen.
describe("the size of a page's script", () => {
  beforeAll(async () => {
    for (const module of modules) sizes.set(module, await byEsbuild(module))
  })

  it("an upload by itself, Effect included, is at most 127 KiB", () => {
    assert.isBelow(KiB("stevedore"), 127)
  })

  it("an upload adds at most 47 KiB to an application that has Effect, Schema and HttpClient", () => {
    assert.isBelow(KiB("both") - KiB("effectAlone"), 47)
  })

  it("the queue adds at most 6 KiB to an upload", () => {
    assert.isBelow(KiB("queue") - KiB("stevedore"), 6)
  })

  it("lists and downloads add at most 12 KiB to an upload", () => {
    assert.isBelow(KiB("reads") - KiB("stevedore"), 12)
  })
})
