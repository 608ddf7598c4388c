/**
 * The trial upload in parts.
 */
import * as UploadPlan from "@stevedore/core/UploadPlan"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Trial from "./doctorTrial.js"
import * as Probe from "./probe.js"
import * as Names from "./profileNames.js"
import * as ProfileProbe from "./profileProbe.js"

type Prober = ProfileProbe.Prober

const isHref = (value: unknown): value is string => Predicate.isString(value) && /^https?:\/\//.test(value)

interface PartUrl {
  readonly href: string
  readonly number: number
}

/** The URLs of the parts in their order, whatever the elements of `urls` look like. */
const partUrls = (prober: Prober, elements: ReadonlyArray<unknown>): ReadonlyArray<PartUrl> => {
  const { fields } = prober.draft
  const fieldOf = (element: object, standard: string, fits: (value: unknown) => boolean): string | undefined =>
    Object.entries(element).find(([name, value]) => name === standard && fits(value))?.[0] ??
      Object.entries(element).find(([, value]) => fits(value))?.[0]
  const found = elements.flatMap((element, index): ReadonlyArray<PartUrl> => {
    if (isHref(element)) return [{ href: element, number: index + 1 }]
    if (!Predicate.isRecord(element)) return []
    const url = fieldOf(element, "url", isHref)
    const number = fieldOf(
      element,
      "part_number",
      (value) => Predicate.isNumber(value) && Number.isInteger(value) && value >= 1 && value <= elements.length
    )
    if (url === undefined) return []
    if (url !== "url") fields["partUrl"] = url
    if (number !== undefined && number !== "part_number") fields["partNumber"] = number
    const href = element[url]
    return isHref(href) ? [{ href, number: number === undefined ? index + 1 : Number(element[number]) }] : []
  })
  return found.toSorted((one, other) => one.number - other.number)
}

const putPart = (prober: Prober, href: string, bytes: Uint8Array) =>
  Effect.gen(function*() {
    const encryption = prober.draft.encryptionHeaders ?? prober.service.profile.encryptionHeaders
    const signed = Probe.signedHeaders(new URL(href))
    const needed = Object.fromEntries(Object.entries(encryption).filter(([name]) => signed?.includes(name) === true))
    const answer = yield* Probe.put(href, bytes, needed)
    return Probe.isFine(answer) || signed !== undefined ? answer : yield* Probe.put(href, bytes, encryption)
  })

interface Sent {
  readonly number: number
  readonly etag: string
  /** In bytes. */
  readonly size: number
}

interface Opened {
  readonly id: string
  readonly uploadId: string
  readonly sent: ReadonlyArray<Sent>
}

interface CompleteNames {
  readonly list: string
  readonly numbers: ReadonlyArray<string>
  readonly etags: ReadonlyArray<string>
}

const completeBody = ({ sent, uploadId }: Opened, { etags, list, numbers }: CompleteNames) => ({
  upload_id: uploadId,
  [list]: sent.map((one) => ({
    ...Object.fromEntries(numbers.map((name) => [name, one.number])),
    ...Object.fromEntries(etags.map((name) => [name, one.etag]))
  }))
})

const ordered = (slot: Names.Slot, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const told = words.filter((word) => slot.pattern.test(word))
  return [...new Set([...slot.names.slice(0, 1), ...told.slice(0, 4), ...slot.names])]
}

const finished = ({ left }: Prober, { id, sent }: Opened): void => {
  const at = left.findIndex(({ fileId }) => fileId === id)
  if (at !== -1) left[at] = { fileId: id, kind: "file", bytes: sent.reduce((sum, { size }) => sum + size, 0) }
}

/** The first of these names with which an upload completes; undefined if none does. */
const firstAccepted = (
  prober: Prober,
  opened: Opened,
  names: ReadonlyArray<string>,
  namesWith: (name: string) => CompleteNames
) =>
  Effect.gen(function*() {
    for (const name of names) {
      const answer = yield* prober.ask("completeLargeUpload", opened.id, completeBody(opened, namesWith(name)))
      if (!Probe.isFine(answer)) continue
      finished(prober, opened)
      return name
    }
    return undefined
  })

const nameComplete = (prober: Prober, slot: Names.Slot, name: string): void => {
  if (name !== slot.names[0]) prober.draft.fields[slot.field] = name
}

/**
 * Completes an upload in parts with one name after the other. A successful Complete ends its upload, so that each of
 * the three names takes an upload of its own.
 */
