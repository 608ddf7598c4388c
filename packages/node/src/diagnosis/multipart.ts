/** The trial upload in parts. */
import * as UploadPlan from "@stevedore/core/UploadPlan"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Names from "./names.js"
import type { Answer } from "./probe.js"
import * as Probe from "./probe.js"
import type { Prober } from "./prober.js"
import * as Trial from "./trial.js"

interface PartUrl {
  readonly href: string
  readonly number: number
}

/** The list of URLs in an answer, whatever it is called and wherever it stands. */
const listIn = (prober: Prober, answer: Answer): ReadonlyArray<unknown> => {
  const hasUrl = (element: unknown) => Probe.leaves(element).some(({ value }) => Probe.isHref(value))
  const known = prober.name("urls").split(".").at(-1)
  const lists = Probe.leaves(answer.json).flatMap(({ path, value }) =>
    Array.isArray(value) && value.some(hasUrl) ? [{ path, value }] : []
  )
  const found = lists.find(({ path }) => path.at(-1) === known) ?? lists[0]
  if (!Probe.isFine(answer) || found === undefined) return []
  prober.learn("urls", prober.pathIn(answer, found.path))
  return found.value
}

/** The URLs of the parts in their order, whatever the elements of the list look like. */
const partUrls = (prober: Prober, elements: ReadonlyArray<unknown>): ReadonlyArray<PartUrl> => {
  const found = elements.flatMap((element, index): ReadonlyArray<PartUrl> => {
    if (Probe.isHref(element)) return [{ href: element, number: index + 1 }]
    const leaves = Probe.leaves(element).map(({ path, value }) => ({ name: path.join("."), value }))
    const fieldOf = (known: string, fits: (value: unknown) => boolean) =>
      leaves.find(({ name, value }) => name === known && fits(value)) ?? leaves.find(({ value }) => fits(value))
    const url = fieldOf(prober.name("partUrl"), Probe.isHref)
    const number = fieldOf(
      prober.name("partNumber"),
      (value) => Predicate.isNumber(value) && Number.isInteger(value) && value >= 1 && value <= elements.length
    )
    if (url === undefined) return []
    prober.learn("partUrl", url.name)
    if (number !== undefined) prober.learn("partNumber", number.name)
    return [{ href: String(url.value), number: number === undefined ? index + 1 : Number(number.value) }]
  })
  return found.toSorted((one, other) => one.number - other.number)
}

const putPart = (prober: Prober, href: string, bytes: Uint8Array) =>
  Effect.gen(function*() {
    const signed = Probe.signedHeaders(new URL(href))
    const needed = Object.fromEntries(
      Object.entries(prober.encryption).filter(([name]) => signed?.includes(name) === true)
    )
    const answer = yield* Probe.put(href, bytes, needed)
    return Probe.isFine(answer) || signed !== undefined ? answer : yield* Probe.put(href, bytes, prober.encryption)
  })

interface Opened {
  readonly id: string
  /** As they came: text or numbers. */
  readonly fileId: string | number
  readonly uploadId: string | number
  readonly etags: ReadonlyArray<string>
}

const fileIdIn = (prober: Prober, answer: Answer) => prober.ids(answer)[0]

/** The upload's id: under its known name, one that looks like it, another id, or the file's own. */
const uploadIdIn = (prober: Prober, answer: Answer, own: ReturnType<typeof fileIdIn>) => {
  const ids = prober.ids(answer)
  const found = ids.find(({ field }) => `.${field}`.endsWith(`.${prober.name("uploadId")}`)) ??
    ids.find(({ field }) => /(?:upload|session|multipart)[\w.-]*(?:id|token|key|handle|ref)$/i.test(field)) ??
    ids.find(({ field, value }) =>
      field !== own?.field && Predicate.isString(value) && /(?:id|token|key)$/i.test(field)
    ) ??
    own
  if (found !== undefined) prober.learn("uploadId", found.field)
  return found?.value
}

/** The field that names the size of all parts but the last, if one fits the number of URLs. */
const learnPartSize = (
  prober: Prober,
  data: unknown,
  { count, size }: { readonly count: number; readonly size: number }
): void => {
  if (prober.service.profile.fields.partSize !== undefined) return
  const found = Probe.leaves(data).find(({ path, value }) =>
    Predicate.isNumber(value) && Number.isInteger(value) && value > 0 && value < size &&
    Math.ceil(size / value) === count &&
    /(?:part|chunk|segment|block|slice).*(?:size|bytes|length)/i.test(path.join("."))
  )
  if (found !== undefined) prober.learn("partSize", found.path.join("."))
}

const megabytes = (count: number): number => count * 1_048_576

