import type { RetryPolicy, Timeouts, UploadOptions } from "@stevedore/core"
import { Chance } from "./Chance.js"
import {
  type CallTrouble,
  callTroubles,
  everyPutTrouble,
  passingCallTroubles,
  passingPutTroubles,
  type PutTrouble,
  type SourceTrouble
} from "./Faults.js"
import type { Stop } from "./Process.js"

const minute = 60_000
const hour = 60 * minute

/** A trouble that happens with a probability, so many times at the most. */
export interface Risk<Trouble> {
  readonly trouble: Trouble
  readonly probability: number
  readonly most: number
  /** Only the calls that complete an upload meet it. */
  readonly isAtTheEnd?: boolean
}

export type SourceKind = "bytes" | "nameless bytes" | "file" | "stream" | "stream once"

export interface SourceCase {
  readonly name: string
  readonly kind: SourceKind
  readonly size: number
  /** Bytes that are read at once. */
  readonly chunk: number
  /** `life` from 1; after so many steps of that life, or in the pause before it when 0. */
  readonly trouble: { readonly kind: SourceTrouble; readonly life: number; readonly afterSteps: number } | undefined
}

export interface UploadCase {
  readonly source: SourceCase
  readonly options: UploadOptions.UploadOptions
  readonly delay: number
  readonly way: "upload" | "start"
  /** How a started upload is watched. */
  readonly watch: "looks" | "samples" | "events"
  /** Stopped by its user in a life, after so many steps of it. */
  readonly interrupt: { readonly life: number; readonly afterSteps: number } | undefined
  /** Held by its user after so many steps of a life, for so long. */
  readonly pause: { readonly life: number; readonly afterSteps: number; readonly millis: number } | undefined
}

export interface LifeCase {
  readonly stop: Stop | undefined
  /** How long nothing runs afterwards. */
  readonly pause: number
}

/** How a life that was frozen goes on, beside the one that has taken over. */
export interface Thaw {
  /** After so many steps of the next life, or at its end. */
  readonly afterSteps: number
  /** Its connections have not outlived it. */
  readonly isCut: boolean
}

export interface Window {
  readonly from: number
  readonly to: number
}

export interface Jump {
  readonly life: number
  readonly afterSteps: number
  readonly millis: number
  readonly isSleep: boolean
}

/** Everything that a history begins with. What happens in it follows from this and the seed alone. */
export interface Scenario {
  readonly seed: number
  readonly uploads: readonly [UploadCase, ...ReadonlyArray<UploadCase>]
  /** All in one stream of sources, with so many files at once. */
  readonly together: number | undefined
  readonly lives: readonly [LifeCase, ...ReadonlyArray<LifeCase>]
  /** Where a life freezes. */
  readonly thaw: Thaw | undefined
  readonly gate: number
  readonly maxBufferedBytes: number
  readonly isAdaptive: boolean
  readonly policy: RetryPolicy.Options
  readonly timeouts: Timeouts.Options
  readonly ledger: "with URLs" | "without URLs" | "none"
  /** The probability that a write into the ledger fails. */
  readonly fullDisk: number
  readonly skew: number
  readonly jumps: ReadonlyArray<Jump>
  readonly latency: number
  /** Bytes a second, over all connections. */
  readonly bandwidth: number
  readonly urlLifetimeSeconds: number
  readonly partSize: number
  readonly rateLimit: { readonly calls: number; readonly windowMillis: number } | undefined
  readonly etags: "unique" | "by content"
  readonly refusal: "502" | "400 InvalidPart"
  /** The service finalizes a single PUT by itself as soon as it is stored. */
  readonly finalizesAlone: boolean
  readonly urlObjects: boolean
  readonly hasEnvelope: boolean
  readonly answersDate: boolean
  readonly answersChecksum: boolean
  /** The record of a file that is there has the checksum of its content. */
  readonly reportsChecksum: boolean
  readonly isPendingAfter: boolean
  /** A file has a record as soon as its session is open, with the state `pending`. */
  readonly recordsAtOnce: boolean
  readonly put: ReadonlyArray<Risk<PutTrouble>>
  readonly call: ReadonlyArray<Risk<CallTrouble>>
  readonly storms: ReadonlyArray<Window>
  readonly outages: ReadonlyArray<Window>
  /** Everything that people could see is kept, and searched for secrets. */
  readonly isPrinted: boolean
}

