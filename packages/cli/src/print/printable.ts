/**
 * Makes text safe to print on a terminal. File names, and everything from the service, may contain escape sequences.
 */
import * as Json from "@stevedore/core/Json"
import { escaped, printable } from "@stevedore/core/parts/text"
import { stripVTControlCharacters } from "node:util"

/**
 * One line of text without terminal commands: each character that is not safe to print, except the tab, becomes `\uFFFD`.
 */
export const line = (text: string): string => text.split("\t").map(printable).join("\t")

/** Tab-separated columns, for `cut` and `awk`: no column itself contains a tab. */
export const columns = (texts: ReadonlyArray<string>): string => texts.map(printable).join("\t")

/** A value as one line of JSON. What is not safe to print is escaped, so nothing of the value is lost. */
export const json = (value: unknown): string => escaped(Json.stringify(value) ?? "null")

// Wide characters take two columns, and many symbols may: this never underestimates one.
const widthOf = (character: string): number => (character.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2

/** The maximum number of columns that a text takes on a terminal. */
export const width = (text: string): number => [...text].reduce((columns, character) => columns + widthOf(character), 0)

/** Words as lines of at most this many columns. A longer word has a line to itself. Colours take no columns. */
export const joined = (words: ReadonlyArray<string>, columns: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of words) {
    const last = lines.at(-1)
    const longer = `${last ?? ""} ${word}`
    if (last !== undefined && width(stripVTControlCharacters(longer)) <= columns) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}

/** The same for a text, which is broken between words. */
export const wrapped = (text: string, columns: number): ReadonlyArray<string> => joined(text.split(" "), columns)

const taken = (characters: ReadonlyArray<string>, columns: number): ReadonlyArray<string> => {
  let left = columns
  const end = characters.findIndex((character) => (left -= widthOf(character)) < 0)
  return end === -1 ? characters : characters.slice(0, end)
}

/**
 * A text padded to this many columns. One that is too long loses its middle, because both ends help to tell apart the
 * files of one folder.
 */
export const fitted = (text: string, columns: number): string => {
  const characters = [...printable(text)]
  const blanks = columns - width(characters.join(""))
  if (blanks >= 0) return characters.join("") + " ".repeat(blanks)
  if (columns < 8) return fitted(taken(characters, columns).join(""), columns)
  const end = taken([...characters].reverse(), Math.floor((columns - 2) / 2))
  const start = taken(characters, columns - 2 - width(end.join("")))
  return fitted(`${start.join("")}..${[...end].reverse().join("")}`, columns)
}
