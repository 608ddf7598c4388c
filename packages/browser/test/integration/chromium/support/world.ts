import { FileSystem, HttpRouter, type HttpServer, HttpServerResponse, Path } from "@effect/platform"
import { NodeContext, NodeHttpServer } from "@effect/platform-node"
import { NodeStevedore, StevedoreHttpApp } from "@stevedore/node"
import { type ObjectStore, ObjectStoreMemory, type Sandbox, SandboxHttp, type SandboxOptions } from "@stevedore/testing"
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import { build } from "esbuild"
import { open } from "node:fs/promises"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { chromiumPath } from "../../../../../../.ci/optional-suites.mjs"
import type { Outcome, PageApi, Point, Wishes } from "./page.js"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** Chromium, and the page's script: made once for a file of tests. */
export class Chromium extends Context.Tag("test/Chromium")<Chromium, {
  readonly browser: Browser
  readonly script: string
}>() {}

// what `npm run build` made resolves by its own `exports`
const sources = process.env.TEST_DIST === "1"
  ? { tsconfigRaw: {} }
  : { tsconfig: path("../../../../../../tsconfig.json") }

const bundled = Effect.promise(async () => {
  const { outputFiles } = await build({
    entryPoints: [path("page.ts")],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    logLevel: "error",
    ...sources
  })
  return outputFiles[0]?.text ?? ""
})

export const ChromiumLive: Layer.Layer<Chromium> = Layer.scoped(
  Chromium,
  Effect.gen(function*() {
    const script = yield* bundled
    const browser = yield* Effect.acquireRelease(
      Effect.promise(() =>
        chromium.launch({
          executablePath: chromiumPath ?? "chromium",
          args: ["--no-sandbox", "--disable-dev-shm-usage", "--js-flags=--expose-gc"]
        })
      ),
      (browser) => Effect.promise(() => browser.close())
    )
    return { browser, script }
  })
)

const listening = Effect.gen(function*() {
  const sockets = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 })
  const server = yield* NodeHttpServer.make(() => sockets, { port: 0, host: "127.0.0.1" })
  // the end of the server waits for its connections, and a browser keeps them
  yield* Effect.addFinalizer(() => Effect.sync(() => sockets.closeAllConnections()))
  return server
})

const originOf = ({ address }: HttpServer.HttpServer) =>
  address._tag === "TcpAddress" ? `http://127.0.0.1:${address.port}` : ""

/** A page, the user's own server behind it with the token, the service, and the storage on an origin of its own. */
export interface World {
  readonly sandbox: Sandbox.SandboxService
  readonly origin: string
  readonly context: BrowserContext
  readonly page: Page
  readonly anotherTab: Effect.Effect<Page>
  readonly directory: string
}

export interface WorldOptions extends SandboxOptions.Options {
  readonly store?: Layer.Layer<ObjectStore.ObjectStore>
}

const serviceWorker = `
  addEventListener("activate", (event) => event.waitUntil(clients.claim()))
  addEventListener("fetch", (event) => event.respondWith(fetch(event.request)))
`

const served = (script: string) => {
  const text = (body: string, contentType: string) =>
    HttpServerResponse.text(body, {
      contentType,
      headers: { "set-cookie": "session=Ada; Path=/; HttpOnly; SameSite=Strict" }
    })
  const backend = StevedoreHttpApp.make({
    authorize: ({ cookies }) => cookies["session"] === "Ada" ? Effect.succeed("Ada") : Effect.fail("no session"),
    lists: ["/v1/projects"]
  })
  return HttpRouter.empty.pipe(
    HttpRouter.get(
      "/",
      text("<!doctype html><title>page</title><input type=file><script src=/page.js></script>", "text/html")
    ),
    HttpRouter.get("/page.js", text(script, "text/javascript")),
    HttpRouter.get("/worker.js", text(serviceWorker, "text/javascript")),
    HttpRouter.get("/elsewhere/*", HttpServerResponse.redirect("/")),
    HttpRouter.post("/elsewhere/*", HttpServerResponse.redirect("/")),
    HttpRouter.mountApp("/api", backend),
    Effect.catchTag("RouteNotFound", () => HttpServerResponse.empty({ status: 404 }))
  )
}

const opened = (context: BrowserContext, origin: string): Effect.Effect<Page> =>
  Effect.promise(async () => {
    const page = await context.newPage()
    await page.goto(origin)
    return page
  })

