/** Finds the body that a call accepts: a template is tried, the answer names what it refuses, the next one is tried. */
import * as Template from "@stevedore/core/parts/template"
import type { BodyTemplate } from "@stevedore/core/ServiceProfile"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as EffectRecord from "effect/Record"
import type { Call, Kind } from "./names.js"
import * as Names from "./names.js"
import type { Answer, Refusal } from "./probe.js"
import * as Probe from "./probe.js"

/** What stands at a place of a template; `*` is each element of its list. */
export interface Entry {
  readonly path: ReadonlyArray<string>
  readonly value: BodyTemplate
}

export type Entries = ReadonlyArray<Entry>

export const entriesIn = (template: BodyTemplate, path: ReadonlyArray<string> = []): Entries => {
  if (typeof template !== "object" || template === null) return [{ path, value: template }]
  if (!Array.isArray(template)) {
    return Object.entries(template).flatMap(([name, one]) => entriesIn(one, [...path, name]))
  }
  return Template.ofPart.test(JSON.stringify(template))
    ? template.flatMap((one) => entriesIn(one, [...path, "*"]))
    : [{ path, value: template }]
}

export const templateOf = (entries: Entries): BodyTemplate => {
  const own = entries.find(({ path }) => path.length === 0)
  if (own !== undefined) return own.value
  const fields = EffectRecord.map(
    Arr.groupBy(entries, ({ path: [head = ""] }) => head),
    (inside) => templateOf(inside.map(({ path, value }) => ({ path: path.slice(1), value })))
  )
  return fields["*"] === undefined ? fields : [fields["*"]]
}

/** What an element of the list of parts tells. */
const ofElement: ReadonlyArray<Kind> = [Names.partNumber, Names.etag]

/** What a body has if each kind has these names. */
export const entriesOf = (call: Call, names: (kind: Kind) => ReadonlyArray<string>): Entries => {
  const named = ({ value }: Kind) => (path: ReadonlyArray<string>): Entry => ({ path, value })
  if (call !== "completeLargeUpload") {
    return Names.kinds[call].flatMap((kind) => names(kind).map((name) => named(kind)([name])))
  }
  return [
    { path: ["upload_id"], value: "{upload_id}" },
    ...names(Names.list).flatMap((list) =>
      ofElement.flatMap((kind) => names(kind).map((name) => named(kind)([list, "*", name])))
    )
  ]
}

const isUnder = (head: ReadonlyArray<string>) => ({ path }: Entry): boolean =>
  head.every((name, index) => path[index] === name)

const isNotUnder = (head: ReadonlyArray<string>) => (entry: Entry): boolean => !isUnder(head)(entry)

const listIn = (entries: Entries): ReadonlyArray<string> | undefined =>
  entries.flatMap(({ path }) => {
    const at = path.findIndex((name) => name === "*" || name === "{part_number}")
    return at === -1 ? [] : [path.slice(0, at)]
  })[0]

/** The forms of a list of parts, each with the words of a refusal that ask for it. */
const forms: ReadonlyArray<readonly [asked: RegExp, ReadonlyArray<Entry>]> = [
  [/string|text/i, [{ path: ["*"], value: "{etag}" }]],
  [/object|map|record|dictionary|hash/i, [{ path: ["{part_number}"], value: "{etag}" }]],
  [/^$/, [{ path: ["*", "part_number"], value: "{part_number}" }, { path: ["*", "etag"], value: "{etag}" }]]
]

const isUnwanted = (words: string): boolean =>
  /unknown|unexpected|unrecogni[sz]ed|additional|not (?:allowed|permitted|known)|extra|excess|no such|undefined/i.test(
    words
  )

const container =
  /^(?:file|files|upload|document|asset|object|media|item|input|data|body|attributes|metadata|session)$/i

const kindOf = (call: Call, { isNamed, path }: Refusal): Kind | undefined => {
  const name = path.at(-1) ?? ""
  const kinds = Names.kinds[call].filter((kind) => !path.includes("*") || ofElement.includes(kind))
  const isIdentifier = isNamed || /^[a-z]+(?:[_-][a-zA-Z]+|[A-Z][a-z]+)+$/.test(name)
  return kinds.find(({ names }) => names.includes(name)) ??
    (isIdentifier ? kinds.find(({ pattern }) => pattern.test(name)) : undefined)
}

