// What a page gets back: a form from its browser, and an element from its server.
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { fileURLToPath } from "node:url"
import type { Browser, Page } from "playwright-core"
import { createElement } from "react"
import { renderToString } from "react-dom/server"
import * as BrowserDemo from "../../../../examples/browser/server/BrowserDemo.js"
import { Upload } from "../../../../examples/src/ReactElement.js"
import { Chromium, ChromiumLive, forgetful } from "../support/chromium.js"
import { choose, text } from "../support/chromiumPage.js"
import { inLanguage } from "../support/elementPage.js"
import { bundled } from "../support/engine.js"
import { ExamplePage } from "../support/examplePage.js"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const opened = (browser: Browser, files: BrowserDemo.Files) =>
  Effect.gen(function*() {
    const { origin } = yield* BrowserDemo.start({ files })
    const page = yield* Effect.acquireRelease(
      Effect.promise(() => browser.newPage()),
      (page) => Effect.promise(() => page.close())
    )
    yield* Effect.promise(() => page.goto(origin))
    yield* Effect.promise(() => page.locator("#choose-files").waitFor())
    return { origin, page }
  }).pipe(Effect.provide(NodeContext.layer))

const inForm = (files: BrowserDemo.Files): BrowserDemo.Files =>
  new Map(inLanguage(files, "en")).set(
    "/index.html",
    `${files.get("/index.html")}`.replace(
      /<stevedore-upload .*<\/stevedore-upload>/,
      "<form><stevedore-upload name=photos></stevedore-upload></form>"
    )
  )

const sent = (page: Page) =>
  Effect.promise(() =>
    page.evaluate(() => {
      const form = document.querySelector("form")
      return form === null ? [] : new FormData(form).getAll("photos")
    })
  )

/** A page that React has written on a server, and the script that takes it over. */
const hydrated = Effect.gen(function*() {
  const properties = { "max-files": 2 }
  const script = yield* bundled({
    stdin: {
      contents: `
        import { createElement } from "react"
        import { hydrateRoot } from "react-dom/client"
        import { Upload } from "./ReactElement"
        const told = []
        Object.assign(window, { told })
        hydrateRoot(document.getElementById("root"), createElement(Upload, {
          ...${JSON.stringify(properties)},
          limits: { size: 100 },
          metadata: { album: "7" },
          oncompleted: ({ detail }) => told.push(detail.item.name + " " + detail.item.metadata.album)
        }), { onRecoverableError: (error) => told.push(String(error)) })
      `,
      resolveDir: path("../../../../examples/src")
    },
    define: { "process.env.NODE_ENV": "\"development\"" }
  })
  return new Map<string, string>([
    [
      "/index.html",
      "<!doctype html><html lang=en><title>Hydrated</title><link rel=icon href='data:,'>"
      + `<div id=root>${renderToString(createElement(Upload, properties))}</div><script src=page.js></script>`
    ],
    ["/page.js", script]
  ])
})

layer(Layer.merge(ChromiumLive, ExamplePage.Live), {
  excludeTestServices: true,
  timeout: "2 minutes"
})("the element in a page that comes back", (it) => {
  const browsers = { kept: Chromium, "loaded again": forgetful }
  for (const [how, engine] of Object.entries(browsers)) {
    it.scoped(`has the files of its form after the back button, in a page that was ${how}`, () =>
      Effect.gen(function*() {
        const { origin, page } = yield* opened(yield* engine, inForm(yield* ExamplePage))
        yield* choose(page, [text("a.txt"), text("b.txt")])
        yield* Effect.promise(() => page.locator("#done").waitFor())
        const ids = yield* sent(page)
        assert.lengthOf(ids, 2)
        const { isKept, names } = yield* Effect.promise(async () => {
          await page.evaluate(() => Object.assign(window, { isKept: true }))
          await page.goto(`${origin}/elsewhere.html`)
          await page.goBack({ waitUntil: "commit" })
          await page.locator("#done").waitFor()
          return {
            isKept: await page.evaluate(() => Reflect.get(window, "isKept") === true),
            names: await page.locator("li .name").allTextContents()
          }
        })
        assert.strictEqual(isKept, how === "kept")
        assert.sameMembers(names, ["a.txt", "b.txt"])
        assert.sameMembers([...yield* sent(page)], [...ids])
      }))
  }

  it.scoped("takes on what React gives it where a server wrote it, and React finds nothing to mend", () =>
    Effect.gen(function*() {
      const { page } = yield* opened(yield* Chromium, yield* hydrated)
      const errors: Array<string> = []
      page.on("console", (line) => line.type() === "error" && errors.push(line.text()))
      yield* choose(page, [text("a.txt", 50), text("large.txt", 200), text("b.txt", 60), text("c.txt", 70)])
      yield* Effect.promise(() => page.locator("#done").waitFor())
      const refused = yield* Effect.promise(() => page.locator("#refused p").allInnerTexts())
      assert.deepStrictEqual(refused, [
        "large.txt was not added. It has 200 bytes; at most 100 bytes are accepted.",
        "c.txt was not added. At most 2 files are accepted."
      ])
      const told = yield* Effect.promise(() => page.evaluate(() => Reflect.get(window, "told") as Array<string>))
      assert.sameMembers(told, ["a.txt 7", "b.txt 7"])
      assert.deepStrictEqual(errors, [])
    }))
})
