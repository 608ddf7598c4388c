/** The trial upload in parts. */
import * as UploadPlan from "@stevedore/core/UploadPlan"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Names from "./names.js"
import * as Probe from "./probe.js"
import * as ProfileProbe from "./single.js"
import * as Trial from "./trial.js"

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
    const url = fieldOf(element, prober.name("partUrl"), isHref)
    const number = fieldOf(
      element,
      prober.name("partNumber"),
      (value) => Predicate.isNumber(value) && Number.isInteger(value) && value >= 1 && value <= elements.length
    )
    if (url === undefined) return []
    if (url !== prober.name("partUrl")) fields["partUrl"] = url
    if (number !== undefined && number !== prober.name("partNumber")) fields["partNumber"] = number
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
}

interface Opened {
  readonly id: string
  /** As it came: text or a number. */
  readonly uploadId: string | number
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

const ordered = (prober: Prober, slot: Names.Slot, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const told = words.filter((word) => slot.pattern.test(word))
  return [...new Set([prober.name(slot.field), ...told.slice(0, 4), ...slot.names])]
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
      Trial.settle(prober.left, opened.id)
      return name
    }
    return undefined
  })

const nameComplete = (prober: Prober, slot: Names.Slot, name: string): void => {
  if (name !== prober.name(slot.field)) prober.draft.fields[slot.field] = name
}

/**
 * Completes an upload in parts with one name after the other. A successful Complete ends its upload, so that each of
 * the three names takes an upload of its own.
 */
const completeLarge = <E, R>(prober: Prober, first: Opened, another: Effect.Effect<Opened | undefined, E, R>) =>
  Effect.gen(function*() {
    const { completeEtag, completePartNumber, completeParts } = Names
    const standard = {
      list: prober.name("completeParts"),
      numbers: [prober.name("completePartNumber")],
      etags: [prober.name("completeEtag")]
    }
    const answer = yield* prober.ask("completeLargeUpload", first.id, completeBody(first, standard))
    if (Probe.isFine(answer)) return Trial.settle(prober.left, first.id)
    const words = Probe.words(answer)
    const [numbers, etags] = [ordered(prober, completePartNumber, words), ordered(prober, completeEtag, words)]
    const list = Probe.isAbsent(answer)
      ? undefined
      : yield* firstAccepted(prober, first, ordered(prober, completeParts, words), (list) => ({ list, numbers, etags }))
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
    const { questions } = prober.draft
    if (Probe.isAbsent(answer)) {
      questions.push("paths.completeLargeUpload: the path that completes an upload in parts, with {file_id}")
      return
    }
    const body = "in the body that completes an upload in parts"
    questions.push(
      `fields.completeParts: the name of the list of parts ${body}`,
      `fields.completePartNumber: the name of a part's number ${body}`,
      `fields.completeEtag: the name of a part's etag ${body}`
    )
  })

const idIn = (prober: Prober, opened: Probe.Answer): string | undefined => {
  const field = prober.draft.fields["fileId"]
  const found = ProfileProbe.ids(prober, opened)
  return (field === undefined ? found[0] : found.find((one) => one.field === field))?.id
}

/** The field that names the size of all parts but the last, if one fits the number of URLs. */
const learnPartSize = (
  { draft, service }: Prober,
  data: unknown,
  { count, size }: { readonly count: number; readonly size: number }
): void => {
  if (service.profile.fields.partSize !== undefined) return
  const found = Probe.leaves(data).find(({ path, value }) =>
    Predicate.isNumber(value) && Number.isInteger(value) && value > 0 && value < size &&
    Math.ceil(size / value) === count &&
    /(?:part|chunk|segment|block|slice).*(?:size|bytes|length)/i.test(path.join("."))
  )
  if (found !== undefined) draft.fields["partSize"] = found.path.join(".")
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
    prober.learnEnvelope(opened, "urls")
    const data = prober.resource(opened)
    const uploadId = Probe.idAt(data, "upload_id")
    const urls = partUrls(prober, Probe.listAt(data, "urls"))
    const id = idIn(prober, opened)
    if (!Probe.isFine(opened) || uploadId === undefined || urls.length === 0 || id === undefined) {
      draft.questions.push(
        urls.length === 0 && Probe.listAt(data, "urls").length > 0
          ? "fields.partUrl: the name of the URL in an element of urls"
          : "paths.initiateLargeUpload: the path that opens an upload in parts, with upload_id and urls in its answer"
      )
      return undefined
    }
    learnPartSize(prober, data, { size, count: urls.length })
    prober.left.push({ fileId: id, kind: "session", bytes: size })
    prober.learnPaths(opened, id, true)
    const ranges = Either.getOrElse(UploadPlan.ranges(size, urls.length, service.profile.limits), () => [])
    const sent = yield* Effect.forEach(ranges, ({ length, offset }, index) =>
      Effect.map(
        putPart(prober, urls[index]?.href ?? "", content.subarray(offset, offset + length)),
        (answer): Sent => ({
          number: index + 1,
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
export const desiredParts = (prober: Prober) =>
  Effect.gen(function*() {
    const { draft } = prober
    const [count, size] = [3, megabytes(16)]
    const opened = (names: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const body = {
          [prober.name("fileName")]: Trial.largeName,
          [prober.name("mediaType")]: Trial.mediaType,
          [prober.name("size")]: size
        }
        const desired = Object.fromEntries(names.map((name) => [name, count]))
        const answer = yield* prober.ask("initiateLargeUpload", "", { ...body, ...desired })
        const id = idIn(prober, answer)
        if (Probe.isFine(answer) && id !== undefined) prober.left.push({ fileId: id, kind: "session", bytes: size })
        return Probe.listAt(prober.resource(answer), "urls").length === count
      })
    const current = prober.name("parts")
    if (yield* opened([current])) return
    let names = prober.names(Names.parts)
    if (!(yield* opened(names)) || (yield* opened([]))) {
      draft.assumed.push(
        `fields.parts: the service follows no wish for a number of parts under any usual name; ${current} is assumed`
      )
      return
    }
    while (names.length > 1) {
      const half = names.slice(0, Math.ceil(names.length / 2))
      names = (yield* opened(half)) ? half : names.slice(half.length)
    }
    if (names[0] !== undefined) draft.fields["parts"] = names[0]
  })
