/** What was found out about a service so far, and the calls that are made by it. */
import * as Template from "@stevedore/core/parts/template"
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import type { BodyTemplate, FieldName, ServiceProfile } from "@stevedore/core/ServiceProfile"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Entries, Fitted } from "./body.js"
import * as Body from "./body.js"
import * as Names from "./names.js"
import type { Answer } from "./probe.js"
import * as Probe from "./probe.js"
import type { Found } from "./trial.js"
import * as Trial from "./trial.js"

const bodies = {
  initiateUpload: "initiateBody",
  initiateLargeUpload: "initiateLargeBody",
  completeUpload: "completeUploadBody",
  completeLargeUpload: "completeLargeUploadBody"
} as const

/** What was found so far, as the fields of a profile file, and what has to be asked for. */
export interface Draft extends Partial<Record<typeof bodies[Names.Call], BodyTemplate>> {
  readonly fields: Record<string, string>
  readonly paths: Record<string, string>
  envelope?: string
  encryptionHeaders?: Readonly<Record<string, string>>
  download?: "content" | "link"
  /** What has to be known and was not found out: the field of the profile, a colon, and what belongs there. */
  readonly questions: Array<string>
  /** What nothing that the service answers shows, in the same form, with what is assumed. */
  readonly assumed: Array<string>
}

const firstOf = (name: FieldName | undefined): string | undefined =>
  name === undefined || Predicate.isString(name) ? name : name[0]

const words: Readonly<Record<Names.Call, string>> = {
  initiateUpload: "opens an upload",
  initiateLargeUpload: "opens an upload in parts",
  completeUpload: "completes an upload",
  completeLargeUpload: "completes an upload in parts"
}

const same = (one: Entries, other: Entries): boolean =>
  JSON.stringify(one.map((entry) => JSON.stringify(entry)).toSorted()) ===
    JSON.stringify(other.map((entry) => JSON.stringify(entry)).toSorted())

/** Where a path leads that an answer gives: by its name and itself. */
const leads: ReadonlyArray<readonly ["completeUpload" | "download" | "file", RegExp]> = [
  ["completeUpload", /complete|finish|finali[sz]e|commit/i],
  ["download", /download|content/i],
  ["file", /^(?:location|self|(?:\S*\.)?file(?:_url)?) /]
]

/** The likely ones first: those that fit the first test, then the second. */
const ranked = <A>(
  all: ReadonlyArray<A>,
  nameOf: (one: A) => string | undefined,
  tests: ReadonlyArray<(name: string) => boolean>
): ReadonlyArray<A> => {
  const rank = (one: A) => [...tests, () => true].findIndex((test) => test(nameOf(one) ?? ""))
  return all.toSorted((one, other) => rank(one) - rank(other))
}

export class Prober {
  readonly draft: Draft = { fields: {}, paths: {}, questions: [], assumed: [] }

  constructor(readonly service: ServiceWithToken, readonly left: Found["left"]) {}

  /** The name of a field as far as it is known: found out, or the profile's. */
  name(field: keyof ServiceProfile["fields"]): string {
    return this.draft.fields[field] ?? firstOf(this.service.profile.fields[field]) ?? field
  }

  /** Remembers the name of a field, if it is another one. */
  learn(field: keyof ServiceProfile["fields"], name: string): void {
    const known = this.service.profile.fields[field]
    if (name !== this.name(field) && !(Array.isArray(known) && known.includes(name))) this.draft.fields[field] = name
  }

  /** The headers that storage wants of a single PUT. */
  get encryption(): Readonly<Record<string, string>> {
    return this.draft.encryptionHeaders ?? this.service.profile.encryptionHeaders
  }

  /** A single resource without its envelope. */
  resource({ json }: Answer): unknown {
    return Probe.unwrapped(json, this.draft.envelope ?? this.service.profile.envelope)
  }

