/**
 * What a caller may wish for one upload, checked before anything is sent.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as wish from "./internal/atLeastOne.js"
import type { PlanError } from "./PlanError.js"
import { AnyNumber } from "./Recovery.js"
import type * as ServiceProfile from "./ServiceProfile.js"
import { InvalidSource } from "./SourceError.js"
import { SourceFingerprint } from "./SourceFingerprint.js"
import { charactersIn } from "./SourceLimits.js"
import { InvalidUploadOption } from "./UploadError.js"
import type { Strategy, UploadPlan } from "./UploadPlan.js"
import * as Plan from "./UploadPlan.js"
import type { Verification } from "./UploadResume.js"
import type { UploadSource } from "./UploadSource.js"

/**
 * How many parts of an upload may be in flight at the most.
 *
 * @since 0.1.0
 * @category constants
 */
export const mostConcurrent = 32

/**
 * Every option has a default that suits a file of any size.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadOptions {
  /** A single PUT or several parts. Omitted: `auto`, by size. */
  readonly strategy?: Strategy | undefined
  /** `auto` takes several parts for files larger than this, in bytes. Omitted: 64 MiB. */
  readonly threshold?: number | undefined
  /**
   * The number of parts to ask for, 1 to 10000. Omitted: what suits the line, once one was measured; before that up to 24 of at
   * least 8 MiB, and for a file above 384 MiB what the service chooses.
   */
  readonly parts?: number | undefined
  /** Parts in flight at the most, 1 to 32. Omitted: as many as the `TransferGate` finds to be worth it. */
  readonly concurrency?: number | undefined
  /** How many sessions are opened at the most, when URLs end before the file is up. Omitted: 3. */
  readonly maxSessions?: number | undefined
  /**
   * Whether an upload that an earlier process left goes on where storage had got to, and this one may be taken over
   * in turn. Omitted: yes, where there is a ledger and the source can be recognized again.
   */
  readonly resume?: boolean | undefined
  /**
   * How much is proven beyond the checksums of what is sent: `sample` and `all` read that much again of what storage
   * had, before an upload goes on; `download` reads the file back at the end as well, and compares it. Omitted:
   * `sample`.
   */
  readonly verify?: Verification | "download" | undefined
  /**
   * What to do when the line is found too slow for the file to be up before its URLs end: fail with
   * `DeadlineUnreachable`, or go on and hope that the line becomes faster. Omitted: `fail`.
   */
  readonly onImpossible?: "fail" | "continue" | undefined
  /**
   * The id of the unfinished upload that this one has to go on with: if there is none, or the source is another, the
   * upload fails instead of beginning anew. Omitted: an unfinished upload of the same source is gone on with.
   */
  readonly unfinished?: string | undefined
}

/**
 * The options as JSON, for the wishes of a job or of a configuration: a number that JSON does not have is its name, such as
 * `"threshold": "Infinity"`. What is out of its range is an error, and so is what is not an option, also on the way out.
 *
 * @example
 * import { UploadOptions, Uploads, type UploadSource } from "@stevedore/core"
 * import { Effect, Schema } from "effect"
 *
 * const fromJson = Schema.decode(Schema.parseJson(UploadOptions.UploadOptions))
 *
 * const job = (source: UploadSource, wishes: string) =>
 *   Effect.flatMap(fromJson(wishes), (options) => Uploads.upload(source, options))
 *
 * @since 0.1.0
 * @category models
 */
export const UploadOptions = /* #__PURE__ */ Schema.Struct({
  strategy: Schema.optional(Plan.Strategy),
  threshold: Schema.optional(AnyNumber.pipe(Schema.nonNegative())),
  parts: Schema.optional(Schema.Int.pipe(Schema.positive())),
  concurrency: Schema.optional(Schema.Int.pipe(Schema.between(1, mostConcurrent))),
  maxSessions: Schema.optional(Schema.Int.pipe(Schema.between(1, 100))),
  resume: Schema.optional(Schema.Boolean),
  verify: Schema.optional(Schema.Literal("sample", "all", "download")),
  onImpossible: Schema.optional(Schema.Literal("fail", "continue")),
  unfinished: Schema.optional(Schema.String)
}).annotations({ identifier: "UploadOptions", parseOptions: { onExcessProperty: "error" } })