export const make = (
  { store, ...options }: WorldOptions = {}
): Effect.Effect<World, never, Chromium | Scope.Scope> =>
  Effect.gen(function*() {
    const { browser, script } = yield* Chromium
    const [pages, api, storage] = yield* Effect.all([listening, listening, listening])
    const sandbox = yield* SandboxHttp.serve({ api, storage }, options).pipe(
      Effect.provide(store ?? ObjectStoreMemory.layer({ minimumPartSize: options.minimumPartSize }))
    )
    const services = yield* Layer.build(
      NodeStevedore.layer({
        baseUrl: sandbox.baseUrl,
        token: Redacted.make(Redacted.value(sandbox.token)),
        ledger: false
      })
    )
    yield* pages.serve(Effect.provide(served(script), services))
    const origin = originOf(pages)
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newContext()),
      (context) => Effect.promise(() => context.close())
    )
    const fs = yield* FileSystem.FileSystem
    const anotherTab = opened(context, origin)
    return {
      sandbox,
      origin,
      context,
      anotherTab,
      page: yield* anotherTab,
      directory: yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-" })
    }
  }).pipe(Effect.provide(NodeContext.layer), Effect.orDie)

/** A file of so many bytes on disk, with holes where nothing is written. */
export const sparseFile = (
  world: World,
  name: string,
  size: number,
  marks: ReadonlyArray<readonly [offset: number, text: string]> = []
): Effect.Effect<string> =>
  Effect.gen(function*() {
    const { join } = yield* Path.Path
    const path = join(world.directory, name)
    yield* Effect.promise(async () => {
      const file = await open(path, "w")
      await file.truncate(size)
      for (const [offset, text] of marks) await file.write(text, offset)
      await file.close()
    })
    return path
  }).pipe(Effect.provide(NodeContext.layer))

/** From now on, each request of the page passes through a service worker. */
export const throughServiceWorker = (page: Page): Effect.Effect<void> =>
  Effect.promise(() =>
    page.evaluate(async () => {
      const controlled = new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve))
      await navigator.serviceWorker.register("/worker.js")
      await controlled
    })
  )

// Chromium takes a file's size and time when a page first asks for them: what changes before that has not changed
export const choose = (page: Page, path: string): Effect.Effect<void> =>
  Effect.promise(async () => {
    await page.setInputFiles("input", path)
    await page.evaluate(() => document.querySelector("input")?.files?.item(0)?.size)
  })

export const start = (page: Page, wishes: Wishes): Effect.Effect<void> =>
  Effect.promise(() => page.evaluate((wishes) => window.stevedore.start(wishes), wishes))

export const outcome = (page: Page): Effect.Effect<Outcome> =>
  Effect.promise(() => page.evaluate(() => window.stevedore.outcome()))

export const upload = (page: Page, wishes: Wishes): Effect.Effect<Outcome> =>
  Effect.zipRight(start(page, wishes), outcome(page))

export const points = (page: Page): Effect.Effect<ReadonlyArray<Point>> =>
  Effect.promise(() => page.evaluate(() => window.stevedore.points()))

export const cancel = (page: Page): Effect.Effect<void> =>
  Effect.promise(() => page.evaluate(() => window.stevedore.cancel()))

export const pause = (page: Page): Effect.Effect<void> =>
  Effect.promise(() => page.evaluate(() => window.stevedore.pause()))

export const resume = (page: Page): Effect.Effect<void> =>
  Effect.promise(() => page.evaluate(() => window.stevedore.resume()))

/** Goes on with an unfinished upload, with the file that was chosen. */
export const resumeChosen = (page: Page, id: string): Effect.Effect<Outcome> =>
  Effect.promise(() => page.evaluate((id) => window.stevedore.resumeChosen(id), id))

export const unfinished = (page: Page): Effect.Effect<Awaited<ReturnType<PageApi["unfinished"]>>> =>
  Effect.promise(() => page.evaluate(() => window.stevedore.unfinished()))

/** Until something holds in the page, or it is clear that it never will. */
export const until = (page: Page, holds: () => boolean): Effect.Effect<void> =>
  Effect.promise(async () => {
    await page.waitForFunction(holds, undefined, { polling: 20, timeout: 20_000 })
  })
