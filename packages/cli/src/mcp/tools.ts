/** What an agent can call: words that a model chooses by, what goes in, and what is done. */
import { projects } from "@stevedore/core/Lists"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as JSONSchema from "effect/JSONSchema"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Lists from "../list/list.js"
import { nearest } from "../options/nearest.js"
import { type Answer, type Failure, type Refused, refused } from "./answers.js"
import * as Pages from "./pages.js"
import type { Roots } from "./roots.js"
import type { Asked, Requirements, Transfers, TransferStatus } from "./transfers.js"
import { type Progress, wait } from "./waiting.js"

/** What a client wants of a call, and how long it may take. */
export interface Call {
  readonly progress: Progress | undefined
  /** For how long a transfer is waited for that the call begins. */
  readonly most: Duration.DurationInput
  /** Whether the client is gone: what it has begun then goes on at the next start. */
  readonly isGone: Effect.Effect<boolean>
}

type Run<Args> = (args: Args, call: Call) => Effect.Effect<Answer | TransferStatus, Failure, Requirements>

/** A tool. */
export interface Tool {
  /** What a model chooses it by. */
  readonly page: {
    readonly description: string
    readonly inputSchema: { readonly type: "object"; readonly [name: string]: unknown }
    readonly annotations: Readonly<Record<string, boolean>>
  }
  /** Whether it begins a transfer, which may become a task of the client. */
  readonly begins: boolean
  readonly call: Run<Readonly<Record<string, unknown>>>
}

const text = (description: string) => Schema.String.annotations({ description, message: () => "is to be text" })

const flag = (description: string) =>
  Schema.Boolean.annotations({ description, message: () => "is to be true or false" })

const number = (from: number, to: number, description: string) => {
  const title = `a number from ${from} to ${to}`
  return Schema.Number.pipe(Schema.between(from, to))
    .annotations({ title, description, message: () => `is to be ${title}` })
}

const perhaps = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const issueOf = ({ _tag, message, path }: ParseResult.ArrayFormatterIssue): string =>
  `${path.join(".")} ${_tag === "Missing" ? "is missing" : message}`

const unknownOf = (what: string, given: string, names: ReadonlyArray<string>): string => {
  const name = given.slice(0, 40)
  const meant = Option.map(nearest(name, names), (one) => ` (did you mean ${one}?)`)
  return `There is no ${what} ${name}${Option.getOrElse(meant, () => "")}`
}

/** So many problems of a call are told. */
const mostSaid = 4

const tool = <A, I>(
  does: "reads" | "begins" | "stops",
  description: string,
  input: Schema.Schema<A, I>,
  run: Run<A>
): Tool => {
  const decode = Schema.decodeUnknownEither(input)
  const names = SchemaAST.getPropertySignatures(input.ast).map(({ name }) => String(name))
  const { properties = {}, required = [] } = { properties: {}, required: [], ...JSONSchema.make(input) }
  const next = names.length === 0
    ? "Call it without arguments."
    : `Its arguments are ${names.join(", ")}. Call it again.`
  return {
    page: {
      description,
      inputSchema: { type: "object", properties, required, additionalProperties: false },
      annotations: { readOnlyHint: does === "reads", destructiveHint: false, idempotentHint: true }
    },
    begins: does === "begins",
    call: (args, call) => {
      // some clients send what a model leaves out as null
      const given = Record.filter(args, (value) => value !== null)
      const unknown = Object.keys(given).filter((name) => !names.includes(name))
      const wrong = unknown.slice(0, mostSaid).map((name) => unknownOf("argument", name, names))
      const isLong = Object.values(given).some((value) => Array.isArray(value) && value.length > 100)
      const decoded = decode(given, { errors: isLong ? "first" : "all" })
      if (Either.isRight(decoded) && wrong.length === 0) return run(decoded.right, call)
      const issues = Either.isRight(decoded)
        ? []
        : ParseResult.ArrayFormatter.formatErrorSync(decoded.left).map(issueOf)
      return refused([...wrong, ...issues].slice(0, mostSaid).join("; "), next)
    }
  }
}

const id = text("Id of a transfer, as upload or download gave it")

const fileId = text("Id of a file at the service, as list or upload_status gave it")

