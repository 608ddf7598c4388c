/** The options of an upload, checked before anything is sent. */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { closed } from "./base/effect.js"
import * as wish from "./base/number.js"
import type { PlanError } from "./errors/planError.js"
import * as Metadata from "./Metadata.js"
import { AnyNumber } from "./Recovery.js"
import type * as ServiceProfile from "./ServiceProfile.js"
import { SourceFingerprint } from "./source/fingerprint.js"
import { checkDescription } from "./source/limits.js"
import { InvalidSource } from "./SourceError.js"
import type { CheckedOptions } from "./upload/checkedOptions.js"
import type { Verification } from "./upload/resume.js"
import { InvalidUploadOption } from "./UploadError.js"
import * as Plan from "./UploadPlan.js"
import type { Strategy } from "./UploadPlan.js"
import type { UploadSource } from "./UploadSource.js"

/**
 * The maximum number of parts of an upload in flight.
 *
 * @internal
 */
export const mostConcurrent = 32

const mostSessions = 100

/**
 * Every option has a default that suits files of any size.
 *
 * @category models
 */
export interface UploadOptions {
  /** A single PUT or multipart. Defaults to `auto`, which decides by size. */
  readonly strategy?: Strategy | undefined
  /** `auto` uses multipart for files larger than this, in bytes. Defaults to 64 MiB. */
  readonly threshold?: number | undefined
  /**
   * The number of parts to ask for, 1 to 10000. Defaults to what suits the measured throughput; before anything was
   * measured, up to 128 parts of at least 5 MiB, or, for a file above 2 GiB, what the service chooses.
   */
  readonly parts?: number | undefined
  /** The maximum number of parts in flight, 1 to 32. Defaults to as many as the `TransferGate` finds worthwhile. */
  readonly concurrency?: number | undefined
  /** The maximum number of sessions to open if URLs expire before the upload is done. Defaults to 3. */
  readonly maxSessions?: number | undefined
  /**
   * Whether to continue an upload that an earlier process left behind, and to make this one resumable in turn. Defaults
   * to true, if there is a ledger and the source can be recognized again.
   */
  readonly resume?: boolean | undefined
  /**
   * How much of what storage already has is compared with the source before an upload continues. Defaults to `sample`.
   * To compare the whole file after an upload, see `Uploads.readBack`.
   */
  readonly verify?: Verification | undefined
  /**
   * What to do if the connection proves too slow to finish before the URLs expire: fail with `DeadlineUnreachable`, or
   * continue in the hope that it becomes faster. Defaults to `fail`.
   */
  readonly onImpossible?: "fail" | "continue" | undefined
  /**
   * The id of the unfinished upload to continue. If there is none, or the source is another, the upload fails instead
   * of starting over. By default, an unfinished upload of the same source is continued.
   */
  readonly unfinished?: string | undefined
  /**
   * What travels with the upload, if the profile names a field for it (`fields.metadata`): from a page to the hooks of
   * `StevedoreHttpApp`. The interface of the service itself has no place for it, so it goes no further. The ledger keeps
   * it, readable as it is: an upload that is continued has what it began with, and a session that replaces its first one
   * has that too, unless other metadata is given. It is in no URL and in no log.
   */
  readonly metadata?: Metadata.Metadata | undefined
}

const Verify = /* #__PURE__ */ Schema.Literal("sample", "all")

const OnImpossible = /* #__PURE__ */ Schema.Literal("fail", "continue")

/**
 * The options as JSON, for a job or a configuration. A number that JSON cannot represent is encoded as its name, such
 * as `"threshold": "Infinity"`. A value out of range is an error, and so is an unknown option, also when encoding.
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
 * @category models
 */
