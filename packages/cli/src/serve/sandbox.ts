/** `stevedore sandbox`: runs the service and its storage on this machine, to try things out. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpServer from "@effect/platform/HttpServer"
import type * as Path from "@effect/platform/Path"
import * as ServiceConfig from "@stevedore/core/ServiceConfig"
import * as ObjectStoreDirectory from "@stevedore/server/ObjectStoreDirectory"
import * as Sandbox from "@stevedore/testing/Sandbox"
import * as SandboxHttp from "@stevedore/testing/SandboxHttp"
import * as SandboxOptions from "@stevedore/testing/SandboxOptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { createServer } from "node:http"
import { ProgramName } from "../options/commandWords.js"
import { readFile } from "../options/inputFile.js"
import { invalid, type InvalidInput } from "../options/invalidInput.js"
import { Output } from "../print/output.js"
import type { Listening } from "../print/serviceSchemas.js"
import * as FaultFile from "./faultFile.js"
import type { Trying as Options } from "./options.js"

const host = "127.0.0.1"

const codeOf = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : "unknown reason"

const listen = (
  option: string,
  port: number
): Effect.Effect<{ readonly server: HttpServer.HttpServer; readonly origin: string }, InvalidInput, Scope.Scope> =>
  Effect.gen(function*() {
    const sockets = createServer({
      // over a slow connection, a part of many megabytes takes longer than Node's five minutes
      requestTimeout: 0,
      // longer than clients keep an idle connection, so that none reuses one that is being closed
      keepAliveTimeout: 65_000
    })
    // the sandbox sends the date of its own clock, unless it is to send none
    sockets.on("request", (_, response) => {
      response.sendDate = false
    })
    const server = yield* NodeHttpServer.make(() => sockets, { host, port }).pipe(
      Effect.mapError(({ cause }) =>
        invalid(option, `cannot listen on ${host}:${port} (${codeOf(cause)}): use another port, or 0 for any free port`)
      )
    )
    // the server's shutdown waits for its connections, and a client may hold one for long
    yield* Effect.addFinalizer(() => Effect.sync(() => sockets.closeAllConnections()))
    const { address } = server
    return { server, origin: `http://${host}:${address._tag === "TcpAddress" ? address.port : port}` }
  })

const checkToken = (token: string) =>
  Effect.mapError(
    ServiceConfig.parseToken(Redacted.make(token)),
    (problem) => invalid("--token", problem)
  )

const readFaults = (path: string) => Effect.flatMap(readFile("--faults", path), (text) => FaultFile.parse(path, text))

const instructions = (program: string, listening: typeof Listening.Type): ReadonlyArray<string> => [
  `The sandbox is running: the service at ${listening.api}, its storage at ${listening.storage}.`,
  "In another terminal:",
  "",
  `  export STEVEDORE_BASE_URL=${listening.api}`,
  `  export STEVEDORE_TOKEN=${listening.token}`,
  `  ${program} upload FILE`,
  "",
  "Press Ctrl-C to stop it and delete everything that it stores."
]

const directoryOf = (options: Pick<Options, "directory">) =>
  Option.match(options.directory, {
    onSome: Effect.succeed,
    onNone: () =>
      Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "stevedore-" })).pipe(
        Effect.mapError(({ message }) => invalid("--directory", `${message}: use a writable directory`))
      )
  })

const objectStore = (options: Pick<Options, "directory">, minimumPartSize: number | undefined) =>
  Layer.unwrapScoped(
    Effect.map(directoryOf(options), (directory) =>
      Layer.catchAll(ObjectStoreDirectory.layer({ directory, minimumPartSize }), () =>
        Layer.fail(invalid("--directory", `cannot create or write to ${directory}`))))
  )

/**
 * Starts both servers, which stop with the scope: for programs that bring their own sandbox. `behaviour` is for what
 * the command has no options for.
 */
export const start = (
  options: Omit<Options, "json" | "faults" | "storagePort"> & { readonly storagePort: number },
  behaviour: Omit<SandboxOptions.Options, "apiOrigin" | "storageOrigin"> = {}
): Effect.Effect<Sandbox.SandboxService, InvalidInput, Scope.Scope | FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function*() {
    const store = yield* Layer.build(objectStore(options, behaviour.minimumPartSize))
    const api = yield* listen("--port", options.port)
    const storage = yield* listen("--storage-port", options.storagePort)
    const sandbox = yield* Sandbox.make({
      projects: options.projects,
      ...behaviour,
      token: Option.getOrElse(options.token, () => SandboxOptions.DEFAULT_TOKEN),
      apiOrigin: api.origin,
      storageOrigin: storage.origin
    }).pipe(Effect.provide(store))
    const apps = SandboxHttp.apps(sandbox)
    yield* api.server.serve(apps.api)
    yield* storage.server.serve(apps.storage)
    return sandbox
  })

/** Serves until interrupted. */
export const run = (options: Options) =>
  Effect.scoped(Effect.gen(function*() {
    const output = yield* Output
    yield* Effect.transposeMapOption(options.token, checkToken)
    const faults = yield* Effect.transposeMapOption(options.faults, readFaults)
    const storagePort = Option.getOrElse(options.storagePort, () => options.port === 4600 ? 4601 : 0)
    const sandbox = yield* start({ ...options, storagePort }, { faults: Option.getOrUndefined(faults) })
    const listening: typeof Listening.Type = {
      type: "listening",
      api: sandbox.baseUrl,
      storage: sandbox.storageOrigin,
      token: Redacted.value(sandbox.token)
    }
    yield* options.json ? output.json([listening]) : output.lines(instructions(yield* ProgramName, listening))
    if (Option.isSome(faults)) yield* output.note(`Faults:\n${faults.value}`)
    return yield* Effect.never
  }))
