/**
 * `stevedore doctor --write-profile`: asks a service for what the profile does not say of it, and writes a profile that
 * does.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import type { HttpClient } from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import * as Terminal from "@effect/platform/Terminal"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Diagnosis from "@stevedore/node/Diagnosis"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as EffectRecord from "effect/Record"
import * as Schema from "effect/Schema"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { Output, type OutputFailed } from "../print/output.js"
import type { ProfileReport } from "../print/serviceSchemas.js"

/** Not everything about the service could be found out. What is missing was already printed. */
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

/** Refuses a file that is there, unless it may be overwritten, and a place where none can be written. */
export const checkTarget = (
  path: string,
  overwrite: boolean
): Effect.Effect<void, InvalidInput, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { dirname } = yield* Path.Path
    if (path === "") return yield* invalid(input, "it is empty: is a variable not set?")
    if (!overwrite && (yield* Effect.orElseSucceed(fs.exists(path), () => false))) {
      return yield* invalid(input, `${path} already exists: give --overwrite to replace it`)
    }
    yield* Effect.mapError(
      fs.access(dirname(path), { writable: true }),
      ({ message }) => invalid(input, `cannot write ${path}: ${message}`)
    )
  })

type Changes = Readonly<Record<string, unknown>>

const fieldsOf = ({ assumed: _, fields, paths, questions: __, ...found }: Diagnosis.FoundProfile): Changes => ({
  ...(EffectRecord.isEmptyRecord(fields) ? {} : { fields }),
  ...(EffectRecord.isEmptyRecord(paths) ? {} : { paths }),
  ...found
})

const merged = (before: Changes, changes: Changes): Changes => ({
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
  Effect.flatMap(Output, (output) => {
    if (json) return output.json([report])
    const open = [...report.questions, ...report.assumed].map((one) => `Not found out: ${one}`)
    if (!EffectRecord.isEmptyRecord(report.profile)) {
      return output.lines([`Found out: ${JSON.stringify(report.profile)}`, ...open])
    }
    return output.lines(open.length > 0 ? open : ["The profile fits as it is."])
  })

/** JSON in a body, if it is; headers as `name: value, name: value`; else text. */
const valueOf = (field: string, text: string): unknown =>
  field === "encryptionHeaders"
    ? Object.fromEntries(
      text.split(",").map((one) => {
        const [name = "", ...value] = one.split(":")
        return [name.trim(), value.join(":").trim()]
      })
    )
    : /Body\b/.test(field)
    ? Either.getOrElse(Either.try((): unknown => JSON.parse(text)), () => text)
    : text

/** A profile with a value in the place that a question names, such as `fields.size` or `initiateBody.file.folder`. */
const placed = (profile: unknown, [name, ...inner]: ReadonlyArray<string>, value: unknown): Changes => {
  const own = Predicate.isRecord(profile) ? profile : {}
  return name === undefined ? own : { ...own, [name]: inner.length === 0 ? value : placed(own[name], inner, value) }
}

/** The profile with what somebody at the terminal answers, one line for each question; nothing if nobody knows. */
const asked = (profile: Changes, questions: ReadonlyArray<string>, json: boolean) =>
  Effect.gen(function*() {
    const terminal = yield* Terminal.Terminal
    const output = yield* Output
    let answered = profile
    if (json || !(yield* terminal.isTTY)) return answered
    for (const question of questions) {
      const [field = ""] = question.split(":")
      yield* output.warn(`${question} (Enter if you do not know):`)
      const text = (yield* Effect.orElseSucceed(terminal.readLine, () => "")).trim()
      if (text !== "") answered = placed(answered, field.split("."), valueOf(field, text))
    }
    return answered
  })

/** So often are answers tried out before what is still open ends the command. */
const mostRounds = 4

/** What was found out: the service with its profile, and the text of a file with that profile. */
export interface Discovered {
  readonly service: ServiceWithToken
  readonly text: string
}

/** How it is told, and where what stays at the service is listed. */
export interface Options {
  readonly json: boolean
  readonly left: Array<Diagnosis.Left>
}

const withFields = (service: ServiceWithToken, written: Changes) =>
  Schema.decodeUnknown(ServiceProfile.ServiceProfile, { onExcessProperty: "error" })(written).pipe(
    Effect.mapBoth({
      onFailure: ({ message }) => invalid(input, message),
      onSuccess: (profile): ServiceWithToken => ({ ...service, profile })
    })
  )

const found = (
  service: ServiceWithToken,
  before: Changes,
  options: Options,
  rounds: number
): Effect.Effect<
  Discovered,
  InvalidInput | ProfileIncomplete | OutputFailed,
  HttpClient | Output | Terminal.Terminal
> =>
  Effect.gen(function*() {
    const draft = yield* Effect.mapError(
      Diagnosis.searchProfile(service, options.left),
      ({ found }) => invalid("--base-url", found)
    )
    const { assumed, questions } = draft
    const written = merged(before, fieldsOf(draft))
    const next = questions.length > 0 && rounds > 1 ? yield* asked(written, questions, options.json) : written
    if (next !== written) return yield* found(yield* withFields(service, next), next, options, rounds - 1)
    yield* tell({ type: "profile", profile: fieldsOf(draft), questions, assumed }, options.json)
    if (questions.length > 0) return yield* new ProfileIncomplete({ questions })
    return { service: yield* withFields(service, written), text: `${JSON.stringify(written, undefined, 2)}\n` }
  })

/**
 * Finds out what the service's profile lacks. It opens sessions, which `left` lists, and sends a few small files. What it
 * cannot find out, it asks for on a terminal, and tries the answers out.
 */
export const discover = (service: ServiceWithToken, options: Options) =>
  Effect.gen(function*() {
    const before = service.profile === ServiceProfile.standard
      ? {}
      : Schema.encodeSync(ServiceProfile.ServiceProfile)(service.profile)
    return yield* found(service, { ...before }, options, mostRounds)
  })

/** Writes the file. */
export const write = (path: string, text: string, overwrite: boolean) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const output = yield* Output
    yield* Effect.mapError(
      fs.writeFileString(path, text, { flag: overwrite ? "w" : "wx" }),
      ({ message }) => invalid(input, `cannot write ${path}: ${message}`)
    )
    yield* output.note(`Wrote ${path}. Use it with --profile ${path}, or STEVEDORE_PROFILE`)
  })
