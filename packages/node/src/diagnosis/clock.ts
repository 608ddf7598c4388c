import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Measure from "@stevedore/core/parts/measure"
import { reveal } from "@stevedore/core/PresignedUrl"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import type { Check, Finding, Found, Needs, Problem } from "./trial.js"
import * as Trial from "./trial.js"

/** Whose clock it is, in the order in which they are believed if as many say one thing as another. */
export const owners = ["machine", "storage", "urls", "service"] as const

/** What a clock shows, in seconds ahead of this machine's. */
export interface Reading {
  readonly owner: typeof owners[number]
  readonly offset: number
}

const names: Readonly<Record<Reading["owner"], string>> = {
  storage: "storage's",
  urls: "its URLs'",
  service: "the service's",
  machine: "this machine's"
}

const remedies: Readonly<Record<Reading["owner"], string>> = {
  storage: "Tell storage's operator: if it judges its URLs by this clock, they expire too early or too late.",
  urls: "Tell the service's operator: its URLs expire too early, or are not valid yet.",
  service: "Uploads do not depend on it. Tell the service's operator, or that of a gateway in between.",
  machine: "Set this machine's clock, preferably by NTP: storage goes by its own clock."
}

/** In seconds: what two clocks that are right may differ by, and what makes uploads fail. */
const tolerance = { agreement: 5, failure: 15 * 60 }

const agreesWith = (one: Reading) => (other: Reading): boolean =>
  Math.abs(one.offset - other.offset) <= tolerance.agreement

/** Those that agree with each other: as many as possible. If none do, this machine's is the last to be believed. */
const agreed = (readings: Arr.NonEmptyReadonlyArray<Reading>): ReadonlyArray<Reading> => {
  const most = Arr.max(
    Arr.map(readings, (one) => readings.filter(agreesWith(one))),
    Order.mapInput(Order.number, (group: ReadonlyArray<Reading>) => group.length)
  )
  return most.length > 1 || readings.length === 1 ? most : readings.slice(1, 2)
}

const listed = (readings: ReadonlyArray<Reading>): string => {
  const words = readings.map(({ owner }) => names[owner]).reverse()
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`
}

const difference = (wrong: Reading, right: Reading): string => {
  const seconds = wrong.offset - right.offset
  return `${Measure.duration(Duration.seconds(Math.abs(seconds)))} ${seconds < 0 ? "behind" : "ahead of"}`
}

/** What several clocks say about each other: the one that is alone is wrong. */
export const judge = (others: ReadonlyArray<Reading>): Finding | Problem => {
  if (others.length === 0) return { found: "neither the service nor storage reports its time" }
  const machine: Reading = { owner: "machine", offset: 0 }
  const all = Arr.sort(
    Arr.append(others, machine),
    Order.mapInput(Order.number, ({ owner }: Reading) => owners.indexOf(owner))
  )
  const right = agreed(all)
  const wrong = all.filter((one) => !right.includes(one))
  const [first] = wrong
  const [reference = machine] = right
  if (first === undefined) {
    return { found: `this machine's is the same as ${listed(all.filter(({ owner }) => owner !== "machine"))}` }
  }
  const found = wrong.map((one) => `${names[one.owner]} is ${difference(one, reference)} ${listed(right)}`).join("; ")
  const remedy = wrong.map(({ owner }) => remedies[owner]).join(" ")
  // A Date proves nothing, since any server in between may write it. The times in a URL are those that it is judged by.
  const isHarmful = right.some(({ owner }) => owner === "urls") &&
    wrong.some(({ offset, owner }) => owner === "machine" && Math.abs(offset - reference.offset) > tolerance.failure)
  return isHarmful ? Trial.problem(found, remedy) : { found, note: remedy }
}

const middleOf = (before: number, after: number): number => (before + after) / 2

const dateOf = (owner: Reading["owner"], request: HttpClientRequest.HttpClientRequest) =>
  Effect.gen(function*() {
    const before = yield* Clock.currentTimeMillis
    const { headers } = yield* Trial.headersOf(request)
    const after = yield* Clock.currentTimeMillis
    const shown = Date.parse(headers["date"] ?? "")
    // a date is cut to whole seconds
    const offset = Math.round((shown + 500 - middleOf(before, after)) / 1000)
    return Number.isNaN(shown) ? [] : [{ owner, offset } satisfies Reading]
  }).pipe(Effect.orElseSucceed((): ReadonlyArray<Reading> => []))

const signed = ({ initiatedAt, single }: Found): ReadonlyArray<Reading> =>
  Option.toArray(Option.map(
    Option.all([
      Option.fromNullable(single?.url).pipe(Option.flatMap(({ signedAt }) => signedAt)),
      Option.fromNullable(initiatedAt)
    ]),
    ([at, initiated]): Reading => ({ owner: "urls", offset: Math.round((at.getTime() + 500 - initiated) / 1000) })
  ))

/** Compares this machine's clock with those of the service, of its URLs, and of storage. */
export const clock: Check<Needs> = {
  id: "clock",
  title: "clock",
  remedy: remedies.machine,
  needs: ["reached"],
  run: (found) =>
    Effect.gen(function*() {
      const { baseUrl, profile } = found.service
      const { single } = found
      const service = yield* dateOf("service", HttpClientRequest.get(`${baseUrl}${profile.paths.tokenInfo}`))
      const storage = single === undefined
        ? []
        : yield* dateOf("storage", HttpClientRequest.make("OPTIONS")(reveal(single.url)))
      const judged = judge([...service, ...signed(found), ...storage])
      return "_tag" in judged ? yield* Effect.fail(judged) : judged
    })
}
