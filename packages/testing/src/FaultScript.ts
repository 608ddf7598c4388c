/**
 * A small language for what goes wrong, and when. A script is a value that reads as a sentence, can be written to a
 * file, and prints as that sentence.
 *
 * @example
 * import { FaultScript } from "@stevedore/testing"
 *
 * export const badDay = FaultScript.on("put").times(2).answer(503, "SlowDown")
 *   .and(FaultScript.on("putPart").part(3).resetAfter(65_536))
 *   .and(FaultScript.on("complete").loseAnswer())
 */
import * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import type * as Exchange from "./Exchange.js"
import * as Fault from "./Fault.js"
import * as FaultRule from "./FaultRule.js"
import * as FaultArbitrary from "./faults/faultArbitrary.js"
import * as Sentences from "./faults/faultSentence.js"
import * as FaultTurns from "./faults/faultTurns.js"
import type * as FaultSentence from "./FaultSentence.js"

/**
 * Rules in order. A request meets the first rule that applies to it and has turns left, so rules about the same
 * operation take effect one after the other. `clockSkewMillis` is how far the servers' clocks are ahead of the
 * client's; negative if they are behind.
 *
 * @category models
 */
export class FaultScript extends Schema.Class<FaultScript>("@stevedore/testing/FaultScript")({
  rules: Schema.Array(FaultRule.Rule),
  clockSkewMillis: Schema.optionalWith(Schema.Int, { default: () => 0 })
}) {
  /** This script, then the other. Clock skews add up. */
  and(that: FaultScript): FaultScript {
    return all([this, that])
  }

  /** The script as it is written in a program. */
  override toString(): string {
    const skew = Duration.millis(Math.abs(this.clockSkewMillis))
    const direction = this.clockSkewMillis > 0 ? "ahead" : "behind"
    const [first, ...others] = [
      ...(this.clockSkewMillis === 0
        ? []
        : [`FaultScript.clockSkew(${Sentences.durationWords(skew)}, "${direction}")`]),
      ...this.rules.map(Sentences.ofRule)
    ]
    return [first ?? "FaultScript.empty", ...others.map((sentence) => `  .and(${sentence})`)].join("\n")
  }
}

/**
 * Nothing goes wrong.
 *
 * @category constructors
 */
export const empty: FaultScript = new FaultScript({ rules: [] })

/**
 * Combines scripts, one after the other. Clock skews add up.
 *
 * @category combinators
 */
export const all = (scripts: Iterable<FaultScript>): FaultScript => {
  const every = [...scripts]
  return new FaultScript({
    rules: every.flatMap(({ rules }) => rules),
    clockSkewMillis: every.reduce((skew, { clockSkewMillis }) => skew + clockSkewMillis, 0)
  })
}

/**
 * The clocks of the service and of its storage differ from the client's from the start.
 *
 * @example
 * import { FaultScript } from "@stevedore/testing"
 *
 * export const late = FaultScript.clockSkew("10 minutes", "behind")
 *
 * @category constructors
 */
export const clockSkew = (by: Duration.DurationInput, direction: "ahead" | "behind"): FaultScript => {
  const millis = Math.round(Duration.toMillis(by))
  return new FaultScript({ rules: [], clockSkewMillis: direction === "ahead" ? millis : -millis })
}

/**
 * What a random script consists of.
 *
 * @category models
 */
export interface RandomOptions {
  /** What its rules apply to. Defaults to every operation of an upload. */
  readonly targets?: ReadonlyArray<FaultRule.Target> | undefined
  /** The most rules. Defaults to 4. */
  readonly rules?: number | undefined
  /** A rule about one part names one of the first `parts` parts. Defaults to 4. */
  readonly parts?: number | undefined
  /** A body breaks or stops within its first `bytes` bytes. Defaults to 64. */
  readonly bytes?: number | undefined
  /** The longest delay or storm. Defaults to 30 seconds. */
  readonly longest?: Duration.DurationInput | undefined
}

/**
 * Random scripts, for properties. Every script ends: none has a rule that lasts forever. One that fails a property is
 * shrunk to the rules that matter and printed as a sentence.
 *
 * @category arbitraries
 */
