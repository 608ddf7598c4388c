/** The list endpoints of the service: their filters, sort fields and records (service contract: list endpoints). */

/**
 * A record of a list, as sent on the wire. Every record has an `id` and a `created_at`.
 *
 * @category models
 */
export type ListRecord = Readonly<Record<string, unknown>>

/**
 * How a filter compares. `id`: one value or several, equal to the field (or to the `id` of the object there); `null`
 * for a record that has none. `text`: `contains` or `equal_to`. `time`: `gt` or `gte`, `lt` or `lte`. `flag`: `true` or
 * `false`.
 *
 * @category models
 */
export type FilterKind = "id" | "text" | "time" | "flag"

/**
 * A filter of a list: how it compares, and with what.
 *
 * @category models
 */
export interface Filter {
  readonly kind: FilterKind
  /** Where the compared value is in a record: fields joined by dots. */
  readonly field: string
}

/**
 * One list endpoint. A request may name only one of the filters in `exclusive`.
 *
 * @category models
 */
export interface Resource {
  readonly filters: Readonly<Record<string, Filter>>
  readonly exclusive: ReadonlyArray<string>
  readonly sort: ReadonlyArray<string>
  readonly deprecated: boolean
}

const resource = (
  filters: Readonly<Record<string, Filter>>,
  sort: ReadonlyArray<string>,
  options?: { readonly exclusive?: ReadonlyArray<string>; readonly deprecated?: boolean }
): Resource => ({ filters, sort, exclusive: options?.exclusive ?? [], deprecated: options?.deprecated ?? false })

const title = { title: { kind: "text", field: "title" } } as const
const name = { name: { kind: "text", field: "name" } } as const
const createdAt = { created_at: { kind: "time", field: "created_at" } } as const
const folder = { folder_id: { kind: "id", field: "folder.id" } } as const
const data = { ...createdAt, ...folder, project_id: { kind: "id", field: "project.id" }, ...title } as const
const docs = { ...data, published: { kind: "flag", field: "published" } } as const

const byTitle = ["created_at", "title"]
const byName = ["created_at", "name"]

/**
 * The list endpoints by the end of their path, after `/v1`. Only `folders/{id}/contents` contains an id.
 *
 * @category constants
 */
export const resources: Readonly<Record<string, Resource>> = {
  projects: resource({ ...folder, ...title }, byTitle),
  data: resource(data, byTitle),
  docs: resource(docs, byTitle),
  insights: resource(docs, byTitle, { deprecated: true }),
  highlights: resource(
    {
      ...createdAt,
      updated_at: { kind: "time", field: "updated_at" },
      project_id: { kind: "id", field: "project_id" },
      tag_id: { kind: "id", field: "tags.id" },
      highlight_id: { kind: "id", field: "id" }
    },
    ["created_at"],
    { exclusive: ["project_id", "tag_id", "highlight_id"] }
  ),
  tags: resource({ project_id: { kind: "id", field: "project_id" } }, ["created_at"]),
  channels: resource(folder, byTitle),
  contacts: resource(name, byName),
  folders: resource({ ...title, parent_folder_id: { kind: "id", field: "parent_folder.id" } }, byTitle),
  users: resource({ ...name, email: { kind: "text", field: "email" } }, byName),
  "folders/{id}/contents": resource({}, byTitle)
}

/**
 * The list endpoints of a sandbox: {@link resources}, and any others that it was given records for, which have no
 * filters.
 *
 * @category constructors
 */
export const withOthers = (given: Iterable<string>): Readonly<Record<string, Resource>> => ({
  ...Object.fromEntries([...given].map((name) => [name, resource({}, byTitle)])),
  ...resources
})

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/**
 * A 22-character Base62 id made of a word and a number. The same arguments always give the same id, so tests can name
 * it.
 *
 * @category constructors
 */
export const seedId = (word: string, index: number): string => {
  let digits = ""
  for (let rest = index; rest > 0; rest = Math.floor(rest / 62)) {
    digits = BASE62.charAt(rest % 62) + digits
  }
  return word + digits.padStart(22 - word.length, "0")
}

const FIRST_PROJECT_MILLIS = Date.UTC(2024, 0, 1)
const MINUTE_MILLIS = 60_000

/**
 * `count` projects, created a minute apart; the default sort puts the last one first.
 *
 * @category constructors
 */
export const seedProjects = (count: number): ReadonlyArray<ListRecord> =>
  Array.from({ length: count }, (_, index) => ({
    id: seedId("Project", index + 1),
    title: `Project ${index + 1}`,
    type: "project",
    author: index % 3 === 2 ? null : { id: seedId("Author", index % 5), name: `Author ${index % 5}` },
    created_at: new Date(FIRST_PROJECT_MILLIS + index * MINUTE_MILLIS).toISOString(),
    deleted: false,
    folder: index % 2 === 0 ? null : { id: seedId("Folder", index % 4) }
  }))
