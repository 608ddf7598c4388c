import type { ServiceVariation } from "./ServiceVariation.js"
import type { Fields } from "./variedJson.js"
import { digits, nested } from "./variedJson.js"

type File = ServiceVariation["records"]["file"]
type Item = ServiceVariation["records"]["items"]

const others: Fields = {
  name: 17,
  title: ["a", "list"],
  type: {},
  size: "many",
  status: 1,
  author: "Ann",
  folder: true,
  created_at: 1_700_000_000,
  updated_at: false,
  deleted: "no"
}

const huge: Fields = {
  version: digits("12345678901234567890"),
  revision: digits("-98765432109876543210987654321"),
  checksum: digits("18446744073709551615"),
  ratio: digits("0.1000000000000000055511151231257827")
}

const only = (names: ReadonlyArray<string>, fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))

const replacing = (fields: Fields, id: string, by: (name: string) => unknown): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, name === id ? value : by(name)]))

// by what an item of a list is known here, if it has nothing else
const SERIAL = "serial"

/** A record in a shape that the interface allows: none of its fields is in it. `id` is the name of its id. @internal */
export const shaped = (shape: File | Item, id: string, fields: Fields): Fields => {
  const kept = only([SERIAL], fields)
  switch (shape) {
    case "usual":
      return fields
    case "only an id":
      return { ...only([id], fields), ...kept }
    case "no fields":
      return kept
    case "nulls":
      return { ...replacing(fields, id, () => null), ...kept }
    case "other types":
      return { ...replacing(fields, id, (name) => others[name] ?? null), ...kept }
    case "other status":
      return { ...fields, status: "available" }
    case "numeric ids":
      return { ...fields, [id]: Number(fields[SERIAL] ?? 0) + 1 }
    case "huge numbers":
      return { ...fields, ...huge }
    case "deeply nested":
      return { ...fields, fields: nested(120) }
  }
}
