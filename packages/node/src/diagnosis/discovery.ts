/** Two trial uploads by which {@link Prober} finds out the rest: one in one request, one in parts. */
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as EffectRecord from "effect/Record"
import { Buffer } from "node:buffer"
import * as Multipart from "./multipart.js"
import * as Names from "./names.js"
import type { Answer } from "./probe.js"
import * as Probe from "./probe.js"
import * as ProfileProbe from "./single.js"
import type { Found } from "./trial.js"
import * as Trial from "./trial.js"

type Prober = ProfileProbe.Prober

type Headers = Readonly<Record<string, string>>

const storageOf = (url: URL): string =>
  [...url.searchParams].flatMap(([name]) =>
    /^x-([a-z0-9]+)-(?:signature|signedheaders|algorithm|credential)$/i.exec(name)?.[1] ?? []
  )[0]
    ?.toLowerCase() ?? "amz"

const isEncryption = (name: string): boolean => /^x-[a-z0-9]+-server-side-encryption$/.test(name)

const valuesOf = (name: string): ReadonlyArray<string> => {
  const storage = /^x-([a-z0-9]+)-/.exec(name)?.[1] ?? "amz"
  return [storage === "amz" ? "aws:kms" : `${storage}:kms`, "AES256", "aws:kms"]
}

const encryptionNames = (url: URL, refusal: Answer | undefined): ReadonlyArray<string> => {
  const signed = Probe.signedHeaders(url)
  if (signed !== undefined) return signed.filter(isEncryption)
  const told = (refusal?.text.toLowerCase().match(/x-[a-z0-9]+-server-side-encryption/g) ?? []).filter(isEncryption)
  return [...new Set([...told, `x-${storageOf(url)}-server-side-encryption`, "x-amz-server-side-encryption"])]
}

const putSingle = (prober: Prober, href: string, bytes: Uint8Array) =>
  Effect.gen(function*() {
    const { draft, service } = prober
    const standard = service.profile.encryptionHeaders
    const put = (headers: Headers) => Probe.put(href, bytes, { "content-type": Trial.mediaType, ...headers })
    let answer = yield* put(standard)
    if (Probe.isFine(answer)) return answer
    const url = new URL(href)
    for (const name of encryptionNames(url, answer)) {
      for (const value of valuesOf(name)) {
        answer = yield* put({ [name]: value })
        if (!Probe.isFine(answer)) continue
        draft.encryptionHeaders = { [name]: value }
        return answer
      }
    }
    answer = yield* put({})
    if (Probe.isFine(answer)) draft.encryptionHeaders = {}
    else {
      const names = Probe.signedHeaders(url)?.filter((name) => name !== "host" && name !== "content-type").join(", ")
      draft.questions.push(
        `encryptionHeaders: the headers that a single PUT must have${
          names === undefined ? "" : `, with their values: ${names}`
        }`
      )
    }
    return answer
  })

const completeBodies = (answer: Answer): ReadonlyArray<Headers> => {
  const told = Probe.words(answer).flatMap((word) => {
    const placeholder = Names.placeholderOf(word)
    return placeholder === undefined ? [] : [[word, placeholder] as const]
  })
  return [{}, ...told.map(([name, value]) => ({ [name]: value })), Object.fromEntries(told)]
}

type Known = Readonly<Record<string, unknown>>

const filled = (body: Readonly<Record<string, unknown>>, known: Known): object =>
  EffectRecord.map(body, (value) => known[String(value)] ?? value)

const completeSingle = (prober: Prober, opened: Answer, etag: string, size: number) =>
  Effect.gen(function*() {
    const { draft } = prober
    const given = prober.service.profile.completeUploadBody
    for (const { field, id, value } of ProfileProbe.ids(prober, opened).slice(0, 8)) {
      prober.learnPaths(opened, id, false)
      const known: Known = {
        "{etag}": etag,
        "{name}": Trial.singleName,
        "{type}": Trial.mediaType,
        "{file_id}": value,
        "{size}": size
      }
      const body = given === "none" ? undefined : filled(given, known)
      let answer = yield* prober.ask("completeUpload", id, body)
      for (let tries = 0; tries < 5 && Probe.isRefused(answer); tries++) {
        for (const body of completeBodies(answer)) {
          answer = yield* prober.ask("completeUpload", id, filled(body, known))
          if (!Probe.isFine(answer)) continue
          draft.completeUploadBody = body
          break
        }
      }
      if (!Probe.isFine(answer)) continue
      if (![prober.name("fileId"), "id", "file_id"].includes(field)) draft.fields["fileId"] = field
      prober.learnPaths(answer, id, false)
      return { id, answer }
    }
    draft.questions.push("paths.completeUpload: the path that completes an upload, with {file_id}")
    draft.questions.push("fields.fileId: the field with the file's id, in the answer that opens an upload")
    return undefined
  })

