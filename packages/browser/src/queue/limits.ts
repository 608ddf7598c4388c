import { typeOf } from "../base/mediaType.js"
import type { Entry, NamedAddition } from "./entry.js"
import { isOver } from "./item.js"
import type { Limits, Refusal } from "./model.js"

const spoken = (bytes: number): string => {
  const power = bytes >= 1e9 ? 3 : bytes >= 1e6 ? 2 : 1
  return `${Number((bytes / 1000 ** power).toFixed(1))} ${" kMG"[power]}B`
}

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

/** What tells a file from others: no item has such an id. */
export const identityOf = ({ file: { lastModified, size }, name }: NamedAddition): string =>
  JSON.stringify([name, size, lastModified])

/** The sizes of files by what tells them apart, and their sum: made once per call, however many files are added. */
class Present extends Map<string, number> {
  bytes = 0

  add(identity: string, size: number): void {
    this.set(identity, size)
    this.bytes += size
  }
}

/** The files of a queue, without those of failed and cancelled items. One that is completed may be added again. */
export const presentOf = (entries: Iterable<Entry>): Present => {
  const present = new Present()
  for (const { addition, item } of entries) {
    if (item.state === "completed") present.add(item.id, item.size)
    else if (addition !== undefined && !isOver(item)) present.add(identityOf(addition), item.size)
  }
  return present
}

/** The failed and cancelled entries to try again, each file once, and none that was added again and completed since. */
export const toRetry = (entries: ReadonlyArray<Entry>, id: string | undefined): ReadonlyArray<Entry> => {
  const present = presentOf(entries)
  return [...entries].reverse().filter(({ addition, item }) => {
    const isUp = item.state === "completed"
    if (addition === undefined || !isOver(item) || present.has(identityOf(addition))) return false
    if (!isUp && id !== undefined && id !== item.id) return false
    present.add(identityOf(addition), item.size)
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
  if (file.size === 0) return refused("Empty", "It is empty or gone.")
  if (file.size > limits.size) {
    return refused("TooLarge", `It has ${spoken(file.size)}; at most ${spoken(limits.size)} are accepted.`)
  }
  if (limits.accept !== undefined && !isAccepted(file, limits.accept)) {
    return refused("WrongType", `Only ${limits.accept.join(", ")} are accepted.`)
  }
  if (present.has(identityOf(addition))) return refused("Duplicate", "It is already in the list.")
  if (present.size >= (limits.files ?? Infinity)) {
    return refused("TooMany", `At most ${limits.files} files are accepted.`)
  }
  return present.bytes + file.size > (limits.total ?? Infinity)
    ? refused("TotalTooLarge", `At most ${spoken(limits.total ?? 0)} are accepted in all.`)
    : undefined
}
