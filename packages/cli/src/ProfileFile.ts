/**
 * `stevedore doctor --write-profile`: asks a service for what the profile does not say of it, and writes a profile that
 * does.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import type { HttpClient } from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as EffectRecord from "effect/Record"
import * as Schema from "effect/Schema"
import type { Diagnosis, ProfileReport } from "./DoctorReport.js"
import { contentOf, type Problem } from "./internal/doctorTrial.js"
import type { Draft } from "./internal/profileProbe.js"
import * as Trial from "./internal/profileTrial.js"
import { InvalidInput } from "./InvalidInput.js"
import { Output } from "./Output.js"

/**
 * Not everything about the service could be found out. What is missing was already printed.
 *
 * @since 0.1.0
 * @category errors
 */
export class ProfileIncomplete
  extends Schema.TaggedError<ProfileIncomplete>("@stevedore/cli/ProfileIncomplete")("ProfileIncomplete", {
    kind: ErrorKind.field("configuration"),
    /** The field of the profile, and what belongs there. */
    questions: Schema.Array(Schema.String)
  })
{
  override get message(): string {
    return `No profile was written, because not everything could be found out: ${
      this.questions.join("; ")
    }. Look it up ` +
      "in the service's reference, write it into a JSON file, and run the command again with that file as --profile."
  }
}

const input = "--write-profile"

/**
 * Refuses a file that is there, unless it may be overwritten, and a place where none can be written.
 *
 * @since 0.1.0
 * @category predicates
 */
export const checkTarget = (
  path: string,
  overwrite: boolean
): Effect.Effect<void, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { dirname } = yield* Path.Path
    if (path === "") return yield* new InvalidInput({ input, problem: "it is empty: is a variable not set?" })
    if (!overwrite && (yield* Effect.orElseSucceed(fs.exists(path), () => false))) {
      return yield* new InvalidInput({ input, problem: `${path} already exists: give --overwrite to replace it` })
    }
    yield* Effect.mapError(
      fs.access(dirname(path), { writable: true }),
      ({ message }) => new InvalidInput({ input, problem: `cannot write ${path}: ${message}` })
    )
  })

const fieldsOf = ({ completeUploadBody, download, encryptionHeaders, fields, paths }: Draft) => ({
  ...(EffectRecord.isEmptyRecord(fields) ? {} : { fields }),
  ...(EffectRecord.isEmptyRecord(paths) ? {} : { paths }),
  ...(encryptionHeaders === undefined ? {} : { encryptionHeaders }),
  ...(completeUploadBody === undefined ? {} : { completeUploadBody }),
  ...(download === undefined ? {} : { download })
})

const merged = (before: Readonly<Record<string, unknown>>, changes: Readonly<Record<string, unknown>>) => ({
  ...before,
  ...EffectRecord.map(
    changes,
    (value, name) =>
      (name === "fields" || name === "paths") && Predicate.isRecord(before[name]) && Predicate.isRecord(value)
        ? { ...before[name], ...value }
        : value
  )
})

const tell = (report: ProfileReport, json: boolean) =>
  Effect.flatMap(Output, (output) =>
    json ? output.json([report]) : output.lines([
      EffectRecord.isEmptyRecord(report.profile)
        ? "The profile fits as it is."
        : `Found out: ${JSON.stringify(report.profile)}`,
      ...report.questions
    ]))

/** What was found out: the service with its profile, and the text of a file with that profile. */
interface Discovered {
  readonly service: ServiceWithToken
  readonly text: string
}

/**
 * Finds out what the service's profile lacks. It opens sessions, which `left` lists, and sends two small files.
 *
 * @since 0.1.0
 * @category programs
 */
export const discover = (
  service: ServiceWithToken,
  options: { readonly json: boolean; readonly left: Array<Diagnosis["left"][number]> }
) =>
  Effect.gen(function*() {
    const draft = yield* Trial.discover(service, {
      singleContent: contentOf(1024),
      largeContent: contentOf(service.profile.limits.minimumPartSize + 1024),
      left: options.left
    }).pipe(
      Effect.catchAll(({ found }: Problem) => Effect.fail(new InvalidInput({ input: "--base-url", problem: found })))
    )
    const found = fieldsOf(draft)
    yield* tell({ type: "profile", profile: found, questions: draft.questions }, options.json)
    if (draft.questions.length > 0) return yield* new ProfileIncomplete({ questions: draft.questions })
    const before = service.profile === ServiceProfile.standard
      ? {}
      : yield* Schema.encode(ServiceProfile.ServiceProfile)(service.profile)
    const written = merged({ ...before }, found)
    const profile = yield* Schema.decodeUnknown(ServiceProfile.ServiceProfile, { onExcessProperty: "error" })(written)
    return { service: { ...service, profile }, text: `${JSON.stringify(written, undefined, 2)}\n` } satisfies Discovered
  }).pipe(
    Effect.catchTag("ParseError", ({ message }) => Effect.fail(new InvalidInput({ input, problem: message })))
  ) satisfies Effect.Effect<Discovered, unknown, HttpClient | Output>

/**
 * Writes the file.
 *
 * @since 0.1.0
 * @category programs
 */
export const write = (path: string, text: string, overwrite: boolean) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const output = yield* Output
    yield* Effect.mapError(
      fs.writeFileString(path, text, { flag: overwrite ? "w" : "wx" }),
      ({ message }) => new InvalidInput({ input, problem: `cannot write ${path}: ${message}` })
    )
    yield* output.note(`Wrote ${path}. Use it with --profile ${path}, or STEVEDORE_PROFILE`)
  })
