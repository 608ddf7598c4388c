import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Markdown from "../../bench/src/Markdown.js"
import { chart } from "../.vitepress/chart.js"

const root = fileURLToPath(new URL("../../../", import.meta.url))

const sourceOf = (markdown: string): string => /```mermaid\n([^]*?)```/.exec(markdown)?.[1] ?? ""

describe("a chart of the results", () => {
  const made = Markdown.chart({
    title: "CPU: <files> & \"parts\"".replaceAll("\"", "'"),
    x: ["parts", ["1", "1,000"]],
    y: ["s", [0.5, 2]]
  })

  it("draws each value at its height, and the highest at the top", () => {
    const points = /points="([^"]*)"/.exec(chart(sourceOf(made)))?.[1]?.split(" ") ?? []
    assert.deepStrictEqual(points, ["56.0,171.0", "576.0,36.0"])
  })

  it("says its values in words, and lets no text be markup", () => {
    const svg = chart(sourceOf(made))
    assert.include(svg, "1: 0.5 s; 1,000: 2 s.")
    assert.include(svg, "&#60;files&#62; &#38; 'parts'")
  })

  it("knows every chart that the results have", () => {
    const results = readFileSync(`${root}packages/bench/RESULTS.md`, "utf8")
    const charts = [...results.matchAll(/```mermaid\n([^]*?)```/g)].map(([, source = ""]) => chart(source))
    assert.isAbove(charts.length, 3)
    for (const svg of charts) {
      assert.notInclude(svg, "NaN")
      assert.match(svg, /<circle/)
    }
  })
})
