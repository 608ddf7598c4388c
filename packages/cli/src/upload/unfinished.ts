/** `stevedore uploads`: interrupted uploads that can continue, and those that are running. */
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as Measure from "@stevedore/core/parts/measure"
import { UploadLedger } from "@stevedore/core/UploadLedger"
import * as Uploads from "@stevedore/core/Uploads"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { invalid } from "../options/invalidInput.js"
import { Output } from "../print/output.js"
import * as Reports from "../print/reports.js"
import * as Table from "../print/table.js"
import type * as Given from "./options.js"

/** The ledger still has an upload that it was told to forget. Why was already printed. */
export class NotForgotten extends Schema.TaggedError<NotForgotten>("@stevedore/cli/NotForgotten")("NotForgotten", {
  kind: ErrorKind.field("configuration"),
  id: Schema.String
}) {
  override get message(): string {
    return `${this.id} is still recorded, and its file resumes. Fix the error above and run the command again.`
  }
}

/** There may be more unfinished uploads than those that can be read. */
export class UploadsUnreadable extends Schema.TaggedError<UploadsUnreadable>("@stevedore/cli/UploadsUnreadable")(
  "UploadsUnreadable",
  {
    kind: ErrorKind.field("configuration"),
    /** What the system said. */
    problem: Schema.String
  }
) {
  override get message(): string {
    return `Cannot read all unfinished uploads: ${this.problem}. Fix this and run the command again.`
  }
}

/** An unfinished upload as columns: id, name, size, confirmed parts, phase, age, and whether it is running. */
export const row = (upload: Uploads.UnfinishedUpload, now: number, running: boolean): ReadonlyArray<string> => [
  upload.id,
  upload.name,
  Measure.bytes(upload.size),
  `${upload.parts.confirmed} of ${upload.parts.total} parts`,
  upload.phase,
  Measure.duration(Duration.millis(Math.max(0, now - upload.startedAt.getTime()))),
  running ? "running" : "interrupted"
]

const columns: ReadonlyArray<Table.Column> = [
  { header: "ID", width: 16 },
  { header: "NAME", width: undefined },
  { header: "SIZE", width: 9, spare: true },
  { header: "STORED", width: 14, spare: true },
  { header: "PHASE", width: 10, spare: true },
  { header: "AGE", width: 7, spare: true },
  { header: "STATE", width: 11, spare: true }
]

type Checked = Effect.Effect<unknown, UploadsUnreadable>

const forget = (id: string, checkRead: Checked) =>
  Effect.gen(function*() {
    const output = yield* Output
    if (!(yield* Uploads.forget(id))) {
      yield* checkRead
      return yield* invalid(
        "--forget",
        `no unfinished upload has the id ${JSON.stringify(id)}: run stevedore uploads to list them`
      )
    }
    const ledger = yield* UploadLedger
    if (Option.isSome(yield* ledger.find(id))) return yield* new NotForgotten({ id })
    yield* output.note(`Forgot ${id}: the next upload of its file starts over`)
  })

const list = (json: boolean, checkRead: Checked) =>
  Effect.gen(function*() {
    const output = yield* Output
    const isRunning = yield* DiskLedger.isRunning
    const uploads = yield* Effect.forEach(
      yield* Uploads.unfinished,
      (upload) => Effect.map(isRunning(upload.id), (running) => ({ upload, running }))
    )
    if (json) yield* output.json(uploads.map(({ running, upload }) => Reports.unfinished(upload, running)))
    else {
      const now = yield* Clock.currentTimeMillis
      yield* Table.print(columns, uploads.map(({ running, upload }) => row(upload, now, running)))
    }
    yield* checkRead
    if (json) return
    yield* output.note(
      uploads.length === 0 ? "No unfinished uploads" : "To resume an interrupted one, upload its file again"
    )
  })

/** Lists this user's unfinished uploads on this machine, or forgets one. */
export const run = (options: Given.Unfinished) =>
  Effect.gen(function*() {
    const { ledger, unreadable } = yield* DiskLedger.makeWithUnreadable
    const checkRead = Effect.flatMap(
      unreadable,
      Effect.transposeMapOption(({ message }) => new UploadsUnreadable({ problem: message }))
    )
    const asked = Effect.gen(function*() {
      if (Option.isSome(options.forget)) yield* forget(options.forget.value, checkRead)
      else yield* list(options.json, checkRead)
    })
    yield* Effect.provideService(asked, UploadLedger, ledger)
  })
