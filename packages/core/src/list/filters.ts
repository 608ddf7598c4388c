/** The filters of the lists, as a program writes them. */
import * as DateTime from "effect/DateTime"
import type * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"

/** A moment, as one of Effect's types or as a JavaScript Date. It is sent in ISO 8601, in UTC. */
export type Instant = Date | DateTime.DateTime

// Covers both kinds at once: Effect's two Schemas for them bring 1 KiB of time zones to a page.
const Moment = Schema.declare(DateTime.isDateTime, {
  identifier: "DateTime",
  arbitrary: () => (fc) => fc.date({ noInvalidDate: true }).map(DateTime.unsafeFromDate),
  equivalence: () => DateTime.Equivalence,
  pretty: () => String
})

const isoDate = /^(\d{4}(-\d\d){0,2})([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/

// ISO 8601 allows `+02`, which JavaScript does not parse after a `T`
const hourOfZone = /(:.*[+-]\d\d)$/

// JavaScript accepts much more: it reads 5 as a day in May, 01.02. as January 2nd, and February 30th as a day in March
const fromIso = (text: string): Option.Option<DateTime.DateTime> => {
  const day = isoDate.exec(text)?.[1] ?? "-"
  return Option.exists(DateTime.make(day), (utc) => DateTime.formatIso(utc).startsWith(day))
    ? DateTime.make(text.replace(hourOfZone, "$1:00"))
    : Option.none()
}

/** The Schema of {@link Instant}. Text without a zone is read as UTC. */
export const Instant: Schema.Schema<Instant, string> = Schema.transformOrFail(
  Schema.String,
  Schema.Union(Schema.ValidDateFromSelf, Moment),
  {
    strict: true,
    decode: (text, _, ast): Effect.Effect<Instant, ParseResult.ParseIssue> =>
      Option.match(fromIso(text), {
        onNone: () => ParseResult.fail(new ParseResult.Type(ast, text, "expected an ISO 8601 date and time")),
        onSome: ParseResult.succeed
      }),
    encode: (instant) => ParseResult.succeed(DateTime.formatIso(DateTime.unsafeMake(instant)))
  }
).annotations({ identifier: "Instant" })

/** Text that contains something, or is equal to something; not both. */
export type Text =
  | { readonly contains: string; readonly equal_to?: undefined }
  | { readonly equal_to: string; readonly contains?: undefined }

/** The Schema of {@link Text}. */
export const Text = Schema.Struct({
  contains: Schema.optional(Schema.String),
  equal_to: Schema.optional(Schema.String)
}).pipe(
  Schema.filter(
    (filter): filter is Text => (filter.contains === undefined) !== (filter.equal_to === undefined),
    { message: () => "expected one of contains and equal_to" }
  )
)

/**
 * A time after one moment, before another, or between the two. `gt` and `lt` exclude the moment itself, `gte` and `lte`
 * include it. Each end is given in one way only, and at least one end is required.
 */
export type Time =
  | After & { readonly lt?: undefined; readonly lte?: undefined }
  | Before & { readonly gt?: undefined; readonly gte?: undefined }
  | After & Before

type After =
  | { readonly gt: Instant; readonly gte?: undefined }
  | { readonly gte: Instant; readonly gt?: undefined }

type Before =
  | { readonly lt: Instant; readonly lte?: undefined }
  | { readonly lte: Instant; readonly lt?: undefined }

const atMostOne = (...values: ReadonlyArray<unknown>): boolean =>
  values.filter((value) => value !== undefined).length <= 1

/** The Schema of {@link Time}. */
export const Time = Schema.Struct({
  gt: Schema.optional(Instant),
  gte: Schema.optional(Instant),
  lt: Schema.optional(Instant),
  lte: Schema.optional(Instant)
}).pipe(
  Schema.filter(
    (filter): filter is Time =>
      atMostOne(filter.gt, filter.gte) && atMostOne(filter.lt, filter.lte) &&
      !atMostOne(filter.gt, filter.gte, filter.lt, filter.lte, ""),
    { message: () => "expected one of gt and gte, one of lt and lte, or one of each" }
  )
)

const Id = Schema.NonEmptyString

const folderId = Schema.optional(Id)

const title = Schema.optional(Text)

const createdAt = Schema.optional(Time)

/** The filters of projects. */
export const Projects = Schema.Struct({
  /** In this folder, or in any of several. */
  folder_id: Schema.optional(Schema.Union(Id, Schema.NonEmptyArray(Id))),
  title
}).annotations({ identifier: "ProjectFilters" })

/** The filters of data. */
export const Data = Schema.Struct({
  created_at: createdAt,
  folder_id: folderId,
  project_id: Schema.optional(Id),
  title
})
  .annotations({ identifier: "DataFilters" })

/** The filters of docs, and of insights. */
export const Docs = Schema.Struct({ ...Data.fields, published: Schema.optional(Schema.BooleanFromString) })
  .annotations({ identifier: "DocFilters" })

/** The highlights of a project, those with a tag, or one by its id: only one of the three. */
export type Highlights =
  & { readonly created_at?: Time | undefined; readonly updated_at?: Time | undefined }
  & (
    | { readonly project_id?: string | undefined; readonly tag_id?: undefined; readonly highlight_id?: undefined }
    | { readonly tag_id?: string | undefined; readonly project_id?: undefined; readonly highlight_id?: undefined }
    | { readonly highlight_id?: string | undefined; readonly project_id?: undefined; readonly tag_id?: undefined }
  )

/** The Schema of {@link Highlights}. */
export const Highlights = Schema.Struct({
  created_at: createdAt,
  updated_at: createdAt,
  project_id: Schema.optional(Id),
  tag_id: Schema.optional(Id),
  highlight_id: Schema.optional(Id)
}).pipe(
  Schema.filter(
    (filters): filters is Highlights & typeof filters =>
      atMostOne(filters.project_id, filters.tag_id, filters.highlight_id),
    {
      identifier: "HighlightFilters",
      message: () => "expected only one of project_id, tag_id and highlight_id"
    }
  )
)

/** The filters of tags. */
export const Tags = Schema.Struct({ project_id: Schema.optional(Id) }).annotations({ identifier: "TagFilters" })

/** The filters of channels. */
export const Channels = Schema.Struct({ folder_id: folderId }).annotations({ identifier: "ChannelFilters" })

/** The filters of contacts. */
export const Contacts = Schema.Struct({ name: Schema.optional(Text) }).annotations({
  identifier: "ContactFilters"
})

/** The filters of folders. */
export const Folders = Schema.Struct({
  title,
  /** `null` selects the folders that are in no other. */
  parent_folder_id: Schema.optional(Schema.NullOr(Id))
}).annotations({ identifier: "FolderFilters" })

/** The filters of users. */
export const Users = Schema.Struct({ name: Schema.optional(Text), email: Schema.optional(Text) })
  .annotations({ identifier: "UserFilters" })

/** No filters. */
export const None = Schema.Struct({}).annotations({ identifier: "NoFilters" })
