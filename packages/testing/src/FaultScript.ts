/**
 * A small language for what goes wrong, and when. A script reads as a sentence, is a value, and can be written into a file.
 *
 * @example
 * import { FaultScript } from "@stevedore/testing"
 *
 * export const badDay = FaultScript.on("put").times(2).answer(503, "SlowDown")
 *   .and(FaultScript.on("putPart").part(3).resetAfter(65_536))
 *   .and(FaultScript.on("complete").loseAnswer())
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Exchange from "./Exchange.js"
import * as Fault from "./Fault.js"

/**
 * What a rule is about: an operation, or a family of them. `put` is the single PUT and the part PUT, `initiate` and
 * `complete` are both of theirs; `putSingle`, `initiateSingle` and `completeSingle` leave the large ones out.
 *
 * @since 0.1.0
 * @category models
 */
export const Target = Schema.Union(
  Exchange.Operation,
  Schema.Literal("putSingle", "initiateSingle", "completeSingle")
)

/**
 * @since 0.1.0
 * @category models
 */
export type Target = typeof Target.Type

const members: Readonly<Record<Target, ReadonlyArray<Exchange.Operation>>> = {
  initiate: ["initiate", "initiateLarge"],
  initiateSingle: ["initiate"],
  initiateLarge: ["initiateLarge"],
  put: ["put", "putPart"],
  putSingle: ["put"],
  putPart: ["putPart"],
  complete: ["complete", "completeLarge"],
  completeSingle: ["complete"],
  completeLarge: ["completeLarge"],
  file: ["file"],
  download: ["download"],
  list: ["list"],
  get: ["get"],
  tokenInfo: ["tokenInfo"]
}

const storageOperations: ReadonlyArray<Exchange.Operation> = ["put", "putPart", "get"]

const isAtStorage = (target: Target): boolean =>
  members[target].every((operation) => storageOperations.includes(operation))

const isFitting = (target: Target, fault: Fault.Fault): boolean => {
  if (Fault.isPageFault(fault)) {
    return target === "list"
  }
  return fault._tag === "Expire" || fault._tag === "OmitEtag"
    ? isAtStorage(target)
    : true
}

/**
 * One rule: the fault that the next `times` requests for `target` meet, after `skip` of them have passed. `times` is null for
 * a rule that never ends.
 *
 * @since 0.1.0
 * @category models
 */
export const Rule = Schema.Struct({
  target: Target,
  part: Schema.optional(Schema.Int.pipe(Schema.between(1, 10_000))),
  skip: Schema.optionalWith(Schema.NonNegativeInt, { default: () => 0 }),
  times: Schema.optionalWith(Schema.NullOr(Schema.NonNegativeInt), { default: () => 1 }),
  fault: Fault.Fault
}).pipe(
  Schema.filter(({ fault, target }) => isFitting(target, fault) || `${fault._tag} is no fault of "${target}"`)
)

/**
 * @since 0.1.0
 * @category models
 */
export type Rule = typeof Rule.Type

/**
 * Rules in order. A request meets the first rule that is about it and has turns left, so rules about the same operation
 * happen one after the other.
 *
 * @since 0.1.0
 * @category models
 */
export class FaultScript extends Schema.Class<FaultScript>("@stevedore/testing/FaultScript")({
  rules: Schema.Array(Rule)
}) {
  /**
   * This script, and then the other.
   *
   * @since 0.1.0
   */
  and(that: FaultScript): FaultScript {
    return new FaultScript({ rules: [...this.rules, ...that.rules] })
  }
}

/**
 * Nothing goes wrong.
 *
 * @since 0.1.0
 * @category constructors
 */
export const empty: FaultScript = new FaultScript({ rules: [] })

/**
 * One script after the other.
 *
 * @since 0.1.0
 * @category combinators
 */
export const all = (scripts: Iterable<FaultScript>): FaultScript =>
  new FaultScript({ rules: [...scripts].flatMap(({ rules }) => rules) })

/**
 * The first half of a sentence: which requests, and how many of them.
 *
 * @since 0.1.0
 * @category models
 */
export interface Aim<Self> {
  /** Of this part only. */
  readonly part: (number: number) => Self
  /** The next `count` requests. Default 1. */
  readonly times: (count: number) => Self
  /** Every request from here on. */
  readonly always: () => Self
  /** Lets `count` requests pass first. */
  readonly after: (count: number) => Self
}

