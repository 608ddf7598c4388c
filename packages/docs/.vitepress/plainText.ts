import { readFileSync, writeFileSync } from "node:fs"
import { dirname, extname, resolve } from "node:path"

/** A page as one text: what it includes is in it, and its front matter is not. */
const textOf = (file: string): string =>
  readFileSync(file, "utf8")
    .replace(/^---\n[^]*?\n---\n/, "")
    .replaceAll(/<!--@include: (\S+?)(?:\{(\d+),\})?-->/g, (_, path: string, from = "1") =>
      readFileSync(resolve(dirname(file), path), "utf8").split("\n").slice(Number(from) - 1).join("\n"))
    .replaceAll(/^<<< (\S+)$/gm, (_, path: string) => {
      return `\`\`\`${extname(path).slice(1)}\n${readFileSync(resolve(dirname(file), path), "utf8")}\`\`\``
    })
    .trim()

const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1] ?? "Stevedore"

/**
 * For programs that read documentation: llms.txt names every guide, llms-full.txt is all guides and the reference as one
 * file.
 */
export const writePlainText = (
  site: { readonly srcDir: string; readonly outDir: string; readonly pages: ReadonlyArray<string> },
  description: string
): void => {
  const isReference = (page: string): boolean => page.startsWith("api/")
  const read = (page: string) => ({ page, text: textOf(`${site.srcDir}/${page}`) })
  const guides = site.pages.filter((page) => !isReference(page) && page !== "index.md").map(read)
  const reference = site.pages.filter(isReference).map(read)
  writeFileSync(
    `${site.outDir}/llms.txt`,
    [
      "# Stevedore",
      "",
      `> ${description}`,
      "",
      "Everything in one file: [llms-full.txt](/llms-full.txt)",
      "",
      ...guides.map(({ page, text }) => `- [${titleOf(text)}](/${page.replace(/\.md$/, "")})`),
      ""
    ].join("\n")
  )
  writeFileSync(
    `${site.outDir}/llms-full.txt`,
    `${[...guides, ...reference].map(({ text }) => text).join("\n\n")}\n`
  )
}
