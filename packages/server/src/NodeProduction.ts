/**
 * One of any number of instances of the service: its rows in PostgreSQL, its bytes in a bucket, nothing on its own disk.
 *
 * It needs `@effect/platform-node`, `@effect/sql`, `@effect/experimental` and `@effect/sql-pg`, which nothing else here does
 * altogether. It is therefore not in the package's index: import it from `@stevedore/server/NodeProduction`.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as PgClient from "@effect/sql-pg/PgClient"
import type * as SqlClient from "@effect/sql/SqlClient"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Socket } from "node:net"
import * as Authorize from "./Authorize.js"
import { reasonOf } from "./base/errorCode.js"
import { tracedForSomebody } from "./base/traced.js"
import * as FileAdmin from "./FileAdmin.js"
import * as FileAudit from "./FileAudit.js"
import { FileStore } from "./FileStore.js"
import type { FileTable } from "./FileTable.js"
import { Hooks } from "./Hooks.js"
import * as NodeListen from "./node/listen.js"
import { ServeFailed } from "./node/listening.js"
import * as NodeWebhooks from "./node/webhooks.js"
import { ObjectStore } from "./ObjectStore.js"
import * as Identifiers from "./parts/identifiers.js"
import * as SqlRateLimit from "./parts/sqlRateLimit.js"
import * as S3FileStore from "./S3FileStore.js"
import * as ServerApp from "./ServerApp.js"
import type { Settings } from "./ServeSettings.js"
import * as SqlFileTable from "./SqlFileTable.js"
import * as SqlTokens from "./SqlTokens.js"
import * as Sweeper from "./Sweeper.js"
import type { Tokens } from "./Tokens.js"
import * as Uploads from "./Uploads.js"
import type * as Webhooks from "./Webhooks.js"

/**
 * Where the instance listens, and how it behaves.
 *
 * @category models
 */
export interface Options extends ServerApp.Options, Uploads.Options, NodeListen.Options {
  readonly settings: Settings
  /** Connections to the database at most. Defaults to 10. */
  readonly connections?: number | undefined
  /** How long final files are kept. Defaults to for ever. */
  readonly keep?: Sweeper.Keep | undefined
  /** How much of all files may be removed at once for their age, from 0 to 1. Defaults to 0.5. */
  readonly keepShare?: number | undefined
  /** Whom it tells of files, besides the hooks. Defaults to nobody. */
  readonly webhook?: Webhooks.Options | undefined
}

/**
 * An instance that answers requests.
 *
 * @category models
 */
export interface Serving {
  /** Where it listens. Clients reach it by the address of whatever is before it. */
  readonly baseUrl: string
  /** What clients have to know of the service. */
  readonly profile: ServiceProfile.ServiceProfile
  /** What keeps files from being replaced. */
  readonly protection: S3FileStore.Protection
}

// without the URL: it holds a password
const databaseFailed = (cause: Error) =>
  new ServeFailed({
    option: "STEVEDORE_SERVE_DATABASE_URL",
    problem: `the database cannot be used (${
      reasonOf(cause)
    }): look whether it runs, and whether its user may make tables`
  })

const bucketFailed = ({ message }: { readonly message: string }) =>
  new ServeFailed({
    option: "STEVEDORE_SERVE_BUCKET",
    problem: `the bucket cannot be used: ${message}. stevedore bucket check says more`
  })

/** In milliseconds. A client waits a minute for an answer, and asks again after a 503. */
const SILENCE_MILLIS = 20_000

// A line that loses what is sent tells nobody: without an end to its silence, a statement would wait for it for a quarter of an
// hour, and each request with it
const socket = (): Socket => {
  const made = new Socket()
  return made.setTimeout(SILENCE_MILLIS, () => made.destroy(new Error("The database does not answer")))
}

const database = (url: Redacted.Redacted, connections: number) =>
  PgClient.layer({
    url,
    maxConnections: connections,
    applicationName: "stevedore",
    connectTimeout: "10 seconds",
    stream: socket
  })

/** What is made of a database, whose tables are made first. */
const inDatabase = <A>(url: Redacted.Redacted, made: Layer.Layer<A, never, SqlClient.SqlClient | FileTable>) =>
  made.pipe(
    Layer.provideMerge(SqlFileTable.layer),
    Layer.provide(database(url, 1)),
    Layer.mapError(databaseFailed)
  )

