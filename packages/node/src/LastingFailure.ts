/** Failures that say nothing about one file: every other file of the same run would meet the same. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as NodeFs from "node:fs/promises"

/**
 * What is wrong for every file:
 *
 * - `token`: the service rejects it
 * - `connection`: the certificate of the other side, the proxy in between, or the scheme of the address
 * - `room`: there is none left for this token, at the service
 * - `directory`: what the files are in, or go to, is gone or cannot be written
 *
 * @category models
 */
export type Reason = "token" | "connection" | "room" | "directory"

/**
 * What is read of an error.
 *
 * @category models
 */
export interface AnyError {
  readonly _tag: string
}

const text = (error: AnyError, field: string): unknown => Predicate.hasProperty(error, field) ? error[field] : undefined

const roomCodes = /quota|insufficient.?storage|no.?space/i

const isAboutRoom = (error: AnyError): boolean => {
  const issues = text(error, "issues")
  return text(error, "status") === 507 || text(error, "status") === 402 ||
    (Array.isArray(issues) &&
      issues.some((issue) => Predicate.hasProperty(issue, "code") && roomCodes.test(String(issue.code))))
}

// By the system's code: the disk is read-only, or its directory is not there any more
const directoryCodes: ReadonlySet<unknown> = new Set(["EROFS", "ENOENT", "ENOTDIR"])

type Rule = readonly [reason: Reason, holds: (error: AnyError) => boolean]

const rules: ReadonlyArray<Rule> = [
  ["token", ({ _tag }) => _tag === "Unauthorized"],
  ["connection", (error) => error._tag === "ConnectionFailed" && text(error, "recovery") === "none"],
  [
    "room",
    (error) => ["Forbidden", "RequestRejected", "ServiceUnavailable"].includes(error._tag) && isAboutRoom(error)
  ],
  ["directory", (error) => error._tag === "TargetUnwritable" && directoryCodes.has(text(error, "code"))]
]

/**
 * Why every file would fail like this one, if that is known from the error alone. A run that meets it stops, or waits
 * until it is mended, instead of asking again for each file.
 *
 * @example
 * import { ServiceError } from "@stevedore/core"
 * import { LastingFailure } from "@stevedore/node"
 * import { Option } from "effect"
 *
 * const expired = new ServiceError.Unauthorized({ operation: "initiateUpload", status: 401, issues: [] })
 *
 * Option.getOrNull(LastingFailure.of(expired)) // "token"
 *
 * @category predicates
 */
export const of = (error: AnyError): Option.Option<Reason> =>
  Option.map(Arr.findFirst(rules, ([, holds]) => holds(error)), ([reason]) => reason)

/**
 * The same for a file below a directory: a file that is not there counts if the directory is not there either, or has
 * nothing left in it, as when a disk was taken out or a file system unmounted.
 *
 * @category predicates
 */
export const ofFileIn = (error: AnyError, directory: string | undefined): Effect.Effect<Option.Option<Reason>> =>
  directory === undefined || error._tag !== "SourceUnreadable" || text(error, "reason") !== "NotFound"
    ? Effect.succeed(of(error))
    : Effect.match(Effect.tryPromise(() => isEmpty(directory)), {
      onFailure: () => Option.some<Reason>("directory"),
      onSuccess: (isEmpty) => isEmpty ? Option.some<Reason>("directory") : of(error)
    })

const isEmpty = async (directory: string): Promise<boolean> => {
  const opened = await NodeFs.opendir(directory)
  try {
    return await opened.read() === null
  } finally {
    await opened.close()
  }
}

/**
 * Whether the other side could not be reached, or did not answer in time: it may be back for the next file. Several files in
 * a row that fail so, with none between them that did not, have met an outage.
 *
 * @category predicates
 */
export const isOutage = (error: AnyError): boolean =>
  error._tag === "ConnectionFailed" || error._tag === "TimedOut" ||
  // a 500 may well be about the file
  ((error._tag === "ServiceUnavailable" || error._tag === "StorageUnavailable") &&
    gateways.has(text(error, "status")))

const gateways: ReadonlySet<unknown> = new Set([502, 503, 504])

/**
 * So many files in a row that fail by an outage are enough.
 *
 * @category constants
 */
export const outages = 3
