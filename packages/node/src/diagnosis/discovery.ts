/** Two trial uploads by which {@link Prober} finds out the rest: one in one request, one in parts. */
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { Buffer } from "node:buffer"
import * as Multipart from "./multipart.js"
import * as Names from "./names.js"
import type { Answer } from "./probe.js"
import * as Probe from "./probe.js"
import { Prober } from "./prober.js"
import type { Found } from "./trial.js"
import * as Trial from "./trial.js"

type Headers = Readonly<Record<string, string>>

/** The headers that may encrypt a file: those that its URL signs or the refusal names, else the usual ones. */
const encryptions = (url: URL, { text }: Answer): ReadonlyArray<Headers> => {
  const own = /x-([a-z0-9]+)-(?:signature|signedheaders|algorithm|credential)=/i.exec(url.search)?.[1] ?? "amz"
  const usual = `${text} x-${own}-server-side-encryption x-amz-server-side-encryption`
  const told = Probe.signedHeaders(url)?.join(" ") ?? usual
  const found = [...told.toLowerCase().matchAll(/x-([a-z0-9]+)-server-side-encryption(?![\w-])/g)]
  return [...new Set(found.map(([, storage = ""]) => storage))].flatMap((storage) =>
    [storage === "amz" ? "aws:kms" : `${storage}:kms`, "AES256", "aws:kms"].map((value) => ({
      [`x-${storage}-server-side-encryption`]: value
    }))
  )
}

/** Sends the file with what the profile says, or with the first headers that storage accepts. */
const putSingle = (prober: Prober, href: string, bytes: Uint8Array) =>
  Effect.gen(function*() {
    const put = (headers: Headers) => Probe.put(href, bytes, { "content-type": Trial.mediaType, ...headers })
    const first = yield* put(prober.encryption)
    if (Probe.isFine(first)) return first
    const url = new URL(href)
    for (const headers of [...encryptions(url, first), {}]) {
      const answer = yield* put(headers)
      if (!Probe.isFine(answer)) continue
      prober.draft.encryptionHeaders = headers
      return answer
    }
    const names = Probe.signedHeaders(url)?.filter((name) => name !== "host" && name !== "content-type").join(", ")
    const words = names === undefined ? "" : `, with their values: ${names}`
    prober.draft.questions.push(`encryptionHeaders: the headers that a single PUT must have${words}`)
    return first
  })

const complete = (
  prober: Prober,
  file: { readonly value: string | number; readonly etag: string; readonly size: number }
) =>
  prober.fit("completeUpload", (entries) =>
    prober.post("completeUpload", String(file.value), entries, {
      "{etag}": file.etag,
      "{name}": Trial.singleName,
      "{type}": Trial.mediaType,
      "{file_id}": file.value,
      "{size}": file.size
    }))

const completeSingle = (prober: Prober, opened: Answer, etag: string, size: number) =>
  Effect.gen(function*() {
    const { questions } = prober.draft
    for (const { field, id, value } of prober.ids(opened).slice(0, 8)) {
      prober.learnPaths(opened, id, false)
      const { answer } = yield* complete(prober, { value, etag, size })
      if (questions.length > 0) return undefined
      if (!Probe.isFine(answer)) continue
      prober.learn("fileId", field)
      prober.learnPaths(answer, id, false)
      return { id, answer }
    }
    questions.push("paths.completeUpload: the path that completes an upload, with {file_id}")
    questions.push("fields.fileId: the field with the file's id, in the answer that opens an upload")
    return undefined
  })

const readBack = (prober: Prober, id: string, content: Uint8Array) =>
  Effect.gen(function*() {
    const { draft } = prober
    const record = yield* prober.get("file", id)
    prober.learnPaths(record, id, false)
    const answer = yield* prober.get("download", id)
    if (answer.status >= 300 && answer.status < 400) return record
    if (Probe.isFine(answer) && Buffer.from(answer.bytes).equals(Buffer.from(content))) return record
    const links = Probe.leaves(prober.resource(answer)).flatMap(({ path, value }) =>
      Probe.isHref(value) ? [path.join(".")] : []
    )
    const [field] = links
    if (Probe.isFine(answer) && field !== undefined) {
      draft.download = "link"
      if (!links.includes(prober.name("downloadUrl"))) prober.learn("downloadUrl", field)
    } else draft.questions.push("paths.download: the path that a file is read from, with {file_id}")
    return record
  })

const shows = (answer: Answer, text: string): boolean => Probe.leaves(answer.json).some(({ value }) => value === text)

