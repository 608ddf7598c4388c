import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Effect, Layer } from "effect"
import { rmSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Page } from "playwright-core"
import { element } from "../laws/element.js"
import { ChromiumLive } from "../support/chromium.js"
import { choose, opened, text, violations } from "../support/chromiumPage.js"
import { ExamplePage } from "../support/examplePage.js"
import { scenes } from "../support/scenes.js"

/** A folder for pictures of every state, for whoever wants to look at them. */
const pictures = process.env.STEVEDORE_SCREENSHOTS

/** What the element has told by its events. */
const listening = (page: Page) =>
  Effect.promise(() =>
    page.evaluate(() => {
      const upload = document.querySelector("stevedore-upload")
      const told: Array<string> = []
      Object.assign(window, { told })
      for (const type of ["added", "refused", "completed", "failed", "idle"]) {
        document.addEventListener(type, (event) => {
          if (!(event instanceof CustomEvent) || event.target !== upload) return
          const { item, items, refused, totals } = event.detail
          const names = (items ?? refused ?? []).map(({ name }: { name: string }) => name).join()
          told.push(
            `${type} ${item === undefined ? names : `${item.name} ${item.result?.name ?? item.error.tag}`}`
              + `${totals?.state ?? ""}`
          )
        })
      }
    })
  )

/** A folder `photos` on disk with these files. */
const folder = (files: Readonly<Record<string, string>>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const directory = join(yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-" }), "photos")
    for (const [name, content] of Object.entries(files)) {
      yield* fs.makeDirectory(dirname(join(directory, name)), { recursive: true })
      yield* fs.writeFileString(join(directory, name), content)
    }
    return { directory }
  }).pipe(Effect.provide(NodeContext.layer), Effect.orDie)

const told = (page: Page) => Effect.promise(() => page.evaluate(() => Reflect.get(window, "told") as Array<string>))

const isSaid = (page: Page, words: string) =>
  Effect.promise(() => page.locator("#announcements", { hasText: words }).waitFor())

element(ChromiumLive, "Chromium")

