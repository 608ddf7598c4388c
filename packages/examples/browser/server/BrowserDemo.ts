import { Headers, HttpRouter, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer } from "@effect/platform-node"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import { NodeStevedore, StevedoreHttpApp } from "@stevedore/node"
import type { SandboxOptions } from "@stevedore/testing"
import { Effect, Layer, Option } from "effect"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { build } from "vite"

const types: Readonly<Record<string, string>> = { html: "text/html", js: "text/javascript", css: "text/css" }

const typeOf = (file: string): string => types[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream"

/** The page as Vite builds it, by file name. */
export const built = Effect.promise(async () => {
  const bundles = await build({
    configFile: fileURLToPath(new URL("../vite.config.ts", import.meta.url)),
    logLevel: "error",
    build: { write: false, modulePreload: false }
  })
  const outputs = [bundles].flat().flatMap((bundle) => "output" in bundle ? bundle.output : [])
  return new Map(outputs.map((file) => [`/${file.fileName}`, file.type === "asset" ? file.source : file.code]))
})

/** What {@link built} gives. */
export type Files = Effect.Effect.Success<typeof built>

// A cookie identifies each visitor of the page. A page of your own has a sign-in there.
const session = "session=visitor; Path=/; HttpOnly; SameSite=Strict"

const page = (files: Files) =>
  Effect.gen(function*() {
    const { "*": path = "" } = yield* HttpRouter.params
    const name = path === "" ? "/index.html" : `/${path}`
    const file = files.get(name)
    return file === undefined
      ? HttpServerResponse.empty({ status: 404 })
      : HttpServerResponse.raw(file, {
        contentType: typeOf(name),
        headers: Headers.fromInput({ "cache-control": "no-cache", "set-cookie": session })
      })
  })

const app = (files: Files) =>
  HttpRouter.empty.pipe(
    HttpRouter.mountApp(
      "/api",
      StevedoreHttpApp.make({
        authorize: ({ cookies }) =>
          cookies["session"] === "visitor" ? Effect.succeed("visitor") : Effect.fail("no session")
      })
    ),
    HttpRouter.get("/*", page(files)),
    Effect.catchTag("RouteNotFound", () => HttpServerResponse.empty({ status: 404 }))
  )

/** The page, its server with the token, and a sandbox of the service, all on this machine. */
export const start = (
  options: { readonly files: Files; readonly port?: number | undefined },
  behaviour: Omit<SandboxOptions.Options, "apiOrigin" | "storageOrigin"> = {}
) =>
  Effect.gen(function*() {
    const sandbox = yield* SandboxServer.start(
      { port: 0, storagePort: 0, directory: Option.none(), token: Option.none(), projects: 0 },
      behaviour
    )
    const sockets = createServer({ keepAliveTimeout: 65_000 })
    const server = yield* NodeHttpServer.make(() => sockets, { host: "127.0.0.1", port: options.port ?? 0 })
    // closing the server waits for its connections, and browsers keep them open
    yield* Effect.addFinalizer(() => Effect.sync(() => sockets.closeAllConnections()))
    const services = yield* Layer.build(
      NodeStevedore.layer({ baseUrl: sandbox.baseUrl, token: sandbox.token, ledger: false })
    )
    yield* server.serve(Effect.provide(app(options.files), services))
    const { address } = server
    return { sandbox, origin: address._tag === "TcpAddress" ? `http://127.0.0.1:${address.port}` : "" }
  })