// Of a type for each name, the one that the service shows of the file came under its own name
const typeOf = (index: number): string => `text/x-stevedore-${index}`

/** The name of the media type where the service does not demand it: that under which what it shows was sent. */
const learnMediaType = (prober: Prober, content: Uint8Array, answers: ReadonlyArray<Answer>) =>
  Effect.gen(function*() {
    const { draft } = prober
    const before = prober.entries("initiateUpload") ?? []
    const isFixed = draft.fields["mediaType"] !== undefined || draft.initiateBody !== undefined
    if (isFixed || answers.some((answer) => shows(answer, Trial.mediaType))) return
    const size = content.byteLength
    const names = [...new Set([prober.name("mediaType"), ...Names.mediaType.names])]
    const types = names.map((name, index) => ({ path: [name], value: typeOf(index) }))
    const opened = yield* prober.post(
      "initiateUpload",
      "",
      [...before.filter(({ value }) => value !== Names.mediaType.value), ...types],
      { "{name}": Trial.singleName, "{size}": size }
    )
    const href = prober.uploadUrl(opened)
    const [file] = prober.ids(opened)
    const told: Array<Answer> = [opened]
    if (href !== undefined && file !== undefined) {
      prober.left.push({ fileId: file.id, kind: "session", bytes: size })
      const put = yield* Probe.put(href, content, { "content-type": Trial.mediaType, ...prober.encryption })
      const { answer } = yield* complete(prober, { value: file.value, etag: put.headers["etag"] ?? "", size })
      if (Probe.isFine(answer)) Trial.settle(prober.left, file.id)
      told.push(answer, yield* prober.get("file", file.id))
    }
    const found = names.find((_, index) => told.some((answer) => shows(answer, typeOf(index))))
    if (found !== undefined) return prober.learn("mediaType", found)
    draft.assumed.push(
      `fields.mediaType: nothing that the service answers shows a media type; ${prober.name("mediaType")} is assumed`
    )
  })

/** The field of the record with the checksum of what was sent, told by its value. */
const learnChecksum = (prober: Prober, content: Uint8Array, record: Answer) =>
  Effect.gen(function*() {
    const leaves = Probe.leaves(prober.resource(record))
    for (const { path, value: algorithm } of leaves.filter(({ path }) => path.at(-1) === "algorithm")) {
      const field = path.slice(0, -1).join(".")
      const { value } = leaves.find(({ path }) => path.join(".") === `${field}.value`) ?? {}
      if (!Predicate.isString(algorithm) || !Predicate.isString(value)) continue
      const ours = yield* Trial.sameOf({ algorithm, value }, content)
      if (ours === value) return prober.learn("checksum", field)
      if (ours !== undefined) {
        prober.draft.assumed.push(`fields.checksum: ${field} is not the ${algorithm} of what was sent`)
      }
    }
  })

const single = (prober: Prober, content: Uint8Array) =>
  Effect.gen(function*() {
    const size = content.byteLength
    const { draft: { questions }, left } = prober
    const before = left.length
    const opened = yield* prober.initiate("initiateUpload", { "{name}": Trial.singleName, "{size}": size })
    const href = prober.uploadUrl(opened)
    if (href === undefined) {
      if (Probe.isFine(opened)) {
        questions.push("fields.uploadUrl: the field with the pre-signed URL, in the answer that opens an upload")
      }
      if (questions.length > 0) return
      for (const { field } of Names.kinds.initiateUpload) {
        questions.push(`fields.${field}: its name in the body that opens an upload`)
      }
      return
    }
    const stored = yield* putSingle(prober, href, content)
    if (!Probe.isFine(stored)) return
    const completed = yield* completeSingle(prober, opened, stored.headers["etag"] ?? "", size)
    if (completed === undefined) return
    // by its id, which is known only now
    left.splice(Math.max(before, left.length - 1), 1, { fileId: completed.id, kind: "file", bytes: size })
    const record = yield* readBack(prober, completed.id, content)
    yield* learnChecksum(prober, content, record)
    yield* learnMediaType(prober, content, [opened, completed.answer, record])
  })

/** Finds out what the service needs that the standard profile does not say. */
export const discover = (
  service: ServiceWithToken,
  contents: Pick<Found, "singleContent" | "largeContent" | "left">
) =>
  Effect.gen(function*() {
    const prober = new Prober(service, contents.left)
    yield* single(prober, contents.singleContent)
    if (prober.draft.questions.length === 0) {
      yield* Multipart.multipart(prober, contents.largeContent)
      yield* Multipart.desiredParts(prober)
    }
    return prober.draft
  })