/**
 * The second half: what happens to them, whatever they ask for.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnyFault {
  /** Not handled; `status` is answered, with a code that the table of errors has, or any other. */
  readonly answer: (
    status: number,
    code?: string,
    options?: { readonly retryAfter?: number | string | undefined }
  ) => FaultScript
  /** Not handled; 429 from the service, 503 from the storage, with `Retry-After`: seconds, a date, or nonsense. */
  readonly retryAfter: (value: number | string) => FaultScript
  /** Not handled; a gateway's HTML page is answered. */
  readonly html: (status: number) => FaultScript
  /** Handled, and then the connection breaks before the answer. */
  readonly loseAnswer: () => FaultScript
  /** The connection breaks before anything is handled. */
  readonly reset: () => FaultScript
  /** The connection breaks after so many bytes of the body on its way. */
  readonly resetAfter: (bytes: number) => FaultScript
  /** Silence for ever: before anything, after `afterBytes` of the body on its way, or instead of the answer. */
  readonly stall: (phase: Fault.StallPhase, options?: { readonly afterBytes?: number | undefined }) => FaultScript
  /** Handled as usual, so much later. */
  readonly delay: (duration: Duration.DurationInput) => FaultScript
}

/**
 * What happens to requests at the storage only.
 *
 * @since 0.1.0
 * @category models
 */
export interface StorageFault {
  /** The answer has no etag. */
  readonly omitEtag: () => FaultScript
  /** The URL counts as expired. */
  readonly expire: () => FaultScript
}

/**
 * What happens to pages of a list only.
 *
 * @since 0.1.0
 * @category models
 */
export interface ListFault {
  /** The page's next cursor is the one that asked for it. Waits for a request that has a cursor. */
  readonly repeatCursor: () => FaultScript
  /** A page without items in between; nothing is lost behind it. */
  readonly emptyPage: () => FaultScript
  /** The page says that there is more, without a cursor. */
  readonly dropCursor: () => FaultScript
  /** The page's first record has no id and no title. */
  readonly corruptPage: () => FaultScript
}

/**
 * Requests at the service that are no lists.
 *
 * @since 0.1.0
 * @category models
 */
export interface Requests extends Aim<Requests>, AnyFault {}

/**
 * Requests at the storage.
 *
 * @since 0.1.0
 * @category models
 */
export interface StorageRequests extends Aim<StorageRequests>, AnyFault, StorageFault {}

/**
 * Requests for a page of a list.
 *
 * @since 0.1.0
 * @category models
 */
export interface ListRequests extends Aim<ListRequests>, AnyFault, ListFault {}

interface AllRequests extends Aim<AllRequests>, AnyFault, StorageFault, ListFault {}

const requests = (rule: Omit<Rule, "fault">): AllRequests => {
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
      script(new Fault.Answer({ status: isAtStorage(rule.target) ? 503 : 429, retryAfter: String(value) })),
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
    corruptPage: () => script(new Fault.CorruptPage())
  }
}

/**
 * Begins a sentence: the requests that it is about. Which faults can end it depends on them: a page fault of a PUT does not
 * compile.
 *
 * @since 0.1.0
 * @category constructors
 */
export const on: {
  (target: "put" | "putSingle" | "putPart" | "get"): StorageRequests
  (target: "list"): ListRequests
  (target: Target): Requests
} = (target: Target) => requests({ target, skip: 0, times: 1 })

const isAbout = (rule: Rule, exchange: Exchange.Exchange): boolean =>
  members[rule.target].includes(exchange.operation) &&
  (rule.part === undefined || rule.part === exchange.part) &&
  // the first page has no cursor that could be repeated
  (rule.fault._tag !== "RepeatCursor" || exchange.continued)

/**
 * Makes a script work: an interceptor that counts its turns from now on.
 *
 * @since 0.1.0
 * @category conversions
 */
export const toInterceptor = (script: FaultScript): Effect.Effect<Exchange.Interceptor> =>
  Effect.sync(() => {
    const turns = script.rules.map((rule) => ({
      rule,
      skip: rule.skip,
      left: rule.times ?? Number.POSITIVE_INFINITY
    }))
    return (exchange) =>
      Effect.sync(() => {
        for (const turn of turns) {
          if (turn.left === 0 || !isAbout(turn.rule, exchange)) {
            continue
          }
          if (turn.skip > 0) {
            turn.skip -= 1
            continue
          }
          turn.left -= 1
          return Option.some(turn.rule.fault)
        }
        return Option.none()
      })
  })
