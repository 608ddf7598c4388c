/** `stevedore list` and `stevedore projects`: prints the items of a list as they arrive, one per line. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import type { Marked } from "@stevedore/core/Checkpoints"
import * as Checkpoints from "@stevedore/core/Checkpoints"
import * as ErrorKind from "@stevedore/core/ErrorKind"
import * as Json from "@stevedore/core/Json"
import { ExactNumber } from "@stevedore/core/Json"
import { CheckpointMismatch, type ListError } from "@stevedore/core/ListError"
import * as Records from "@stevedore/core/ListRecords"
import type { ItemOptions, Page, Walks } from "@stevedore/core/Lists"
import * as Lists from "@stevedore/core/Lists"
import * as Metrics from "@stevedore/core/Metrics"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Configuration from "../connection/configuration.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { Output } from "../print/output.js"
import * as PlatformWords from "../print/platformWords.js"
import * as Printable from "../print/printable.js"
import * as Table from "../print/table.js"
import * as Filters from "./filters.js"
import type { Options } from "./options.js"

/** Items were printed, but the position after them could not be written. */
export class CheckpointNotWritten
  extends Schema.TaggedError<CheckpointNotWritten>("@stevedore/cli/CheckpointNotWritten")(
    "CheckpointNotWritten",
    {
      kind: ErrorKind.field("configuration"),
      /** Where, and why not. */
      problem: Schema.String
    }
  )
{
  override get message(): string {
    return `--resume: cannot write the checkpoint: ${this.problem}. Fix this and run the command again: it continues from ` +
      "the last checkpoint, and prints again what came after it."
  }
}

/** A list, with its items as the service sends them. */
export interface AnyList {
  readonly path: string
  readonly page: (
    options: { readonly cursor?: string | undefined; readonly pageSize?: number | undefined }
  ) => Effect.Effect<Page<object>, ListError, ServiceApi>
  readonly marked: (
    options: Readonly<Record<string, unknown>> & ItemOptions<string>
  ) => Stream.Stream<Marked<object>, ListError, ServiceApi>
}

const asSent = <A, I extends object>(
  { marked, page, path }: Walks<A, Readonly<Record<string, unknown>>, string>,
  record: Schema.Schema<A, I>
): AnyList => {
  const encode = Schema.encodeSync(record)
  return {
    path,
    page: (options) =>
      Effect.map(page(options), (page) => ({ ...page, items: page.items.map((item) => encode(item)) })),
    marked: (options) => Stream.map(marked(options), ({ at, item }) => ({ at, item: encode(item) }))
  }
}

const lists: Readonly<Record<string, AnyList>> = {
  projects: asSent(Lists.projects.untyped, Records.Project),
  data: asSent(Lists.data.untyped, Records.Data),
  docs: asSent(Lists.docs.untyped, Records.Doc),
  insights: asSent(Lists.insights.untyped, Records.Insight),
  highlights: asSent(Lists.highlights.untyped, Records.Highlight),
  tags: asSent(Lists.tags.untyped, Records.Tag),
  channels: asSent(Lists.channels.untyped, Records.Channel),
  contacts: asSent(Lists.contacts.untyped, Records.Contact),
  folders: asSent(Lists.folders.untyped, Records.Folder),
  users: asSent(Lists.users.untyped, Records.User)
}

// A walk takes these beside its filters, so a filter of that name would be read as an option, and the list not filtered
const walkOptions: Readonly<Record<keyof ItemOptions<string> | "cursor" | "atMost", true>> = {
  sort: true,
  pageSize: true,
  from: true,
  onInvalid: true,
  cursor: true,
  atMost: true
}

const checkNames = (filters: Filters.Filters): Either.Either<Filters.Filters, InvalidInput> => {
  const option = Object.keys(filters).find((name) => Object.hasOwn(walkOptions, name))
  return option === undefined
    ? Either.right(filters)
    : Either.left(invalid(`--filter ${option}`, "this list has no such filter"))
}

const AnyRecord = Schema.Record({ key: Schema.String, value: Schema.Unknown })

