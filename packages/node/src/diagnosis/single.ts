/** Finds out by asking a service what the standard profile does not say of it. */
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import type { FieldName, ServiceProfile } from "@stevedore/core/ServiceProfile"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Names from "./names.js"
import type { Answer } from "./probe.js"
import * as Probe from "./probe.js"
import type { Found } from "./trial.js"
import * as Trial from "./trial.js"

/** What was found so far, as the fields of a profile file, and what has to be asked for. */
export interface Draft {
  readonly fields: Record<string, string>
  readonly paths: Record<string, string>
  envelope?: string
  encryptionHeaders?: Readonly<Record<string, string>>
  download?: "content" | "link"
  completeUploadBody?: Readonly<Record<string, string>>
  /** What has to be known and was not found out: the field of the profile, a colon, and what belongs there. */
  readonly questions: Array<string>
  /** What nothing that the service answers shows, in the same form, with what is assumed. */
  readonly assumed: Array<string>
}

export const emptyDraft = (): Draft => ({ fields: {}, paths: {}, questions: [], assumed: [] })

const firstOf = (name: FieldName | undefined): string | undefined =>
  name === undefined || Predicate.isString(name) ? name : name[0]

type Body = Readonly<Record<string, unknown>>

type Calls = "initiateUpload" | "completeUpload" | "initiateLargeUpload" | "completeLargeUpload" | "file" | "download"

export class Prober {
  constructor(readonly service: ServiceWithToken, readonly draft: Draft, readonly left: Found["left"]) {}

  /** The name of a field as far as it is known: found out, or the profile's. */
  name(field: keyof ServiceProfile["fields"]): string {
    return this.draft.fields[field] ?? firstOf(this.service.profile.fields[field]) ?? field
  }

  /** What a field may be called: the name that is known, and the usual ones. */
  names({ field, names }: Names.Slot): ReadonlyArray<string> {
    return [...new Set([this.name(field), ...names])]
  }

  /** A single resource without its envelope. */
  resource({ json }: Answer): unknown {
    return Probe.unwrapped(json, this.draft.envelope)
  }

  /** Remembers in which envelope a field that the interface names came. */
  learnEnvelope({ json }: Answer, given: "upload_url" | "urls"): void {
    const { envelope } = this.service.profile
    const { path } = Probe.leaves(json).find(({ path }) => path.at(-1) === given) ?? { path: [] }
    const found = path.slice(0, -1).join(".")
    if (path.length === 0) return
    const fits = envelope === "either" ? found === "" || found === "data" : envelope === (found || "none")
    if (!fits) this.draft.envelope = found || "none"
  }

  path(call: Calls, fileId = ""): string {
    const path = this.draft.paths[call] ?? this.service.profile.paths[call]
    return path.replace("{file_id}", encodeURIComponent(fileId))
  }

  ask(call: Calls, fileId: string, body?: object) {
    return Probe.ask(
      this.service,
      call === "file" || call === "download" ? "GET" : "POST",
      this.path(call, fileId),
      body
    )
  }

  /** Remembers where the answers lead for a file. */
  learnPaths(answer: Answer, fileId: string, isLarge: boolean): void {
    if (fileId === "") return
    const complete = isLarge ? "completeLargeUpload" : "completeUpload"
    for (const { name, path } of Probe.paths(this.service, answer)) {
      const template = path.replace(encodeURIComponent(fileId), "{file_id}")
      const call = !template.includes("{file_id}")
        ? undefined
        : /complete|finish|finali[sz]e|commit/i.test(`${name} ${template}`)
        ? complete
        : /download|content/i.test(`${name} ${template}`)
        ? "download"
        : name === "location" || name === "self" || /(?:^|\.)file(?:_url)?$/.test(name)
        ? "file"
        : undefined
      if (call !== undefined && template !== this.service.profile.paths[call]) this.draft.paths[call] ??= template
    }
  }
}

/** What an open slot of a body is called, and what stands there. */
interface Part {
  readonly slot: Names.Slot
  readonly value: string | number
}

const bodyOf = (prober: Prober, parts: ReadonlyArray<Part>): Body =>
  Object.fromEntries(parts.map(({ slot, value }) => [prober.name(slot.field), value]))

const everyName = (prober: Prober, parts: ReadonlyArray<Part>): Body =>
  Object.fromEntries(parts.flatMap(({ slot, value }) => prober.names(slot).map((name) => [name, value])))

/** Where the words of a refusal name a field that the body lacks, the slot that it is for. */
const missing = (words: ReadonlyArray<string>, body: Body, parts: ReadonlyArray<Part>, prober: Prober) => {
  const open = parts.filter(({ slot }) => prober.draft.fields[slot.field] === undefined)
  const likely = words.filter((word) => !(word in body))
  for (const { slot } of open) {
    const known = likely.find((word) => slot.names.includes(word))
    if (known !== undefined) return { slot, name: known }
  }
  for (const word of likely.filter((one) => /^[a-z]+(?:[_-][a-zA-Z]+|[A-Z][a-z]+)+$/.test(one))) {
    const fit = open.find(({ slot }) => slot.pattern.test(word))
    if (fit !== undefined) return { slot: fit.slot, name: word }
  }
  return undefined
}

