import { assert, describe, it } from "@effect/vitest"
import { createMarkdownRenderer, disposeMdItInstance } from "vitepress"
import { inlineCode } from "../.vitepress/inlineCode.js"

describe("code in a sentence", () => {
  it("stays on one line if it is a short word, in a table too", async () => {
    disposeMdItInstance()
    const markdown = await createMarkdownRenderer(".", { config: inlineCode })
    const html = markdown.render("`--include` and `npm run docs`\n\n| | |\n|---|---|\n| `--exclude` | |\n")
    assert.match(html, /<code[^>]* class="word"[^>]*>--include</)
    assert.match(html, /<code[^>]* class="word"[^>]*>--exclude</)
    assert.match(html, /<code(?![^>]*word)[^>]*>npm run docs</)
  })
})
