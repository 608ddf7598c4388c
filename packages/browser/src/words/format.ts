/** What the place to drop says: loaded before the first file, so that it is little. */
import type { Limits } from "../queue/model.js"
import { english } from "./english.js"
import type { Message, MessageKey, Words } from "./model.js"

export type Values = Readonly<Record<string, string | number>>

/** One for each language and options: to make one takes longer than to use it for a whole row. */
const formats = new Map<string, Intl.NumberFormat>()

/** A format of numbers, made once. */
export const formatOf = (language: string, options: Intl.NumberFormatOptions = {}): Intl.NumberFormat => {
  const key = language + JSON.stringify(options)
  const format = formats.get(key) ?? new Intl.NumberFormat(language, options)
  formats.set(key, format)
  return format
}

/**
 * A message with its values. Numbers are formatted, and `count` chooses the plural.
 */
export const text = ({ language }: Pick<Words, "language">, message: Message, values: Values = {}): string => {
  const { count } = values
  const template = typeof message === "string"
    ? message
    : message[new Intl.PluralRules(language).select(Number(count))] ?? message.other
  return template.replace(/\{(\w+)\}/g, (whole, key: string) => {
    const value = values[key] ?? whole
    return typeof value === "number" ? formatOf(language).format(value) : value
  })
}

/**
 * The message for a key.
 */
export const say = (words: Words, key: MessageKey, values?: Values): string => text(words, words.messages[key], values)

/** A format of amounts. */
export const unit = (language: string, name: string, unitDisplay: "short" | "long", digits: number, least = digits) =>
  formatOf(language, {
    style: "unit",
    unit: name,
    unitDisplay,
    minimumFractionDigits: least,
    maximumFractionDigits: digits
  })

const units = ["kilobyte", "megabyte", "gigabyte", "terabyte"]

/**
 * A number of bytes, such as `5.2 MB`, in units of 1000, with so many digits after the point at least.
 */
export const bytes = ({ language }: Pick<Words, "language">, count: number, least?: number): string => {
  if (count < 1000) return unit(language, "byte", "long", 0).format(count)
  let value = count / 1000
  let index = 0
  // a value that rounds to a thousand of one unit is one of the next
  while (value >= 999.5 && index < units.length - 1) {
    value /= 1000
    index++
  }
  return unit(language, units[index] ?? "byte", "short", value < 9.95 ? 1 : 0, least).format(value)
}

/** Types that have another name to visitors than the end of theirs. */
const called: Readonly<Record<string, string>> = {
  document: "DOCX",
  sheet: "XLSX",
  presentation: "PPTX",
  msword: "DOC",
  "ms-excel": "XLS",
  "ms-powerpoint": "PPT",
  plain: "TXT",
  quicktime: "MOV",
  matroska: "MKV"
}

const kinds = { "image/*": "images", "video/*": "videos", "audio/*": "audio" } as const

const isKind = (type: string): type is keyof typeof kinds => Object.hasOwn(kinds, type)

/**
 * What is accepted, as visitors call it: `images or PDF` for images of any type and `.pdf`.
 */
export const types = (words: Words, accept: ReadonlyArray<string>): string =>
  new Intl.ListFormat(words.language, { type: "disjunction" }).format(
    new Set(accept.map((type) => {
      const known = type.trim().toLowerCase()
      if (isKind(known)) return say(words, kinds[known])
      const end = known.replace(/\/\*$|\+\w+$/, "").replace(/^.*[./](?:x-)?/, "")
      return called[end] ?? end.toUpperCase()
    }))
  )

/**
 * What may be added, in a line: `Images or PDF, up to 2 MB, at most 4`.
 */
export const limits = (words: Words, { accept = [], files, size, total }: Limits): string => {
  const line = new Intl.ListFormat(words.language, { type: "unit" }).format([
    ...accept.length === 0 ? [] : [types(words, accept)],
    ...size === undefined ? [] : [say(words, "sizeLimit", { size: bytes(words, size, 0) })],
    ...total === undefined ? [] : [say(words, "totalLimit", { size: bytes(words, total, 0) })],
    ...files === undefined ? [] : [say(words, "countLimit", { count: files })]
  ])
  return line.charAt(0).toLocaleUpperCase(words.language) + line.slice(1)
}

/**
 * Loads the words of a language, such as `de-CH`, when they are needed. English, German, Spanish, French, Japanese and
 * Arabic are known; for others, and if a language cannot be loaded, these are English.
 */
export const load = async (language: string): Promise<Words> => {
  const [tag = ""] = language.toLowerCase().split("-")
  const known = Object.hasOwn(others, tag) ? await others[tag]?.().catch(() => english) ?? english : english
  // of the region are the numbers and times
  return known.language === tag ? { ...known, language } : known
}

const others: Readonly<Record<string, () => Promise<Words>>> = {
  de: () => import("./german.js").then(({ german }) => german),
  es: () => import("./spanish.js").then(({ spanish }) => spanish),
  fr: () => import("./french.js").then(({ french }) => french),
  ja: () => import("./japanese.js").then(({ japanese }) => japanese),
  ar: () => import("./arabic.js").then(({ arabic }) => arabic)
}
