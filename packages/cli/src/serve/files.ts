/** `stevedore files`: the files of one's own service, of all tenants. */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as Measure from "@stevedore/core/parts/measure"
import * as FileAdmin from "@stevedore/server/FileAdmin"
import * as FileAudit from "@stevedore/server/FileAudit"
import type { FileRow } from "@stevedore/server/FileTable"
import * as ServeSettings from "@stevedore/server/ServeSettings"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { invalid } from "../options/invalidInput.js"
import { Output } from "../print/output.js"
import type * as Given from "./options.js"
import { over, printed, time } from "./rows.js"

/** Rows and store do not say the same. */
export class FilesDiffer extends Schema.TaggedError<FilesDiffer>("@stevedore/cli/FilesDiffer")("FilesDiffer", {
  kind: ErrorKind.field("configuration"),
  findings: Schema.Number
}) {
  override get message(): string {
    return `The files: ${this.findings} are not as they should be`
  }
}

const overFiles = over("files", { database: ({ files }) => files, directory: ({ files }) => files })

const overAudit = over("files", {
  database: ({ audit }) => (url) =>
    Layer.unwrapEffect(Effect.mapBoth(ServeSettings.settings, {
      onFailure: ({ problem, variable }) => ({ option: variable, problem }),
      onSuccess: Option.match({
        onNone: () => Layer.fail({ option: "STEVEDORE_SERVE_BUCKET", problem: "not set" }),
        onSome: ({ store }) => audit(url, store)
      })
    })),
  directory: ({ audit }) => audit
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

export const ls = overFiles((options: Given.Listing) =>
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
)

/** The file that is named. */
const named = (id: string) =>
  Effect.gen(function*() {
    const { find } = yield* FileAdmin.FileAdmin
    const found = yield* find(id)
    return Option.isSome(found) ? found.value : yield* invalid("ID", `there is no file ${id}`)
  })

export const show = overFiles((options: Given.OfFile) =>
  Effect.gen(function*() {
    const report = reportOf(yield* named(options.id))
    yield* options.json
      ? printed(options, [report], () => [])
      : printed(options, Object.entries(report).slice(1), ([name, value]) => [`${name}:`, value])
  })
)

export const usage = overFiles((options: Given.OfRows) =>
  Effect.gen(function*() {
    const { usage } = yield* FileAdmin.FileAdmin
    const reports = (yield* usage).map((one) => ({ type: "usage", ...one }))
    yield* printed(options, reports, ({ bytes, files, tenant }) => [tenant, `${bytes} bytes`, `${files} files`])
  })
)

export const stuck = overFiles((options: Given.OfRows) =>
  Effect.gen(function*() {
    const { stuck } = yield* FileAdmin.FileAdmin
    const reports = (yield* stuck).map(({ since, ...one }) => ({ type: "waiting", ...one, since: time(since) }))
    yield* printed(options, reports, ({ id, since, tenant, what, why }) => [id, tenant, what, since, why])
  })
)

export const resend = overFiles((options: Given.Resending) =>
  Effect.gen(function*() {
    const { resend } = yield* FileAdmin.FileAdmin
    const reports = (yield* resend(Option.getOrUndefined(options.id))).map((id) => ({ type: "resent", id }))
    yield* printed(options, reports, ({ id }) => [id])
  })
)

export const rm = overFiles((options: Given.OfFile) =>
  Effect.gen(function*() {
    const { remove } = yield* FileAdmin.FileAdmin
    const { id, state } = yield* named(options.id)
    if (!(yield* remove(id))) {
      return yield* invalid("ID", `${id} is ${state}: there is nothing to remove, or it is done already`)
    }
    yield* printed(options, [{ type: "removing", id }], () => [`The service removes ${id}`])
  })
)

export const verify = overAudit((options: Given.Verifying) =>
  Effect.gen(function*() {
    const { verify } = yield* FileAudit.FileAudit
    const output = yield* Output
    let read = { files: 0, bytes: 0, id: "" }
    const tell = Effect.suspend(() =>
      read.files === 0 ? Effect.void : output.note(
        `Read ${read.files} files, ${Measure.bytes(read.bytes)}. To go on after them: --bytes --after ${read.id}`
      )
    )
    const onRead = (id: string, bytes: number) =>
      Effect.sync(() => {
        read = { files: read.files + 1, bytes: read.bytes + bytes, id }
      })
    yield* Effect.forkScoped(Effect.schedule(tell, Schedule.spaced("10 seconds")))
    const bytes = options.bytes
      ? { after: Option.getOrUndefined(options.after), bytesPerSecond: Option.getOrUndefined(options.rate), onRead }
      : undefined
    const counted = yield* Stream.runFoldEffect(verify({ repair: options.repair, bytes }), 0, (count, finding) =>
      Effect.as(
        printed(options, [{ type: "finding", ...finding }], ({ repaired, subject, what, why }) => [
          repaired ? `repaired ${what}` : what,
          subject,
          why
        ]),
        finding.repaired ? count : count + 1
      )).pipe(Effect.onInterrupt(() =>
        tell
      ))
    if (counted > 0) {
      return yield* new FilesDiffer({ findings: counted })
    }
  }).pipe(Effect.scoped)
)
