/**
 * Which bytes go into which request: a pure function from the size, the limits and the options to ranges or a typed
 * refusal.
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { PlanError } from "./errors/planError.js"
import { InvalidPartCount, SizeExceeded } from "./errors/planError.js"
import type * as ServiceProfile from "./ServiceProfile.js"
import { EmptySource, InvalidSource } from "./SourceError.js"

/**
 * A range of bytes: `offset` from 0, `length` of at least 1.
 *
 * @category models
 */
export const ByteRange = /* #__PURE__ */ Schema.Struct({
  offset: Schema.NonNegativeInt,
  length: Schema.Int.pipe(Schema.positive())
}).annotations({ identifier: "ByteRange" })

/** @category models */
export interface ByteRange extends Schema.Schema.Type<typeof ByteRange> {}

/**
 * How to upload a file: decided by size, or forced.
 *
 * @category models
 */
export const Strategy = /* #__PURE__ */ Schema.Literal("auto", "single", "multipart").annotations({
  identifier: "UploadStrategy"
})

/** @category models */
export type Strategy = typeof Strategy.Type

/**
 * What to ask of the service. In JSON, `parts` is a number, or null if the service chooses.
 *
 * @category models
 */
export const UploadPlan = /* #__PURE__ */ Schema.Union(
  Schema.TaggedStruct("SinglePlan", { size: Schema.Int.pipe(Schema.positive()) }),
  Schema.TaggedStruct("MultipartPlan", {
    size: Schema.Int.pipe(Schema.positive()),
    parts: Schema.OptionFromNullOr(Schema.Int.pipe(Schema.positive()))
  })
).annotations({ identifier: "UploadPlan" })

/**
 * What to ask of the service.
 *
 * @category models
 */
export type UploadPlan =
  | { readonly _tag: "SinglePlan"; readonly size: number }
  | { readonly _tag: "MultipartPlan"; readonly size: number; readonly parts: Option.Option<number> }

/**
 * `auto` uses multipart for files larger than this, in bytes: 64 MiB.
 *
 * @internal
 */
export const defaultThreshold = 67_108_864

/**
 * What the plan is based on: the source's size, and the options of its upload.
 *
 * @category models
 */
export interface Wishes {
  /** The source's size in bytes. */
  readonly size: number
  /** The source's name, for messages. */
  readonly name: string
  /** Defaults to `auto`. */
  readonly strategy?: Strategy | undefined
  /** `auto` uses multipart for files larger than this many bytes. Defaults to {@link defaultThreshold}. */
  readonly threshold?: number | undefined
  /**
   * The number of parts to ask for, 1 to 10000. Defaults to {@link partsFor} the network if it was measured, else to
   * {@link partsUnmeasured}, else to the service's choice.
   */
  readonly parts?: number | undefined
}

/**
 * The smallest number of parts for a size, so that none exceeds the maximum part size.
 *
 * @internal
 */
export const fewestParts = (size: number, limits: ServiceProfile.ServiceProfile["limits"]): number =>
  Math.max(1, Math.ceil(size / limits.maximumPartSize))

/**
 * The largest number of parts for a size, so that all but the last can be equal, and only the last is below the minimum
 * part size.
 *
 * @internal
 */
export const mostParts = (size: number, limits: ServiceProfile.ServiceProfile["limits"]): number => {
  const most = Math.ceil(size / limits.minimumPartSize)
  // The last of `most` parts is smaller than the others. If the others cannot all be equal, there is one part fewer.
  const fit = Math.ceil(size / most) >= limits.minimumPartSize ? most : most - 1
  return Math.max(1, Math.min(limits.parts, fit))
}

const possible = (size: number, limits: ServiceProfile.ServiceProfile["limits"], parts: number): number =>
  Math.max(fewestParts(size, limits), Math.min(mostParts(size, limits), parts))

/**
 * The number of parts for parts of about this size, in bytes; none for a file that is no larger.
 *
 * @internal
 */
export const partsOfSize = (
  size: number,
  partSize: number | undefined,
  limits: ServiceProfile.ServiceProfile["limits"]
): number | undefined =>
  partSize === undefined || size <= partSize ? undefined : possible(size, limits, Math.ceil(size / partSize))

// Short enough that a cut connection loses little, and long enough that the cost of a request is small.
const secondsOfPart = 4

// As a share of a URL's lifetime, so that a part that starts late can still finish.
const lifeOfPart = 0.01

// To keep the network busy to the end, there must be several rounds of parts for all transfers.
const roundsOfParts = 3

const largestMeasuredPart = 67_108_864

/**
 * What was measured about the network, and how long URLs are valid.
 *
 * @internal
 */
export interface Line {
  /** In bytes per second, over all transfers. */
  readonly throughput: number
  /** The number of concurrent transfers. */
  readonly width: number
  readonly urlLifetimeSeconds: number
}

/**
 * The number of parts for a network that was measured. Each part takes about four seconds, or a hundredth of its URL's
 * lifetime if that is shorter, so that a lost connection costs little. There are enough parts to keep the network busy
 * to the end, and none exceeds 64 MiB. The result is within {@link fewestParts} and {@link mostParts}.
 *
 * @internal
 */
export const partsFor = (size: number, limits: ServiceProfile.ServiceProfile["limits"], line: Line): number => {
  const seconds = Math.min(secondsOfPart, line.urlLifetimeSeconds * lifeOfPart)
  const part = Math.min(
    line.throughput / line.width * seconds,
    size / (roundsOfParts * line.width),
    largestMeasuredPart
  )
  return possible(size, limits, Math.ceil(size / Math.max(1, part)))
}

// Each part is a request, in a page with a preflight of its own. These are enough to keep a network busy to the end.
const enoughUnmeasured = 32