export const arbitrary = (options?: RandomOptions): FastCheck.Arbitrary<FaultScript> =>
  FaultArbitrary.rules(options).map((rules) => new FaultScript({ rules }))

/**
 * A random script, always the same for the same seed and options. Print it (`String(script)`) when a test fails: the
 * sentence can be pasted into a new test.
 *
 * @example
 * import { FaultScript } from "@stevedore/testing"
 *
 * export const script = FaultScript.random(42, { targets: ["put", "complete"], rules: 3 })
 *
 * @category constructors
 */
export const random = (seed: number, options?: RandomOptions): FaultScript =>
  all(FastCheck.sample(arbitrary(options), { seed, numRuns: 1 }))

interface AllRequests
  extends
    FaultSentence.Aim<AllRequests>,
    FaultSentence.AnyFault<FaultScript>,
    FaultSentence.StorageFault<FaultScript>,
    FaultSentence.PutFault<FaultScript>,
    FaultSentence.ListFault<FaultScript>
{
  readonly part: (number: number) => AllRequests
}

const requests = (rule: Omit<FaultRule.Rule, "fault">): AllRequests => {
  const script = (fault: Fault.Fault) => new FaultScript({ rules: [{ ...rule, fault }] })
  return {
    part: (part) => requests({ ...rule, part }),
    times: (times) => requests({ ...rule, times }),
    always: () => requests({ ...rule, times: null }),
    after: (skip) => requests({ ...rule, skip }),
    answer: (status, code, options) =>
      script(
        new Fault.Answer({
          status,
          ...(code === undefined ? {} : { code }),
          ...(options?.retryAfter === undefined ? {} : { retryAfter: String(options.retryAfter) })
        })
      ),
    retryAfter: (value) =>
      script(new Fault.Answer({ status: FaultRule.isAtStorage(rule.target) ? 503 : 429, retryAfter: String(value) })),
    html: (status) => script(new Fault.Html({ status })),
    loseAnswer: () => script(new Fault.LoseAnswer()),
    reset: () => script(new Fault.Reset({})),
    resetAfter: (afterBytes) => script(new Fault.Reset({ afterBytes })),
    stall: (phase, options) =>
      script(
        new Fault.Stall({ phase, ...(options?.afterBytes === undefined ? {} : { afterBytes: options.afterBytes }) })
      ),
    delay: (duration) => script(new Fault.Delay({ duration: Duration.decode(duration) })),
    omitEtag: () => script(new Fault.OmitEtag()),
    expire: () => script(new Fault.Expire()),
    repeatCursor: () => script(new Fault.RepeatCursor()),
    emptyPage: () => script(new Fault.EmptyPage()),
    dropCursor: () => script(new Fault.DropCursor()),
    corruptPage: () => script(new Fault.CorruptPage()),
    denyMore: () => script(new Fault.DenyMore()),
    rejectCursor: () => script(new Fault.RejectCursor()),
    shortPage: (items) => script(new Fault.ShortPage({ items })),
    itemAppears: () => script(new Fault.ItemAppears()),
    itemVanishes: () => script(new Fault.ItemVanishes()),
    slowDown: (duration) => script(new Fault.SlowDown({ duration: Duration.decode(duration) })),
    landLate: (after) => script(new Fault.LandLate({ duration: Duration.decode(after) }))
  }
}

/**
 * Starts a sentence with the requests that it applies to. They determine which faults can end it: a page fault of a PUT
 * does not compile.
 *
 * @category constructors
 */
export const on: {
  (target: "put" | "putPart"): FaultSentence.PartRequests<FaultScript>
  (target: "putSingle"): FaultSentence.PutRequests<FaultScript>
  (target: "get"): FaultSentence.StorageRequests<FaultScript>
  (target: "list"): FaultSentence.ListRequests<FaultScript>
  (target: FaultRule.Target): FaultSentence.Requests<FaultScript>
} = (target: FaultRule.Target) => requests({ target, skip: 0, times: 1 })

/**
 * Turns a script into an interceptor that counts its turns from now on.
 *
 * @category conversions
 */
export const toInterceptor = (script: FaultScript): Effect.Effect<Exchange.Interceptor> => FaultTurns.make(script.rules)