/** The smallest part, the largest part, the largest file by one PUT and by parts: everything is a million times smaller. */
export const limits = {
  minimumPartSize: 10,
  maximumPartSize: 200,
  singleSize: 300,
  multipartSize: 1000,
  parts: 60
}

const risk = <Trouble>(chance: Chance, troubles: ReadonlyArray<Trouble>): ReadonlyArray<Risk<Trouble>> => {
  const [first, ...rest] = troubles
  if (first === undefined) return []
  return [{
    trouble: chance.pick([first, ...rest]),
    probability: chance.pick([0.15, 0.4, 1]),
    most: chance.pick([1, 1, 2, 5, Number.POSITIVE_INFINITY])
  }]
}

const risks = <Trouble>(chance: Chance, troubles: ReadonlyArray<Trouble>, count: number) =>
  Array.from(
    { length: count },
    () =>
      risk(chance, troubles).map((one) => ({
        ...one,
        probability: chance.between(0.02, 0.15),
        most: Number.POSITIVE_INFINITY
      }))
  ).flat()

type Weather = Pick<Scenario, "put" | "call" | "storms" | "outages">

const window = (chance: Chance): Window => {
  const from = chance.between(0, 20_000)
  return { from, to: from + chance.pick([2000, 20_000, 90_000, 20 * minute]) }
}

const weather = (chance: Chance): Weather => {
  const calm: Weather = { put: [], call: [], storms: [], outages: [] }
  type Kind = "calm" | "put" | "call" | "both" | "end" | "damage" | "passing" | "rough" | "storm" | "outage"
  switch (
    chance.weighed<Kind>([
      ["calm", 10],
      ["put", 34],
      ["call", 18],
      ["both", 10],
      ["end", 12],
      ["damage", 3],
      ["passing", 10],
      ["rough", 18],
      ["storm", 4],
      ["outage", 4]
    ])
  ) {
    case "calm":
      return calm
    case "put":
      return { ...calm, put: risk(chance, everyPutTrouble) }
    case "call":
      return { ...calm, call: risk(chance, callTroubles) }
    case "both":
      return { ...calm, put: risk(chance, everyPutTrouble), call: risk(chance, callTroubles) }
    case "end":
      return { ...calm, call: risk(chance, callTroubles).map((one) => ({ ...one, isAtTheEnd: true })) }
    case "damage":
      return { ...calm, put: risk<PutTrouble>(chance, ["bytes damaged"]) }
    case "passing":
      return chance.happens(0.8)
        ? { ...calm, put: risk(chance, passingPutTroubles).map((one) => ({ ...one, most: 1 })) }
        : { ...calm, call: risk(chance, passingCallTroubles).map((one) => ({ ...one, most: 1 })) }
    case "rough":
      return {
        ...calm,
        put: risks(chance, everyPutTrouble, chance.whole(1, 3)).concat(
          risks(chance, passingPutTroubles, chance.whole(1, 4))
        ),
        call: risks(chance, callTroubles, chance.whole(1, 4))
      }
    case "storm":
      return { ...calm, storms: [window(chance)], put: risks(chance, passingPutTroubles, 1) }
    case "outage":
      return { ...calm, outages: [window(chance)], call: risks(chance, passingCallTroubles, 1) }
  }
}

const troublesOf: Readonly<Record<SourceKind, ReadonlyArray<SourceTrouble>>> = {
  bytes: [],
  "nameless bytes": [],
  file: ["truncated", "appended", "replaced", "overwritten", "overwritten unseen", "removed", "unreadable"],
  stream: ["short stream", "long stream", "broken stream"],
  "stream once": ["short stream", "long stream", "broken stream"]
}

const steps = (chance: Chance): number => Math.floor(1 + 60 * chance.next() ** 2)

