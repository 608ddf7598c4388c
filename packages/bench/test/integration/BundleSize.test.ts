import { assert, beforeAll, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { withinBudget } from "../../../node/test/support/budgets.js"
import { byEsbuild, byRollup, inPieces, type Weight } from "../../src/BundleSize.js"

const modules = ["effectAlone", "both", "bothCore", "core", "stevedore", "queue", "reads"] as const

const sizes = new Map<string, number>()

const KiB = (module: typeof modules[number]) => (sizes.get(module) ?? NaN) / 1024

let byRollupKiB = NaN

let element: Weight = { first: NaN, all: NaN }

let elementBesideEffect = NaN

let uploadInPieces: Weight = { first: NaN, all: NaN }

const textOf = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8")

// What a page loads, minified and gzipped.
describe("the size of a page's script", () => {
  beforeAll(async () => {
    for (const module of modules) sizes.set(module, await byEsbuild(module))
    byRollupKiB = (await byRollup("stevedore") ?? NaN) / 1024
    element = await inPieces("element")
    uploadInPieces = await inPieces("both")
    elementBesideEffect = (await inPieces("bothElement")).all - (sizes.get("effectAlone") ?? NaN)
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

  it("is what README and the guide say, within 5 %", () => {
    const of = (module: typeof modules[number]) => sizes.get(module) ?? NaN
    const [upload, readme, guide] = [of("stevedore"), textOf("browser/README.md"), textOf("docs/guide/element.md")]
    const [page, effect] = [textOf("docs/how-it-works/benchmarks.md"), of("effectAlone")]
    const said: ReadonlyArray<readonly [text: string, pattern: RegExp, bytes: number]> = [
      [
        readme,
        /on top of an application with Effect, Schema and HttpClient \| ([\d.]+)/,
        of("both") - of("effectAlone")
      ],
      [readme, /by itself, Effect included [^|]*\| ([\d.]+)/, upload],
      [readme, /by rollup: ([\d.]+)/, byRollupKiB * 1024],
      [readme, /the queue on top of an upload \| ([\d.]+)/, of("queue") - upload],
      [readme, /lists and downloads on top of an upload \| ([\d.]+)/, of("reads") - upload],
      [guide, /: ([\d.]+) kB that register/, element.first],
      [guide, /unfinished upload is known: ([\d.]+) kB/, elementBesideEffect],
      [guide, /Where it has not, it\s+is ([\d.]+) kB/, element.all],
      [page, /on top of an application with Effect \| ([\d.]+) \|/, uploadInPieces.first - effect],
      [page, /on top of an application with Effect \| [\d.]+ \| ([\d.]+) \|/, uploadInPieces.all - effect],
      [page, /In one script instead of pieces, the upload is ([\d.]+) kB/, of("both") - effect],
      [page, /its element on top of the same \| [\d.]+ \| ([\d.]+) \|/, elementBesideEffect],
      [page, /its element by itself, including Effect \| ([\d.]+) \|/, element.first],
      [page, /its element by itself, including Effect \| [\d.]+ \| ([\d.]+) \|/, element.all]
    ]
    for (const [text, pattern, bytes] of said) {
      const [whole = `${pattern}`, kB] = pattern.exec(text) ?? []
      assert.approximately(Number(kB) * 1000, bytes, bytes / 20, whole)
    }
  })
})
