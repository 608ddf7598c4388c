/**
 * Which bytes go in which request: pure, from the size, the limits and the wishes to ranges or a typed refusal.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { PlanError } from "./PlanError.js"
import { InvalidPartCount, SizeExceeded } from "./PlanError.js"
import type * as ServiceProfile from "./ServiceProfile.js"
import { EmptySource, InvalidSource } from "./SourceError.js"

/**
 * A run of bytes: `offset` from 0, `length` of at least 1.
 *
 * @since 0.1.0
 * @category models
 */
export const ByteRange = /* #__PURE__ */ Schema.Struct({
  offset: Schema.NonNegativeInt,
  length: Schema.Int.pipe(Schema.positive())
}).annotations({ identifier: "ByteRange" })

/**
 * @since 0.1.0
 * @category models
 */
export type ByteRange = typeof ByteRange.Type

/**
 * How a file goes up: by size, or forced.
 *
 * @since 0.1.0
 * @category models
 */
export const Strategy = /* #__PURE__ */ Schema.Literal("auto", "single", "multipart").annotations({
  identifier: "UploadStrategy"
})

/**
 * @since 0.1.0
 * @category models
 */
export type Strategy = typeof Strategy.Type

/**
 * What will be asked of the service. In JSON `parts` is a number, or null where the service chooses.
 *
 * @since 0.1.0
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
 * What will be asked of the service.
 *
 * @since 0.1.0
 * @category models
 */
export type UploadPlan =
  | { readonly _tag: "SinglePlan"; readonly size: number }
  | { readonly _tag: "MultipartPlan"; readonly size: number; readonly parts: Option.Option<number> }

/**
 * Sizes from which `auto` takes multipart, in bytes: 64 MiB.
 *
 * @since 0.1.0
 * @category constants
 */
export const defaultThreshold = 67_108_864

/**
 * What the plan is made from: the source's size, and how its upload was asked for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Wishes {
  /** The source's size in bytes. */
  readonly size: number
  /** The source's name, for messages. */
  readonly name: string
  /** Omitted: `auto`. */
  readonly strategy?: Strategy | undefined
  /** `auto` takes multipart for files larger than this many bytes. Omitted: {@link defaultThreshold}. */
  readonly threshold?: number | undefined
  /**
   * The number of parts to ask for, 1 to 10000. Omitted: {@link partsFor} a line that was measured, else
   * {@link partsUnmeasured}, else the service's.
   */
  readonly parts?: number | undefined
}

/**
 * The fewest parts a size can go up in: none is then above the largest part size.
 *
 * @since 0.1.0
 * @category planning
 */
export const fewestParts = (size: number, limits: ServiceProfile.ServiceProfile["limits"]): number =>
  Math.max(1, Math.ceil(size / limits.maximumPartSize))

/**
 * The most parts a size can go up in: all but the last can then be equal, and none but it is below the smallest size.
 *
 * @since 0.1.0
 * @category planning
 */
export const mostParts = (size: number, limits: ServiceProfile.ServiceProfile["limits"]): number => {
  const most = Math.ceil(size / limits.minimumPartSize)
  // The last of `most` parts is smaller than the others; where they cannot all be equal but for it, there is one fewer.
  const fit = Math.ceil(size / most) >= limits.minimumPartSize ? most : most - 1
  return Math.max(1, Math.min(limits.parts, fit))
}

const possible = (size: number, limits: ServiceProfile.ServiceProfile["limits"], parts: number): number =>
  Math.max(fewestParts(size, limits), Math.min(mostParts(size, limits), parts))

// Less is lost when a connection is cut than is noticed, and a request costs little of it.
const secondsOfPart = 4

// Of the time that a URL is valid: a part that is begun late may still end.
const lifeOfPart = 0.01

// A line that is full to the end needs parts for everybody, more than once.
const roundsOfParts = 3

const largestMeasuredPart = 67_108_864

/**
 * What was measured of a line, and how long URLs are valid.
 *
 * @since 0.1.0
 * @category models
 */
export interface Line {
  /** In bytes a second, over all transfers. */
  readonly throughput: number
  /** Transfers at once. */
  readonly width: number
  readonly urlLifetimeSeconds: number
}