const sourceOf = (chance: Chance, index: number, lives: number): SourceCase => {
  const kind = chance.weighed<SourceKind>([
    ["file", 55],
    ["bytes", 15],
    ["nameless bytes", 6],
    ["stream", 14],
    ["stream once", 10]
  ])
  const [first, ...rest] = troublesOf[kind]
  return {
    name: `file-${index}.bin`,
    kind,
    size: chance.happens(0.15) ? chance.whole(1, 12) : chance.whole(10, chance.pick([40, 90, 150])),
    chunk: chance.pick([12, 40, 1000, 1000]),
    trouble: first !== undefined && chance.happens(0.12)
      ? {
        kind: chance.pick([first, ...rest]),
        life: chance.whole(1, lives),
        afterSteps: chance.happens(0.25) ? 0 : steps(chance)
      }
      : undefined
  }
}

const optionsOf = (chance: Chance, { size }: SourceCase): UploadOptions.UploadOptions => {
  const most = Math.max(1, Math.floor(size / limits.minimumPartSize))
  const fewest = Math.ceil(size / limits.maximumPartSize)
  const strategy = chance.weighed<"single" | "multipart" | "auto">([["multipart", 60], ["auto", 20], ["single", 20]])
  const isSingle = strategy === "single" && size <= limits.singleSize
  return {
    strategy: isSingle ? "single" : strategy === "single" ? "auto" : strategy,
    threshold: 60,
    parts: !isSingle && chance.happens(0.4) && fewest <= most
      ? chance.whole(fewest, Math.max(fewest, Math.min(most, chance.pick([2, 3, 6]))))
      : undefined,
    concurrency: chance.pick([1, 2, 4, 8, undefined]),
    onImpossible: chance.happens(0.3) ? "continue" : undefined,
    maxSessions: chance.pick([1, 2, 3, 3]),
    resume: chance.happens(0.08) ? false : undefined,
    verify: chance.happens(0.3) ? "all" : undefined
  }
}

const uploadOf = (chance: Chance, index: number, lives: number): UploadCase => {
  const source = sourceOf(chance, index, lives)
  const way = chance.weighed<"upload" | "start">([["upload", 60], ["start", 40]])
  return {
    source,
    options: optionsOf(chance, source),
    delay: index === 0 ? 0 : chance.pick([0, 0, 50, 3000]),
    way,
    watch: chance.weighed<UploadCase["watch"]>([["looks", 83], ["samples", 2], ["events", 15]]),
    interrupt: chance.happens(0.08) ? { life: chance.whole(1, lives), afterSteps: steps(chance) } : undefined,
    pause: way === "start" && chance.happens(0.08)
      ? {
        life: chance.whole(1, lives),
        afterSteps: steps(chance),
        millis: chance.pick([100, 5000, 20 * minute])
      }
      : undefined
  }
}

const livesOf = (chance: Chance): Scenario["lives"] => {
  const pause = () =>
    chance.weighed([[chance.between(500, minute), 80], [chance.between(minute, 2.95 * hour), 15], [25 * hour, 5]])
  const killed = (): LifeCase => ({ stop: { afterSteps: steps(chance), by: "kill" }, pause: pause() })
  const last: LifeCase = { stop: undefined, pause: pause() }
  switch (chance.weighed([[0, 80], [1, 13], [2, 3], [3, 1], [-1, 3]])) {
    case 0:
      return [last]
    case 1:
      return [killed(), last]
    case 2:
      return [killed(), killed(), last]
    case 3:
      return [killed(), killed(), killed(), last]
    default:
      return [last, last]
  }
}

const twin = (one: UploadCase): UploadCase => ({ ...one, delay: 30, way: "upload", interrupt: undefined })

const jumpsOf = (chance: Chance, lives: number): ReadonlyArray<Jump> =>
  chance.happens(0.06)
    ? [{
      life: chance.whole(1, lives),
      afterSteps: steps(chance),
      millis: chance.pick([20_000, 5 * minute, 40 * minute]),
      isSleep: true
    }]
    : chance.happens(0.06)
    ? [{
      life: chance.whole(1, lives),
      afterSteps: steps(chance),
      millis: chance.pick([-2 * hour, -10 * minute, -3000, 3000, 10 * minute, 2 * hour]),
      isSleep: false
    }]
    : []