/**
 * The options with every default in its place.
 *
 * @since 0.1.0
 * @category models
 */
export interface CheckedOptions {
  readonly plan: UploadPlan
  readonly concurrency: number
  readonly maxSessions: number
  readonly resume: boolean
  readonly verify: Verification
  readonly readBack: boolean
  readonly onImpossible: "fail" | "continue"
  readonly unfinished: string | undefined
}

/**
 * How many of something, as a caller wishes: a whole number from 1, and one that a Stream can count up to. What is no number,
 * as of a variable that is not set, counts as omitted.
 *
 * @example
 * import { UploadOptions } from "@stevedore/core"
 *
 * UploadOptions.atLeastOne(Number("8"), 3) // 8
 * UploadOptions.atLeastOne(Number(undefined), 3) // 3
 * UploadOptions.atLeastOne(-1, 3) // 1
 *
 * @since 0.1.0
 * @category combinators
 */
export const atLeastOne: (wished: number | undefined, omitted: number) => number = wish.atLeastOne

const whole = (
  option: string,
  value: number | undefined,
  allowed: { readonly from: number; readonly to: number; readonly otherwise: number }
): Either.Either<number, InvalidUploadOption> => {
  const number = value ?? allowed.otherwise
  return Number.isInteger(number) && number >= allowed.from && number <= allowed.to
    ? Either.right(number)
    : Either.left(
      new InvalidUploadOption({
        option,
        expected: `a whole number from ${allowed.from} to ${allowed.to}, not ${number}`
      })
    )
}

// Infinity is a wish: everything that fits into it is a single PUT
const checkThreshold = (threshold: number | undefined): Either.Either<void, InvalidUploadOption> =>
  threshold === undefined || threshold >= 0
    ? Either.void
    : Either.left(
      new InvalidUploadOption({ option: "threshold", expected: `a number of bytes from 0, not ${threshold}` })
    )

const checkSource = (
  { fingerprint, mediaType, name }: UploadSource,
  limits: ServiceProfile.ServiceProfile["limits"]
): Either.Either<void, InvalidSource> => {
  const invalid = (field: InvalidSource["field"], expected: string) =>
    Either.left(new InvalidSource({ name, field, expected }))
  const characters = charactersIn(name)
  if (characters < 1 || characters > limits.nameLength) {
    return invalid("name", `1 to ${limits.nameLength} characters, not ${characters}`)
  }
  if (mediaType.length < 1 || mediaType.length > limits.mediaTypeLength) {
    return invalid("mediaType", `1 to ${limits.mediaTypeLength} characters, not ${mediaType.length}`)
  }
  if (!/^[\x20-\x7e]+$/.test(mediaType)) return invalid("mediaType", "visible ASCII characters")
  // One that a record cannot hold would be found by no later process
  return Schema.is(SourceFingerprint)(fingerprint)
    ? Either.void
    : invalid("fingerprint", "a kind, a size and a finite date")
}

/**
 * Checks a source and the wishes for it against the limits of the service: the plan, or the first thing that is wrong.
 *
 * @since 0.1.0
 * @category validation
 */
export const check = (
  source: UploadSource,
  options: UploadOptions,
  limits: ServiceProfile.ServiceProfile["limits"]
): Either.Either<CheckedOptions, PlanError | InvalidUploadOption> =>
  Either.gen(function*() {
    const { parts, strategy, threshold } = options
    yield* checkThreshold(threshold)
    const plan = yield* Plan.make({ name: source.name, size: source.size, strategy, threshold, parts }, limits)
    yield* checkSource(source, limits)
    return {
      plan,
      concurrency: yield* whole("concurrency", options.concurrency, {
        from: 1,
        to: mostConcurrent,
        otherwise: mostConcurrent
      }),
      maxSessions: yield* whole("maxSessions", options.maxSessions, { from: 1, to: 100, otherwise: 3 }),
      resume: options.resume ?? true,
      verify: options.verify === undefined || options.verify === "download" ? "sample" : options.verify,
      readBack: options.verify === "download",
      onImpossible: options.onImpossible ?? "fail",
      unfinished: options.unfinished
    }
  })