/** The list with this name. */
export const listOf = (resource: string): Either.Either<AnyList, InvalidInput> => {
  if (resource.startsWith("/")) {
    return Either.right(asSent(Lists.make({ path: resource, item: AnyRecord }).untyped, AnyRecord))
  }
  const folder = /^folders\/([^/]+)\/contents$/.exec(resource)?.[1]
  if (folder !== undefined) return Either.right(asSent(Lists.folderContents(folder).untyped, Records.FolderContent))
  return Either.fromNullable(
    Object.hasOwn(lists, resource) ? lists[resource] : undefined,
    () =>
      invalid(
        resource,
        `no such list. Known lists: ${
          Object.keys(lists).join(", ")
        }, folders/ID/contents. Give any other by its path, ` +
          "such as /v1/projects/templates"
      )
  )
}

const shownFields = [["id"], ["title", "name", "text", "email"], ["created_at"]]

const isShown = (value: unknown): boolean =>
  typeof value === "string" || typeof value === "number" || value instanceof ExactNumber

/** An item as columns: its id, its name or title, and when it was created; its first fields, if it has neither. */
export const row = (item: object): ReadonlyArray<string> => {
  const fields = new Map<string, unknown>(Object.entries(item).filter(([, value]) => isShown(value)))
  const cells = shownFields.map((names) => String(names.map((name) => fields.get(name)).find(isShown) ?? ""))
  const [id, title] = cells
  if (id !== "" || title !== "") return cells
  const others = [...fields.values()].map(String)
  return others.length === 0 ? [Json.stringify(item) ?? ""] : others.slice(0, shownFields.length)
}

const columns: ReadonlyArray<Table.Column> = [
  { header: "ID", width: 22 },
  { header: "TITLE", width: undefined },
  { header: "CREATED", width: 16, spare: true }
]

const CheckpointFile = Schema.parseJson(Schema.Struct({
  ...Checkpoints.Checkpoint.fields,
  /** Whom the token belonged to, if the service tells. */
  owner: Schema.optional(Schema.String)
}))

type Resumed = Schema.Schema.Type<typeof CheckpointFile>

/** Whom the token belongs to. Only who resumes a list asks. */
const ownerOf = Effect.flatMap(
  ServiceApi,
  ({ tokenInfo }) => Effect.map(tokenInfo, Option.flatMap(({ id, subdomain }) => Option.fromNullable(subdomain ?? id)))
)

const checkOwner = (from: Option.Option<Resumed>, owner: Option.Option<string>, path: string) =>
  Option.exists(from, (one) => one.owner !== undefined && Option.isSome(owner) && one.owner !== owner.value)
    ? new CheckpointMismatch({ path, checkpointPath: Option.getOrThrow(from).path, what: "owner" })
    : Effect.void

const beginning = "{\"version\":1,\"path\":"

// What a power cut leaves of a checkpoint: nothing, its first bytes, or zeros. Any other text is somebody's file.
const isTorn = (text: string): boolean => {
  const rest = text.replace(/\0+$/, "").trim()
  return (rest.startsWith(beginning) || beginning.startsWith(rest)) && !rest.endsWith("}")
}

const startOver = (path: string) =>
  Effect.flatMap(Output, (output) =>
    output.warn(
      `--resume: ${path} is empty or incomplete, as after a power cut. The list starts over: items may be printed again`
    ))

const readCheckpoint = (path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    // reading a pipe without a writer waits forever, and what is not a regular file would be replaced by one
    const read = Effect.flatMap(
      fs.stat(path),
      ({ type }) => type === "File" ? fs.readFileString(path) : Effect.succeed(type)
    )
    const text = yield* Effect.map(read, Option.some).pipe(
      Effect.catchIf(
        (error) => error._tag === "SystemError" && error.reason === "NotFound",
        () => Effect.succeed(Option.none<string>())
      )
    )
    if (Option.exists(text, isTorn)) return yield* Effect.as(startOver(path), Option.none())
    return yield* Effect.transposeMapOption(text, Schema.decode(CheckpointFile))
  }).pipe(Effect.mapError((error) =>
    invalid(
      "--resume",
      error._tag === "ParseError"
        ? `${path} is not a checkpoint: remove it to start over, or give another file`
        : `cannot read the checkpoint: ${PlatformWords.describe("read", path)(error)}`
    )
  ))

