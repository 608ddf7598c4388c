// A built page behind its own server, in a Chromium: a file that is chosen there arrives in the sandbox. Both are given.
import { HttpRouter, HttpServerResponse } from "@effect/platform"
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { NodeStevedore, StevedoreHttpApp } from "@stevedore/node"
import { ObjectStoreMemory, SandboxHttp } from "@stevedore/testing"
import { Console, Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { chromium } from "playwright-core"

const listen = Effect.gen(function*() {
  const sockets = createServer({ requestTimeout: 0 })
  const server = yield* NodeHttpServer.make(() => sockets, { host: "127.0.0.1", port: 0 })
  yield* Effect.addFinalizer(() => Effect.sync(() => sockets.closeAllConnections()))
  return server
})

const [, , executablePath, folder] = process.argv

const types = { html: "text/html", js: "text/javascript" }

const built = (/** @type {string} */ path) =>
  HttpServerResponse.raw(readFileSync(`${folder}/${path}`), {
    contentType: types[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream"
  })

const app = HttpRouter.empty.pipe(
  HttpRouter.mountApp("/api", StevedoreHttpApp.make({ authorize: () => Effect.succeed("visitor") })),
  HttpRouter.get("/", Effect.sync(() => built("index.html"))),
  HttpRouter.get("/assets/:name", Effect.map(HttpRouter.params, ({ name }) => built(`assets/${name}`))),
  Effect.catchTag("RouteNotFound", () => HttpServerResponse.empty({ status: 404 }))
)

const program = Effect.gen(function*() {
  const sandbox = yield* SandboxHttp.serve({ api: yield* listen, storage: yield* listen })
  const services = yield* Layer.build(
    NodeStevedore.layer({ baseUrl: sandbox.baseUrl, token: sandbox.token, ledger: false })
  )
  const server = yield* listen
  yield* server.serve(Effect.provide(app, services))
  const browser = yield* Effect.acquireRelease(
    Effect.promise(() => chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] })),
    (browser) => Effect.promise(() => browser.close())
  )
  yield* Effect.promise(async () => {
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${server.address.port}`)
    const input = page.locator("input[type=file]").first()
    await input.waitFor({ state: "attached" })
    await input.setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("hello") })
    await page.locator("output", { hasText: "a.txt" }).waitFor()
  })
  const [file] = yield* sandbox.files
  const stored = yield* sandbox.stored(file.id)
  if (Buffer.from(stored).toString() !== "hello") return yield* Effect.fail("what is stored is not what was chosen")
  yield* Console.log("a file went up from Chromium")
})

NodeRuntime.runMain(Effect.scoped(program).pipe(Effect.provide(ObjectStoreMemory.layer())))
