import type { MarkdownRenderer } from "vitepress"

// a word that is longer may have to break on a narrow screen
const longest = 24

/**
 * Gives code of one short word the class `word`, by which the style sheet keeps it on one line: a browser would break `--include` after
 * its dashes.
 *
 * @internal
 */
export const inlineCode = (markdown: MarkdownRenderer): void => {
  markdown.core.ruler.push("inline_code", ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const isWord = token.content.length <= longest && !token.content.includes(" ")
      if (token.type === "code_inline" && isWord) token.attrSet("class", "word")
    }
  })
}
