/** The example page in a tab of Chromium, driven by its own tools. */
import { NodeContext } from "@effect/platform-node"
import type { SandboxOptions } from "@stevedore/testing"
import axe from "axe-core"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import * as BrowserDemo from "../../../../examples/browser/server/BrowserDemo.js"
import { Chromium } from "./chromium.js"
import { ExamplePage } from "./examplePage.js"

export const text = (name: string, size = 1000) => ({ name, mimeType: "text/plain", buffer: Buffer.alloc(size, "a") })

export const opened = (behaviour: Omit<SandboxOptions.Options, "apiOrigin" | "storageOrigin"> = {}) =>
  Effect.gen(function*() {
    const browser = yield* Chromium
    const demo = yield* BrowserDemo.start({ files: yield* ExamplePage }, behaviour)
    const context = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newContext({ reducedMotion: "reduce" })),
      (context) => Effect.promise(() => context.close())
    )
    const page = yield* Effect.promise(() => context.newPage())
    yield* Effect.promise(() => page.goto(demo.origin))
    yield* Effect.promise(() => page.locator("#choose-files").waitFor())
    return { ...demo, page }
  }).pipe(Effect.provide(NodeContext.layer))

/** What axe finds in the current state of the page. */
export const violations = (page: Page) =>
  Effect.promise(async () => {
    await page.evaluate(axe.source)
    const found = await page.evaluate(() => Reflect.get(window, "axe").run())
    return (found.violations as Array<axe.Result>).map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)
  })

export const choose = (page: Page, files: Parameters<Page["setInputFiles"]>[1], input = "#files") =>
  Effect.promise(() => page.setInputFiles(input, files))