const frozenAfter = (afterSteps: number, { pause }: LifeCase): LifeCase => ({
  stop: { afterSteps, by: "freeze" },
  pause
})

/** The same scenario in which the first life is frozen, and thaws after the next has begun. */
const withFrozenLife = (chance: Chance, scenario: Scenario): Scenario => {
  const [first, ...others] = scenario.lives
  return {
    ...scenario,
    lives: [
      frozenAfter(first.stop?.afterSteps ?? steps(chance), first),
      ...(others.length > 0 ? others : [first])
    ],
    thaw: { afterSteps: steps(chance), isCut: chance.happens(0.5) },
    // one thing after the other is told
    jumps: []
  }
}

const basic = (seed: number): Scenario => {
  const chance = new Chance(seed)
  const lives = livesOf(chance)
  const count = chance.weighed([[1, 94], [2, 4], [3, 2]])
  const first = uploadOf(chance, 0, lives.length)
  const others = Array.from({ length: count - 1 }, (_, index) => uploadOf(chance, index + 1, lives.length))
  const isPrinted = chance.happens(0.04)
  const isTwin = chance.happens(0.02) && first.source.kind !== "stream once"
  return {
    seed,
    uploads: [first, ...others, ...(isTwin ? [twin(first)] : [])],
    together: chance.happens(count > 1 ? 0.3 : 0.03) ? chance.whole(1, 3) : undefined,
    lives,
    thaw: undefined,
    gate: chance.pick([1, 2, 3, 6, 32]),
    maxBufferedBytes: chance.pick([10, 40, 100, 1000]),
    isAdaptive: chance.happens(0.7),
    policy: chance.happens(0.2) ? { attempts: chance.whole(1, 4), base: "100 millis", cap: "5 seconds" } : {},
    timeouts: chance.happens(0.2)
      ? {
        call: "10 seconds",
        total: "1 minute",
        connect: "5 seconds",
        stall: "5 seconds",
        answer: "10 seconds"
      }
      : {},
    ledger: chance.weighed<Scenario["ledger"]>([["with URLs", 80], ["without URLs", 12], ["none", 8]]),
    fullDisk: chance.happens(0.03) ? chance.pick([0.1, 0.5, 1]) : 0,
    skew: chance.happens(0.25) ? chance.pick([-24 * hour, -20 * minute, 20 * minute, 24 * hour]) : 0,
    jumps: jumpsOf(chance, lives.length),
    latency: chance.pick([1, 20, 150]),
    bandwidth: chance.pick([40, 300, 10_000, 1_000_000]),
    urlLifetimeSeconds: chance.happens(0.1) ? chance.whole(5, 90) : 10_800,
    partSize: chance.pick([30, 50, 80]),
    rateLimit: chance.happens(0.12)
      ? { calls: chance.whole(1, 6), windowMillis: chance.pick([10_000, 50_000]) }
      : undefined,
    etags: chance.happens(0.75) ? "unique" : "by content",
    refusal: chance.happens(0.7) ? "502" : "400 InvalidPart",
    finalizesAlone: chance.happens(0.05),
    urlObjects: chance.happens(0.2),
    hasEnvelope: chance.happens(0.8),
    answersDate: chance.happens(0.95),
    answersChecksum: chance.happens(0.5),
    isPendingAfter: chance.happens(0.3),
    // by the seed itself, so that what chance draws after it stays as it was
    recordsAtOnce: seed % 7 === 3,
    reportsChecksum: seed % 3 === 1,
    ...weather(chance),
    isPrinted
  }
}

/** The scenario of a seed. A frozen life has a chance of its own, so that all other seeds mean what they did. */
export const ofSeed = (seed: number): Scenario => {
  const chance = new Chance(seed ^ 0x2545f492)
  const scenario = basic(seed)
  return chance.happens(0.1) ? withFrozenLife(chance, scenario) : scenario
}
