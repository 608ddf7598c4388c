/**
 * The records of the lists (service contract: list endpoints). Dates are as the service wrote them, in ISO 8601. Fields
 * that are not named here are kept too: they are in the value, but not in its type.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Author } from "./FileRecord.js"
import { serviceRecord } from "./internal/serviceRecord.js"

const nullable = <A, I>(schema: Schema.Schema<A, I>) => Schema.optional(Schema.NullOr(schema))

/**
 * Something that another record refers to, by its id.
 *
 * @since 0.1.0
 * @category models
 */
export const Reference = Schema.Struct({ id: Schema.String }).annotations(serviceRecord("Reference"))

/**
 * @since 0.1.0
 * @category models
 */
export type Reference = typeof Reference.Type

/**
 * The same, with the record's title.
 *
 * @since 0.1.0
 * @category models
 */
export const TitledReference = Schema.Struct({ id: Schema.String, title: Schema.String }).annotations(
  serviceRecord("TitledReference")
)

/**
 * @since 0.1.0
 * @category models
 */
export type TitledReference = typeof TitledReference.Type

/**
 * A record of `/v1/projects`.
 *
 * @since 0.1.0
 * @category records
 */
export const Project = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  type: Schema.String,
  author: nullable(Author),
  created_at: Schema.String,
  deleted: Schema.Boolean,
  folder: nullable(Reference)
}).annotations(serviceRecord("Project"))

/**
 * @since 0.1.0
 * @category records
 */
export type Project = typeof Project.Type

/**
 * A record of `/v1/data`.
 *
 * @since 0.1.0
 * @category records
 */
export const Data = Schema.Struct({
  id: Schema.String,
  type: Schema.String,
  title: Schema.String,
  project: nullable(TitledReference),
  folder: nullable(Reference),
  created_at: Schema.String,
  deleted: Schema.Boolean
}).annotations(serviceRecord("Data"))

/**
 * @since 0.1.0
 * @category records
 */
export type Data = typeof Data.Type

/**
 * A record of `/v1/docs`.
 *
 * @since 0.1.0
 * @category records
 */
export const Doc = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  folder: nullable(Reference),
  created_at: Schema.String
}).annotations(serviceRecord("Doc"))

/**
 * @since 0.1.0
 * @category records
 */
export type Doc = typeof Doc.Type

/**
 * A record of `/v1/insights`.
 *
 * @since 0.1.0
 * @category records
 */
export const Insight = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  type: Schema.String,
  created_at: Schema.String
}).annotations(serviceRecord("Insight"))

/**
 * @since 0.1.0
 * @category records
 */
export type Insight = typeof Insight.Type

/**
 * A record of `/v1/highlights`.
 *
 * @since 0.1.0
 * @category records
 */
export const Highlight = Schema.Struct({
  id: Schema.String,
  note_id: nullable(Schema.String),
  text: nullable(Schema.String),
  tags: Schema.Array(TitledReference),
  type: Schema.String,
  created_at: Schema.String,
  updated_at: Schema.String,
  /** The position in a recording, in the service's units. */
  start_time: nullable(Schema.Number),
  end_time: nullable(Schema.Number)
}).annotations(serviceRecord("Highlight"))

/**
 * @since 0.1.0
 * @category records
 */
export type Highlight = typeof Highlight.Type

/**
 * A record of `/v1/tags`.
 *
 * @since 0.1.0
 * @category records
 */
export const Tag = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  project_id: nullable(Schema.String),
  created_at: Schema.String
}).annotations(serviceRecord("Tag"))

/**
 * @since 0.1.0
 * @category records
 */
export type Tag = typeof Tag.Type

/**
 * A record of `/v1/channels`.
 *
 * @since 0.1.0
 * @category records
 */
export const Channel = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  type: Schema.String,
  created_at: Schema.String,
  deleted: Schema.Boolean,
  folder: nullable(Reference)
}).annotations(serviceRecord("Channel"))

/**
 * @since 0.1.0
 * @category records
 */
export type Channel = typeof Channel.Type

/**
 * A record of `/v1/contacts`.
 *
 * @since 0.1.0
 * @category records
 */
export const Contact = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  created_at: Schema.String,
  fields: Schema.Array(Schema.Struct({ label: Schema.String, value: Schema.Unknown }))
}).annotations(serviceRecord("Contact"))

/**
 * @since 0.1.0
 * @category records
 */
export type Contact = typeof Contact.Type

/**
 * A record of `/v1/folders`.
 *
 * @since 0.1.0
 * @category records
 */
export const Folder = Schema.Struct({
  id: Schema.String,
  title: Schema.String,
  type: Schema.String,
  created_at: Schema.String,
  parent_folder: nullable(Reference)
}).annotations(serviceRecord("Folder"))

/**
 * @since 0.1.0
 * @category records
 */
export type Folder = typeof Folder.Type

/**
 * A record of `/v1/folders/{id}/contents`.
 *
 * @since 0.1.0
 * @category records
 */
export const FolderContent = Schema.Struct({
  type: Schema.String,
  id: Schema.String,
  title: Schema.String,
  created_at: Schema.String,
  author_id: nullable(Schema.String)
}).annotations(serviceRecord("FolderContent"))

/**
 * @since 0.1.0
 * @category records
 */
export type FolderContent = typeof FolderContent.Type

/**
 * A record of `/v1/users`. The service's reference does not show it, so only `id` is promised, which every record has.
 * For more, give `Lists.make` your own Schema.
 *
 * @since 0.1.0
 * @category records
 */
export const User = Schema.Struct({ id: Schema.String }, { key: Schema.String, value: Schema.Unknown }).annotations({
  identifier: "User"
})

/**
 * @since 0.1.0
 * @category records
 */
export type User = typeof User.Type
