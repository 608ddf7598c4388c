import { HttpRouter, HttpServerResponse } from "@effect/platform"
import { NodeContext, NodeHttpServer } from "@effect/platform-node"
import { describe, it } from "@effect/vitest"
import { SandboxHttp } from "@stevedore/testing"
import { Effect } from "effect"
import { createServer } from "node:http"
import { chromium } from "playwright-core"
import { chromiumPath } from "../../../../.ci/optional-suites.mjs"
import type { Tried } from "../../runtimes/Everything.js"
import * as Runtimes from "./support/runtimes.js"

// runs in the page
const ask = async (setting: unknown): Promise<Readonly<Record<string, Tried>>> => {
  await navigator.serviceWorker.register("/worker.js", { type: "module" })
  const { active } = await navigator.serviceWorker.ready
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = ({ data }) => resolve(data)
    active?.postMessage(setting, [port2])
  })
}

describe("a runtime does what its row in the guide says", () => {
  it.scopedLive("a service worker in Chromium", () =>
    Effect.gen(function*() {
      const sandbox = yield* Runtimes.sandbox
      const setting = Runtimes.settingOf(sandbox)
      const script = yield* Runtimes.webScript("ServiceWorker")
      const sockets = createServer()
      const server = yield* NodeHttpServer.make(() => sockets, { port: 0, host: "127.0.0.1" })
      yield* Effect.addFinalizer(() => Effect.sync(() => sockets.closeAllConnections()))
      const origin = server.address._tag === "TcpAddress" ? `http://127.0.0.1:${server.address.port}` : ""
      yield* server.serve(
        HttpRouter.empty.pipe(
          HttpRouter.get("/", HttpServerResponse.text("<!doctype html>", { contentType: "text/html" })),
          HttpRouter.get("/worker.js", HttpServerResponse.text(script, { contentType: "text/javascript" })),
          // a service lets no other origin read its answers: the page's own server stands before it
          Effect.catchTag("RouteNotFound", () => SandboxHttp.apps(sandbox).api)
        )
      )
      const browser = yield* Effect.acquireRelease(
        Effect.promise(() =>
          chromium.launch({
            executablePath: chromiumPath ?? "chromium",
            args: ["--no-sandbox", "--disable-dev-shm-usage"]
          })
        ),
        (browser) => Effect.promise(() => browser.close())
      )
      const answer = yield* Effect.promise(async () => {
        const page = await browser.newPage()
        await page.goto(origin)
        return page.evaluate(ask, { ...setting, baseUrl: setting.baseUrl.replace(sandbox.apiOrigin, origin) })
      })
      Runtimes.assertSaid("a service worker", answer, false)
    }).pipe(Effect.provide(NodeContext.layer)))
})
