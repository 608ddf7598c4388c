import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Schema from "effect/Schema"
import type { Principal } from "../Authorize.js"
import type { FileTableService } from "../FileTable.js"
import type { Page } from "../ListSource.js"
import type { ListQuery } from "../parts/listQuery.js"
import type { Resource } from "../parts/listResources.js"
import * as ServiceRefused from "../ServiceRefused.js"
import { toRecord } from "../Uploads.js"

/** The list of the files of a tenant. The interface does not have it: it is an addition. */
export const resource: Resource = { filters: {}, exclusive: [], sort: ["created_at"], deprecated: false }

// It names the file that the next page begins behind, and how many there were at the beginning of the walk. Whoever forges
// one sees his own files from another place.
const Cursor = Schema.parseJson(Schema.Struct({
  list: Schema.String,
  createdAt: Schema.Number.pipe(Schema.finite()),
  id: Schema.String.pipe(Schema.pattern(/^[0-9A-Za-z]{22}$/)),
  total: Schema.NonNegativeInt
}))

const decode = (text: string, list: string) =>
  Encoding.decodeBase64UrlString(text).pipe(
    Either.flatMap(Schema.decodeEither(Cursor)),
    Either.filterOrLeft((cursor) => cursor.list === list, () => undefined),
    Either.mapLeft(() => ServiceRefused.invalid("page.start_cursor", "This cursor does not belong to this list"))
  )

/** One more row than asked for says whether there is a next page. */
export const page = (
  table: FileTableService,
  who: Principal,
  { limit, signature, sort, startCursor }: ListQuery
): Effect.Effect<Page, ServiceRefused.ServiceRefused> =>
  Effect.gen(function*() {
    const after = startCursor === undefined ? undefined : yield* decode(startCursor, signature)
    const direction = sort[0]?.direction ?? "desc"
    const rows = yield* Effect.mapError(
      table.page(who.tenant, { limit: limit + 1, direction, after }),
      ServiceRefused.unavailable
    )
    const shown = rows.slice(0, limit)
    const last = rows.length > limit ? shown.at(-1) : undefined
    // once a walk
    const total = after?.total ??
      (last === undefined
        ? shown.length
        : yield* Effect.mapError(table.count(who.tenant), ServiceRefused.unavailable))
    return {
      records: shown.map((row) => ({ ...toRecord(row) })),
      total,
      next: last === undefined ? undefined : Encoding.encodeBase64Url(
        Schema.encodeSync(Cursor)({ list: signature, createdAt: last.createdAt, id: last.id, total })
      )
    }
  })