layer(Layer.merge(ChromiumLive, ExamplePage.Live), {
  excludeTestServices: true,
  timeout: "3 minutes"
})("the element in Chromium, by its tools", (it) => {
  it.scoped("tells the page by events what was added, refused, completed and failed, and when nothing proceeds", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("put").times(1).answer(403, "AccessDenied") })
      yield* listening(page)
      yield* choose(page, [text("a.txt"), text("empty.txt", 0)])
      yield* isSaid(page, "0 of 1 file uploaded, 1 failed.")
      assert.sameMembers(yield* told(page), [
        "added a.txt",
        "refused empty.txt",
        "failed a.txt StorageForbidden",
        "idle failed"
      ])
      yield* Effect.promise(() => page.getByRole("button", { name: "Retry a.txt" }).click())
      yield* isSaid(page, "1 file uploaded.")
      assert.deepStrictEqual((yield* told(page)).slice(4), ["completed a.txt a.txt", "idle completed"])
    }))

  it.scoped("accepts what its attributes say, or else its limits, and tells visitors why not", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({})
      const refusals = (attributes: Readonly<Record<string, string>>, limits: object | undefined) =>
        Effect.promise(() =>
          page.evaluate(async ([attributes, limits]) => {
            const upload = document.createElement("stevedore-upload")
            for (const [name, value] of Object.entries(attributes)) upload.setAttribute(name, value)
            if (limits !== undefined) Object.assign(upload, { limits })
            const refused: Array<string> = []
            upload.addEventListener("refused", ({ detail }) => {
              for (const { message, name } of detail.refused) refused.push(`${name}: ${message}`)
            })
            document.body.append(upload)
            const file = (name: string, size: number) => new File([new Uint8Array(size)], name)
            await upload.add([
              file("a.txt", 10),
              file("b.txt", 200),
              file("c.exe", 10),
              file("d.txt", 10),
              file("e.txt", 10)
            ])
            await upload.queue?.dispose()
            upload.remove()
            return refused
          }, [attributes, limits] as const)
        )
      const told = [
        "b.txt: It has 200 bytes; at most 100 bytes are accepted.",
        "c.exe: Only TXT are accepted.",
        "e.txt: At most 2 files are accepted."
      ]
      const attributes = { "max-size": "0.1 kB", "max-files": "2", accept: ".txt" }
      assert.deepStrictEqual(yield* refusals(attributes, undefined), told)
      assert.deepStrictEqual(yield* refusals({}, { size: 100, files: 2, accept: [".txt"] }), told)
      assert.deepStrictEqual(
        yield* refusals({ ...attributes, "max-total": "25" }, { size: 1000, files: 9, accept: undefined, total: 40 }),
        ["b.txt: At most 40 bytes are accepted in all."]
      )
    }))

  it.scoped("gives each file the metadata of its property, or else of its attribute, as it is by then", () =>
    Effect.gen(function*() {
      const { page } = yield* opened()
      const given = yield* Effect.promise(() =>
        page.evaluate(async () => {
          const upload = document.createElement("stevedore-upload")
          upload.setAttribute("metadata", "{\"album\":\"7\"}")
          const given: Array<unknown> = []
          upload.addEventListener("added", ({ detail }) => given.push(detail.items[0]?.metadata))
          document.body.append(upload)
          await upload.add([new File(["a"], "a.txt")])
          upload.metadata = { album: "8" }
          await upload.add([new File(["b"], "b.txt")])
          upload.metadata = undefined
          upload.setAttribute("metadata", "album 7")
          upload.addEventListener("refused", ({ detail }) => given.push(detail.refused))
          await upload.add([new File(["c"], "c.txt")])
          await upload.queue?.dispose()
          return given
        })
      )
      assert.deepStrictEqual(given.slice(0, 2), [{ album: "7" }, { album: "8" }])
      // neither uploaded without it nor lost without a word
      assert.deepStrictEqual(given.slice(2), [[{
        name: "c.txt",
        size: 1,
        reason: "WrongAttribute",
        message: "Something on this site does not work. Try again, or contact its owner."
      }]])
    }))

  it.scoped("offers no pause while a file waits for its last answer", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("put").always().delay("1 minute") })
      yield* choose(page, [text("a.txt")])
      yield* Effect.promise(() => page.locator("li[data-state=finishing] .bar").waitFor())
      const buttons = yield* Effect.promise(() =>
        page.locator("#queue button:visible").evaluateAll((all) =>
          all.map(({ ariaLabel, textContent }) => ariaLabel ?? textContent)
        )
      )
      assert.deepStrictEqual(buttons, ["Cancel all", "Cancel a.txt"])
    }))

  it.scoped("shows no empty bar of a file that failed before a byte was sent", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("initiate").times(1).answer(400) })
      yield* choose(page, [text("a.txt")])
      yield* isSaid(page, "0 of 1 file uploaded, 1 failed.")
      assert.isFalse(yield* Effect.promise(() => page.locator("li .bar").isVisible()))
      yield* Effect.promise(() => page.getByRole("button", { name: "Retry a.txt" }).click())
      yield* isSaid(page, "1 file uploaded.")
    }))

  it.scoped("takes a folder that was chosen, with all that is within it, under its paths", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* opened()
      const { directory } = yield* folder({
        "a.txt": "a",
        "deep/er/b.txt": "b",
        "deep/a.txt": "another",
        "none.txt": ""
      })
      // by the button and its file chooser, as a visitor does
      const chooser = page.waitForEvent("filechooser")
      yield* Effect.promise(() => page.getByRole("button", { name: "Choose folder" }).click())
      yield* Effect.promise(async () => (await chooser).setFiles(directory))
      yield* isSaid(page, "3 files uploaded.")
      const files = yield* sandbox.files
      assert.sameMembers(files.map(({ name, status }) => `${name} ${status}`), [
        "photos/a.txt completed",
        "photos/deep/a.txt completed",
        "photos/deep/er/b.txt completed"
      ])
      yield* Effect.promise(() => page.getByText("photos/none.txt was not added. It is empty or gone.").waitFor())
    }))

  it.scoped("says of a file that was deleted after it was chosen that it may be gone", () =>
    Effect.gen(function*() {
      const { page } = yield* opened()
      const { directory } = yield* folder({ "gone.txt": "gone" })
      yield* Effect.promise(() =>
        page.evaluate(() => document.body.append(Object.assign(document.createElement("input"), { type: "file" })))
      )
      const input = page.locator("body > input")
      yield* Effect.promise(() => input.setInputFiles(join(directory, "gone.txt")))
      rmSync(join(directory, "gone.txt"))
      yield* Effect.promise(() =>
        input.evaluate((one: HTMLInputElement) =>
          document.querySelector("stevedore-upload")?.add(Array.from(one.files ?? []))
        )
      )
      yield* Effect.promise(() => page.getByText("gone.txt was not added. It is empty or gone.").waitFor())
      assert.strictEqual(yield* Effect.promise(() => page.locator("li").count()), 0)
    }))

  it.scoped("has slots for its texts, and parts and custom properties for its look", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({})
      yield* Effect.promise(() =>
        page.evaluate(() => {
          const upload = document.querySelector("stevedore-upload")
          if (upload === null) return
          const slotted = (slot: string, text: string) => {
            const span = document.createElement("span")
            span.slot = slot
            span.textContent = text
            upload.append(span)
          }
          slotted("invitation", "Drop your photos")
          slotted("done", "See your album")
          upload.linkOf = ({ name }) => `https://files.example/${name}`
        })
      )
      yield* Effect.promise(() =>
        page.addStyleTag({
          content:
            "stevedore-upload { --stevedore-good: rgb(1, 2, 3) } stevedore-upload::part(name) { color: rgb(4, 5, 6) }"
        })
      )
      yield* Effect.promise(() => page.getByText("Drop your photos").waitFor())
      yield* choose(page, [text("a.txt")])
      yield* Effect.promise(() => page.getByText("See your album").waitFor())
      const colour = (selector: string) =>
        Effect.promise(() => page.locator(selector).evaluate((element) => getComputedStyle(element).color))
      assert.strictEqual(yield* colour("#done"), "rgb(1, 2, 3)")
      assert.strictEqual(yield* colour("li .name"), "rgb(4, 5, 6)")
      const link = page.getByRole("link", { name: "Open a.txt" })
      assert.strictEqual(yield* Effect.promise(() => link.getAttribute("href")), "https://files.example/a.txt")
      yield* Effect.promise(() => page.context().grantPermissions(["clipboard-read", "clipboard-write"]))
      yield* Effect.promise(() => page.getByRole("button", { name: "Copy link to a.txt" }).click())
      yield* isSaid(page, "Link copied.")
      const copied = yield* Effect.promise(() => page.evaluate(() => navigator.clipboard.readText()))
      assert.strictEqual(copied, "https://files.example/a.txt")
    }))

  it.scoped("shows an image as it is, and folds more than three uploaded files", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({})
      yield* Effect.promise(() => scenes["done"]?.reach(page) ?? Promise.reject())
      yield* Effect.promise(() => page.locator("li canvas").waitFor())
      assert.isTrue(yield* Effect.promise(() => page.locator("li canvas").isVisible()))
      yield* choose(page, [text("fourth.txt")])
      yield* isSaid(page, "4 files uploaded.")
      assert.isFalse(yield* Effect.promise(() => page.locator("li canvas").isVisible()))
      yield* Effect.promise(() => page.locator("details > summary").click())
      assert.isTrue(yield* Effect.promise(() => page.locator("li canvas").isVisible()))
    }))

  it.scoped("puts what can be done with all files into a menu where it is narrow, for the keyboard too", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("initiate").always().delay("1 minute") })
      yield* Effect.promise(() => page.setViewportSize({ width: 360, height: 800 }))
      yield* choose(page, [text("a.txt"), text("b.txt")])
      const [more, cancel] = [page.locator("#more"), page.locator("#cancel-all")]
      const focused = Effect.promise(() => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.id))
      yield* Effect.promise(() => more.waitFor())
      assert.isFalse(yield* Effect.promise(() => cancel.isVisible()))
      yield* Effect.promise(() => more.focus())
      yield* Effect.promise(() => page.keyboard.press("Enter"))
      assert.strictEqual(yield* Effect.promise(() => more.getAttribute("aria-expanded")), "true")
      yield* Effect.promise(() => page.keyboard.press("Tab"))
      assert.strictEqual(yield* focused, "cancel-all")
      yield* Effect.promise(() => page.keyboard.press("Escape"))
      assert.strictEqual(yield* focused, "more")
      assert.isFalse(yield* Effect.promise(() => cancel.isVisible()))
      yield* Effect.promise(async () => {
        for (const key of ["Enter", "Tab", "Enter"]) await page.keyboard.press(key)
        await page.locator("li[data-state=cancelled]").nth(1).waitFor()
      })
      // one button that is left needs no menu, and has the focus
      assert.strictEqual(yield* focused, "clear")
      yield* Effect.promise(() => page.setViewportSize({ width: 1280, height: 800 }))
      assert.isFalse(yield* Effect.promise(() => more.isVisible()))
    }))

  it.scoped("has a line for each file that waits, in a list that scrolls below its summary, and says once what is done", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("initiate").times(3).delay("4 seconds") })
      yield* choose(page, Array.from({ length: 40 }, (_, index) => text(`${"A long name ".repeat(8)}${index}.txt`)))
      yield* Effect.promise(() => page.locator("li[data-state=preparing]").nth(2).waitFor())
      for (const width of [320, 360, 1280]) {
        yield* Effect.promise(() => page.setViewportSize({ width, height: 800 }))
        const found = yield* Effect.promise(() =>
          page.locator(".files").evaluate((files) => {
            files.scrollTop = files.scrollHeight
            return {
              waiting: files.querySelectorAll(".waiting li").length,
              highest: Math.max(...Array.from(files.querySelectorAll(".waiting li"), (row) => row.clientHeight)),
              page: document.documentElement.scrollHeight,
              isBelow: (files.parentElement?.querySelector(".summary")?.getBoundingClientRect().bottom ?? Infinity)
                <= files.getBoundingClientRect().top
            }
          })
        )
        assert.deepInclude(found, { waiting: 37, isBelow: true })
        assert.isAtMost(found.highest, 56, `${width}`)
        assert.isBelow(found.page, 1200, `${width}`)
      }
      yield* isSaid(page, "40 files uploaded.")
      const told = yield* Effect.promise(() => page.locator("#queue").innerText())
      assert.lengthOf(told.match(/uploaded|\bof\b/g) ?? [], 1, told)
    }))

  it.scoped("makes and changes the rows of 2,000 files a few at a time, so that the page answers meanwhile", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("initiate").always().delay("1 minute") })
      const touched = yield* Effect.promise(() =>
        page.evaluate(async () => {
          const upload = document.querySelector("stevedore-upload")
          const root = upload?.shadowRoot
          if (!root) return {}
          let most = 0
          const rowOf = (node: Node) => (node instanceof Element ? node : node.parentElement)?.closest("li")
          // it is called after each task that has changed something
          new MutationObserver((records) => {
            const rows = new Set(records.flatMap(({ addedNodes, target }) => [target, ...addedNodes].map(rowOf)))
            most = Math.max(most, rows.size - (rows.has(null) ? 1 : 0))
          }).observe(root, { childList: true, subtree: true, attributes: true, characterData: true })
          const after = async (act: () => unknown, isDone: () => boolean) => {
            most = 0
            act()
            for (let tries = 0; tries < 600 && !isDone(); tries++) {
              await new Promise((resolve) => setTimeout(resolve, 50))
            }
            return isDone() ? most : Infinity
          }
          const count = (selector: string) => root.querySelectorAll(selector).length
          const click = (id: string) => root.getElementById(id)?.click()
          const files = Array.from({ length: 2000 }, (_, index) => new File([`${index}`], `${index}.txt`))
          const size = (node: Node): number => Array.from(node.childNodes, size).reduce((sum, one) => sum + one, 1)
          return {
            added: await after(() => upload.add(files), () => count("li") === 2000),
            hundredNodes: size(root) / 100,
            paused: await after(() => click("pause-all"), () => count("li[data-state=paused]") === 2000),
            resumed: await after(() => click("resume-all"), () => count("li[data-state=queued]") > 1990),
            cancelled: await after(() => click("cancel-all"), () => count("li[data-state=cancelled]") === 2000),
            again: await after(() => upload.queue?.retry(), () => count("li[data-state=queued]") > 1990)
          }
        })
      )
      assert.sameMembers(Object.keys(touched), ["added", "hundredNodes", "paused", "resumed", "cancelled", "again"])
      // only what is near the window is there whole
      // and those that run
      for (const [act, most] of Object.entries(touched)) assert.isAtMost(most, 60, act)
    }))

  it.scoped("has one primary action, and shows what is uploaded before what waits", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({
        faults: FaultScript.on("put").times(1).answer(403, "AccessDenied").and(
          FaultScript.on("initiate").after(2).always().delay("1 minute")
        )
      })
      const primary = Effect.promise(() =>
        page.locator("#all").evaluate((all) =>
          Array.from(all.querySelectorAll("button"))
            .filter((button) =>
              button.checkVisibility() && getComputedStyle(button).backgroundColor === "rgb(11, 98, 196)"
            )
            .map(({ id }) => id)
        )
      )
      yield* Effect.promise(() => page.setViewportSize({ width: 1280, height: 1000 }))
      assert.deepStrictEqual(yield* primary, ["choose-files"])
      yield* choose(page, [text("failed.txt")])
      yield* isSaid(page, "0 of 1 file uploaded, 1 failed.")
      assert.deepStrictEqual(yield* primary, ["retry-all"])
      yield* choose(page, [text("done.txt")])
      yield* isSaid(page, "1 of 2 files uploaded, 1 failed.")
      yield* choose(page, Array.from({ length: 30 }, (_, index) => text(`${index}.txt`)))
      yield* Effect.promise(() => page.locator("li[data-state=queued]").nth(26).waitFor())
      const shown = yield* Effect.promise(() =>
        page.locator(".files").evaluate((files) => {
          const done = files.querySelector("li[data-state=completed]")?.getBoundingClientRect()
          return done !== undefined && done.bottom <= files.getBoundingClientRect().bottom
        })
      )
      assert.isTrue(shown)
      yield* Effect.promise(() => page.locator("#pause-all").click())
      yield* Effect.promise(() => page.locator("#resume-all").waitFor())
      assert.deepStrictEqual(yield* primary, ["resume-all"])
      yield* Effect.promise(() => page.locator("#cancel-all").click())
      yield* Effect.promise(() => page.locator("#clear").click())
      assert.deepStrictEqual(yield* primary, ["retry-all"])
    }))

  it.scoped("keeps its bars visible in forced colours, and does not move where motion is not wanted", () =>
    Effect.gen(function*() {
      const { page } = yield* opened()
      const styleOf = (selector: string, property: string) =>
        Effect.promise(() =>
          page.locator(selector).first().evaluate(
            (element, property) => getComputedStyle(element).getPropertyValue(property),
            property
          )
        )
      yield* choose(page, [text("a.txt")])
      yield* isSaid(page, "1 file uploaded.")
      yield* Effect.promise(() => page.emulateMedia({ reducedMotion: "no-preference" }))
      assert.strictEqual(yield* styleOf("#done svg", "animation-name"), "pop")
      yield* Effect.promise(() => page.emulateMedia({ reducedMotion: "reduce", forcedColors: "active" }))
      assert.strictEqual(yield* styleOf("#done svg", "animation-name"), "none")
      const [bar, card] = yield* Effect.all([
        styleOf(".bar .confirmed", "background-color"),
        styleOf("#queue", "background-color")
      ])
      assert.notStrictEqual(bar, card)
      assert.strictEqual(yield* styleOf(".bar", "border-top-style"), "solid")
      assert.deepStrictEqual(yield* violations(page), [])
    }))

  for (const [name, scene] of Object.entries(scenes)) {
    it.scoped(`has no violation that axe finds and is never wider than its place: ${name}`, () =>
      Effect.gen(function*() {
        const { page } = yield* opened(scene)
        yield* Effect.promise(() => scene.reach(page))
        for (const width of [360, 1000, 1280]) {
          yield* Effect.promise(() => page.setViewportSize({ width, height: 800 }))
          const overflow = yield* Effect.promise(() =>
            page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
          )
          assert.isAtMost(overflow, 0, `${width}`)
          for (const colorScheme of ["light", "dark"] as const) {
            yield* Effect.promise(() => page.emulateMedia({ colorScheme }))
            // the wide layouts have the colours of the narrow one
            if (width === 360) assert.deepStrictEqual(yield* violations(page), [], colorScheme)
            if (pictures === undefined) continue
            const path = join(pictures, `${name}-${width}-${colorScheme}.png`)
            yield* Effect.promise(() => page.screenshot({ path, fullPage: true }))
          }
        }
        // offline, no other language can be loaded
        if (pictures === undefined || name === "offline") return
        yield* Effect.promise(() => page.emulateMedia({ colorScheme: "light" }))
        yield* Effect.promise(() =>
          page.locator("stevedore-upload").evaluate((upload) => upload.setAttribute("lang", "ar"))
        )
        yield* Effect.promise(() => page.locator("#all[dir=rtl]").waitFor())
        for (const width of [360, 1000]) {
          yield* Effect.promise(() => page.setViewportSize({ width, height: 800 }))
          const path = join(pictures, `${name}-${width}-arabic.png`)
          yield* Effect.promise(() => page.screenshot({ path, fullPage: true }))
        }
      }))
  }
})
