/**
 * The whole service in one process on Node: its rows in a file of SQLite, its bytes in a directory, behind one port.
 *
 * It needs `@effect/platform-node`, `@effect/sql`, `@effect/experimental` and `libsql`, which nothing else here does
 * altogether. It is therefore not in the package's index: import it from `@stevedore/server/NodeServe`.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Path from "@effect/platform/Path"
import type * as SqlClient from "@effect/sql/SqlClient"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Authorize from "./Authorize.js"
import { prefixOf } from "./base/text.js"
import { tracedForSomebody } from "./base/traced.js"
import * as FileAdmin from "./FileAdmin.js"
import * as FileAudit from "./FileAudit.js"
import * as FileStore from "./FileStore.js"
import type { FileTable } from "./FileTable.js"
import { Hooks } from "./Hooks.js"
import * as NodeListen from "./node/listen.js"
import { type ServeFailed } from "./node/listening.js"
import * as ServeDirectory from "./node/serveDirectory.js"
import * as NodeWebhooks from "./node/webhooks.js"
import * as Identifiers from "./parts/identifiers.js"
import * as ServerApp from "./ServerApp.js"
import * as SqlDatabase from "./SqlDatabase.js"
import * as SqlFileTable from "./SqlFileTable.js"
import * as Sqlite from "./Sqlite.js"
import * as SqlObjectStore from "./SqlObjectStore.js"
import * as SqlTokens from "./SqlTokens.js"
import * as PrivateFiles from "./storage/disk.js"
import * as Room from "./storage/room.js"
import * as StorageApp from "./StorageApp.js"
import * as Sweeper from "./Sweeper.js"
import * as Tokens from "./Tokens.js"
import * as Uploads from "./Uploads.js"
import type * as Webhooks from "./Webhooks.js"

/**
 * Where the service is, and how it behaves. Only the directory has no default.
 *
 * @category models
 */
export interface Options extends ServerApp.Options, Uploads.Options, NodeListen.Options {
  /** Where the files and their rows are kept: made if it is missing, for its owner alone. One process at a time has it. */
  readonly directory: string
  /**
   * The URL by which clients reach the service, such as `https://files.example` or `https://files.example/uploads` if a proxy
   * is before it, which takes the path away. What stands in `basePath` it leaves. Defaults to where it listens.
   */
  readonly publicUrl?: string | undefined
  /** How long final files are kept. Defaults to for ever. */
  readonly keep?: Sweeper.Keep | undefined
  /** How much of all files may be removed at once for their age, from 0 to 1. Defaults to 0.5. */
  readonly keepShare?: number | undefined
  /** Whom it tells of files, besides the hooks. Defaults to nobody. */
  readonly webhook?: Webhooks.Options | undefined
}

/**
 * A service that answers requests.
 *
 * @category models
 */
export interface Serving {
  readonly baseUrl: string
  /** A token that may do everything, for whoever can read the directory. */
  readonly token: Redacted.Redacted
  /** The path of a profile of the service, for its clients. */
  readonly profile: string
}

export {
  /**
   * The service cannot begin.
   *
   * @category errors
   */
  ServeFailed
} from "./node/listening.js"

const BUCKET = "stevedore-files"
const REGION = "us-east-1"
const inDirectory = ServeDirectory.failed

/** The token of before, unless it is not valid any more. */
const tokenIn = (file: string) =>
  Effect.gen(function*() {
    const tokens = yield* Tokens.Tokens
    const before = yield* ServeDirectory.secret(file, /^api\.[0-9A-Za-z]{43}$/, "a new one is made")
    if (Option.isSome(before) && Option.isSome(yield* tokens.find(before.value))) return Redacted.make(before.value)
    const { token } = yield* Tokens.create({ tenant: "default", owner: { id: "owner", name: "Owner" } })
    yield* PrivateFiles.write(file, Redacted.value(token))
    return token
  })

/** What is made of the database in a directory. */
const inDatabaseOf = <A, E extends { readonly message: string }>(
  directory: string,
  made: Layer.Layer<A, E, SqlClient.SqlClient | FileTable | FileSystem.FileSystem | Path.Path>
): Layer.Layer<A, ServeFailed, FileSystem.FileSystem | Path.Path> =>
  Layer.unwrapEffect(Effect.gen(function*() {
    const { join, resolve } = yield* Path.Path
    if (!(yield* ServeDirectory.isKnown(resolve(directory)))) {
      return yield* inDirectory(`there is no service in ${directory}: stevedore serve makes one`)
    }
    return made.pipe(
      Layer.provideMerge(SqlFileTable.layer),
      Layer.provide(Sqlite.layer({ file: join(resolve(directory), ServeDirectory.DATABASE) })),
      Layer.provide(Layer.succeed(SqlDatabase.Reserve, Room.giveUp(resolve(directory)))),
      Layer.mapError(({ message }) => inDirectory(`cannot use ${directory}: ${message}`))
    )
  }))

/**
 * The tokens of a service by its directory, whether it runs or not. Fails if there is no service.
 *
 * @category layers
 */