// The file is replaced, so what counts is whether its directory is writable.
const checkWritable = (path: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { dirname } = yield* Path.Path
    yield* fs.access(dirname(path), { writable: true })
  }).pipe(Effect.mapError((error) =>
    invalid("--resume", `cannot write the checkpoint: ${PlatformWords.describe("write", path)(error)}`)
  ))

const writeCheckpoint = (path: string, at: Resumed) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    yield* DiskLedger.replaceFile(fs, path, yield* Schema.encode(CheckpointFile)(at))
  }).pipe(
    Effect.mapError((error) =>
      new CheckpointNotWritten({
        problem: error._tag === "ParseError" ? error.message : `${path}: ${PlatformWords.reasonOf(error)}`
      })
    )
  )

const print = (items: ReadonlyArray<object>, json: boolean, header: boolean) =>
  json
    ? Effect.flatMap(Output, (output) => output.json(items))
    : Table.print(columns, items.map(row), { header })

// After a crash, some lines may be repeated, but none is missing: the position is written after the items are printed.
const printMarked = (
  chunk: Chunk.Chunk<Marked<object>>,
  options: Options,
  { header, owner }: { readonly header: boolean; readonly owner: string | undefined }
) =>
  Effect.zipRight(
    print(Chunk.toReadonlyArray(chunk).map(({ item }) => item), options.json, header),
    Effect.transposeMapOption(
      Option.all([options.resume, Chunk.last(chunk)]),
      ([path, { at }]) => writeCheckpoint(path, { ...at, owner })
    )
  )

const skippedSoFar = Effect.map(Metric.value(Metrics.itemsSkipped), ({ count }) => count)

// Whoever skips items wants to know whether any were missing; after a failure too
const tellingSkipped = <A, E, R>(walk: Effect.Effect<A, E, R>) =>
  Effect.flatMap(skippedSoFar, (before) =>
    Effect.ensuring(
      walk,
      Effect.gen(function*() {
        const output = yield* Output
        const skipped = (yield* skippedSoFar) - before
        if (skipped > 0) {
          yield* output.note(
            `Skipped ${skipped} invalid ${skipped === 1 ? "item" : "items"} on the pages that were read`
          )
        }
      })
    ))

/**
 * Prints the items of a list. If the reader goes away (`| head`), the walk ends: no page is fetched that nobody reads.
 */
export const run = (options: Options) =>
  Effect.gen(function*() {
    const list = yield* listOf(options.resource)
    const filters = yield* Either.flatMap(Filters.parse(options.filter), checkNames)
    const from = Option.flatten(yield* Effect.transposeMapOption(options.resume, readCheckpoint))
    if (Option.isSome(options.resume)) yield* checkWritable(options.resume.value)
    const items = list.marked({
      ...filters,
      sort: options.sort,
      pageSize: Option.getOrUndefined(options.pageSize),
      from: Option.getOrUndefined(from),
      onInvalid: options.skipInvalid ? "skip" : "fail"
    })
    const wanted = Option.match(options.limit, {
      onNone: () => items,
      onSome: (limit) => Stream.take(items, limit)
    })
    let printed = 0
    const walked = Effect.gen(function*() {
      const owner = Option.isSome(options.resume) ? yield* ownerOf : Option.none()
      yield* checkOwner(from, owner, list.path)
      yield* tellingSkipped(Stream.runForEachChunk(wanted, (chunk) =>
        Effect.suspend(() => {
          const header = printed === 0
          printed += Chunk.size(chunk)
          return printMarked(chunk, options, { header, owner: Option.getOrUndefined(owner) })
        })))
    })
    let total: unknown
    const counting = Effect.updateService(walked, ServiceApi, (api) => ({
      ...api,
      listPage: (request) =>
        Effect.tap(api.listPage(request), ({ page }) => Effect.sync(() => total = page.total_count ?? total))
    }))
    yield* Effect.provide(counting, Configuration.layer(options))
    const output = yield* Output
    if (printed === 0) yield* output.note(`No ${options.resource}`)
    else if (total !== undefined && !options.json) yield* output.note(`${printed} of ${Printable.line(String(total))}`)
  })