// The least that S3 takes: storage soon confirms something on a slow network
const smallestUnmeasuredPart = 5_242_880

// Of a longer one, too much would be lost with a connection
const largestUnmeasuredPart = 29_360_128

const largestUnmeasured = 2_147_483_648

/**
 * The number of parts for a network that was not measured yet: parts of 5 MiB, so that storage soon confirms something on
 * a slow one; above 32 of them larger ones, up to 28 MiB. None for a file of less than two such parts, or of more than
 * 2 GiB: the service then chooses.
 *
 * @internal
 */
export const partsUnmeasured = (
  size: number,
  limits: ServiceProfile.ServiceProfile["limits"]
): Option.Option<number> => {
  const parts = Math.max(
    Math.min(enoughUnmeasured, Math.ceil(size / smallestUnmeasuredPart)),
    Math.ceil(size / largestUnmeasuredPart)
  )
  return size < 2 * smallestUnmeasuredPart || size > largestUnmeasured
    ? Option.none()
    : Option.some(possible(size, limits, parts))
}

/**
 * How to upload a file, or why it cannot be uploaded. Nothing has been sent if this refuses.
 *
 * @example
 * import { ServiceProfile, UploadPlan } from "@stevedore/core"
 *
 * const { limits } = ServiceProfile.standard
 * UploadPlan.make({ name: "notes.txt", size: 5 }, limits) // a single PUT
 * UploadPlan.make({ name: "interview.mp4", size: 200_000_000 }, limits) // several parts
 * UploadPlan.make({ name: "archive.tar", size: 10_000_000_001 }, limits) // SizeExceeded
 *
 * @category planning
 */
export const make = (
  wishes: Wishes,
  limits: ServiceProfile.ServiceProfile["limits"]
): Either.Either<UploadPlan, PlanError> => {
  const { name, parts, size } = wishes
  if (size === 0) return Either.left(new EmptySource({ fileName: name }))
  if (!Number.isSafeInteger(size) || size < 0) {
    return Either.left(new InvalidSource({ fileName: name, field: "size", expected: "a whole number of bytes" }))
  }
  if (size > limits.multipartSize) {
    return Either.left(new SizeExceeded({ fileName: name, size, limit: limits.multipartSize, path: "multipart" }))
  }
  if (wishes.strategy === "single" && size > limits.singleSize) {
    return Either.left(new SizeExceeded({ fileName: name, size, limit: limits.singleSize, path: "single" }))
  }
  const [atLeast, atMost] = wishes.strategy === "single" ? [1, 1] : [fewestParts(size, limits), mostParts(size, limits)]
  if (parts !== undefined && !(Number.isInteger(parts) && parts >= atLeast && parts <= atMost)) {
    return Either.left(new InvalidPartCount({ parts, size, atLeast, atMost, origin: "asked" }))
  }
  return Either.right(
    isMultipart(wishes, limits)
      ? { _tag: "MultipartPlan", size, parts: Option.fromNullable(parts) }
      : { _tag: "SinglePlan", size }
  )
}

const isMultipart = (wishes: Wishes, limits: ServiceProfile.ServiceProfile["limits"]): boolean => {
  switch (wishes.strategy ?? "auto") {
    case "single":
      return false
    case "multipart":
      return true
    case "auto":
      return wishes.parts !== undefined ||
        wishes.size > limits.singleSize ||
        wishes.size > (wishes.threshold ?? defaultThreshold)
  }
}

/**
 * The range of each part, for the number of URLs that the service returned: the service decides how many there are, as
 * long as each takes at least a byte, and no more than storage accepts at once. All parts have the same size, with a smaller last one, if that gives exactly this
 * many parts (some stores require it); otherwise sizes differ by at most one byte. A `partSize` that the service names
 * is used if it gives exactly this many parts. The ranges cover the size exactly once, in order, and none is empty. The
 * size is that of a plan: a whole number from 1.
 *
 * @example
 * import { ServiceProfile, UploadPlan } from "@stevedore/core"
 *
 * const { limits } = ServiceProfile.standard
 * UploadPlan.ranges(20_000_000, 3, limits) // lengths 6666667, 6666667 and 6666666
 * UploadPlan.ranges(20_000_000, 4, limits) // three parts of 5 MiB and a smaller last one
 * UploadPlan.ranges(20_000_000, 5, limits) // five parts of 4 MB: the service may know a store that takes them
 * UploadPlan.ranges(5, 6, limits) // InvalidPartCount: more URLs than bytes
 *
 * @category planning
 */
export const ranges = (
  size: number,
  urls: number,
  limits: ServiceProfile.ServiceProfile["limits"],
  partSize?: number
): Either.Either<Arr.NonEmptyReadonlyArray<ByteRange>, InvalidPartCount> => {
  const atLeast = fewestParts(size, limits)
  const atMost = Math.min(limits.parts, size)
  if (!(urls >= atLeast && urls <= atMost)) {
    return Either.left(new InvalidPartCount({ parts: urls, size, atLeast, atMost, origin: "given" }))
  }
  const least = Math.ceil(size / urls)
  // A service that divides the size by the minimum part size returns one URL more than equal parts would need.
  const equal = [partSize ?? 0, Math.max(least, limits.minimumPartSize), least].find((length) =>
    length > 0 && Math.ceil(size / length) === urls
  )
  return Either.right(Arr.makeBy(urls, (index) =>
    equal === undefined
      ? almostEqual(size, urls, index)
      : { offset: index * equal, length: Math.min(equal, size - index * equal) }))
}

const almostEqual = (size: number, parts: number, index: number): ByteRange => {
  const least = Math.floor(size / parts)
  const longer = size % parts
  return { offset: index * least + Math.min(index, longer), length: index < longer ? least + 1 : least }
}