  /** The path to a value in the resource, whose envelope is remembered if it is another one. */
  pathIn({ json }: Answer, [head = "", ...inner]: ReadonlyArray<string>): string {
    const { envelope } = this.service.profile
    const isBare = inner.length === 0 ||
      (head !== "data" && Predicate.isRecord(json) &&
        Object.values(json).some((value) => Probe.idOf(value) !== undefined))
    const found = isBare ? "none" : head
    if (
      this.draft.envelope === undefined && envelope !== found && (envelope !== "either" || (!isBare && head !== "data"))
    ) {
      this.draft.envelope = found
    }
    return (isBare ? [head, ...inner] : inner).join(".")
  }

  path(call: keyof ServiceProfile["paths"], fileId = ""): string {
    const path = this.draft.paths[call] ?? this.service.profile.paths[call]
    return path.replace("{file_id}", encodeURIComponent(fileId))
  }

  get(call: "file" | "download", fileId: string) {
    return Probe.ask(this.service, "GET", this.path(call, fileId))
  }

  /** What the body of a call is, as far as it is known; undefined if there is none. */
  entries(call: Names.Call): Entries | undefined {
    const { profile } = this.service
    const template = this.draft[bodies[call]] ?? profile[bodies[call]]
    if (template === "none") return undefined
    if (template !== undefined) return Body.entriesIn(template)
    if (call === "initiateLargeUpload") return this.withParts()
    return Body.entriesOf(call, ({ field }) => field === undefined ? [] : [this.name(field)])
  }

  private withParts(): Entries {
    return [...this.entries("initiateUpload") ?? [], { path: [this.name("parts")], value: Names.parts.value }]
  }

  post(
    call: Names.Call,
    fileId: string,
    body: Entries | undefined,
    known: Template.Known,
    parts?: ReadonlyArray<Template.Known>
  ) {
    const filled = body === undefined ? undefined : Template.filled(Body.templateOf(body), known, parts)
    return Probe.ask(this.service, "POST", this.path(call, fileId), Predicate.isObject(filled) ? filled : undefined)
  }

  /** Finds the body that a call accepts, and remembers it. What it cannot find becomes a question. */
  fit<E, R>(call: Names.Call, send: (entries: Entries | undefined) => Effect.Effect<Answer, E, R>) {
    const names = ({ field, names }: Names.Kind) =>
      field === undefined ? names : [...new Set([this.name(field), ...names])]
    return Effect.map(Body.fit(call, this.entries(call), names, send), (fitted) => {
      this.remember(call, fitted)
      return fitted
    })
  }

  private remember(call: Names.Call, { answer, entries = [], refused }: Fitted): void {
    const { draft } = this
    if (Probe.isFine(answer)) return this.write(call, entries)
    if (refused.length > 0) draft[bodies[call]] = Body.templateOf(entries)
    for (const name of refused) {
      const isSent = entries.some(({ path }) => path.join(".") === name)
      draft.questions.push(
        `${bodies[call]}.${name}: ${
          isSent
            ? "what the service accepts there, for it refuses what is sent"
            : "the value that the service wants there"
        }, in the body that ${words[call]}`
      )
    }
  }

  /** A body that differs only in names is written as names. */
  private write(call: Names.Call, entries: Entries): void {
    const before = this.entries(call)
    if (before === undefined ? entries.length === 0 : same(before, entries)) return
    const found = new Map<string, string>()
    const matching = Body.entriesOf(call, (kind) => {
      const list = kind === Names.list ? entries.find(({ path }) => path.includes("*"))?.path[0] : undefined
      const name = list ?? entries.find(({ value }) => value === kind.value)?.path.at(-1) ?? ""
      if (kind.field !== undefined) found.set(kind.field, name)
      return [name]
    })
    const isLarge = call === "initiateLargeUpload"
    const others = isLarge ? this.entries("initiateUpload") ?? [] : []
    const isNamed = call !== "completeUpload" && this.service.profile[bodies[call]] === undefined &&
      (isLarge
        ? same(entries, [...others, { path: [found.get("parts") ?? ""], value: Names.parts.value }])
        : same(entries, matching))
    if (!isNamed) this.draft[bodies[call]] = Body.templateOf(entries)
    else {
      for (const { field } of isLarge ? [Names.parts] : Names.kinds[call]) {
        if (field !== undefined) this.learn(field, found.get(field) ?? field)
      }
    }
  }

