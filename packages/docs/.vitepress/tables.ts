import type { MarkdownRenderer } from "vitepress"

// in a column beside the first, more than this does not fit into a narrow screen
const fits = 30

/**
 * Prepares tables for a narrow screen, where the style sheet makes a paragraph of each row. Such a table has the class `rows`, and
 * each cell the heading of its column in `data-label`. A table of short cells, such as numbers, stays as it is, and so does one of more
 * than four columns, which scrolls.
 *
 * @internal
 */
export const tables = (markdown: MarkdownRenderer): void => {
  // VitePress's own rule for a table writes no class
  delete markdown.renderer.rules.table_open
  markdown.core.ruler.push("tables", ({ tokens }) => {
    let headings: Array<string> = []
    let column = 0
    let table = tokens[0]
    tokens.forEach((token, index) => {
      const cell = tokens[index + 1]
      if (token.type === "table_open") {
        table = token
        table.attrSet("tabindex", "0")
        headings = []
      }
      if (token.type === "tr_open") column = 0
      if (token.type === "th_open") headings.push((cell?.children ?? []).map(({ content }) => content).join(""))
      if (token.type !== "td_open") return
      const heading = headings[column] ?? ""
      if (column > 0 && headings.length > 2 && heading !== "") token.attrSet("data-label", `${heading}: `)
      if (column > 0 && headings.length < 5 && (cell?.content.length ?? 0) > fits) table?.attrSet("class", "rows")
      column += 1
    })
  })
}