const readBack = (prober: Prober, id: string, content: Uint8Array) =>
  Effect.gen(function*() {
    const { draft } = prober
    const record = yield* prober.ask("file", id)
    prober.learnPaths(record, id, false)
    const answer = yield* prober.ask("download", id)
    if (answer.status >= 300 && answer.status < 400) return record
    if (Probe.isFine(answer) && Buffer.from(answer.bytes).equals(Buffer.from(content))) return record
    const links = Probe.leaves(prober.resource(answer)).flatMap(({ path, value }) =>
      Predicate.isString(value) && /^https?:\/\//.test(value) ? [path.join(".")] : []
    )
    const [field] = links
    if (Probe.isFine(answer) && field !== undefined) {
      draft.download = "link"
      const standard = prober.service.profile.fields.downloadUrl
      if (!links.includes(String(standard))) draft.fields["downloadUrl"] = field
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
    if (draft.fields["mediaType"] !== undefined || answers.some((answer) => shows(answer, Trial.mediaType))) return
    const names = prober.names(Names.mediaType)
    const opened = yield* prober.ask("initiateUpload", "", {
      [prober.name("fileName")]: Trial.singleName,
      [prober.name("size")]: content.byteLength,
      ...Object.fromEntries(names.map((name, index) => [name, typeOf(index)]))
    })
    const href = Probe.textAt(prober.resource(opened), "upload_url")
    const { id, value } = ProfileProbe.ids(prober, opened)
      .find(({ field }) => field === prober.name("fileId") || field === "file_id") ?? {}
    const told: Array<Answer> = [opened]
    if (href !== undefined && id !== undefined) {
      prober.left.push({ fileId: id, kind: "session", bytes: content.byteLength })
      const encryption = draft.encryptionHeaders ?? prober.service.profile.encryptionHeaders
      const put = yield* Probe.put(href, content, { "content-type": Trial.mediaType, ...encryption })
      const given = draft.completeUploadBody ?? prober.service.profile.completeUploadBody
      const known: Known = { "{etag}": put.headers["etag"], "{file_id}": value, "{size}": content.byteLength }
      const body = given === "none" ? undefined : filled(given, known)
      const completed = yield* prober.ask("completeUpload", id, body)
      if (Probe.isFine(completed)) Trial.settle(prober.left, id)
      told.push(completed, yield* prober.ask("file", id))
    }
    const found = names.find((_, index) => told.some((answer) => shows(answer, typeOf(index))))
    const assumed = prober.name("mediaType")
    if (found === undefined) {
      draft.assumed.push(`fields.mediaType: nothing that the service answers shows a media type; ${assumed} is assumed`)
    } else if (found !== assumed) draft.fields["mediaType"] = found
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
      if (ours === value && field !== prober.name("checksum")) prober.draft.fields["checksum"] = field
      if (ours === value) return
      if (ours !== undefined) {
        prober.draft.assumed.push(`fields.checksum: ${field} is not the ${algorithm} of what was sent`)
      }
    }
  })

const single = (prober: Prober, content: Uint8Array) =>
  Effect.gen(function*() {
    const size = content.byteLength
    const opened = yield* ProfileProbe.initiate(prober, "initiateUpload", { name: Trial.singleName, size })
    prober.learnEnvelope(opened, "upload_url")
    const href = Probe.textAt(prober.resource(opened), "upload_url")
    if (!Probe.isFine(opened) || href === undefined) {
      for (const { field } of [Names.fileName, Names.mediaType, Names.size]) {
        prober.draft.questions.push(`fields.${field}: its name in the body that opens an upload`)
      }
      return
    }
    const before = prober.left.length
    const [first] = ProfileProbe.ids(prober, opened)
    if (first !== undefined) prober.left.push({ fileId: first.id, kind: "session", bytes: size })
    const stored = yield* putSingle(prober, href, content)
    if (!Probe.isFine(stored)) return
    const completed = yield* completeSingle(prober, opened, stored.headers["etag"] ?? "", size)
    if (completed === undefined) return
    prober.left.splice(before, prober.left.length - before, { fileId: completed.id, kind: "file", bytes: size })
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
    const prober = new ProfileProbe.Prober(service, ProfileProbe.emptyDraft(), contents.left)
    yield* single(prober, contents.singleContent)
    if (prober.draft.questions.length === 0) {
      yield* Multipart.multipart(prober, contents.largeContent)
      yield* Multipart.desiredParts(prober)
    }
    return prober.draft
  })
