/** One rule of a fault script: which requests, how many of them, and what happens to them. */
import * as Schema from "effect/Schema"
import * as Exchange from "./Exchange.js"
import * as Fault from "./Fault.js"

/**
 * What a rule applies to: an operation, or a family of them. `put` is both the single PUT and the part PUT; `initiate`
 * and `complete` likewise include both kinds of upload. `putSingle`, `initiateSingle` and `completeSingle` exclude the
 * multipart ones.
 *
 * @category models
 */
export const Target = Schema.Union(
  Exchange.Operation,
  Schema.Literal("putSingle", "initiateSingle", "completeSingle")
)

/** @category models */
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
  tokenInfo: ["tokenInfo"],
  importFile: ["importFile"]
}

const are = (target: Target, operations: ReadonlyArray<Exchange.Operation>): boolean =>
  members[target].every((operation) => operations.includes(operation))

const isPut = (target: Target): boolean => are(target, ["put", "putPart"])

/**
 * Whether the requests of a target go to storage rather than to the service.
 *
 * @category predicates
 */
export const isAtStorage = (target: Target): boolean => are(target, ["put", "putPart", "get"])

/**
 * Whether a fault can happen to the requests of a target.
 *
 * @category predicates
 */
export const isFitting = (target: Target, fault: Fault.Fault): boolean => {
  if (Fault.isPageFault(fault)) {
    return target === "list"
  }
  switch (fault._tag) {
    case "Expire":
    case "OmitEtag":
    case "SlowDown":
      return isAtStorage(target)
    case "LandLate":
      return isPut(target)
    default:
      return true
  }
}

/**
 * One rule: the fault that the next `times` requests for `target` meet, after `skip` of them have passed. `times` is
 * null for a rule that never ends. `part` is for `put` and `putPart`.
 *
 * @category models
 */
export const Rule = Schema.Struct({
  target: Target,
  part: Schema.optional(Schema.Int.pipe(Schema.between(1, 10_000))),
  skip: Schema.optionalWith(Schema.NonNegativeInt, { default: () => 0 }),
  times: Schema.optionalWith(Schema.NullOr(Schema.NonNegativeInt), { default: () => 1 }),
  fault: Fault.Fault
}).pipe(
  Schema.filter(({ fault, part, target }) =>
    !isFitting(target, fault)
      ? `${fault._tag} does not apply to "${target}"`
      : part === undefined || members[target].includes("putPart") || `"${target}" has no parts`
  )
)

/** @category models */
export interface Rule extends Schema.Schema.Type<typeof Rule> {}

// the first page has no cursor to repeat or refuse, and starts after no record
const needsCursor = ({ _tag }: Fault.Fault): boolean =>
  _tag === "RepeatCursor" || _tag === "RejectCursor" || _tag === "ItemVanishes"

/**
 * Whether a rule applies to a request. Rules about a cursor wait for a request that has one.
 *
 * @category predicates
 */
export const isAbout = (rule: Rule, exchange: Exchange.Exchange): boolean =>
  members[rule.target].includes(exchange.operation) &&
  (rule.part === undefined || rule.part === exchange.part) &&
  (!needsCursor(rule.fault) || exchange.continued)