  /** Remembers where the answers lead for a file. */
  learnPaths(answer: Answer, fileId: string, isLarge: boolean): void {
    for (const { name, path } of Probe.paths(this.service, answer)) {
      const template = path.replace(encodeURIComponent(fileId), "{file_id}")
      const [call] = leads.find(([, pattern]) => pattern.test(`${name} ${template}`)) ?? []
      if (call === undefined || !template.includes("{file_id}")) continue
      const found = call === "completeUpload" && isLarge ? "completeLargeUpload" : call
      if (template !== this.service.profile.paths[found]) this.draft.paths[found] ??= template
    }
  }

  /** The URL of a single PUT in an answer that opened an upload. */
  uploadUrl(answer: Answer): string | undefined {
    const known = this.name("uploadUrl").split(".").at(-1)
    const found =
      ranked(Probe.leaves(answer.json).filter(({ value }) => Probe.isHref(value)), ({ path }) => path.at(-1), [
        (name) => name === known,
        (name) => /up|put|sign|stor|target/i.test(name) && !/complete|download|status|self/i.test(name)
      ])[0]
    if (!Probe.isFine(answer) || found === undefined) return undefined
    this.learn("uploadUrl", this.pathIn(answer, found.path))
    return String(found.value)
  }

  /** What may be the id of the file in the answer that opened a session: the likely ones first. */
  ids(answer: Answer): ReadonlyArray<{ readonly field: string; readonly id: string; readonly value: string | number }> {
    const found = Probe.leaves(this.resource(answer)).flatMap(({ path, value }) => {
      const id = Probe.idOf(value)
      return id === undefined ? [] : [{ field: path.join("."), id: String(id), value: id }]
    })
    const known = this.draft.fields["fileId"] ?? this.service.profile.fields.fileId
    const isOfUpload = (field: string) => field === this.name("uploadId") || /(?:upload|session)[^.]*$/i.test(field)
    return ranked(found, ({ field }) => field, [
      (field) => field === known || (Array.isArray(known) && known.includes(field)),
      (field) => /(?:^|\.)(?:file|document|asset|object|media)?[._-]?(?:id|uuid|guid)$/i.test(field),
      (field) => /(?:id|key|uuid|guid|ref|handle|code|token)$/i.test(field) && !isOfUpload(field),
      (field) => !isOfUpload(field)
    ])
  }

  /** Opens a session, at the path that is known, or that an answer leads to, or that is usual. */
  initiate(call: "initiateUpload" | "initiateLargeUpload", known: Template.Known & { readonly "{size}": number }) {
    const send = (entries: Entries | undefined) =>
      Effect.map(this.post(call, "", entries, { "{type}": Trial.mediaType, ...known }), (answer) => {
        const [first] = Probe.isFine(answer) ? this.ids(answer) : []
        if (first !== undefined) this.left.push({ fileId: first.id, kind: "session", bytes: known["{size}"] })
        return answer
      })
    const { draft, service } = this
    const fitted = Effect.suspend(() => this.fit(call, send))
    return Effect.gen(function*() {
      const { answer: first } = yield* fitted
      if (!Probe.isAbsent(first)) return first
      for (const path of [...Probe.paths(service, first).map(({ path }) => path), ...Names.paths[call]]) {
        draft.paths[call] = path
        const { answer } = yield* fitted
        if (!Probe.isAbsent(answer)) return answer
      }
      Reflect.deleteProperty(draft.paths, call)
      draft.questions.push(`paths.${call}: the path that ${words[call]}`)
      return first
    })
  }
}
