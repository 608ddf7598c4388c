import { FileSystem, HttpRouter, type HttpServer, HttpServerResponse, Path } from "@effect/platform"
import { NodeContext, NodeHttpServer } from "@effect/platform-node"
import { assert } from "@effect/vitest"
import { NodeStevedore, StevedoreHttpApp } from "@stevedore/node"
import {
  FaultScript,
  type ObjectStore,
  ObjectStoreMemory,
  type Sandbox,
  SandboxHttp,
  type SandboxOptions
} from "@stevedore/testing"
import { Effect, Layer, Redacted, Schedule, type Scope } from "effect"
import { open } from "node:fs/promises"
import { createServer } from "node:http"
import { Engine, inPage, type Session, type Tab } from "./engine.js"
import type { Outcome, PageApi, Point, Wishes } from "./page.js"

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
  readonly session: Session
  readonly page: Tab
  readonly anotherTab: Effect.Effect<Tab>
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
      text(
        "<!doctype html><title>page</title><link rel=icon href='data:,'><input type=file><script src=/page.js></script>",
        "text/html"
      )
    ),
    HttpRouter.get("/page.js", text(script, "text/javascript")),
    HttpRouter.get("/worker.js", text(serviceWorker, "text/javascript")),
    HttpRouter.get("/elsewhere/*", HttpServerResponse.redirect("/")),
    HttpRouter.post("/elsewhere/*", HttpServerResponse.redirect("/")),
    HttpRouter.mountApp("/api", backend),
    Effect.catchTag("RouteNotFound", () => HttpServerResponse.empty({ status: 404 }))
  )
}

export const make = (
  { store, ...options }: WorldOptions = {}
): Effect.Effect<World, never, Engine | Scope.Scope> =>
  Effect.gen(function*() {
    const engine = yield* Engine
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
    yield* pages.serve(Effect.provide(served(engine.script), services))
    const origin = originOf(pages)
    const session = yield* engine.session
    const fs = yield* FileSystem.FileSystem
    const anotherTab = Effect.promise(() => session.open(origin))
    return {
      sandbox,
      origin,
      session,
      anotherTab,
      page: yield* anotherTab,
      directory: yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-" })
    }
  }).pipe(Effect.provide(NodeContext.layer), Effect.orDie)

/** A file of so many bytes on disk, with holes where nothing is written. */
export const sparseFile = (
  { directory }: Pick<World, "directory">,
  name: string,
  size: number,
  marks: ReadonlyArray<readonly [offset: number, text: string]> = []
): Effect.Effect<string> =>
  Effect.gen(function*() {
    const { join } = yield* Path.Path
    const path = join(directory, name)
    yield* Effect.promise(async () => {
      const file = await open(path, "w")
      await file.truncate(size)
      for (const [offset, text] of marks) await file.write(text, offset)
      await file.close()
    })
    return path
  }).pipe(Effect.provide(NodeContext.layer))

/** From now on, each request of the page passes through a service worker. */
export const throughServiceWorker = (page: Tab): Effect.Effect<void> =>
  inPage(page, async () => {
    const controlled = new Promise((resolve) => navigator.serviceWorker.addEventListener("controllerchange", resolve))
    await navigator.serviceWorker.register("/worker.js")
    await controlled
  }, null)

// Chromium takes a file's size and time when a page first asks for them: what changes before that has not changed
export const choose = (page: Tab, path: string): Effect.Effect<void> =>
  Effect.zipRight(
    Effect.promise(() => page.choose(path)),
    inPage(page, () => void document.querySelector("input")?.files?.item(0)?.size, null)
  )

export const reload = (page: Tab): Effect.Effect<void> => Effect.promise(() => page.reload())

export const close = (page: Tab): Effect.Effect<void> => Effect.promise(() => page.close())

export const start = (page: Tab, wishes: Wishes): Effect.Effect<void> =>
  inPage(page, (wishes) => window.stevedore.start(wishes), wishes)

export const outcome = (page: Tab): Effect.Effect<Outcome> => inPage(page, () => window.stevedore.outcome(), null)

export const upload = (page: Tab, wishes: Wishes): Effect.Effect<Outcome> =>
  Effect.zipRight(start(page, wishes), outcome(page))

export const points = (page: Tab): Effect.Effect<ReadonlyArray<Point>> =>
  inPage(page, () => window.stevedore.points(), null)

export const cancel = (page: Tab): Effect.Effect<void> => inPage(page, () => window.stevedore.cancel(), null)

export const pause = (page: Tab): Effect.Effect<void> => inPage(page, () => window.stevedore.pause(), null)

export const resume = (page: Tab): Effect.Effect<void> => inPage(page, () => window.stevedore.resume(), null)

/** Goes on with an unfinished upload, with the file that was chosen. */
export const resumeChosen = (page: Tab, id: string): Effect.Effect<Outcome> =>
  inPage(page, (id) => window.stevedore.resumeChosen(id), id)

export const unfinished = (page: Tab): Effect.Effect<Awaited<ReturnType<PageApi["unfinished"]>>> =>
  inPage(page, () => window.stevedore.unfinished(), null)

/** Until something holds in the page, or it is clear that it never will. */
export const until = (page: Tab, holds: () => boolean): Effect.Effect<void> =>
  inPage(page, holds, null).pipe(
    Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: (held) => held }),
    Effect.timeout("60 seconds"),
    Effect.orDie
  )

export const uploaded = (outcome: Outcome) => {
  assert(outcome._tag === "Uploaded", JSON.stringify(outcome))
  return outcome
}

export const failed = (outcome: Outcome) => {
  assert(outcome._tag === "Failed", JSON.stringify(outcome))
  return outcome
}

/** Storage has the first part, and the second does not move. */
export const stuck = FaultScript.on("putPart").part(2).stall("connect")

/** How many requests there were for an operation. */
export const counted = ({ sandbox }: World, operation: string): Effect.Effect<number> =>
  Effect.map(
    sandbox.report,
    ({ requests }) => requests.filter((request) => request.operation === operation).length
  )

/** Until the second part is on its way. It would otherwise be a later attempt that does not move, until its timers end. */
export const untilStuck = (world: World): Effect.Effect<void> =>
  Effect.repeat(counted(world, "putPart"), { schedule: Schedule.spaced("20 millis"), until: (puts) => puts === 2 })
