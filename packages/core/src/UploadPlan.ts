/**
 * Which bytes go in which request: pure, from the size, the limits and the wishes to ranges or a typed refusal.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Recovery from "./Recovery.js"
import type * as ServiceProfile from "./ServiceProfile.js"
import { EmptySource, InvalidSource } from "./SourceError.js"

/**
 * A run of bytes: `offset` from 0, `length` of at least 1.
 *
 * @since 0.1.0
 * @category models
 */
export const ByteRange = Schema.Struct({
  offset: Schema.Int.pipe(Schema.nonNegative()),
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
export const Strategy = Schema.Literal("auto", "single", "multipart").annotations({ identifier: "UploadStrategy" })

/**
 * @since 0.1.0
 * @category models
 */
export type Strategy = typeof Strategy.Type

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
  /** The number of parts to ask for, 1 to 10000. Omitted: the server chooses. */
  readonly parts?: number | undefined
}

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
 * The file is larger than the service takes on that way.
 *
 * @since 0.1.0
 * @category errors
 */
export class SizeExceeded extends Schema.TaggedError<SizeExceeded>("@stevedore/core/SizeExceeded")("SizeExceeded", {
  name: Schema.String,
  /** In bytes. */
  size: Schema.Number,
  /** In bytes. */
  limit: Schema.Number,
  /** Which way has the limit. */
  path: Schema.Literal("single", "multipart"),
  attempts: Recovery.noAttempts
}) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `${JSON.stringify(this.name)} has ${this.size} bytes; ${
      this.path === "single" ? "a single PUT" : "an upload"
    } takes at most ${this.limit}. ${
      this.path === "single" ? "Let it go up in parts (strategy: \"multipart\")." : "Split the file."
    }`
  }
}

/**
 * The number of parts asked for cannot be: outside 1 to 10000, or it would give parts that storage refuses.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidPartCount extends Schema.TaggedError<InvalidPartCount>("@stevedore/core/InvalidPartCount")(
  "InvalidPartCount",
  {
    parts: Schema.Number,
    /** The file's size in bytes. */
    size: Schema.Number,
    /** The least that would be right. */
    atLeast: Schema.Int,
    /** The most that would be right. */
    atMost: Schema.Int,
    /** Whether the user asked for it, or the service gave it. */
    origin: Schema.Literal("asked", "given"),
    attempts: Recovery.noAttempts
  }
) {
  /**
   * @since 0.1.0
   */
  get recovery(): Recovery.Recovery {
    return "none"
  }
  override get message(): string {
    return `${this.parts} parts do not fit ${this.size} bytes${
      this.origin === "given" ? " (that many URLs were given by the service)" : ""
    }: right would be a whole number from ${this.atLeast} to ${this.atMost}, for parts of at least 5 MiB. ` +
      (this.origin === "asked" ? "Ask for one of these, or leave it to the service." : "Report it to the service.")
  }
}

/**
 * Why there is no plan. Nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export type PlanError = EmptySource | InvalidSource | SizeExceeded | InvalidPartCount

/**
 * The most parts that leave every part but the last at its smallest size.
 *
 * @since 0.1.0
 * @category planning
 */
export const mostParts = (size: number, limits: ServiceProfile.ServiceProfile["limits"]): number =>
  Math.max(1, Math.min(limits.parts, Math.floor((size - 1) / Math.max(1, limits.minimumPartSize - 1))))

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
  const atMost = wishes.strategy === "single" ? 1 : mostParts(size, limits)
  if (parts !== undefined && !(Number.isInteger(parts) && parts >= 1 && parts <= atMost)) {
    return Either.left(new InvalidPartCount({ parts, size, atLeast: 1, atMost, origin: "asked" }))
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
        wishes.size > Math.min(wishes.threshold ?? defaultThreshold, limits.singleSize)
  }
}

/**
 * The range of each part for the number of URLs that the service gave: equal sizes with a smaller last one where
 * that gives exactly this many parts (some stores want it so), else sizes that differ by one byte at most.
 *
 * @since 0.1.0
 * @category planning
 */
export const ranges = (
  size: number,
  urls: number,
  limits: ServiceProfile.ServiceProfile["limits"]
): Either.Either<Arr.NonEmptyReadonlyArray<ByteRange>, InvalidPartCount> => {
  const atMost = mostParts(size, limits)
  if (urls < 1 || urls > atMost) {
    return Either.left(new InvalidPartCount({ parts: urls, size, atLeast: 1, atMost, origin: "given" }))
  }
  const equal = Math.ceil(size / urls)
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