const openLarge = (prober: Prober, content: Uint8Array) =>
  Effect.gen(function*() {
    const size = content.byteLength
    const { draft: { questions }, service } = prober
    const opened = yield* prober.initiate("initiateLargeUpload", {
      "{name}": Trial.largeName,
      "{size}": size,
      "{parts}": 2
    })
    const elements = listIn(prober, opened)
    const urls = partUrls(prober, elements)
    const file = fileIdIn(prober, opened)
    const uploadId = uploadIdIn(prober, opened, file)
    const lacks = ([
      ["paths.initiateLargeUpload: the path that opens an upload in parts", Probe.isFine(opened)],
      [
        "fields.urls: the field with the list of URLs, in the answer that opens an upload in parts",
        elements.length > 0
      ],
      ["fields.partUrl: the name of the URL in an element of that list", urls.length === elements.length],
      ["fields.uploadId: the field with the upload's id, in the same answer", uploadId !== undefined]
    ] as const).find(([, isThere]) => !isThere)
    if (lacks !== undefined && questions.length === 0) questions.push(lacks[0])
    if (questions.length > 0 || file === undefined || uploadId === undefined) return undefined
    learnPartSize(prober, prober.resource(opened), { size, count: urls.length })
    prober.learnPaths(opened, file.id, true)
    const ranges = Either.getOrElse(UploadPlan.ranges(size, urls.length, service.profile.limits), () => [])
    const sent = yield* Effect.forEach(
      Arr.zip(ranges, urls),
      ([{ length, offset }, { href }]) => putPart(prober, href, content.subarray(offset, offset + length))
    )
    const etags = sent.flatMap((answer) => Probe.isFine(answer) ? [answer.headers["etag"] ?? ""] : [])
    if (etags.length === 0 || etags.length < urls.length || etags.includes("")) {
      questions.push("encryptionHeaders: storage does not accept a part; what must its PUT have?")
      return undefined
    }
    return { id: file.id, fileId: file.value, uploadId, etags } satisfies Opened
  })

/**
 * Uploads a file in parts, and finds out on the way what its calls are told. A successful Complete ends its upload, so that
 * each further one takes an upload of its own.
 */
export const multipart = (prober: Prober, content: Uint8Array) =>
  Effect.gen(function*() {
    const { draft: { questions }, left } = prober
    let opened = yield* openLarge(prober, content)
    if (opened === undefined) return
    let isEnded = false
    const { answer } = yield* prober.fit("completeLargeUpload", (entries) =>
      Effect.gen(function*() {
        if (isEnded) opened = yield* openLarge(prober, content)
        const { etags, fileId, id, uploadId } = opened ?? { etags: [], fileId: "", id: "", uploadId: "" }
        const answer = yield* prober.post(
          "completeLargeUpload",
          id,
          entries,
          { "{file_id}": fileId, "{upload_id}": uploadId },
          etags.map((etag, index) => ({ "{part_number}": index + 1, "{etag}": etag }))
        )
        isEnded = Probe.isFine(answer)
        if (isEnded) Trial.settle(left, id)
        return answer
      }))
    if (Probe.isFine(answer) || questions.length > 0) return
    if (Probe.isAbsent(answer)) {
      questions.push("paths.completeLargeUpload: the path that completes an upload in parts, with {file_id}")
      return
    }
    questions.push(
      "completeLargeUploadBody: the body that completes an upload in parts: the service refuses it, and names no field"
    )
  })

/** Whether the service follows a wish for a number of parts, and under which name. */
export const desiredParts = (prober: Prober) =>
  Effect.gen(function*() {
    const { draft, left } = prober
    const [count, size] = [3, megabytes(16)]
    const entries = prober.entries("initiateLargeUpload") ?? []
    const without = entries.filter(({ value }) => value !== Names.parts.value)
    const isFollowed = (names: ReadonlyArray<string>) =>
      Effect.gen(function*() {
        const wished = names.map((name) => ({ path: [name], value: count }))
        const answer = yield* prober.post("initiateLargeUpload", "", [...without, ...wished], {
          "{name}": Trial.largeName,
          "{type}": Trial.mediaType,
          "{size}": size
        })
        const file = fileIdIn(prober, answer)
        if (Probe.isFine(answer) && file !== undefined) left.push({ fileId: file.id, kind: "session", bytes: size })
        return listIn(prober, answer).length === count
      })
    const current = prober.name("parts")
    const own = entries.find(({ value }) => value === Names.parts.value)
    // at a place of its own it was named by the service
    if (own !== undefined && (own.path.length > 1 || (yield* isFollowed(own.path)))) return
    let names: ReadonlyArray<string> = [...new Set([current, ...Names.parts.names])]
    if (!(yield* isFollowed(names)) || (yield* isFollowed([]))) {
      draft.assumed.push(
        `fields.parts: the service follows no wish for a number of parts under any usual name; ${current} is assumed`
      )
      return
    }
    while (names.length > 1) {
      const half = names.slice(0, Math.ceil(names.length / 2))
      names = (yield* isFollowed(half)) ? half : names.slice(half.length)
    }
    if (names[0] !== undefined) prober.learn("parts", names[0])
  })
