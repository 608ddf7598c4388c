import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import { wholeNumber } from "../base/number.js"
import { httpDate } from "../base/time.js"

type Headers = Readonly<Record<string, string | undefined>>

/**
 * What a response says about the limit: how many calls are left, and until when. Times are in milliseconds of the
 * gate's clock.
 */
export interface ReportedLimit {
  readonly limit: number
  readonly remaining: number
  readonly resetsAt: number
}

/** The same, with the time until the end of the window, in milliseconds. Anything may be NaN. */
interface Said {
  readonly limit: number
  readonly remaining: number
  readonly wait: number
}

const numberIn = (text: string | undefined): number => Option.getOrElse(wholeNumber(text?.trim()), () => NaN)

// As seconds of Unix time this number is in the year 5138; as milliseconds it was in 1973
const firstMilliseconds = 1e11

const untilUnixTime = (reset: number, { date }: Headers, wall: number): number =>
  (reset < firstMilliseconds ? reset * 1000 : reset) - (httpDate(date) ?? wall)

const byWindow = (headers: Headers, wall: number): Said => ({
  limit: numberIn(headers["x-ratelimit-limit"]),
  remaining: numberIn(headers["x-ratelimit-remaining"]),
  wait: untilUnixTime(numberIn(headers["x-ratelimit-reset"]), headers, wall)
})

// As a number of seconds it is 30 years, so it is a Unix time
const firstUnixTime = 1e9

// The IETF's headers up to draft 6: the limit may be followed by its policies, and the end is a number of seconds
const bySeconds = (headers: Headers, wall: number): Said => {
  const reset = numberIn(headers["ratelimit-reset"])
  return {
    limit: numberIn(headers["ratelimit-limit"]?.split(/[,;]/)[0]),
    remaining: numberIn(headers["ratelimit-remaining"]),
    wait: reset < firstUnixTime ? reset * 1000 : untilUnixTime(reset, headers, wall)
  }
}

interface Member {
  readonly name: string
  readonly parameters: Readonly<Record<string, string>>
}

// Text in quotes may have a comma or a semicolon in it
const pieces = (text: string, separator: "," | ";"): ReadonlyArray<string> =>
  text.match(separator === "," ? /(?:"(?:[^"\\]|\\.)*"|[^,"])+/g : /(?:"(?:[^"\\]|\\.)*"|[^;"])+/g) ?? []

/** A structured field (RFC 9651) as far as the rate limit needs it: names with parameters. */
const membersOf = (header = ""): ReadonlyArray<Member> =>
  pieces(header, ",").map((member) => {
    const [name = "", ...parameters] = pieces(member, ";").map((piece) => piece.trim())
    return {
      name,
      parameters: Object.fromEntries(
        parameters.map((one) => one.split("=", 2)).map(([key = "", value = ""]) => [key, value])
      )
    }
  })

// Draft 7: `RateLimit: limit=100, remaining=50, reset=5`
const byDictionary = (headers: Headers): Said => {
  const values = new Map(
    membersOf(headers["ratelimit"]).map(({ name }) => {
      const [key = "", value] = name.split("=", 2)
      return [key.trim(), numberIn(value)]
    })
  )
  const [limit = NaN, remaining = NaN, reset = NaN] = ["limit", "remaining", "reset"].map((key) => values.get(key))
  return { limit, remaining, wait: reset * 1000 }
}

// From draft 8: `RateLimit: "default";r=50;t=5` and `RateLimit-Policy: "default";q=100;w=60`. The quota and the time are
// optional.
const byPolicies = (headers: Headers): ReadonlyArray<Said> => {
  const policies = membersOf(headers["ratelimit-policy"])
  return membersOf(headers["ratelimit"]).map(({ name, parameters: { r, t } }) => {
    const policy = policies.find((one) => one.name === name)?.parameters
    const remaining = numberIn(r)
    return {
      limit: policy?.["q"] === undefined ? Math.max(1, remaining) : numberIn(policy["q"]),
      remaining,
      wait: numberIn(t ?? policy?.["w"]) * 1000
    }
  })
}

const longestWindow = Duration.toMillis("1 day")

// nothing is true of what is not a number
const isPossible = ({ limit, remaining, wait }: Said): boolean =>
  limit > 0 && remaining >= 0 && wait > 0 && wait <= longestWindow

const scarcest = (all: ReadonlyArray<Said>): Said | undefined =>
  all.filter(isPossible).sort((one, other) => one.remaining - other.remaining || other.wait - one.wait)[0]

/**
 * The rate limit headers of a response: `X-RateLimit-*`, or the IETF's `RateLimit` and `RateLimit-Policy`, in the form of
 * any draft. Of several policies, the one with the fewest calls left counts. The end of an `X-RateLimit` window is Unix
 * time of the server's clock, in seconds or milliseconds, and is compared with the response's own `Date`, which is
 * truncated to whole seconds: the wait may be a second too long, but is never too short. A value that cannot be parsed,
 * has passed, or is more than a day away is ignored.
 */
export const reportedLimit = (headers: Headers, now: number, wall = now): Option.Option<ReportedLimit> => {
  const said = [byWindow(headers, wall)].find(isPossible) ??
    scarcest([...byPolicies(headers), byDictionary(headers), bySeconds(headers, wall)])
  return said === undefined
    ? Option.none()
    : Option.some({ limit: said.limit, remaining: said.remaining, resetsAt: now + said.wait })
}
