/**
 * The whole service in one process on Node: its rows in a file of SQLite, its bytes in a directory, behind one port.
 *
 * It needs `@effect/platform-node`, `@effect/sql`, `@effect/experimental` and `@effect/sql-libsql`, which nothing else here
 * does. It is therefore not in the package's index: import it from `@stevedore/server/NodeServe`.
 *
 * @since 0.1.0
 */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Path from "@effect/platform/Path"
import * as LibsqlClient from "@effect/sql-libsql/LibsqlClient"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import type { Server } from "node:http"
import * as Authorize from "./Authorize.js"
import * as FileStore from "./FileStore.js"
import * as Identifiers from "./Identifiers.js"
import * as ObjectStoreDirectory from "./ObjectStoreDirectory.js"
import * as ServerApp from "./ServerApp.js"
import * as SqlFileTable from "./SqlFileTable.js"
import * as SqlTokens from "./SqlTokens.js"
import * as StorageApp from "./StorageApp.js"
import * as Sweeper from "./Sweeper.js"
import * as Tokens from "./Tokens.js"
import * as Uploads from "./Uploads.js"

/**
 * Where the service is, and how it behaves. Only the directory has no default.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends ServerApp.Options, Uploads.Options {
  /** Where the files and their rows are kept: made if it is missing, for its owner alone. One process at a time has it. */
  readonly directory: string
  /** Defaults to `127.0.0.1`: this machine alone. */
  readonly host?: string | undefined
  /** Defaults to 0: any free port. */
  readonly port?: number | undefined
  /**
   * The origin by which clients reach the service, such as `https://files.example` if a proxy is before it. Defaults to
   * where it listens.
   */
  readonly publicUrl?: string | undefined
  /** How long requests under way may still take when the service ends. Defaults to 30 seconds. */
  readonly drain?: Duration.DurationInput | undefined
}

/**
 * A service that answers requests.
 *
 * @since 0.1.0
 * @category models
 */
export interface Serving {
  readonly baseUrl: string
  /** A token that may do everything, for whoever can read the directory. */
  readonly token: Redacted.Redacted
  /** The path of a profile of the service, for its clients. */
  readonly profile: string
}

/**
 * The service cannot begin.
 *
 * @since 0.1.0
 * @category errors
 */
export class ServeFailed extends Schema.TaggedError<ServeFailed>("@stevedore/server/ServeFailed")("ServeFailed", {
  /** Which option to change. */
  option: Schema.Literal("directory", "port"),
  problem: Schema.String
}) {
  override get message(): string {
    return this.problem
  }
}

const BUCKET = "stevedore-files"
const REGION = "us-east-1"

const inDirectory = (problem: string) => new ServeFailed({ option: "directory", problem })

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // it is there, and another user's
    return error instanceof Error && "code" in error && error.code === "EPERM"
  }
}

/** One process at a time. What a dead one has left does not count. */
const locked = (directory: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const lock = join(directory, "lock")
    const take = fs.writeFileString(lock, String(process.pid), { flag: "wx" })
    const takeOver = Effect.gen(function*() {
      const pid = Number(yield* fs.readFileString(lock))
      if (Number.isSafeInteger(pid) && pid > 0 && pid !== process.pid && isAlive(pid)) {
        return yield* inDirectory(`Process ${pid} serves ${directory} already: end it, or use another directory`)
      }
      yield* fs.remove(lock)
      yield* take
    })
    yield* Effect.acquireRelease(
      Effect.catchTag(take, "SystemError", (error) => error.reason === "AlreadyExists" ? takeOver : Effect.fail(error)),
      () => Effect.ignore(fs.remove(lock))
    )
  })

/** The text that is kept in a file for its owner alone, made at the first start. */
const remembered = (file: string, make: Effect.Effect<string>) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.catchIf(
      fs.readFileString(file),
      (error) => error._tag === "SystemError" && error.reason === "NotFound",
      () => Effect.tap(make, (text) => fs.writeFileString(file, text, { mode: 0o600 }))
    ))

/** The token of before, unless it is not valid any more. */
const tokenIn = (file: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const tokens = yield* Tokens.Tokens
    const before = yield* Effect.orElseSucceed(fs.readFileString(file), () => "")
    if (before !== "" && Option.isSome(yield* tokens.find(before))) return Redacted.make(before)
    const { token } = yield* Tokens.create({ tenant: "default", owner: { id: "owner", name: "Owner" } })
    yield* fs.writeFileString(file, Redacted.value(token), { mode: 0o600 })
    return token
  })

const text = (status: number, body: string) => HttpServerResponse.text(`${body}\n`, { status })