/**
 * The number of parts for a line: each takes about four seconds, or a hundredth of the time that its URL is valid, so
 * that little is lost with a connection; but there are enough of them to keep the line full to the end, and none is
 * above 64 MiB. Within {@link fewestParts} and {@link mostParts}.
 *
 * @example
 * import { ServiceProfile, UploadPlan } from "@stevedore/core"
 *
 * const { limits, urlLifetimeSeconds } = ServiceProfile.standard
 * const size = 1_000_000_000
 * UploadPlan.partsFor(size, limits, { throughput: 2_000_000, width: 4, urlLifetimeSeconds }) // parts of 5 MiB
 * UploadPlan.partsFor(size, limits, { throughput: 40_000_000, width: 4, urlLifetimeSeconds }) // of 40 MB
 *
 * @since 0.1.0
 * @category planning
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

// For eight transfers: a gate is about as wide when it has measured for the first time
const enoughUnmeasured = roundsOfParts * 8

const smallestUnmeasuredPart = 8_388_608

const largestUnmeasuredPart = 16_777_216

/**
 * The number of parts for a line of which nothing is known: enough that it can be kept full to the end should it be a long
 * one, 24 for eight transfers at once, and none below 8 MiB. None where parts of 16 MiB are as many: how many then is for the
 * service to say.
 *
 * @since 0.1.0
 * @category planning
 */
export const partsUnmeasured = (
  size: number,
  limits: ServiceProfile.ServiceProfile["limits"]
): Option.Option<number> => {
  const parts = Math.min(enoughUnmeasured, Math.floor(size / smallestUnmeasuredPart))
  return parts < 2 || size > enoughUnmeasured * largestUnmeasuredPart
    ? Option.none()
    : Option.some(possible(size, limits, parts))
}

/**
 * How a file goes up, or why it cannot. Nothing has been sent when this refuses.
 *
 * @example
 * import { ServiceProfile, UploadPlan } from "@stevedore/core"
 *
 * const { limits } = ServiceProfile.standard
 * UploadPlan.make({ name: "notes.txt", size: 5 }, limits) // a single PUT
 * UploadPlan.make({ name: "interview.mp4", size: 200_000_000 }, limits) // several parts
 * UploadPlan.make({ name: "archive.tar", size: 10_000_000_001 }, limits) // SizeExceeded
 *
 * @since 0.1.0
 * @category planning
 */
export const make = (
  wishes: Wishes,
  limits: ServiceProfile.ServiceProfile["limits"]
): Either.Either<UploadPlan, PlanError> => {
  const { name, parts, size } = wishes
  if (size === 0) return Either.left(new EmptySource({ name }))
  if (!Number.isSafeInteger(size) || size < 0) {
    return Either.left(new InvalidSource({ name, field: "size", expected: "a whole number of bytes" }))
  }
  if (size > limits.multipartSize) {
    return Either.left(new SizeExceeded({ name, size, limit: limits.multipartSize, path: "multipart" }))
  }
  if (wishes.strategy === "single" && size > limits.singleSize) {
    return Either.left(new SizeExceeded({ name, size, limit: limits.singleSize, path: "single" }))
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
 * The range of each part for the number of URLs that the service gave: equal sizes with a smaller last one where
 * that gives exactly this many parts (some stores want it so), else sizes that differ by one byte at most. The ranges
 * cover the size exactly once, in order, and none is empty. The size is that of a plan: a whole number from 1.
 *
 * @example
 * import { ServiceProfile, UploadPlan } from "@stevedore/core"
 *
 * const { limits } = ServiceProfile.standard
 * UploadPlan.ranges(20_000_000, 3, limits) // lengths 6666667, 6666667 and 6666666
 * UploadPlan.ranges(20_000_000, 4, limits) // three parts of 5 MiB and a smaller last one
 * UploadPlan.ranges(20_000_000, 5, limits) // InvalidPartCount: parts of less than 5 MiB
 *
 * @since 0.1.0
 * @category planning
 */
export const ranges = (
  size: number,
  urls: number,
  limits: ServiceProfile.ServiceProfile["limits"]
): Either.Either<Arr.NonEmptyReadonlyArray<ByteRange>, InvalidPartCount> => {
  const atLeast = fewestParts(size, limits)
  const atMost = Math.max(1, Math.min(limits.parts, Math.ceil(size / limits.minimumPartSize)))
  if (urls < atLeast || urls > atMost) {
    return Either.left(new InvalidPartCount({ parts: urls, size, atLeast, atMost, origin: "given" }))
  }
  // A service that cut the size by the smallest part size gives one URL more than equal parts could have.
  const equal = urls === 1 ? size : Math.max(Math.ceil(size / urls), limits.minimumPartSize)
  return Either.right(
    Math.ceil(size / equal) === urls
      ? Arr.makeBy(urls, (index) => ({ offset: index * equal, length: Math.min(equal, size - index * equal) }))
      : Arr.makeBy(urls, (index) => almostEqual(size, urls, index))
  )
}

const almostEqual = (size: number, parts: number, index: number): ByteRange => {
  const least = Math.floor(size / parts)
  const longer = size % parts
  return { offset: index * least + Math.min(index, longer), length: index < longer ? least + 1 : least }
}
