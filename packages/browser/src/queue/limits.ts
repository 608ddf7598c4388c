import { typeOf } from "../base/mediaType.js"
import type { Entry, NamedAddition } from "./entry.js"
import { isOver } from "./item.js"
import type { Limits, Refusal } from "./model.js"

const megabyte = 1_000_000

const spoken = (bytes: number): string =>
  bytes >= 1000 * megabyte
    ? `${Number((bytes / (1000 * megabyte)).toFixed(1))} GB`
    : bytes >= megabyte
    ? `${Number((bytes / megabyte).toFixed(1))} MB`
    : `${Math.ceil(bytes / 1000)} kB`

/** Follows the attribute `accept` of an input: extensions, media types, and wildcards such as `image/*`. */
const isAccepted = (file: File, accept: ReadonlyArray<string>): boolean => {
  const name = file.name.toLowerCase()
  const type = typeOf(file).toLowerCase()
  return accept.some((wish) => {
    const wanted = wish.trim().toLowerCase()
    if (wanted.startsWith(".")) return name.endsWith(wanted)
    return wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, wanted.indexOf("*"))) : type === wanted
  })
}

const identityOf = ({ file: { lastModified, size }, name }: NamedAddition): string =>
  JSON.stringify([name, size, lastModified])

// Built once per call, however many files are added.
class Present {
  files = 0
  bytes = 0
  readonly #identities = new Set<string>()

  count(size: number): void {
    this.files += 1
    this.bytes += size
  }

  add(addition: NamedAddition): void {
    this.count(addition.file.size)
    this.#identities.add(identityOf(addition))
  }

  has(addition: NamedAddition): boolean {
    return this.#identities.has(identityOf(addition))
  }
}

/** The files of a queue, without those of failed and cancelled items. One that is completed may be added again. */
export const presentOf = (entries: Iterable<Entry>): Present => {
  const present = new Present()
  for (const { addition, item } of entries) {
    if (item.state === "completed") present.count(item.size)
    else if (addition !== undefined && !isOver(item)) present.add(addition)
  }
  return present
}

/** The failed and cancelled entries to try again, each file once, and none that was added again and completed since. */
export const toRetry = (entries: ReadonlyArray<Entry>, id: string | undefined): ReadonlyArray<Entry> => {
  const present = presentOf(entries)
  return [...entries].reverse().filter(({ addition, item }) => {
    const isUp = item.state === "completed"
    if (addition === undefined || !isOver(item) || present.has(addition)) return false
    if (!isUp && id !== undefined && id !== item.id) return false
    present.add(addition)
    return !isUp
  })
}

/** Why a file is refused, or `undefined`. */
export const refusalOf = (
  addition: NamedAddition,
  present: Present,
  limits: Limits & { readonly size: number }
): Refusal | undefined => {
  const { file, name } = addition
  const refused = (reason: Refusal["reason"], message: string): Refusal => ({ name, size: file.size, reason, message })
  if (file.size === 0) return refused("Empty", "It is empty.")
  if (file.size > limits.size) {
    return refused("TooLarge", `It has ${spoken(file.size)}; at most ${spoken(limits.size)} are accepted.`)
  }
  if (limits.accept !== undefined && !isAccepted(file, limits.accept)) {
    return refused("WrongType", `Only ${limits.accept.join(", ")} are accepted.`)
  }
  if (present.has(addition)) return refused("Duplicate", "It is already in the list.")
  if (present.files >= (limits.files ?? Infinity)) {
    return refused("TooMany", `At most ${limits.files} files are accepted at once.`)
  }
  return present.bytes + file.size > (limits.total ?? Infinity)
    ? refused("TotalTooLarge", `At most ${spoken(limits.total ?? 0)} are accepted at once.`)
    : undefined
}
