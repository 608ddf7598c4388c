import type ts from "typescript"
import { formatted } from "./format.js"

/** The code of one `@example`, or of one block of a page: as a file beside the one that it stands in. */
export interface Example {
  /** Where it would lie. Its lines have the numbers that they have where it stands. */
  readonly path: string
  readonly text: string
  /** What stands there, without the stars of a docstring. */
  readonly code: string
}

const inDocstrings = /^([ \t]*)\* @example\n((?:\1\*(?! @|\/).*\n)+)/gm
const inPages = /^()```ts\n([^]*?\n)```$/gm

const patternFor = (file: string): RegExp => file.endsWith(".md") ? inPages : inDocstrings

/** Whatever surrounds the code: of a docstring, the indentation and a star before each line. */
const codeIn = (file: string, lines: string): string =>
  (file.endsWith(".md") ? lines : lines.replace(/^[ \t]*\* ?/gm, "")).trimEnd()

export const examplesOf = (file: string, text: string): ReadonlyArray<Example> =>
  Array.from(text.matchAll(patternFor(file)), ({ 0: whole, 2: lines = "", index }, number) => {
    const code = codeIn(file, lines)
    const before = text.slice(0, index + whole.indexOf("\n") + 1).split("\n").length - 1
    return { path: file.replace(/\.(?:ts|md)$/, `.example${number + 1}.ts`), text: "\n".repeat(before) + code, code }
  })

/** Whether a node stands in an example, and not in code that runs. */
export const isExample = (node: ts.Node): boolean => /\.example\d+\.ts$/.test(node.getSourceFile().fileName)

/** The place in the file itself of one in an example's. */
export const placeInFile = (place: string): string =>
  place.replace(/\.example\d+\.ts(?=:)/, place.includes("/README.") ? ".md" : ".ts")

interface Name {
  readonly name: string
  readonly isType: boolean
}

const namespace = /^import (type )?\* as (\w+) from "(effect(?:\/[a-z-]+)?)\/([A-Z]\w*)"$/

/** Imports as users write them: many modules of one package in one line. */
const withBarrels = (text: string): string => {
  const named = new Map<string, Array<Name>>()
  const others: Array<string> = []
  for (const line of text.split("\n")) {
    const [, type, local = "", barrel = "", module = ""] = namespace.exec(line) ?? []
    if (barrel === "") others.push(line)
    else {
      const names = named.get(barrel) ?? []
      named.set(barrel, [...names, {
        name: local === module ? local : `${module} as ${local}`,
        isType: type !== undefined
      }])
    }
  }
  const lines = Array.from(named, ([barrel, names]) => {
    const areTypes = names.every(({ isType }) => isType)
    const list = names.map(({ isType, name }) => isType && !areTypes ? `type ${name}` : name)
    return `import ${areTypes ? "type " : ""}{ ${list.join(", ")} } from "${barrel}"`
  })
  return [...lines, ...others].join("\n")
}

/** What was emitted for an example, as it is shown: without the empty lines before it, and no wider than where it stands. */
export const shown = (example: Example, emitted: string, lineWidth: number): string =>
  formatted(example.path, withBarrels(emitted.trimStart()), lineWidth).trimEnd()

/** A text with each of its examples in another form; those without one stay. */
export const withExamples = (
  file: string,
  text: string,
  formOf: (code: string, lineWidth: number) => string | undefined
): string =>
  text.replace(patternFor(file), (whole: string, indent: string, lines: string) => {
    const isPage = file.endsWith(".md")
    const form = formOf(codeIn(file, lines), isPage ? 80 : 117 - indent.length)
    if (form === undefined) return whole
    if (isPage) return `\`\`\`ts\n${form}\n\`\`\``
    const star = (line: string) => line === "" ? `${indent}*` : `${indent}* ${line}`
    // what parts the code from the next tag
    const end = /(?:[ \t]*\*\n)*$/.exec(lines)?.[0] ?? ""
    return `${indent}* @example\n${form.split("\n").map(star).join("\n")}\n${end}`
  })