/**
 * The tokens of a service by its database, whose tables are made first. For whoever administers it.
 *
 * @category layers
 */
export const tokens = (url: Redacted.Redacted): Layer.Layer<Tokens, ServeFailed> => inDatabase(url, SqlTokens.layer)

/**
 * The files of a service by its database, whose tables are made first. For whoever runs it.
 *
 * @category layers
 */
export const files = (url: Redacted.Redacted): Layer.Layer<FileAdmin.FileAdmin, ServeFailed> =>
  inDatabase(url, FileAdmin.layer)

/**
 * Whether the rows of a service and its bucket say the same. Fails if either cannot be used.
 *
 * @category layers
 */
export const audit = (
  url: Redacted.Redacted,
  store: S3FileStore.Options
): Layer.Layer<FileAudit.FileAudit, ServeFailed> =>
  Layer.unwrapScoped(Effect.gen(function*() {
    const http = Layer.succeedContext(yield* Layer.build(NodeHttpClient.layerUndici))
    const bucket = yield* Layer.build(Layer.provide(S3FileStore.layer(store), http)).pipe(
      Effect.provide(Identifiers.layerSecure),
      Effect.mapError(bucketFailed)
    )
    return inDatabase(
      url,
      Layer.provide(FileAudit.layer, Layer.succeed(ObjectStore, Context.get(bucket, FileStore)))
    )
  }))

/**
 * Serves until the scope closes: the interface, `/livez`, and `/readyz`, which is 503 where the service cannot answer. It
 * looks at the database and the bucket first, and listens only when both can be used. When the scope closes, no connection is
 * taken any more, and what is under way may end.
 *
 * Downloads are links to the store. Where nothing keeps files from being replaced, it does not begin.
 *
 * @category constructors
 */
export const serve = (options: Options): Effect.Effect<Serving, ServeFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const { databaseUrl, origins, quota, rateLimit, store } = options.settings
    const encryptionHeaders = store.encryptionHeaders ?? ServiceProfile.standard.encryptionHeaders
    const http = yield* Layer.build(NodeHttpClient.layerUndici)
    const protection = yield* S3FileStore.protectionOf(store).pipe(Effect.provide(http), Effect.mapError(bucketFailed))
    const limited = Option.match(rateLimit, { onNone: () => Layer.empty, onSome: SqlRateLimit.layer })
    const parts = Uploads.layer({ quota, ...options, encryptionHeaders }).pipe(
      Layer.provideMerge(Layer.mapError(S3FileStore.layer(store, protection), bucketFailed)),
      Layer.provideMerge(Authorize.layerBearer),
      Layer.provideMerge(SqlTokens.layer),
      Layer.provideMerge(limited),
      // the tables are there before anything asks for them
      Layer.provideMerge(Layer.mapError(SqlFileTable.layer, databaseFailed)),
      Layer.provideMerge(Layer.mapError(database(databaseUrl, options.connections ?? 10), databaseFailed)),
      Layer.provide(Layer.succeedContext(http))
    )
    const context = yield* Layer.build(
      Layer.provideMerge(Sweeper.layer({ ...options, quota: Uploads.quotaOfAll({ quota, ...options }) }), parts)
    )
    const download = options.download ?? "link"
    const api = yield* Effect.provide(ServerApp.make({ origins, ...options, download }), context)
    const { putHeaders } = yield* Effect.provide(FileStore, context)
    // the last of all: it is the first to end
    const origin = yield* NodeListen.listen(api, Effect.provide(ServerApp.failing, context), {
      ...options,
      notes: Effect.provide(ServerApp.notes, context)
    })
    return {
      baseUrl: NodeListen.baseUrl(origin, options.basePath),
      profile: ServiceProfile.extend(ServerApp.profile, {
        encryptionHeaders: { ...encryptionHeaders, ...putHeaders },
        // a client follows a redirect as it reads content
        download: download === "link" ? "link" : "content"
      }),
      protection
    }
  }).pipe(
    tracedForSomebody,
    Effect.provideServiceEffect(Hooks, NodeWebhooks.hooks(options.webhook)),
    Effect.provide(Identifiers.layerSecure)
  )