export const UploadOptions = /* #__PURE__ */ Schema.Struct({
  strategy: Schema.optional(Plan.Strategy),
  threshold: Schema.optional(AnyNumber.pipe(Schema.nonNegative())),
  parts: Schema.optional(Schema.Int.pipe(Schema.positive())),
  concurrency: Schema.optional(Schema.Int.pipe(Schema.between(1, mostConcurrent))),
  maxSessions: Schema.optional(Schema.Int.pipe(Schema.between(1, mostSessions))),
  resume: Schema.optional(Schema.Boolean),
  verify: Schema.optional(Verify),
  onImpossible: Schema.optional(OnImpossible),
  unfinished: Schema.optional(Schema.String),
  metadata: Schema.optional(Metadata.Metadata)
}).annotations({ identifier: "UploadOptions" }).pipe(closed)

/**
 * A count that a caller asks for, made a whole number from 1 that a Stream can count up to. What is not a number, as
 * from an unset variable, counts as omitted.
 *
 * @example
 * import { UploadOptions } from "@stevedore/core"
 *
 * UploadOptions.atLeastOne(Number("8"), 3) // 8
 * UploadOptions.atLeastOne(Number(undefined), 3) // 3
 * UploadOptions.atLeastOne(-1, 3) // 1
 *
 * @internal
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

// Types refuse an unknown word, but not everywhere options come from: taken for an omitted one, it would check less
const checkWord = (
  option: string,
  word: string | undefined,
  { literals }: { readonly literals: ReadonlyArray<string> }
): Either.Either<void, InvalidUploadOption> =>
  word === undefined || literals.includes(word)
    ? Either.void
    : Either.left(new InvalidUploadOption({ option, expected: `${literals.join(" or ")}, not ${word}` }))

// Infinity is valid: every file that fits into a single PUT then is one
const checkThreshold = (threshold: number | undefined): Either.Either<void, InvalidUploadOption> =>
  threshold === undefined || threshold >= 0
    ? Either.void
    : Either.left(
      new InvalidUploadOption({ option: "threshold", expected: `a number of bytes from 0, not ${threshold}` })
    )

const checkMetadata = (metadata: Metadata.Metadata | undefined): Either.Either<void, InvalidUploadOption> =>
  metadata === undefined || Metadata.isValid(metadata)
    ? Either.void
    : Either.left(new InvalidUploadOption({ option: "metadata", expected: Metadata.expected }))

// Otherwise no later process would find the record
const checkFingerprint = ({ fingerprint, name }: UploadSource): Either.Either<void, InvalidSource> =>
  Option.isSome(Schema.decodeUnknownOption(SourceFingerprint)(fingerprint))
    ? Either.void
    : Either.left(
      new InvalidSource({ fileName: name, field: "fingerprint", expected: "a kind, a size and a finite date" })
    )

/**
 * Checks a source and its options against the limits of the service. Returns the plan, or the first problem.
 *
 * @internal
 */
export const check = (
  source: UploadSource,
  options: UploadOptions,
  limits: ServiceProfile.ServiceProfile["limits"]
): Either.Either<CheckedOptions, PlanError | InvalidUploadOption> =>
  Either.gen(function*() {
    const { parts, strategy, threshold } = options
    yield* checkWord("strategy", strategy, Plan.Strategy)
    yield* checkWord("verify", options.verify, Verify)
    yield* checkWord("onImpossible", options.onImpossible, OnImpossible)
    yield* checkThreshold(threshold)
    yield* checkMetadata(options.metadata)
    const plan = yield* Plan.make({ name: source.name, size: source.size, strategy, threshold, parts }, limits)
    yield* checkDescription(source.name, source.mediaType, limits)
    yield* checkFingerprint(source)
    return {
      plan,
      concurrency: yield* whole("concurrency", options.concurrency, {
        from: 1,
        to: mostConcurrent,
        otherwise: mostConcurrent
      }),
      maxSessions: yield* whole("maxSessions", options.maxSessions, { from: 1, to: mostSessions, otherwise: 3 }),
      resume: options.resume ?? true,
      verify: options.verify ?? "sample",
      onImpossible: options.onImpossible ?? "fail",
      unfinished: options.unfinished,
      metadata: options.metadata
    }
  })

export type {
  /**
   * How much of a source is compared with what storage has before an upload goes on: a sample of its parts, or all.
   *
   * @category models
   */
  Verification
} from "./upload/resume.js"