/** The only names that are needed of a body that has every name. */
const reduced = <E, R>(
  parts: ReadonlyArray<Part>,
  prober: Prober,
  isAccepted: (body: Body) => Effect.Effect<boolean, E, R>
): Effect.Effect<void, E, R> =>
  Effect.forEach(parts, ({ slot, value }) =>
    Effect.gen(function*() {
      const others = everyName(prober, parts.filter((other) => other.slot !== slot))
      let names = prober.names(slot)
      if (yield* isAccepted({ ...others, [names[0] ?? ""]: value })) return
      while (names.length > 1) {
        const half = names.slice(0, Math.ceil(names.length / 2))
        const isInside = yield* isAccepted({ ...others, ...Object.fromEntries(half.map((name) => [name, value])) })
        names = isInside ? half : names.slice(half.length)
      }
      prober.draft.fields[slot.field] = names[0] ?? slot.field
    }), { discard: true })

const opens = (prober: Prober, call: "initiateUpload" | "initiateLargeUpload", parts: ReadonlyArray<Part>) =>
  Effect.gen(function*() {
    const { draft } = prober
    let answer = yield* prober.ask(call, "", bodyOf(prober, parts))
    for (let tries = 0; tries < 8 && Probe.isRefused(answer); tries++) {
      const found = missing(Probe.words(answer), bodyOf(prober, parts), parts, prober)
      if (found === undefined) break
      draft.fields[found.slot.field] = found.name
      answer = yield* prober.ask(call, "", bodyOf(prober, parts))
    }
    if (!Probe.isRefused(answer)) return answer
    for (const { slot } of parts) Reflect.deleteProperty(draft.fields, slot.field)
    const all = yield* prober.ask(call, "", everyName(prober, parts))
    if (!Probe.isFine(all)) return answer
    yield* reduced(parts, prober, (body) => Effect.map(prober.ask(call, "", body), Probe.isFine))
    return yield* prober.ask(call, "", bodyOf(prober, parts))
  })

/** Opens a session, at the path that is known, or that an answer leads to, or that is usual. */
export const initiate = (
  prober: Prober,
  call: "initiateUpload" | "initiateLargeUpload",
  file: { readonly name: string; readonly size: number; readonly parts?: number }
) =>
  Effect.gen(function*() {
    const { draft } = prober
    const parts: ReadonlyArray<Part> = [
      { slot: Names.fileName, value: file.name },
      { slot: Names.mediaType, value: Trial.mediaType },
      { slot: Names.size, value: file.size },
      ...(file.parts === undefined ? [] : [{ slot: Names.parts, value: file.parts }])
    ]
    const first = yield* opens(prober, call, parts)
    if (!Probe.isAbsent(first)) return first
    const told = Probe.paths(prober.service, first).map(({ path }) => path)
    const usual = call === "initiateUpload" ? Names.initiatePaths : Names.initiateLargePaths
    for (const path of [...told, ...usual]) {
      draft.paths[call] = path
      const answer = yield* opens(prober, call, parts)
      if (Probe.isFine(answer)) return answer
    }
    Reflect.deleteProperty(draft.paths, call)
    draft.questions.push(
      `paths.${call}: the path that opens ${file.parts === undefined ? "an upload" : "an upload in parts"}`
    )
    return first
  })

const idOf = (value: unknown): string | undefined =>
  Predicate.isString(value) && value !== "" && value.length <= 200 && !/^https?:/.test(value)
    ? value
    : Predicate.isNumber(value)
    ? String(value)
    : undefined

/** What may be the id of the file in the answer that opened a session: the likely ones first. */
export const ids = (
  prober: Prober,
  answer: Answer
): ReadonlyArray<{ readonly field: string; readonly id: string; readonly value: unknown }> => {
  const found = Probe.leaves(prober.resource(answer)).flatMap(({ path, value }) => {
    const id = idOf(value)
    const last = path.at(-1) ?? ""
    return id === undefined || last === "upload_id" || last === "upload_url"
      ? []
      : [{ field: path.join("."), last, id, value }]
  })
  const weight = ({ field, last }: { readonly field: string; readonly last: string }): number =>
    field === prober.name("fileId") || field === "id" || field === "file_id"
      ? 0
      : /^(?:file|document|asset|object|media)?[._-]?(?:id|uuid|guid)$/i.test(last)
      ? 1
      : /(?:id|key|uuid|guid|ref|handle|code|token)$/i.test(last)
      ? 2
      : 3
  return found.toSorted((one, other) => weight(one) - weight(other))
}
