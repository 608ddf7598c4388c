import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import * as BrowserDemo from "../../../../examples/browser/server/BrowserDemo.js"
import { Chromium, ChromiumLive } from "../support/chromium.js"
import { choose, text } from "../support/chromiumPage.js"
import { bundled } from "../support/engine.js"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const page = Effect.gen(function*() {
  const script = yield* bundled({
    stdin: {
      contents: "import { goLive } from \"./live\"; goLive(document.querySelector(\"stevedore-upload\"))",
      resolveDir: path("../../../../docs/.vitepress/theme")
    }
  })
  return new Map<string, string>([
    [
      "/index.html",
      "<!doctype html><html lang=en><title>Live</title><link rel=icon href='data:,'>"
      + "<body><stevedore-upload></stevedore-upload><script src=live.js></script>"
    ],
    ["/live.js", script]
  ])
})

layer(ChromiumLive, { excludeTestServices: true, timeout: "2 minutes" })("the element in its page", (it) => {
  it.scoped("uploads, pauses and refuses with no request to anybody", () =>
    Effect.gen(function*() {
      const browser = yield* Chromium
      const demo = yield* BrowserDemo.start({ files: yield* page })
      const tab = yield* Effect.acquireRelease(
        Effect.promise(() => browser.newPage()),
        (tab) => Effect.promise(() => tab.close())
      )
      const [requests, errors]: [Array<string>, Array<string>] = [[], []]
      tab.on("request", (request) => requests.push(request.url().slice(demo.origin.length)))
      tab.on("pageerror", (error) => errors.push(error.message))
      yield* Effect.promise(() => tab.goto(demo.origin))
      const isShown = (selector: string) => Effect.promise(() => tab.locator(selector).first().waitFor())
      yield* isShown("#choose-files")
      yield* choose(tab, [text("a.txt"), text("slow.bin", 6_000_000), text("tiny.txt", 3), text("empty.txt", 0)])
      yield* isShown("#refused")
      yield* isShown("li[data-state=uploading]")
      yield* Effect.promise(() => tab.getByRole("button", { name: "Pause slow.bin" }).click())
      yield* isShown("li[data-state=paused]")
      yield* Effect.promise(() => tab.getByRole("button", { name: "Resume slow.bin" }).click())
      yield* isShown("#done")
      assert.strictEqual(yield* Effect.promise(() => tab.locator("li[data-state=completed]").count()), 3)
      assert.deepStrictEqual(requests, ["/", "/live.js"])
      assert.deepStrictEqual(errors, [])
    }).pipe(Effect.provide(NodeContext.layer)))
})
