/** The XML that S3 answers with: elements and text, and nothing else. What is anything else is not read. */
import * as Either from "effect/Either"

export interface Element {
  readonly name: string
  readonly text: string
  readonly children: ReadonlyArray<Element>
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'" }

const ENTITY = /&(?:#x([0-9a-fA-F]{1,6})|#(\d{1,7})|(\w+));|&/g

/** Undefined if there is an entity that XML does not have by itself. */
const unescaped = (text: string): string | undefined => {
  let isWrong = false
  const plain = text.replace(ENTITY, (_, hex?: string, decimal?: string, name?: string) => {
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    if (name === undefined && point <= 0x10ffff) return String.fromCodePoint(point)
    const known = name === undefined ? undefined : entities[name]
    isWrong ||= known === undefined
    return known ?? ""
  })
  return isWrong ? undefined : plain
}

// an opening, empty or closing tag; attributes are namespaces, and say nothing here
const TAG = /<(\/?)([A-Za-z_][\w.-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const PROLOG = /^\ufeff?\s*(?:<\?xml[^?<>]*\?>\s*)?/
const DEEPEST = 16

interface Open {
  readonly name: string
  readonly children: Array<Element>
  text: string
}

/** The root element. Left says at which character it stops being what S3 writes. */
export const parse = (xml: string): Either.Either<Element, string> => {
  const root: Open = { name: "", children: [], text: "" }
  const path = [root]
  let at = PROLOG.exec(xml)?.[0].length ?? 0
  const wrong = () => Either.left(`not what S3 writes, from character ${at} on`)
  while (at < xml.length) {
    const current = path.at(-1) ?? root
    const next = xml.indexOf("<", at)
    const text = unescaped(xml.slice(at, next === -1 ? xml.length : next))
    if (text === undefined || (current === root && text.trim() !== "")) return wrong()
    current.text += text
    if (next === -1) break
    TAG.lastIndex = next
    const [tag, closing = "", name = "", attributes = "", empty = ""] = TAG.exec(xml) ?? []
    if (tag === undefined) return wrong()
    if (closing === "") {
      if (path.length > DEEPEST || (current === root && root.children.length > 0)) return wrong()
      const opened: Open = { name, children: [], text: "" }
      current.children.push(opened)
      if (empty === "") path.push(opened)
    } else {
      if (current.name !== name || path.length === 1 || attributes !== "" || empty !== "") return wrong()
      path.pop()
    }
    at = next + tag.length
  }
  const [first] = root.children
  return first === undefined || path.length > 1 ? wrong() : Either.right(first)
}

/** The text of a child; undefined if there is none. */
export const text = (element: Element, name: string): string | undefined =>
  element.children.find((child) => child.name === name)?.text

export const all = (element: Element, name: string): ReadonlyArray<Element> =>
  element.children.filter((child) => child.name === name)

const marks: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;" }

export const escape = (text: string): string => text.replace(/[&<>"]/g, (mark) => marks[mark] ?? mark)

/** An element with text, or with children. @internal */
export const element = (name: string, content: string | ReadonlyArray<Element>): Element =>
  typeof content === "string" ? { name, text: content, children: [] } : { name, text: "", children: content }

/** The element as S3 reads it. @internal */
export const print = (root: Element, namespace = ""): string =>
  `<${root.name}${namespace}>${
    root.children.length === 0 ? escape(root.text) : root.children.map((child) => print(child)).join("")
  }</${root.name}>`