const listening = (server: Server, host: string, port: number) =>
  Effect.async<number, ServeFailed>((resume) => {
    server.once("error", (error) => {
      const code = "code" in error ? String(error.code) : error.message
      resume(
        new ServeFailed({
          option: "port",
          problem: `cannot listen on ${host}:${port} (${code}): use another port, or 0 for any free port`
        })
      )
    })
    server.listen(port, host, () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

/** Takes no more connections, waits for the requests under way, and then closes what is left. */
const closed = (server: Server, drain: Duration.DurationInput) =>
  Effect.async<void>((resume) => {
    server.close(() => resume(Effect.void))
  }).pipe(
    // a connection that is kept alive is idle only when its request is over
    Effect.race(Effect.repeat(Effect.sync(() => server.closeIdleConnections()), Schedule.spaced("50 millis"))),
    Effect.timeoutOption(drain),
    // a finalizer is not, and nothing in it would ever be given up
    Effect.interruptible,
    Effect.zipRight(Effect.sync(() => server.closeAllConnections()))
  )

/**
 * Serves until the scope closes: the interface and its storage on one port, `/livez`, and `/readyz`, which is 503 where the
 * service cannot answer. It listens only when it can. When the scope closes, `/readyz` is 503, no connection is taken any
 * more, and what is under way may end; an upload that is being completed is completed. Fails if another process has the
 * directory, or the port.
 *
 * @since 0.1.0
 * @category constructors
 */
export const serve = (
  options: Options
): Effect.Effect<Serving, ServeFailed, FileSystem.FileSystem | Path.Path | Scope.Scope> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join, resolve } = yield* Path.Path
    const directory = resolve(options.directory)
    yield* fs.makeDirectory(directory, { recursive: true, mode: 0o700 })
    yield* locked(directory)

    const state = { origin: options.publicUrl?.replace(/\/+$/, "") ?? "", isEnding: false }
    const secret = yield* remembered(join(directory, "signing-key"), Identifiers.secret)
    const signing: FileStore.Signing = {
      credential: { accessKeyId: "STEVEDORE", secretAccessKey: Redacted.make(secret), region: REGION },
      bucket: BUCKET,
      // known when it listens, which is before anybody asks
      get origin() {
        return state.origin
      }
    }
    const database = LibsqlClient.layer({ url: `file:${join(directory, "stevedore.db")}` })
    const parts = Uploads.layer(options).pipe(
      Layer.provideMerge(FileStore.layer(signing)),
      Layer.provide(ObjectStoreDirectory.layerDurable({
        directory: join(directory, "store"),
        minimumPartSize: options.minimumPartSize
      })),
      Layer.provideMerge(SqlFileTable.layer),
      Layer.provideMerge(Authorize.layerBearer),
      // after the tables are there
      Layer.provideMerge(SqlTokens.layer),
      Layer.provide(database)
    )
    const context = yield* Layer.build(Layer.provideMerge(Sweeper.layer(), parts))
    const api = yield* Effect.provide(ServerApp.make(options), context)
    const storage = yield* Effect.provide(StorageApp.make(signing), context)
    const token = yield* Effect.provide(tokenIn(join(directory, "token")), context)
    const isReady = Effect.provide(ServerApp.isReady, context)

    const app: HttpApp.Default = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => {
      const [path = ""] = url.split("?")
      if (path.startsWith(`/${BUCKET}/`)) return storage
      if (path === "/livez") return Effect.succeed(text(200, "ok"))
      if (path !== "/readyz") return api
      return Effect.map(isReady, (ready) => ready && !state.isEnding ? text(200, "ok") : text(503, "not ready"))
    })
    const handler = yield* NodeHttpServer.makeHandler(app)

    // the last of all: it is the first to end
    const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 }, handler)
    const host = options.host ?? "127.0.0.1"
    const port = yield* Effect.acquireRelease(listening(server, host, options.port ?? 0), () => {
      state.isEnding = true
      return closed(server, options.drain ?? "30 seconds")
    })
    const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
    if (state.origin === "") state.origin = `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`

    const profile = join(directory, "profile.json")
    const fitting = ServiceProfile.extend(ServiceProfile.standard, { download: options.download ?? "content" })
    const encoded = yield* Schema.encode(ServiceProfile.ServiceProfile)(fitting)
    yield* fs.writeFileString(profile, `${JSON.stringify(encoded, undefined, 2)}\n`)
    const basePath = (options.basePath ?? "").replace(/^\/+|\/+$/g, "")
    return { baseUrl: basePath === "" ? state.origin : `${state.origin}/${basePath}`, token, profile }
  }).pipe(
    Effect.provide(Identifiers.layerSecure),
    Effect.mapError((error) =>
      error._tag === "ServeFailed" ? error : inDirectory(`cannot use ${options.directory}: ${error.message}`)
    )
  )