const completeLarge = <E, R>(prober: Prober, first: Opened, another: Effect.Effect<Opened | undefined, E, R>) =>
  Effect.gen(function*() {
    const { completeEtag, completePartNumber, completeParts } = Names
    const standard = { list: "parts", numbers: ["part_number"], etags: ["etag"] }
    const answer = yield* prober.ask("completeLargeUpload", first.id, completeBody(first, standard))
    if (Probe.isFine(answer)) return finished(prober, first)
    const words = Probe.words(answer)
    const [numbers, etags] = [ordered(completePartNumber, words), ordered(completeEtag, words)]
    const list = Probe.isAbsent(answer)
      ? undefined
      : yield* firstAccepted(prober, first, ordered(completeParts, words), (list) => ({ list, numbers, etags }))
    const second = list === undefined ? undefined : yield* another
    const number = second === undefined || list === undefined
      ? undefined
      : yield* firstAccepted(prober, second, numbers, (number) => ({ list, numbers: [number], etags }))
    const third = number === undefined ? undefined : yield* another
    const etag = third === undefined || list === undefined || number === undefined
      ? undefined
      : yield* firstAccepted(prober, third, etags, (etag) => ({ list, numbers: [number], etags: [etag] }))
    if (list !== undefined && number !== undefined && etag !== undefined) {
      nameComplete(prober, completeParts, list)
      nameComplete(prober, completePartNumber, number)
      return nameComplete(prober, completeEtag, etag)
    }
    prober.draft.questions.push(
      Probe.isAbsent(answer)
        ? "paths.completeLargeUpload: the path that completes an upload in parts, with {file_id}"
        : "fields.completeParts, fields.completePartNumber, fields.completeEtag: their names in the body that " +
          "completes an upload in parts"
    )
  })

const idIn = (prober: Prober, opened: Probe.Answer): string | undefined => {
  const field = prober.draft.fields["fileId"]
  const found = ProfileProbe.ids(opened)
  return (field === undefined ? found[0] : found.find((one) => one.field === field))?.id
}

const megabytes = (count: number): number => count * 1_048_576

const openLarge = (prober: Prober, content: Uint8Array) =>
  Effect.gen(function*() {
    const size = content.byteLength
    const { draft, service } = prober
    const opened = yield* ProfileProbe.initiate(prober, "initiateLargeUpload", {
      name: Trial.largeName,
      size,
      parts: 2
    })
    const data = Probe.unwrapped(opened.json)
    const uploadId = Probe.textAt(data, "upload_id")
    const urls = partUrls(prober, Probe.listAt(data, "urls"))
    const id = idIn(prober, opened)
    if (!Probe.isFine(opened) || uploadId === undefined || urls.length === 0 || id === undefined) {
      draft.questions.push("paths.initiateLargeUpload, fields.parts, fields.partUrl: what opens an upload in parts")
      return undefined
    }
    prober.left.push({ fileId: id, kind: "session", bytes: size })
    prober.learnPaths(opened, id, true)
    const ranges = Either.getOrElse(UploadPlan.ranges(size, urls.length, service.profile.limits), () => [])
    const sent = yield* Effect.forEach(ranges, ({ length, offset }, index) =>
      Effect.map(
        putPart(prober, urls[index]?.href ?? "", content.subarray(offset, offset + length)),
        (answer): Sent => ({
          number: index + 1,
          size: length,
          etag: Probe.isFine(answer) ? answer.headers["etag"] ?? "" : ""
        })
      ))
    if (sent.length === 0 || sent.some(({ etag }) => etag === "")) {
      draft.questions.push("encryptionHeaders: storage does not accept a part; what must its PUT have?")
      return undefined
    }
    return { id, uploadId, sent } satisfies Opened
  })

/** Uploads a file in parts, and finds out on the way what the names in it are. */
export const multipart = (prober: Prober, content: Uint8Array) =>
  Effect.gen(function*() {
    const opened = yield* openLarge(prober, content)
    if (opened !== undefined) yield* completeLarge(prober, opened, openLarge(prober, content))
  })

/** Whether the service follows a wish for a number of parts, and under which name. */
export const wish = (prober: Prober) =>
  Effect.gen(function*() {
    const { draft } = prober
    const [count, size] = [3, megabytes(16)]
    const opened = (names: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const slots = [[Names.fileName, Trial.largeName], [Names.mediaType, Trial.mediaType], [
          Names.size,
          size
        ]] as const
        const body = Object.fromEntries(
          slots.map(([{ field, names }, value]) => [draft.fields[field] ?? names[0], value])
        )
        const wished = Object.fromEntries(names.map((name) => [name, count]))
        const answer = yield* prober.ask("initiateLargeUpload", "", { ...body, ...wished })
        const id = idIn(prober, answer)
        if (Probe.isFine(answer) && id !== undefined) prober.left.push({ fileId: id, kind: "session", bytes: size })
        return Probe.listAt(Probe.unwrapped(answer.json), "urls").length === count
      })
    const current = draft.fields["parts"] ?? "parts"
    if ((yield* opened([current])) || !(yield* opened(Names.parts.names)) || (yield* opened([]))) return
    let names = Names.parts.names
    while (names.length > 1) {
      const half = names.slice(0, Math.ceil(names.length / 2))
      names = (yield* opened(half)) ? half : names.slice(half.length)
    }
    if (names[0] !== undefined) draft.fields["parts"] = names[0]
  })
