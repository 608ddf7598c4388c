/**
 * What whoever runs a service asks of its rows: which files there are, of all tenants, how much each tenant has, and what waits
 * for somebody.
 *
 * It needs `@effect/sql` and `@effect/experimental`. It is therefore not in the package's index: import it from `@stevedore/server/FileAdmin`.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { FileRow } from "./FileTable.js"
import { FileTable, MOST_DELIVERIES, type TableFailed } from "./FileTable.js"
import { firstOf, type Row, to, toFile } from "./sql/fileRow.js"
import * as SqlDatabase from "./SqlDatabase.js"

/**
 * What a tenant has, as its quota counts it: what is stored, and what is under way.
 *
 * @category models
 */
export interface Usage {
  readonly tenant: string
  readonly bytes: number
  readonly files: number
}

/**
 * A file, or an event of one, that waits for somebody. Times are in milliseconds since 1970.
 *
 * @category models
 */
export interface Waiting {
  readonly id: string
  readonly tenant: string
  /** The state of the file, or `event completed`, `event removed` and `event failed`. */
  readonly what: string
  /** Since when nobody works on it; undefined while somebody does. */
  readonly since: number | undefined
  readonly why: string
}

/**
 * What can be asked.
 *
 * @category models
 */
export interface FileAdminService {
  /** The newest files, in any state: of one tenant, or of all. */
  readonly list: (asked: {
    readonly tenant: string | undefined
    readonly limit: number
  }) => Effect.Effect<ReadonlyArray<FileRow>, TableFailed>
  readonly find: (id: string) => Effect.Effect<Option.Option<FileRow>, TableFailed>
  readonly usage: Effect.Effect<ReadonlyArray<Usage>, TableFailed>
  /** At most 1000 files and 1000 events, the oldest first. */
  readonly stuck: Effect.Effect<ReadonlyArray<Waiting>, TableFailed>
  /**
   * Lets a file of any tenant be removed by the next sweep of the service: a final one as if its client had deleted it, an upload
   * that is open as if it had expired. False for any other.
   */
  readonly remove: (id: string) => Effect.Effect<boolean, TableFailed>
  /**
   * Sends events on their way again: those of a file that were tried before, or of all files those that are not tried any more.
   * Answers their ids.
   */
  readonly resend: (fileId: string | undefined) => Effect.Effect<ReadonlyArray<string>, TableFailed>
}

/**
 * The service tag of these questions.
 *
 * @category tags
 */
export class FileAdmin extends Context.Tag("@stevedore/server/FileAdmin")<FileAdmin, FileAdminService>() {}

interface Leased extends Row {
  readonly lease_until: number
  readonly now: number
}

interface UndeliveredEvent {
  readonly file_id: string
  readonly tenant: string
  readonly kind: string
  readonly attempts: number
  readonly settled_at: number
}

const waitOf = ({ expires_at, lease_until: until, now, state }: Leased): Pick<Waiting, "since" | "why"> =>
  until > now
    ? { since: undefined, why: `somebody works on it, for ${Math.ceil((until - now) / 1000)} s more` }
    : state === "opening" || state === "waiting"
    ? { since: expires_at || undefined, why: "it has expired: a sweep removes it" }
    : { since: until || expires_at, why: "nobody works on it: a sweep goes on with it, once the store answers" }

const ofFile = (row: Leased): Waiting => ({ id: row.id, tenant: row.tenant, what: row.state, ...waitOf(row) })

const ofEvent = ({ attempts, file_id: id, kind, settled_at: since, tenant }: UndeliveredEvent): Waiting => ({
  id,
  tenant,
  what: `event ${kind}`,
  since,
  why: `its hook was called ${attempts} times, and is ${
    attempts < MOST_DELIVERIES ? "called again" : "not called any more"
  }`
})

/**
 * The questions to a database that has the tables: `SqlFileTable.layer` makes them.
 *
 * @category layers
 */
export const layer: Layer.Layer<FileAdmin, never, SqlClient.SqlClient | FileTable> = Layer.effect(
  FileAdmin,
  Effect.gen(function*() {
    const client = yield* SqlClient.SqlClient
    const lasting = yield* SqlDatabase.Lasting
    const table = yield* FileTable
    const sql = client.withoutTransforms()
    const files = sql<Leased>`select *, ${SqlDatabase.now(sql)} as now from stevedore_file
      where state in ('completing', 'inspecting', 'removing')
        or (state in ('opening', 'waiting') and expires_at <= ${SqlDatabase.now(sql)})
      order by created_at, id limit 1000`
    const events = sql<UndeliveredEvent>`select file_id, tenant, stevedore_event.kind as kind, attempts, settled_at
      from stevedore_event join stevedore_file on stevedore_file.id = file_id
      where attempts > 0 order by settled_at, file_id limit 1000`
    const find = (id: string) =>
      sql<Row>`select * from stevedore_file where id = ${id}`.pipe(Effect.map(firstOf), to("find a file"))
    const ended = (id: string) =>
      sql`update stevedore_file set expires_at = 0 where id = ${id} and state in ('opening', 'waiting') returning id`
        .pipe(
          Effect.zipLeft(lasting),
          Effect.map((rows) => rows.length > 0),
          to("end an upload")
        )
    return {
      list: ({ limit, tenant }) =>
        sql<Row>`select * from stevedore_file ${tenant === undefined ? sql.literal("") : sql`where tenant = ${tenant}`}
          order by created_at desc, id desc limit ${limit}`.pipe(
          Effect.map((rows) => rows.map(toFile)),
          to("list files")
        ),
      find,
      remove: (id) =>
        Effect.gen(function*() {
          const { tenant } = Option.getOrElse(yield* find(id), () => ({ tenant: "" }))
          return (yield* table.discard(tenant, id)) || (yield* ended(id))
        }),
      resend: (fileId) =>
        sql<{ readonly id: string }>`update stevedore_event set attempts = 0, due_at = 0 where ${
          fileId === undefined ? sql`attempts >= ${MOST_DELIVERIES}` : sql`file_id = ${fileId} and attempts > 0`
        } returning id`.pipe(
          Effect.zipLeft(lasting),
          Effect.map((rows) => rows.map(({ id }) => id)),
          to("send events again")
        ),
      usage: sql<Usage>`select tenant, sum(bytes) as bytes, sum(files) as files from stevedore_usage
        group by tenant order by tenant`.pipe(to("sum up what tenants have")),
      stuck: Effect.zipWith(files, events, (files, events) => [...files.map(ofFile), ...events.map(ofEvent)]).pipe(
        to("find what waits")
      )
    }
  })
)
