import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Plugin } from "esbuild"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { compile } from "svelte/compiler"
import * as BrowserDemo from "../../../../examples/browser/server/BrowserDemo.js"
import { Chromium, ChromiumLive } from "../support/chromium.js"
import { bundled } from "../support/engine.js"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const svelte: Plugin = {
  name: "svelte",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
      const { js, warnings } = compile(await readFile(path, "utf8"), { filename: path, generate: "client" })
      return { contents: js.code, warnings: warnings.map(({ message }) => ({ text: message })) }
    })
}

const page = Effect.gen(function*() {
  const script = yield* bundled({
    entryPoints: [path("../support/recipesPage.ts")],
    define: { "process.env.NODE_ENV": "\"production\"" },
    plugins: [svelte]
  })
  return new Map<string, string>([
    ["/index.html", "<!doctype html><html lang=en><title>Recipes</title><body><script src=recipes.js></script>"],
    ["/recipes.js", script]
  ])
})

/** The page of the recipes in a tab of its own. */
const opened = Effect.gen(function*() {
  const browser = yield* Chromium
  const demo = yield* BrowserDemo.start({ files: yield* page })
  const tab = yield* Effect.acquireRelease(
    Effect.promise(() => browser.newPage()),
    (tab) => Effect.promise(() => tab.close())
  )
  yield* Effect.promise(() => tab.goto(demo.origin))
  return { demo, tab }
})

layer(ChromiumLive, { excludeTestServices: true, timeout: "3 minutes" })("the recipes of the element", (it) => {
  it.scoped("each framework shows it, hands it properties and hears its events", () =>
    Effect.gen(function*() {
      const { demo, tab } = yield* opened
      for (const framework of ["react", "vue", "svelte", "solid"]) {
        const input = tab.locator(`#${framework} #files`)
        yield* Effect.promise(() => input.waitFor({ state: "attached" }))
        assert.strictEqual(yield* Effect.promise(() => input.getAttribute("accept")), ".txt", framework)
        yield* Effect.promise(() =>
          input.setInputFiles({ name: `${framework}.txt`, mimeType: "text/plain", buffer: Buffer.from("hello") })
        )
        yield* Effect.promise(() =>
          tab.waitForFunction(
            (told) => (Reflect.get(window, "said") as Array<string>).includes(told),
            `${framework}: ${framework}.txt`
          )
        )
      }
      const { length } = yield* demo.sandbox.files
      assert.strictEqual(length, 4)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("each framework turns each flag on and off", () =>
    Effect.gen(function*() {
      const { tab } = yield* opened
      yield* Effect.promise(() => tab.locator("#svelte-false stevedore-upload #files").waitFor({ state: "attached" }))
      for (const framework of ["react", "preact", "vue", "svelte", "solid", "property"]) {
        for (const is of [true, false]) {
          const found = yield* Effect.promise(() =>
            tab.locator(`#${framework}-${is} stevedore-upload`).evaluate((upload) => {
              const { disabled, multiple, required } = Object(upload)
              return { disabled, required, multiple, isDisabled: upload.matches(":disabled") }
            })
          )
          assert.deepStrictEqual(
            found,
            { disabled: is, required: is, multiple: is, isDisabled: is },
            `${framework} ${is}`
          )
        }
      }
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("what was set before the element was registered holds", () =>
    Effect.gen(function*() {
      const { tab } = yield* opened
      const input = tab.locator("#early #files")
      yield* Effect.promise(() => input.waitFor({ state: "attached" }))
      assert.strictEqual(yield* Effect.promise(() => input.getAttribute("accept")), ".pdf")
    }).pipe(Effect.provide(NodeContext.layer)))
})
