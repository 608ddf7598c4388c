/** `stevedore files`: the files of one's own service, of all tenants. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as FileAdmin from "@stevedore/server/FileAdmin"
import * as FileAudit from "@stevedore/server/FileAudit"
import type { FileRow } from "@stevedore/server/FileTable"
import * as ServeSettings from "@stevedore/server/ServeSettings"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { Output, type OutputFailed } from "../print/output.js"
import type * as Given from "./options.js"
import { layerOf, time } from "./rows.js"
import { setting } from "./setting.js"

/** Rows and store do not say the same. */
export class FilesDiffer extends Schema.TaggedError<FilesDiffer>("@stevedore/cli/FilesDiffer")("FilesDiffer", {
  kind: ErrorKind.field("configuration"),
  findings: Schema.Number
}) {
  override get message(): string {
    return `The files: ${this.findings} are not as they should be`
  }
}

const rows = ({ directory }: Given.Files) =>
  layerOf("files", directory, { database: ({ files }) => files, directory: ({ files }) => files })

const audit = ({ directory }: Given.Files) =>
  Effect.gen(function*() {
    const settings = yield* setting(ServeSettings.settings)
    return yield* layerOf("files", directory, {
      database: ({ audit }) => (url) =>
        Option.match(settings, {
          onNone: () => Layer.fail({ option: "STEVEDORE_SERVE_BUCKET", problem: "not set" }),
          onSome: ({ store }) => audit(url, store)
        }),
      directory: ({ audit }) => audit
    })
  })

const reportOf = ({ createdAt, expiresAt, id, key, name, owner, reason, settledAt, size, state, tenant }: FileRow) => ({
  type: "file",
  id,
  tenant,
  state,
  size,
  name,
  owner: owner.name,
  key,
  reason: reason ?? null,
  created_at: time(createdAt),
  settled_at: time(settledAt),
  expires_at: state === "finalized" ? null : time(expiresAt)
})

/** Prints each as a line of JSON, or as one for people. */
const printed = <A>(
  { json }: Given.Files,
  reports: ReadonlyArray<A>,
  line: (report: A) => ReadonlyArray<string | number | null>
) =>
  Effect.flatMap(
    Output,
    (output) =>
      json
        ? output.json(reports)
        : output.lines(reports.map((report) => line(report).map((cell) => cell ?? "-").join("  ")))
  )

const ls = (options: Given.Files) =>
  Effect.gen(function*() {
    const { list } = yield* FileAdmin.FileAdmin
    const found = yield* list({ tenant: Option.getOrUndefined(options.tenant), limit: options.limit })
    yield* printed(options, found.map(reportOf), ({ created_at, id, name, size, state, tenant }) => [
      id,
      tenant,
      state,
      size,
      created_at,
      name
    ])
  })

/** The file that is named. */
const named = ({ id }: Given.Files) =>
  Effect.gen(function*() {
    const { find } = yield* FileAdmin.FileAdmin
    if (Option.isNone(id)) return yield* invalid("ID", "give the id of the file: stevedore files ls shows it")
    const found = yield* find(id.value)
    return Option.isSome(found) ? found.value : yield* invalid("ID", `there is no file ${id.value}`)
  })

const show = (options: Given.Files) =>
  Effect.gen(function*() {
    const report = reportOf(yield* named(options))
    yield* options.json
      ? printed(options, [report], () => [])
      : printed(options, Object.entries(report).slice(1), ([name, value]) => [`${name}:`, value])
  })

const usage = (options: Given.Files) =>
  Effect.gen(function*() {
    const { usage } = yield* FileAdmin.FileAdmin
    const reports = (yield* usage).map((one) => ({ type: "usage", ...one }))
    yield* printed(options, reports, ({ bytes, files, tenant }) => [tenant, `${bytes} bytes`, `${files} files`])
  })

const stuck = (options: Given.Files) =>
  Effect.gen(function*() {
    const { stuck } = yield* FileAdmin.FileAdmin
    const reports = (yield* stuck).map(({ since, ...one }) => ({ type: "waiting", ...one, since: time(since) }))
    yield* printed(options, reports, ({ id, since, tenant, what, why }) => [id, tenant, what, since, why])
  })

const resend = (options: Given.Files) =>
  Effect.gen(function*() {
    const { resend } = yield* FileAdmin.FileAdmin
    const reports = (yield* resend(Option.getOrUndefined(options.id))).map((id) => ({ type: "resent", id }))
    yield* printed(options, reports, ({ id }) => [id])
  })

const rm = (options: Given.Files) =>
  Effect.gen(function*() {
    const { remove } = yield* FileAdmin.FileAdmin
    const { id, state } = yield* named(options)
    if (!(yield* remove(id))) {
      return yield* invalid("ID", `${id} is ${state}: there is nothing to remove, or it is done already`)
    }
    yield* printed(options, [{ type: "removing", id }], () => [`The service removes ${id}`])
  })

const verify = (options: Given.Files) =>
  Effect.gen(function*() {
    const { verify } = yield* FileAudit.FileAudit
    const counted = yield* Stream.runFoldEffect(verify(options), 0, (count, finding) =>
      Effect.as(
        printed(options, [{ type: "finding", ...finding }], ({ repaired, subject, what, why }) => [
          repaired ? `repaired ${what}` : what,
          subject,
          why
        ]),
        finding.repaired ? count : count + 1
      ))
    if (counted > 0) return yield* new FilesDiffer({ findings: counted })
  })

/** Lists, shows, sums up, removes, compares, says what waits, or sends events again. */
export const run = (
  options: Given.Files
): Effect.Effect<void, InvalidInput | FilesDiffer | OutputFailed, Output | FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const asked = { ls, show, usage, rm, stuck, resend }
    yield* options.action === "verify"
      ? Effect.provide(verify(options), yield* audit(options))
      : Effect.provide(asked[options.action](options), yield* rows(options))
  }).pipe(
    Effect.catchTags({
      TableFailed: ({ message }) => invalid("files", message),
      StorageRefused: ({ message }) => invalid("files", message)
    })
  )
