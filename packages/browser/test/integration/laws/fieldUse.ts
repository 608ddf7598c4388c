// What a field does in a visitor's hands: what it offers, how it looks at what is dropped, and what it waits for.
import { assert, layer } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Effect, Layer } from "effect"
import * as Page from "../support/elementPage.js"
import { type Engine, inPage } from "../support/engine.js"
import { ExamplePage } from "../support/examplePage.js"
import { prepared } from "../support/fieldKit.js"

export const fieldUse = (engine: Layer.Layer<Engine>, browser: string) =>
  layer(Layer.merge(engine, ExamplePage.Live), {
    excludeTestServices: true,
    timeout: "4 minutes"
  })(`a field in use in ${browser}`, (it) => {
    it.scoped("offers what can help, replaces a single file, and takes on what changes at once", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened({ faults: FaultScript.on("initiate").times(1).answer(422) })
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, isBuilt, mounted, rows, shown, until } = window.kit
          const picture = (text: string) => new File([text], "image.png", { type: "image/png" })
          const said = (field: HTMLElement) => field.shadowRoot?.getElementById("limits")?.textContent
          const refused = mounted({})
          await refused.add([file("a.txt")])
          await until(() => refused.shadowRoot?.querySelector("li[data-state=failed]") != null)
          const final = [shown(refused, "li button"), shown(refused, "#retry-all")]
          const single = mounted({ "max-files": "1" })
          await until(() => isBuilt(single))
          const empty = [shown(single, ".ways button"), shown(single, ".invitation")]
          await single.add([file("first.pdf")])
          await until(() => single.value.length === 1)
          await single.add([file("second.pdf")])
          await until(() => single.value.length === 1 && rows(single).join() === "second.pdf")
          const replaced = rows(single)
          const waiting = mounted({ autostart: "false", accept: "image/*,.pdf", "max-size": "2 MB", "max-files": "4" })
          await until(() => isBuilt(waiting))
          const limits = shown(waiting, "#limits")
          await waiting.add([file("a.pdf"), file("b.pdf"), picture("one"), file("c.exe")])
          await until(() => rows(waiting).length === 3)
          await waiting.add([picture("another")])
          await until(() => rows(waiting).length === 4)
          const names = [...rows(waiting)].sort()
          const start = shown(waiting, "#start-all")
          const isPaused = shown(waiting, "#resume-all").length > 0
          waiting.lang = "de"
          await until(() => shown(waiting, "#start-all").join() === "4 Dateien hochladen")
          const german = [shown(waiting, "#start-all")[0], said(waiting)]
          const looks = ["drop", "queue"].map((id) => {
            const part = waiting.shadowRoot?.getElementById(id)
            return part == null ? "" : getComputedStyle(part).borderTopStyle
          })
          waiting.limits = { files: 9 }
          const live = said(waiting)
          return { final, empty, replaced, limits, names, start, isPaused, german, looks, live }
        }, null)
        assert.deepStrictEqual(found, {
          final: [["Remove"], []],
          empty: [["Choose file"], ["Drop a file here"]],
          replaced: ["second.pdf"],
          limits: ["Images or PDF, up to 2 MB, at most 4"],
          names: ["a.pdf", "b.pdf", "image 2.png", "image.png"],
          start: ["Upload 4 files"],
          isPaused: false,
          german: ["4 Dateien hochladen", "Bilder oder PDF, bis 2 MB und höchstens 4"],
          looks: ["dashed", "solid"],
          live: "Bilder oder PDF, bis 2 MB und höchstens 9"
        })
      }))

    it.scoped("waits for a line that was lost without the browser's word, says so, and goes on by itself", () =>
      Effect.gen(function*() {
        // more than an upload has attempts, also where a browser repeats each by itself
        const { page } = yield* Page.opened({ faults: FaultScript.on("put").after(1).times(12).reset() })
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, mounted, shown, told, until } = window.kit
          const field = mounted({})
          await field.add([file("first.txt")])
          await until(() => field.value.length === 1)
          await field.add([file("second.txt")])
          const said = new Set<string>()
          for (let tries = 0; tries < 6 && field.value.length < 2; tries++) {
            await until(() => {
              for (const words of shown(field, "li .state")) said.add(words)
              return field.value.length === 2
            })
          }
          const isSaid = Array.from(said).some((words) => /no.connection.*again.in/.test(words))
          return { isSaid, value: field.value.length, failed: told.filter((one) => one.startsWith("failed")) }
        }, null)
        assert.deepStrictEqual(found, { isSaid: true, value: 2, failed: [] })
      }))

    it.scoped("takes what is dropped where it says so, and no frame stays", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, isBuilt, mounted, pause, rows, until } = window.kit
          const field = mounted({ autostart: "false" })
          const other = document.createElement("div")
          document.body.append(other)
          other.addEventListener("drop", (event) => {
            event.preventDefault()
            event.stopPropagation()
          })
          await until(() => isBuilt(field))
          const drag = (type: string, target: Element, name: string) => {
            const dataTransfer = new DataTransfer()
            dataTransfer.items.add(file(name))
            const event = new DragEvent(type, { dataTransfer, bubbles: true, composed: true, cancelable: true })
            target.dispatchEvent(event)
            return event.defaultPrevented
          }
          const isOver = () => field.hasAttribute("data-over")
          const seen: Array<boolean> = []
          drag("dragover", document.body, "a.txt")
          seen.push(isOver())
          // at any time, and at once
          field.wholePage = true
          drag("dragover", document.body, "a.txt")
          seen.push(isOver())
          drag("drop", other, "b.txt")
          seen.push(isOver())
          drag("dragover", document.body, "a.txt")
          await pause(900)
          seen.push(isOver())
          seen.push(drag("drop", document.body, "c.txt"))
          field.wholePage = false
          seen.push(drag("drop", document.body, "d.txt"))
          field.disabled = true
          drag("dragover", field, "e.txt")
          seen.push(isOver(), drag("drop", field, "e.txt"))
          await until(() => rows(field).length > 0)
          await pause(100)
          return { seen, rows: rows(field) }
        }, null)
        assert.deepStrictEqual(found, {
          seen: [false, true, false, false, true, false, false, false],
          rows: ["c.txt"]
        })
      }))

    it.scoped("leaves out what systems leave in folders, and works without IndexedDB and without a word in the console", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, mounted, rows, shown, until } = window.kit
          Object.defineProperty(window, "indexedDB", { value: undefined })
          const uncaught: Array<string> = []
          for (const kind of ["error", "unhandledrejection"]) addEventListener(kind, () => uncaught.push(kind))
          const field = mounted({ "queue-name": "ada/7" })
          const inFolder = (name: string) =>
            Object.defineProperty(file(name), "webkitRelativePath", { value: `photos/${name}` })
          await field.add([inFolder(".DS_Store"), inFolder("Thumbs.db"), inFolder("1.jpg"), inFolder("._1.jpg")])
          await until(() => field.value.length === 1)
          return { uncaught, rows: rows(field), refused: shown(field, "#refused") }
        }, null)
        assert.deepStrictEqual(found, { uncaught: [], rows: ["photos/1.jpg"], refused: [] })
        assert.deepStrictEqual(page.errors?.() ?? [], [])
      }))

    it.scoped("writes a server's words in their own direction, and keeps Escape in its menu to itself", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened({}, "ar")
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, mounted, until } = window.kit
          const field = mounted({})
          field.style.width = "360px"
          await field.add([file("a.txt"), file("b.txt")])
          await until(() => field.value.length === 2)
          const [item] = field.queue?.getSnapshot().items ?? []
          field.queue?.fail(item?.id ?? "", "This invoice was already sent on 3 May.")
          const root = field.shadowRoot
          const error = () => root?.querySelector("li[data-state=failed] .error")
          await until(() => error() != null)
          const directionOf = (element: Element | null | undefined) =>
            element == null ? undefined : getComputedStyle(element).direction
          const directions = [directionOf(root?.getElementById("all")), directionOf(error())]
          const heard: Array<boolean> = []
          addEventListener("keydown", ({ defaultPrevented }) => heard.push(defaultPrevented))
          const escape = () => {
            const options = { key: "Escape", bubbles: true, composed: true, cancelable: true }
            return root?.getElementById("more")?.dispatchEvent(new KeyboardEvent("keydown", options))
          }
          root?.getElementById("more")?.click()
          const closing = escape()
          const isOpen = root?.getElementById("more")?.ariaExpanded
          return { directions, closing, isOpen, next: escape(), heard }
        }, null)
        assert.deepStrictEqual(found, {
          directions: ["rtl", "ltr"],
          closing: false,
          isOpen: "false",
          next: true,
          heard: [false]
        })
      }))

    it.scoped("says the limits of a queue of the application's own, and gives its input what that accepts", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, isBuilt, mounted, shown, until } = window.kit
          const maker = mounted({ accept: ".pdf", "max-size": "1 MB", "max-files": "2" })
          await maker.add([file("a.pdf")])
          await until(() => maker.value.length === 1)
          const field = mounted({})
          field.queue = maker.queue
          await until(() => isBuilt(field) && field.queue === maker.queue)
          await field.add([file("b.txt"), file("c.pdf", 2_000_000), file("d.pdf"), file("e.pdf")])
          await until(() => shown(field, "#refused p").length === 3)
          const input = field.shadowRoot?.querySelector<HTMLInputElement>("#files")
          const limits = field.shadowRoot?.getElementById("limits")?.textContent
          return { accept: input?.accept, limits, refused: shown(field, "#refused p") }
        }, null)
        assert.deepStrictEqual(found, {
          accept: ".pdf",
          limits: "PDF, up to 1 MB, at most 2",
          refused: [
            "b.txt was not added. Only PDF are accepted.",
            "c.pdf was not added. It has 2.0 MB; at most 1.0 MB are accepted.",
            "e.pdf was not added. At most 2 files are accepted."
          ]
        })
      }))

    it.scoped("has room for itself from the start, and for 2,000 files no more than it needs", () =>
      Effect.gen(function*() {
        const files = yield* ExamplePage
        const shell = Array.from(files.keys()).find((name) => /shell-.*\.js$/.test(name)) ?? ""
        // slow to come: what stands below is drawn before
        const later = new Map(files)
        let asked = 0
        later.get = (name) => name === shell && asked++ === 0 ? undefined : files.get(name)
        const { page } = yield* Page.opening(later)
        const found = yield* inPage(page, async () => {
          const field = document.querySelector("stevedore-upload")
          if (field === null) throw new Error("no field")
          const isFailed = () => field.shadowRoot?.querySelector("[role=alert] button") != null
          for (let tries = 0; tries < 400 && !isFailed(); tries++) await new Promise((done) => setTimeout(done, 25))
          field.after("What stands below")
          let shift = 0
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) shift += Number(Reflect.get(entry, "value"))
          }).observe({ type: "layout-shift", buffered: true })
          const frames = async () => {
            for (let frame = 0; frame < 5; frame++) await new Promise((done) => requestAnimationFrame(done))
          }
          await frames()
          field.shadowRoot?.querySelector<HTMLElement>("[role=alert] button")?.click()
          const isBuilt = () => field.shadowRoot?.getElementById("choose-files") != null
          for (let tries = 0; tries < 400 && !isBuilt(); tries++) await new Promise((done) => setTimeout(done, 25))
          await frames()
          field.setAttribute("autostart", "false")
          const shiftBefore = shift
          await field.add(Array.from({ length: 2000 }, (_, index) => new File(["a"], `Photo ${index}.jpg`)))
          const rows = () => field.shadowRoot?.querySelectorAll("li").length ?? 0
          for (let tries = 0; tries < 800 && rows() < 2000; tries++) await new Promise((done) => setTimeout(done, 25))
          await frames()
          const nodes = document.createTreeWalker(field.shadowRoot ?? field)
          let count = 0
          while (nodes.nextNode() !== null) count++
          return { shift: shiftBefore, rows: rows(), count }
        }, null)
        assert.isBelow(found.shift, 0.05)
        assert.strictEqual(found.rows, 2000)
        assert.isAtMost(found.count, 6000)
      }))
  })