/** What may be right in the place of what was refused. */
const changes = (call: Call, entries: Entries) => (refusal: Refusal): ReadonlyArray<Entries> => {
  const { path, words } = refusal
  const list = listIn(entries)
  if (entries.some(isUnder(path))) {
    const rest = entries.filter(isNotUnder(path))
    const parent = path.slice(0, -1)
    if (isUnwanted(words)) return [rest.some(isUnder(parent)) ? rest : [...rest, { path: parent, value: {} }]]
    if (list === undefined || path.filter((name) => name !== "*").join(".") !== list.join(".")) return []
    return Arr.partition(forms, ([asked]) => asked.test(words)).toReversed().flat().map(([, form]) => [
      ...entries.filter(isNotUnder(list)),
      ...form.map(({ path, value }) => ({ path: [...list, ...path], value }))
    ])
  }
  const kind = kindOf(call, refusal)
  if (kind === undefined) {
    const isContainer = refusal.isNamed && path.length === 1 && container.test(path[0] ?? "")
    return isContainer ? [entries.map((entry) => ({ ...entry, path: [...path, ...entry.path] }))] : []
  }
  if (kind === Names.list) {
    const moved = list === undefined
      ? (forms.at(-1)?.[1] ?? [])
      : entries.filter(isUnder(list)).map((entry) => ({ ...entry, path: entry.path.slice(list.length) }))
    return [[
      ...entries.filter((entry) => list === undefined || isNotUnder(list)(entry)),
      ...moved.map((entry) => ({ ...entry, path: [...path, ...entry.path] }))
    ]]
  }
  const isPart = kind === Names.partNumber || call === "completeLargeUpload" && kind === Names.etag
  const place = isPart && !path.includes("*") ? [...list ?? [], "*", ...path] : path
  const others = entries.filter((entry) =>
    entry.value !== kind.value && !entry.path.every((name, at) => place[at] === name)
  )
  return [[...others, { path: place, value: kind.value }]]
}

/** How a call ended: what it was sent last, and the fields that the service refuses by their names. */
export interface Fitted {
  readonly answer: Answer
  /** Undefined: no body. */
  readonly entries: Entries | undefined
  readonly refused: ReadonlyArray<string>
}

const most = 24

/**
 * What a service accepts under every usual name at once, one name after the other. A refusal leaves nothing behind, so each
 * name is tried until the first that is accepted.
 */
const oneByOne = <E, R>(
  call: Call,
  names: (kind: Kind) => ReadonlyArray<string>,
  send: (entries: Entries) => Effect.Effect<Answer, E, R>
) =>
  Effect.gen(function*() {
    let last: Fitted | undefined
    if (!Probe.isFine(yield* send(entriesOf(call, names)))) return last
    const found = new Map<Kind, ReadonlyArray<string>>()
    for (const kind of Names.kinds[call].filter(({ field }) => field !== undefined)) {
      for (const name of names(kind)) {
        const entries = entriesOf(call, (other) => other === kind ? [name] : found.get(other) ?? names(other))
        const answer = yield* send(entries)
        if (!Probe.isFine(answer)) continue
        found.set(kind, [name])
        last = { answer, entries, refused: [] }
        break
      }
    }
    return last
  })

/** Sends one template after the other, until one is accepted or nothing that the answer says leads on. */
export const fit = <E, R>(
  call: Call,
  start: Entries | undefined,
  names: (kind: Kind) => ReadonlyArray<string>,
  send: (entries: Entries | undefined) => Effect.Effect<Answer, E, R>
) =>
  Effect.gen(function*() {
    let entries = start
    let answer = yield* send(entries)
    const tried = new Set<string>()
    for (let tries = 0; tries < most && Probe.isRefused(answer); tries++) {
      tried.add(JSON.stringify(entries && templateOf(entries)))
      const now = entries
      const next = now === undefined
        ? []
        // what is missing tells more than what is too much
        : Arr.partition(Probe.refusals(answer), ({ path }) => !now.some(isUnder(path))).toReversed().flat()
          .flatMap(changes(call, now)).find((one) => !tried.has(JSON.stringify(templateOf(one))))
      if (next === undefined) break
      entries = next
      answer = yield* send(entries)
    }
    const ended: Fitted = {
      answer,
      entries,
      refused: Probe.isRefused(answer)
        ? [...new Set(Probe.refusals(answer).filter(({ isNamed }) => isNamed).map(({ path }) => path.join(".")))]
        : []
    }
    return !Probe.isRefused(answer) || call === "completeUpload"
      ? ended
      : (yield* oneByOne(call, names, send)) ?? ended
  })
