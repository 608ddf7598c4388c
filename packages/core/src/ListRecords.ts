/**
 * The records of the lists (service contract: list endpoints). The interface does not show them, so no field is certain:
 * each has its type, or is absent. What came with another type, or is not named here, is in `extra`. Dates are as the
 * service wrote them, in ISO 8601. For records that must have certain fields, give `Lists.make` your own Schema.
 */
import * as Schema from "effect/Schema"
import { openRecord } from "./base/effect.js"
import { Author } from "./FileRecord.js"

const text = Schema.optional(Schema.String)

/**
 * Something that another record refers to, by its id.
 *
 * @internal
 */
export const Reference = openRecord("Reference", { id: text })

/** @internal */
export interface Reference extends Schema.Schema.Type<typeof Reference> {}

/**
 * The same, with the record's title.
 *
 * @internal
 */
export const TitledReference = openRecord("TitledReference", { id: text, title: text })

/** @internal */
export interface TitledReference extends Schema.Schema.Type<typeof TitledReference> {}

/**
 * A record of `/v1/projects`.
 *
 * @category records
 */
export const Project = openRecord("Project", {
  id: text,
  title: text,
  type: text,
  author: Schema.optional(Author),
  created_at: text,
  deleted: Schema.optional(Schema.Boolean),
  folder: Schema.optional(Reference)
})

/** @category records */
export interface Project extends Schema.Schema.Type<typeof Project> {}

/**
 * A record of `/v1/data`.
 *
 * @category records
 */
export const Data = openRecord("Data", {
  id: text,
  type: text,
  title: text,
  project: Schema.optional(TitledReference),
  folder: Schema.optional(Reference),
  created_at: text,
  deleted: Schema.optional(Schema.Boolean)
})

/** @category records */
export interface Data extends Schema.Schema.Type<typeof Data> {}

/**
 * A record of `/v1/docs`.
 *
 * @category records
 */
export const Doc = openRecord("Doc", { id: text, title: text, folder: Schema.optional(Reference), created_at: text })

/** @category records */
export interface Doc extends Schema.Schema.Type<typeof Doc> {}

/**
 * A record of `/v1/insights`.
 *
 * @category records
 */
export const Insight = openRecord("Insight", { id: text, title: text, type: text, created_at: text })

/** @category records */
export interface Insight extends Schema.Schema.Type<typeof Insight> {}

/**
 * A record of `/v1/highlights`.
 *
 * @category records
 */
export const Highlight = openRecord("Highlight", {
  id: text,
  note_id: text,
  text,
  tags: Schema.optional(Schema.Array(TitledReference)),
  type: text,
  created_at: text,
  updated_at: text,
  /** The position in a recording, in the service's units. */
  start_time: Schema.optional(Schema.Number),
  end_time: Schema.optional(Schema.Number)
})

/** @category records */
export interface Highlight extends Schema.Schema.Type<typeof Highlight> {}

/**
 * A record of `/v1/tags`.
 *
 * @category records
 */
export const Tag = openRecord("Tag", { id: text, title: text, project_id: text, created_at: text })

/** @category records */
export interface Tag extends Schema.Schema.Type<typeof Tag> {}

/**
 * A record of `/v1/channels`.
 *
 * @category records
 */
export const Channel = openRecord("Channel", {
  id: text,
  title: text,
  type: text,
  created_at: text,
  deleted: Schema.optional(Schema.Boolean),
  folder: Schema.optional(Reference)
})

/** @category records */
export interface Channel extends Schema.Schema.Type<typeof Channel> {}

/**
 * A field of a contact.
 *
 * @internal
 */
export const ContactField = openRecord("ContactField", { label: text, value: Schema.optional(Schema.Unknown) })

/** @internal */
export interface ContactField extends Schema.Schema.Type<typeof ContactField> {}

/**
 * A record of `/v1/contacts`.
 *
 * @category records
 */
export const Contact = openRecord("Contact", {
  id: text,
  name: text,
  created_at: text,
  fields: Schema.optional(Schema.Array(ContactField))
})

/** @category records */
export interface Contact extends Schema.Schema.Type<typeof Contact> {}

/**
 * A record of `/v1/folders`.
 *
 * @category records
 */
export const Folder = openRecord("Folder", {
  id: text,
  title: text,
  type: text,
  created_at: text,
  parent_folder: Schema.optional(Reference)
})

/** @category records */
export interface Folder extends Schema.Schema.Type<typeof Folder> {}

/**
 * A record of `/v1/folders/{id}/contents`.
 *
 * @category records
 */
export const FolderContent = openRecord("FolderContent", {
  type: text,
  id: text,
  title: text,
  created_at: text,
  author_id: text
})

/** @category records */
export interface FolderContent extends Schema.Schema.Type<typeof FolderContent> {}

/**
 * A record of `/v1/users`, of which the service's reference shows nothing. For more, give `Lists.make` your own Schema.
 *
 * @category records
 */
export const User = openRecord("User", { id: text })

/** @category records */
export interface User extends Schema.Schema.Type<typeof User> {}