/** The tools of one server. */
export const make = (roots: Roots, transfers: Transfers): Readonly<Record<string, Tool>> => {
  // A call that is stopped stops what it has begun
  const begun = (asking: Effect.Effect<Asked, Failure, Requirements>, { isGone, most, progress }: Call) =>
    Effect.acquireUseRelease(
      asking,
      ([id]) => wait(transfers, id, most, progress),
      ([id, isNew], exit) =>
        isNew && Exit.isInterrupted(exit) ? Effect.unlessEffect(transfers.cancel(id), isGone) : Effect.void
    )

  return {
    upload: tool(
      "begins",
      "Send a file of this machine to the service, whatever its size, by its path: never put its content into a call. Answers " +
        "with an id while that goes on; then ask upload_status. The same file again gives the same id, and is sent once.",
      Schema.Struct({
        path: text("Path of one file below an allowed directory, such as interviews/anna.mp4. No links, no \"..\""),
        name: perhaps(text("Name at the service. Default: the file's own")),
        project: perhaps(text("Id of the project that gets an entry for the file, as list gives it")),
        again: perhaps(flag("Send a file once more that is unchanged since it was sent. Default: false"))
      }),
      ({ again = false, name, path: given, project }, call) =>
        Effect.flatMap(
          roots.find(given),
          ({ dates, path, size }) =>
            begun(transfers.upload({ action: "upload", path, size, dates, name, project }, again), call)
        )
    ),
    upload_status: tool(
      "reads",
      "How an upload or download stands, and the file's id once it is done. Waits for news: call it again, do not sleep.",
      Schema.Struct({ id, wait: perhaps(number(0, 20, "For how many seconds to wait for news. Default: 10")) }),
      ({ id, wait: seconds = 10 }, { progress }) => wait(transfers, id, Duration.seconds(seconds), progress)
    ),
    cancel: tool(
      "stops",
      "Stop an upload or download. What an upload has sent is kept for a while: beginning it again continues it.",
      Schema.Struct({ id }),
      ({ id }) => Effect.zipRight(transfers.cancel(id), transfers.standing(id))
    ),
    list: tool(
      "reads",
      "One page of a list of the service, newest first. next is the cursor of the page after it.",
      Schema.Struct({
        list: text(
          "projects, data, docs, insights, highlights, tags, channels, contacts, folders, users or folders/ID/contents"
        ),
        cursor: perhaps(text("next of the page before")),
        limit: perhaps(number(1, 15, "Records on the page. Default: 8. Long records are fewer"))
      }),
      ({ cursor, limit = 8, list }) =>
        Effect.flatMap(
          Effect.mapError(Lists.listOf(list), ({ problem }) => refused(problem, "Name one of the lists.")),
          (list) => Pages.page(list, cursor, Math.floor(limit))
        )
    ),
    file: tool(
      "reads",
      "What the service knows of a file: name, media type, size and status. Never its content.",
      Schema.Struct({ file_id: fileId }),
      ({ file_id }) =>
        Effect.map(Effect.flatMap(ServiceApi, (api) => api.file(file_id)), (record) => {
          const { created_at, id, name, size, status, type } = record
          const words = [id, name?.slice(0, 200), size === undefined ? undefined : `${size} bytes`, status]
          const message = words.filter((word) => word !== undefined).join(", ")
          return { message, ...Pages.recordOf({ id, name, type, size, status, created_at }) }
        })
    ),
    download: tool(
      "begins",
      "Save a file of the service where the user has allowed it. Replaces nothing. Answers as upload does.",
      Schema.Struct({
        file_id: fileId,
        path: perhaps(text("Path below that directory. Default: the file's own name"))
      }),
      ({ file_id: file, path: given }, call) =>
        Effect.gen(function*() {
          yield* roots.target(given ?? "any", "any")
          const { name, size } = yield* (yield* ServiceApi).file(file)
          const { path } = yield* roots.target(given, name ?? file)
          return yield* begun(transfers.download({ action: "download", path, file, size }), call)
        })
    ),
    doctor: tool(
      "reads",
      "Whether the service answers with this token, and what may be moved. Call it when calls fail.",
      Schema.Struct({}),
      () =>
        Effect.zipWith(projects.page({ pageSize: 1 }), transfers.running, (_, running) => ({
          message: `The service answers, and takes the token. ${running} transfers are under way.`,
          ...roots.counts,
          running
        }))
    )
  }
}

/** The tool of a name. */
export const named = (tools: Readonly<Record<string, Tool>>, name: string): Effect.Effect<Tool, Refused> => {
  const found = Object.hasOwn(tools, name) ? tools[name] : undefined
  const names = Object.keys(tools)
  return found === undefined
    ? refused(unknownOf("tool", name, names), `The tools are ${names.join(", ")}.`)
    : Effect.succeed(found)
}
