/** What an agent can call: words that a model chooses by, what goes in, and what comes back. */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as Schema from "effect/Schema"

/** A sentence for who reads text alone is in each answer: the message. */

/** Why a call is refused, and the next step. */
const Failure = Schema.Struct({ reason: Schema.String, next: Schema.String })

const Transfer = Schema.Struct({
  id: Schema.String,
  state: Schema.Literal("waiting", "moving", "done", "failed", "cancelled"),
  message: Schema.String,
  bytes: Schema.optional(Schema.Number),
  size: Schema.optional(Schema.Number),
  bytes_per_second: Schema.optional(Schema.Number),
  seconds_left: Schema.optional(Schema.Number),
  file_id: Schema.optional(Schema.String)
})

const Record = Schema.Struct({
  id: Schema.String,
  message: Schema.String,
  name: Schema.optional(Schema.String),
  type: Schema.optional(Schema.String),
  size: Schema.optional(Schema.Number),
  status: Schema.optional(Schema.String),
  created_at: Schema.optional(Schema.String)
})

const described = (description: string) => Schema.String.annotations({ description })

const id = described("Id of a transfer, as upload or download gave it")

const fileId = described("Id of a file at the service, as list or upload_status gave it")

const upload = Tool.make("upload", {
  description:
    "Send a file of this machine to the service, whatever its size. Give its path: never read the file or put its content " +
    "into a call. Answers at once with an id while the transfer goes on, also if this server restarts; then ask " +
    "upload_status. Calling it again for a file that is under way gives the same id.",
  parameters: {
    path: described("Path of one file below an allowed directory, such as interviews/anna.mp4. No links, no \"..\""),
    name: Schema.optional(described("Name at the service. Default: the file's own")),
    project: Schema.optional(described("Id of the project that gets an entry for the file, as list gives it"))
  },
  success: Transfer,
  failure: Failure
})

const uploadStatus = Tool.make("upload_status", {
  description:
    "How an upload or download stands: bytes, speed, time left, and the file's id once it is done. Waits for news, 10 " +
    "seconds by default, so call it again instead of sleeping.",
  parameters: {
    id,
    wait: Schema.optional(
      Schema.Number.pipe(Schema.between(0, 20)).annotations({
        description: "For how many seconds to wait for news, 0 to 20"
      })
    )
  },
  success: Transfer,
  failure: Failure
}).annotate(Tool.Readonly, true)

const cancel = Tool.make("cancel", {
  description:
    "Stop an upload or download. What has arrived is kept for a while: beginning the same transfer again continues it.",
  parameters: { id },
  success: Transfer,
  failure: Failure
}).annotate(Tool.Idempotent, true)

const list = Tool.make("list", {
  description:
    "One page of a list of the service: ids and titles, newest first. next is the cursor of the page after it.",
  parameters: {
    list: described(
      "projects, data, docs, insights, highlights, tags, channels, contacts, folders, users or folders/ID/contents"
    ),
    cursor: Schema.optional(described("next of the page before")),
    limit: Schema.optional(
      Schema.Int.pipe(Schema.between(1, 15)).annotations({
        description: "Items on the page, 1 to 15. Default: 8"
      })
    )
  },
  success: Schema.Struct({
    items: Schema.Array(Schema.Struct({ id: Schema.String, title: Schema.String })),
    next: Schema.optional(Schema.String),
    message: Schema.String
  }),
  failure: Failure
}).annotate(Tool.Readonly, true)

const file = Tool.make("file", {
  description: "What the service knows of a file: name, media type, size and status. Never its content.",
  parameters: { file_id: fileId },
  success: Record,
  failure: Failure
}).annotate(Tool.Readonly, true)

const download = Tool.make("download", {
  description:
    "Save a file of the service below the directory that the user has allowed for it. Never replaces a file. Answers at " +
    "once with an id; then ask upload_status.",
  parameters: {
    file_id: fileId,
    path: Schema.optional(described("Path below that directory. Default: the file's own name"))
  },
  success: Transfer,
  failure: Failure
}).annotate(Tool.Destructive, false)

const doctor = Tool.make("doctor", {
  description:
    "Whether the service answers with this token, and what may be moved. Sends no file. Use it when calls fail.",
  success: Schema.Struct({
    message: Schema.String,
    roots: Schema.Number,
    downloads: Schema.Boolean,
    running: Schema.Number
  }),
  failure: Failure
}).annotate(Tool.Readonly, true)

/** The tools of the server. */
export const tools = Toolkit.make(upload, uploadStatus, cancel, list, file, download, doctor)

export type TransferReport = typeof Transfer.Type
