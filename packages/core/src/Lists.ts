/**
 * The lists of the service, each as one value: call it for a stream of all items; its members are the other ways to
 * walk it. A walk that does not reach the end of its list fails; it never looks complete.
 */
import type * as Schema from "effect/Schema"
import * as Filters from "./list/filters.js"
import type { Definition, List } from "./list/list.js"
import { operations } from "./list/operations.js"
import type { ListShape, Wishes } from "./list/request.js"
import { shapeOf, untypedShape } from "./list/request.js"
import * as Records from "./ListRecords.js"

/**
 * Any list of the service, from its path and a Schema of its items. Fields that the Schema does not name are kept. A
 * filter that `filters` does not name is refused before any request.
 *
 * @example
 * import { Lists } from "@stevedore/core"
 * import { Schema } from "effect"
 *
 * const Template = Schema.Struct({ id: Schema.String, title: Schema.String })
 * const templates = Lists.make({
 *   path: "/v1/projects/templates",
 *   item: Template,
 *   filters: Schema.Struct({ title: Schema.optional(Lists.Filters.Text) }),
 *   sorts: ["title"]
 * })
 * const interviews = templates({ title: { contains: "interview" }, sort: "title:asc" })
 *
 * @category constructors
 */
export const make = <A, I, F = typeof Filters.None.Type, FI = object, const SortField extends string = never>(
  definition: Definition<A, I, F, FI, SortField>
): List<A, F, SortField> => {
  const { item, path, sorts = [] } = definition
  return definition.filters === undefined
    ? over(shapeOf({ path, item, filters: Filters.None, sorts }), Filters.None)
    : over(shapeOf({ path, item, filters: definition.filters, sorts }), definition.filters)
}

const over = <A, F, FI>(shape: ListShape<A>, filters: Schema.Schema<F, FI>): List<A, unknown, string> =>
  Object.assign(members(shape), { untyped: members(untypedShape(shape, filters)) })

const members = <A>(shape: ListShape<A>) => {
  const { items, ...others } = operations(shape)
  return Object.assign((options?: Wishes) => items(options), {
    path: shape.path,
    sorts: shape.sortFields,
    ...others
  })
}

/**
 * `GET /v1/projects`.
 *
 * @example
 * import { Lists } from "@stevedore/core"
 * import { Stream } from "effect"
 *
 * const everyProject = Lists.projects({ sort: "title:asc" })
 * const firstTen = Lists.projects({ title: { contains: "interview" } }).pipe(Stream.take(10), Stream.runCollect)
 * const pageByPage = Lists.projects.pages({ pageSize: 50 })
 *
 * @category lists
 */
export const projects: List<Records.Project, typeof Filters.Projects.Type, "created_at" | "title"> = make({
  path: "/v1/projects",
  item: Records.Project,
  filters: Filters.Projects,
  sorts: ["created_at", "title"]
})

/**
 * `GET /v1/data`.
 *
 * @category lists
 */
export const data: List<Records.Data, typeof Filters.Data.Type, "created_at" | "title"> = make({
  path: "/v1/data",
  item: Records.Data,
  filters: Filters.Data,
  sorts: ["created_at", "title"]
})

/**
 * `GET /v1/docs`.
 *
 * @category lists
 */
export const docs: List<Records.Doc, typeof Filters.Docs.Type, "created_at" | "title"> = make({
  path: "/v1/docs",
  item: Records.Doc,
  filters: Filters.Docs,
  sorts: ["created_at", "title"]
})

/**
 * `GET /v1/insights`. Deprecated by the service: see `ServiceApi.deprecations`.
 *
 * @category lists
 */
export const insights: List<Records.Insight, typeof Filters.Docs.Type, "created_at" | "title"> = make({
  path: "/v1/insights",
  item: Records.Insight,
  filters: Filters.Docs,
  sorts: ["created_at", "title"]
})

/**
 * `GET /v1/highlights`. Takes only one of `project_id`, `tag_id` and `highlight_id`.
 *
 * @category lists
 */
export const highlights: List<Records.Highlight, typeof Filters.Highlights.Type, "created_at"> = make({
  path: "/v1/highlights",
  item: Records.Highlight,
  filters: Filters.Highlights,
  sorts: ["created_at"]
})

/**
 * `GET /v1/tags`.
 *
 * @category lists
 */
export const tags: List<Records.Tag, typeof Filters.Tags.Type, "created_at"> = make({
  path: "/v1/tags",
  item: Records.Tag,
  filters: Filters.Tags,
  sorts: ["created_at"]
})

/**
 * `GET /v1/channels`.
 *
 * @category lists
 */
export const channels: List<Records.Channel, typeof Filters.Channels.Type, "created_at" | "title"> = make({
  path: "/v1/channels",
  item: Records.Channel,
  filters: Filters.Channels,
  sorts: ["created_at", "title"]
})

/**
 * `GET /v1/contacts`.
 *
 * @category lists
 */
export const contacts: List<Records.Contact, typeof Filters.Contacts.Type, "created_at" | "name"> = make({
  path: "/v1/contacts",
  item: Records.Contact,
  filters: Filters.Contacts,
  sorts: ["created_at", "name"]
})

/**
 * `GET /v1/folders`. `parent_folder_id: null` selects the folders that are in no other.
 *
 * @category lists
 */
export const folders: List<Records.Folder, typeof Filters.Folders.Type, "created_at" | "title"> = make({
  path: "/v1/folders",
  item: Records.Folder,
  filters: Filters.Folders,
  sorts: ["created_at", "title"]
})

/**
 * `GET /v1/folders/{id}/contents`: the contents of a folder.
 *
 * @example
 * import { Lists } from "@stevedore/core"
 *
 * const newestFirst = Lists.folderContents("1kf00nQk9yfWKfsTDni8aO")({ sort: "created_at:desc" })
 *
 * @category lists
 */
export const folderContents = (
  folderId: string
): List<Records.FolderContent, typeof Filters.None.Type, "created_at" | "title"> =>
  make({
    // what cannot be encoded stays, and its path is refused when the list is walked
    path: `/v1/folders/${folderId.replace(/\P{Surrogate}+/gu, encodeURIComponent)}/contents`,
    item: Records.FolderContent,
    sorts: ["created_at", "title"]
  })

/**
 * `GET /v1/users`.
 *
 * @category lists
 */
export const users: List<Records.User, typeof Filters.Users.Type, "created_at" | "name"> = make({
  path: "/v1/users",
  item: Records.User,
  filters: Filters.Users,
  sorts: ["created_at", "name"]
})

export {
  /**
   * The filters of each list, and what filters are made of: `Text`, `Time` and `Instant`.
   *
   * @category filters
   */
  Filters
}

export {
  /**
   * A page of a list, its items decoded.
   *
   * @category models
   */
  type Page,
  /**
   * What a page says of the list: the cursor of the next page, and how many items there are.
   *
   * @category models
   */
  PageInfo
} from "./service/page.js"

export type {
  /**
   * What a list is made of.
   *
   * @category models
   */
  Definition,
  /**
   * The options of a walk over items.
   *
   * @category models
   */
  ItemOptions,
  /**
   * A list of the service, with each way to walk it.
   *
   * @category models
   */
  List,
  /**
   * The options of a walk.
   *
   * @category models
   */
  Options,
  /**
   * The order of a list: a field and a direction.
   *
   * @category models
   */
  Sort,
  /**
   * The ways to walk a list.
   *
   * @category models
   */
  Walks
} from "./list/list.js"
