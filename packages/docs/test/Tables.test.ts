import { assert, describe, it } from "@effect/vitest"
import { createMarkdownRenderer, disposeMdItInstance } from "vitepress"
import { tables } from "../.vitepress/tables.js"

const rendered = async (table: string): Promise<string> => {
  // else it is the renderer of another test
  disposeMdItInstance()
  return (await createMarkdownRenderer(".", { config: tables })).render(table)
}

const long = "a sentence that no column of a narrow screen has room for"

describe("tables on a narrow screen", () => {
  it("have the heading of a column in its cells, where a row becomes a paragraph", async () => {
    const html = await rendered(`| | in \`two\` words | |\n|---|---|---|\n| name | yes | ${long} |\n`)
    assert.match(html, /<table[^>]* class="rows"/)
    assert.include(html, `<td>name</td>`)
    assert.include(html, `<td data-label="in two words: ">yes</td>`)
    assert.include(html, `<td>${long}</td>`)
  })

  it("stay tables if their cells are short, whatever the first column has", async () => {
    const html = await rendered(`| | first | all |\n|---|---|---|\n| ${long} | 3.3 | 76.8 |\n`)
    assert.notInclude(html, "rows")
  })

  it("stay tables if they have more than four columns", async () => {
    const html = await rendered(`| a | b | c | d | e |\n|---|---|---|---|---|\n| 1 | 2 | 3 | 4 | ${long} |\n`)
    assert.notInclude(html, "rows")
  })
})
