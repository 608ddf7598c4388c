/** `stevedore files`: the files of one's own service, of all tenants. */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as FileAdmin from "@stevedore/server/FileAdmin"
import type { FileRow } from "@stevedore/server/FileTable"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { InvalidInput } from "../options/invalidInput.js"
import { Output, type OutputFailed } from "../print/output.js"
import { layerOf, time, wrong } from "./rows.js"

/** The options of the command. */
export interface Options {
  readonly action: "ls" | "show" | "usage" | "stuck" | "resend"
  readonly id: Option.Option<string>
  readonly tenant: Option.Option<string>
  readonly limit: number
  readonly directory: Option.Option<string>
  readonly json: boolean
}

const rows = ({ directory }: Options) =>
  layerOf("files", directory, { database: ({ files }) => files, directory: ({ files }) => files })

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
  { json }: Options,
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

const ls = (options: Options) =>
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

const show = (options: Options) =>
  Effect.gen(function*() {
    const { find } = yield* FileAdmin.FileAdmin
    if (Option.isNone(options.id)) return yield* wrong("ID", "give the id of the file: stevedore files ls shows it")
    const found = yield* find(options.id.value)
    if (Option.isNone(found)) return yield* wrong("ID", `there is no file ${options.id.value}`)
    const report = reportOf(found.value)
    yield* options.json
      ? printed(options, [report], () => [])
      : printed(options, Object.entries(report).slice(1), ([name, value]) => [`${name}:`, value])
  })

const usage = (options: Options) =>
  Effect.gen(function*() {
    const { usage } = yield* FileAdmin.FileAdmin
    const reports = (yield* usage).map((one) => ({ type: "usage", ...one }))
    yield* printed(options, reports, ({ bytes, files, tenant }) => [tenant, `${bytes} bytes`, `${files} files`])
  })

const stuck = (options: Options) =>
  Effect.gen(function*() {
    const { stuck } = yield* FileAdmin.FileAdmin
    const reports = (yield* stuck).map(({ since, ...one }) => ({ type: "waiting", ...one, since: time(since) }))
    yield* printed(options, reports, ({ id, since, tenant, what, why }) => [id, tenant, what, since, why])
  })

const resend = (options: Options) =>
  Effect.gen(function*() {
    const { resend } = yield* FileAdmin.FileAdmin
    const reports = (yield* resend(Option.getOrUndefined(options.id))).map((id) => ({ type: "resent", id }))
    yield* printed(options, reports, ({ id }) => [id])
  })

/** Lists, shows, sums up, says what waits, or sends events again. */
export const run = (
  options: Options
): Effect.Effect<void, InvalidInput | OutputFailed, Output | FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const actions = { ls, show, usage, stuck, resend }
    yield* actions[options.action](options).pipe(
      Effect.provide(yield* rows(options)),
      Effect.catchTag("TableFailed", ({ message }) => wrong("files", message))
    )
  })
