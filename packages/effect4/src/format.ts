import { createFromBuffer } from "@dprint/formatter"
import { getPath } from "@dprint/typescript"
import { readFileSync } from "node:fs"
import { style } from "../../../.ci/style.mjs"

const formatter = createFromBuffer(readFileSync(getPath()))

/** A text as the linter of this repository wants it, in lines of at most so many characters. */
export const formatted = (path: string, text: string, lineWidth: number = style.lineWidth): string =>
  formatter.formatText({ filePath: path, fileText: text, overrideConfig: { ...style, lineWidth } })
