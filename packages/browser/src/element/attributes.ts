/** What the attributes of an element say. An attribute is right, absent or wrong, and a wrong one is never taken for absent. */

const count = (text: string): number | undefined => /^\d+$/.test(text) ? Number(text) : undefined

const powers = ["", "k", "m", "g", "t"]

const bytes = (text: string): number | undefined => {
  const [, amount, prefix = "", binary] = /^(\d+(?:\.\d+)?) ?(?:([kmgt])(i)?)?b?$/i.exec(text) ?? []
  return amount === undefined
    ? undefined
    : Math.floor(Number(amount) * (binary === undefined ? 1000 : 1024) ** powers.indexOf(prefix.toLowerCase()))
}

const types = (text: string): ReadonlyArray<string> | undefined => {
  const wishes = text.split(",").map((wish) => wish.trim()).filter((wish) => wish !== "")
  return wishes.every((wish) => /^(\.\S|[^./\s]+[^/\s]*\/[^/\s]+$)/.test(wish)) ? wishes : undefined
}

const truth = (text: string): boolean | undefined => text === "true" ? true : text === "false" ? false : undefined

const isRecord = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
  && Object.values(value).every((one) => typeof one === "string")

const record = (text: string): Readonly<Record<string, string>> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What was said of wrong attributes: each is said once in a page. */
const said = new Set<string>()

/**
 * Reads the attributes. While any is wrong, no file is accepted, and the console names each wrong one. What metadata may be
 * is known where files are taken.
 */
export const read = (
  host: Pick<Element, "getAttribute" | "localName">,
  isMetadata: (value: Readonly<Record<string, string>>) => boolean = () => true
) => {
  let areWrong = false
  const of = <A>(name: string, decode: (text: string) => A | undefined, wanted: string): A | undefined => {
    const text = host.getAttribute(name)?.trim() ?? ""
    const value = text === "" ? undefined : decode(text)
    if (text === "" || value !== undefined) return value
    areWrong = true
    const fault = `<${host.localName}> accepts no files: ${name}="${text}" is not ${wanted}.`
    // eslint-disable-next-line no-console -- for the developer of the page, who has no other place to look
    if (!said.has(fault)) console.error(fault)
    said.add(fault)
    return undefined
  }
  const size = "a size, such as 500000, 10MB or 2 GB"
  const limits = {
    files: of("max-files", count, "a whole number"),
    size: of("max-size", bytes, size),
    total: of("max-total", bytes, size),
    accept: of("accept", types, "a list of types, such as image/*,.pdf")
  }
  const files = of("files", count, "a whole number")
  const autostart = of("autostart", truth, "true or false")
  const lawful = (text: string) => {
    const value = record(text)
    return value !== undefined && isMetadata(value) ? value : undefined
  }
  const metadata = of("metadata", lawful, "JSON of names and texts, such as {\"album\":\"7\"}")
  return { limits, files, autostart, metadata, areWrong }
}