export const tokens = (
  directory: string
): Layer.Layer<Tokens.Tokens, ServeFailed, FileSystem.FileSystem | Path.Path> =>
  inDatabaseOf(directory, SqlTokens.layer)

/**
 * The files of a service by its directory, for whoever runs it, whether it runs or not. Fails if there is no service.
 *
 * @category layers
 */
export const files = (
  directory: string
): Layer.Layer<FileAdmin.FileAdmin, ServeFailed, FileSystem.FileSystem | Path.Path> =>
  inDatabaseOf(directory, FileAdmin.layer)

/**
 * Whether rows and store of a service say the same, by its directory, whether it runs or not. Fails if there is no service.
 *
 * @category layers
 */
export const audit = (
  directory: string
): Layer.Layer<FileAudit.FileAudit, ServeFailed, FileSystem.FileSystem | Path.Path> =>
  Layer.unwrapEffect(Effect.map(Path.Path, ({ join, resolve }) =>
    inDatabaseOf(
      directory,
      Layer.provide(FileAudit.layer, SqlObjectStore.layer({ directory: join(resolve(directory), "store") }))
    )))

/**
 * Serves until the scope closes: the interface, its storage, and what `OperationsApp` answers, on one port. It listens only
 * when it can answer. When the scope closes, `/readyz` is 503, no connection is taken any more, and what is under way may end; an upload that is being completed is completed. Fails if another process has the
 * directory, or the port.
 *
 * @category constructors
 */
export const serve = (
  options: Options
): Effect.Effect<Serving, ServeFailed, FileSystem.FileSystem | Path.Path | Scope.Scope> =>
  Effect.gen(function*() {
    const { join, resolve } = yield* Path.Path
    const directory = resolve(options.directory)
    yield* ServeDirectory.take(directory)

    const state = { publicUrl: options.publicUrl?.replace(/\/+$/, "") ?? "" }
    const prefix = prefixOf(options.basePath)
    const secret = yield* ServeDirectory.signingKey(join(directory, "signing-key"), Identifiers.secret)
    const signing: FileStore.Signing = {
      credential: { accessKeyId: "STEVEDORE", secretAccessKey: Redacted.make(secret), region: REGION },
      bucket: BUCKET,
      // known when it listens, which is before anybody asks
      get origin() {
        return new URL(state.publicUrl).origin
      },
      get path() {
        return `${new URL(state.publicUrl).pathname.replace(/\/+$/, "")}${prefix}`
      }
    }
    const database = join(directory, ServeDirectory.DATABASE)
    const parts = Uploads.layer(options).pipe(
      Layer.provideMerge(FileStore.layer(signing)),
      Layer.provide(SqlObjectStore.layer({
        directory: join(directory, "store"),
        minimumPartSize: options.minimumPartSize
      })),
      // the first to change the database: it sets how that is written
      Layer.provideMerge(SqlFileTable.layer),
      Layer.provideMerge(Authorize.layerBearer),
      // after the tables are there
      Layer.provideMerge(SqlTokens.layer),
      Layer.provide(Sqlite.layerLasting(database)),
      Layer.provide(Layer.succeed(SqlDatabase.Reserve, Room.giveUp(directory))),
      Layer.provideMerge(Sqlite.layer({ file: database, synchronous: "normal" }))
    )
    const context = yield* Layer.build(
      Layer.provideMerge(Sweeper.layer({ ...options, quota: Uploads.quotaOfAll(options) }), parts)
    )
    const api = yield* Effect.provide(ServerApp.make(options), context)
    const storage = yield* Effect.provide(
      StorageApp.make(signing, {
        get publicUrl() {
          return state.publicUrl
        }
      }),
      context
    )
    const token = yield* Effect.provide(tokenIn(join(directory, "token")), context)
    const failing = Effect.provide(ServerApp.failing, context)

    const app: HttpApp.Default = Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      ({ url }) => url.startsWith(`${prefix}/${BUCKET}/`) ? storage : api
    )
    // the last of all: it is the first to end
    const origin = yield* NodeListen.listen(app, failing, {
      ...options,
      notes: Effect.provide(ServerApp.notes, context)
    })
    if (state.publicUrl === "") state.publicUrl = origin

    const profile = join(directory, "profile.json")
    const fitting = ServiceProfile.extend(ServerApp.profile, {
      download: options.download === "link" ? "link" : "content"
    })
    const encoded = yield* Schema.encode(ServiceProfile.ServiceProfile)(fitting)
    yield* PrivateFiles.write(profile, `${JSON.stringify(encoded, undefined, 2)}\n`)
    yield* Room.keep(directory)
    return { baseUrl: `${state.publicUrl}${prefix}`, token, profile }
  }).pipe(
    tracedForSomebody,
    Effect.provideServiceEffect(Hooks, NodeWebhooks.hooks(options.webhook)),
    Effect.provide(Identifiers.layerSecure),
    Effect.mapError((error) =>
      error._tag === "ServeFailed" ? error : inDirectory(`cannot use ${options.directory}: ${error.message}`)
    )
  )
