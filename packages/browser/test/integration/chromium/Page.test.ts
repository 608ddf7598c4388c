import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import * as Words from "@stevedore/browser/words"
import { english } from "@stevedore/browser/words/english"
import { FaultScript } from "@stevedore/testing"
import { Effect, Layer } from "effect"
import { open } from "node:fs/promises"
import { join } from "node:path"
import type { FileChooser, Page } from "playwright-core"
import { unbroken } from "../../../src/element/bar.js"
import { ChromiumLive } from "../support/chromium.js"
import { choose, opened, text, violations } from "../support/chromiumPage.js"
import { ExamplePage } from "../support/examplePage.js"

const MiB = 1024 * 1024

const shows = (page: Page, words: string) =>
  Effect.promise(async () => {
    await page.getByText(words).first().waitFor()
    assert.isTrue(await page.getByText(words).first().isVisible(), words)
  })

const hasButton = (page: Page, name: string) => Effect.promise(() => page.getByRole("button", { name }).waitFor())

const click = (page: Page, name: string) => Effect.promise(() => page.getByRole("button", { name }).click())

// a browser drops keys that arrive before the page was first painted
const painted = (page: Page) =>
  Effect.promise(() =>
    page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  )

/** The file chooser that opens next. Once this effect is done, the browser knows that it is expected. */
const listening = (page: Page) =>
  Effect.promise(async () => {
    const chooser = page.waitForEvent("filechooser")
    await page.evaluate(() => document.readyState)
    return { choose: (files: Parameters<FileChooser["setFiles"]>[0]) => chooser.then((it) => it.setFiles(files)) }
  })

layer(Layer.merge(ChromiumLive, ExamplePage.Live), {
  excludeTestServices: true,
  timeout: "3 minutes"
})("the example page in Chromium", (it) => {
  it.scoped("uploads chosen files and reports it, and axe finds no violation in the visited states", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* opened({ faults: FaultScript.on("put").times(1).answer(403, "AccessDenied") })
      assert.deepStrictEqual(yield* violations(page), [])
      yield* choose(page, [text("a.txt")])
      yield* hasButton(page, "Retry a.txt")
      assert.deepStrictEqual(yield* violations(page), [])
      yield* Effect.promise(() => page.emulateMedia({ colorScheme: "dark" }))
      assert.deepStrictEqual(yield* violations(page), [])
      yield* click(page, "Retry a.txt")
      yield* shows(page, "1 file uploaded.")
      yield* choose(page, [text("b.txt"), text("empty.txt", 0)])
      yield* shows(page, "2 files uploaded.")
      assert.include(yield* Effect.promise(() => page.locator("#refused").innerText()), "empty.txt was not added")
      assert.deepStrictEqual(yield* violations(page), [])
      yield* click(page, "Dismiss")
      assert.isTrue(yield* Effect.promise(() => page.locator("#refused").isHidden()))
      assert.strictEqual(
        yield* Effect.promise(() => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.id)),
        "choose-files"
      )
      assert.deepStrictEqual((yield* sandbox.files).map(({ name }) => name).sort(), ["a.txt", "b.txt"])
      assert.deepStrictEqual((yield* sandbox.report).breaches, [])
    }))

  it.scoped("lets users choose, pause, resume, cancel and remove by keyboard alone, and keeps the focus", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("initiate").times(3).delay("20 seconds") })
      const press = (...keys: ReadonlyArray<string>) =>
        Effect.promise(async () => {
          for (const key of keys) await page.keyboard.press(key)
        })
      const focused = () =>
        document.activeElement?.shadowRoot?.activeElement?.ariaLabel ??
          document.activeElement?.shadowRoot?.activeElement?.textContent ?? ""
      const focusIs = (name: string) =>
        Effect.promise(() => page.waitForFunction(`(${focused})() === ${JSON.stringify(name)}`))
      const tabTo = (name: string) =>
        Effect.gen(function*() {
          for (let tabs = 0; tabs < 10; tabs++) {
            if ((yield* Effect.promise(() => page.evaluate(focused))) === name) break
            yield* press("Tab")
          }
          yield* focusIs(name)
        })
      const chooser = yield* listening(page)
      yield* painted(page)
      yield* tabTo("Choose files")
      yield* press("Enter")
      yield* Effect.promise(() => chooser.choose([text("a.txt"), text("b.txt")]))
      yield* hasButton(page, "Pause a.txt")
      yield* tabTo("Pause a.txt")
      yield* press("Enter")
      yield* focusIs("Resume a.txt")
      yield* press("Space")
      yield* focusIs("Pause a.txt")
      yield* press("Tab")
      yield* focusIs("Cancel a.txt")
      yield* press("Enter")
      yield* focusIs("Remove a.txt")
      yield* press("Enter")
      yield* focusIs("Pause b.txt")
      yield* press("Enter")
      yield* focusIs("Resume b.txt")
      yield* press("Enter")
      yield* shows(page, "1 file uploaded.")
      yield* focusIs("Remove b.txt")
    }))

  it.scoped("offers an unfinished upload after a reload, rejects another file with a message, and resumes", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* opened({ faults: FaultScript.on("putPart").part(1).stall("connect") })
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-" })
      const sparse = (name: string) =>
        Effect.promise(async () => {
          const path = join(directory, name)
          const file = await open(path, "w")
          await file.truncate(80 * MiB)
          await file.write(name)
          await file.close()
          return path
        })
      const [path, other] = yield* Effect.all([sparse("large.bin"), sparse("other.bin")])
      yield* choose(page, path)
      yield* Effect.promise(() =>
        page.waitForFunction(() =>
          /[1-9][\d.]*\sMB\sof/.test(
            document.querySelector("stevedore-upload")?.shadowRoot?.querySelector<HTMLElement>("#all")?.innerText ?? ""
          )
        )
      )
      yield* Effect.sleep("500 millis")
      const asked: Array<string> = []
      page.on("dialog", (dialog) => {
        asked.push(dialog.type())
        void dialog.accept()
      })
      // a browser asks only users who have done something in the page
      yield* Effect.promise(() => page.getByText("Your files").click())
      yield* Effect.promise(() => page.reload())
      assert.deepStrictEqual(asked, ["beforeunload"])
      yield* shows(page, "Unfinished uploads")
      assert.deepStrictEqual(yield* violations(page), [])
      const again = (file: string) =>
        Effect.gen(function*() {
          const chooser = yield* listening(page)
          yield* Effect.promise(() => page.getByRole("button", { name: /^Choose .* again$/ }).click())
          yield* Effect.promise(() => chooser.choose(file))
        })
      yield* again(other)
      yield* shows(page, "This is not the same file")
      yield* again(path)
      yield* shows(page, "1 file uploaded.")
      // the focus went along from one list to the other
      assert.strictEqual(
        yield* Effect.promise(() => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.ariaLabel)),
        "Remove large.bin"
      )
      const { requests } = yield* sandbox.report
      assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("uploads dropped and pasted files", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* opened()
      const bring = (event: "drop" | "paste", name: string) =>
        Effect.promise(() =>
          page.evaluate(([event, name]) => {
            const transfer = new DataTransfer()
            transfer.items.add(new File(["hello"], name))
            dispatchEvent(
              event === "drop"
                ? new DragEvent("drop", { dataTransfer: transfer })
                : new ClipboardEvent("paste", { clipboardData: transfer })
            )
          }, [event, name] as const)
        )
      yield* bring("drop", "dropped.txt")
      yield* shows(page, "1 file uploaded.")
      yield* bring("paste", "pasted.txt")
      yield* shows(page, "2 files uploaded.")
      assert.deepStrictEqual((yield* sandbox.files).map(({ name }) => name).sort(), ["dropped.txt", "pasted.txt"])
    }))

  it.scoped("says that a dropped folder is empty, also if all folders in it are", () =>
    Effect.gen(function*() {
      const { page } = yield* opened()
      yield* Effect.promise(() =>
        page.evaluate(() => {
          const folderOf = (fullPath: string, entries: Array<object>) => ({
            isFile: false,
            isDirectory: true,
            fullPath,
            createReader: () => ({ readEntries: (give: (found: Array<object>) => void) => give(entries.splice(0)) })
          })
          const folder = folderOf("/notes", [folderOf("/notes/old", [])])
          Reflect.set(DataTransferItem.prototype, "webkitGetAsEntry", () => folder)
          const transfer = new DataTransfer()
          transfer.items.add(new File([], "notes"))
          dispatchEvent(new DragEvent("drop", { dataTransfer: transfer }))
        })
      )
      yield* shows(page, "notes was not added. The folder is empty.")
    }))

  it.scoped("uploads the readable files of a dropped folder, and names the unreadable ones", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* opened()
      yield* Effect.promise(() =>
        page.evaluate(() => {
          const entry = (name: string, more: object) => ({ name, fullPath: `/folder/${name}`, isFile: true, ...more })
          const entries = [
            entry("gone.txt", {
              file: (_: FileCallback, fail: ErrorCallback) => fail(new DOMException("gone", "NotFoundError"))
            }),
            entry("there.txt", { file: (give: FileCallback) => give(new File(["hello"], "there.txt")) })
          ]
          const folder = {
            isFile: false,
            isDirectory: true,
            fullPath: "/folder",
            createReader: () => ({ readEntries: (give: (found: Array<object>) => void) => give(entries.splice(0)) })
          }
          Reflect.set(DataTransferItem.prototype, "webkitGetAsEntry", () => folder)
          const transfer = new DataTransfer()
          transfer.items.add(new File([], "folder"))
          dispatchEvent(new DragEvent("drop", { dataTransfer: transfer }))
        })
      )
      yield* shows(page, "1 file uploaded.")
      const refused = yield* Effect.promise(() => page.locator("#refused").innerText())
      assert.include(refused, "folder/gone.txt was not added")
      assert.deepStrictEqual((yield* sandbox.files).map(({ name }) => name), ["folder/there.txt"])
    }))

  it.scoped("cuts names in the middle to the room of their row, also those written from right to left", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("initiate").always().delay("1 minute") })
      const names = [
        "Interviews/with customers/in autumn/take 17.txt",
        "مقابلة مع السيد أحمد في الخريف قبل ثلاث سنوات – الجزء الأول.txt",
        "unbroken".repeat(30),
        "short.txt"
      ]
      yield* choose(page, [...names.map((name) => text(name)), text("مسودة.txt", 0)])
      yield* Effect.promise(() => page.locator("li").nth(3).waitFor())
      const shown = (width: number) =>
        Effect.promise(async () => {
          await page.setViewportSize({ width, height: 800 })
          return page.locator("li .name").evaluateAll((elements) =>
            elements.map((element) => {
              const isCut = ({ clientWidth, scrollWidth }: Element) => scrollWidth > clientWidth + 1
              const [start, end] = Array.from(element.querySelectorAll("span"), isCut)
              const line = Number.parseFloat(getComputedStyle(element).lineHeight)
              const row = element.closest("li")?.getBoundingClientRect()
              const { left = 0, right = 0 } = element.querySelector("bdi")?.getBoundingClientRect() ?? {}
              return [
                element.textContent,
                {
                  start,
                  end,
                  lines: Math.round(element.getBoundingClientRect().height / line),
                  isInside: left >= (row?.left ?? 0) && right <= (row?.right ?? 0),
                  direction: getComputedStyle(element.querySelector("bdi") ?? element).direction
                }
              ] as const
            })
          ).then((all) => Object.fromEntries(all))
        })
      const [path = "", arabic = "", unbroken = "", short = ""] = names
      const cut = { start: true, end: false, lines: 1, isInside: true, direction: "ltr" }
      for (const width of [320, 360]) {
        assert.deepStrictEqual(yield* shown(width), {
          [path]: cut,
          [arabic]: { ...cut, direction: "rtl" },
          [unbroken]: cut,
          [short]: { ...cut, start: false }
        }, `${width}`)
      }
      const wide = yield* shown(1280)
      assert.deepStrictEqual([wide[path]?.start, wide[unbroken]?.start], [false, true])
    }))

  it.scoped("keeps each row as high and where it was until its file is uploaded, so that no button moves under the pointer", () =>
    Effect.gen(function*() {
      const slow = FaultScript.on("put").times(3).delay("1 second").and(
        FaultScript.on("put").always().delay("1 minute")
      )
      for (const width of [360, 1280]) {
        const { page } = yield* opened({ faults: slow })
        const places = Effect.promise(() =>
          page.locator("#queue ul:not(details ul) > li").evaluateAll((rows) =>
            rows.map((row) => {
              const { height, top } = row.getBoundingClientRect()
              return { height, top }
            })
          )
        )
        yield* Effect.promise(() => page.setViewportSize({ width, height: 1000 }))
        yield* choose(page, ["a", "b", "c", "d"].map((name) => text(`${name}.txt`)))
        yield* Effect.promise(() => page.getByRole("button", { name: "Cancel d.txt" }).hover())
        const before = yield* places
        assert.lengthOf(before, 4)
        yield* Effect.promise(() =>
          page.locator("#queue .numbers", { hasText: "3\u00a0of\u00a04\u00a0files" }).waitFor()
        )
        assert.deepStrictEqual(yield* places, before)
        yield* Effect.promise(() => page.mouse.move(1, 1))
        yield* shows(page, "3 files uploaded")
        // the last one waited, in one line, and has its bar once the pointer is away
        const [last] = yield* places
        assert.strictEqual(last?.height, before[0]?.height)
      }
    }))

  it.scoped("keeps each row as high whatever its speed and the time left are, on narrow screens too", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("initiate").always().delay("20 seconds") })
      yield* choose(page, [text("a.txt")])
      yield* hasButton(page, "Pause a.txt")
      const moving = {
        id: "1",
        name: "a.txt",
        size: 9_600_000_000,
        mediaType: "",
        state: "uploading",
        sent: 120_000_000,
        confirmed: 0,
        stalled: false,
        kept: false,
        error: undefined,
        result: undefined
      } as const
      const lines = [
        { speed: undefined, secondsLeft: undefined },
        { speed: 1_300_000, secondsLeft: 86_300 },
        { speed: 130_000_000, secondsLeft: 35 },
        { speed: 130_000_000, secondsLeft: 590 },
        { speed: undefined, secondsLeft: undefined, stalled: true }
      ].map((more) => unbroken(Words.state(english, { ...moving, ...more })))
      for (const width of [320, 360, 1280]) {
        yield* Effect.promise(() => page.setViewportSize({ width, height: 800 }))
        const heights = yield* Effect.promise(() =>
          page.locator("#queue li").evaluate((row, lines) =>
            lines.map((line) => {
              row.querySelector(".state")?.replaceChildren(line)
              return Math.round(row.getBoundingClientRect().height)
            }), lines)
        )
        assert.lengthOf(new Set(heights), 1, `${heights} at ${width}`)
      }
    }))

  it.scoped("shows each icon in the middle of its button", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("initiate").always().delay("20 seconds") })
      yield* choose(page, [text("a.txt")])
      yield* hasButton(page, "Pause a.txt")
      const offCentre = yield* Effect.promise(() =>
        page.locator("li button.icon").evaluateAll((buttons) =>
          buttons.map((button) => {
            const outer = button.getBoundingClientRect()
            const inner = button.querySelector("svg")?.getBoundingClientRect() ?? outer
            return Math.round(outer.left + outer.width / 2 - inner.left - inner.width / 2)
          })
        )
      )
      assert.deepStrictEqual(offCentre, [0, 0])
    }))

  it.scoped("retries all failed files, but not cancelled ones", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* opened({
        faults: FaultScript.on("put").times(1).answer(403, "AccessDenied").and(
          FaultScript.on("initiate").after(1).delay("3 seconds")
        )
      })
      yield* choose(page, [text("refused.txt")])
      yield* hasButton(page, "Retry refused.txt")
      yield* choose(page, [text("regretted.txt")])
      yield* click(page, "Cancel regretted.txt")
      yield* hasButton(page, "Upload regretted.txt after all")
      yield* click(page, "Retry failed")
      yield* shows(page, "1 file uploaded.")
      yield* hasButton(page, "Upload regretted.txt after all")
      const sent = (yield* sandbox.files).filter(({ status }) => status === "completed")
      assert.deepStrictEqual(sent.map(({ name }) => name), ["refused.txt"])
    }))

  it.scoped("keeps the focus in the row when its button disappears because the file is uploaded", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("initiate").delay("2 seconds") })
      yield* choose(page, [text("a.txt")])
      yield* Effect.promise(() => page.getByRole("button", { name: "Pause a.txt" }).focus())
      yield* shows(page, "1 file uploaded.")
      assert.strictEqual(
        yield* Effect.promise(() => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.ariaLabel)),
        "Remove a.txt"
      )
    }))

  it.scoped("resumes a dropped file after a reload, without choosing it again, if its handle is kept", () =>
    Effect.gen(function*() {
      const { page, sandbox } = yield* opened({ faults: FaultScript.on("putPart").part(1).stall("connect") })
      yield* Effect.promise(() =>
        page.evaluate(async (size) => {
          const folder = await navigator.storage.getDirectory()
          const handle = await folder.getFileHandle("large.bin", { create: true })
          const writing = await handle.createWritable()
          await writing.truncate(size)
          await writing.close()
          const file = await handle.getFile()
          Object.assign(DataTransferItem.prototype, {
            webkitGetAsEntry: () => null,
            getAsFile: () => file,
            getAsFileSystemHandle: () => Promise.resolve(handle)
          })
          const transfer = new DataTransfer()
          transfer.items.add(new File([], "large.bin"))
          dispatchEvent(new DragEvent("drop", { dataTransfer: transfer }))
        }, 80 * MiB)
      )
      yield* Effect.promise(() =>
        page.waitForFunction(() =>
          /[1-9][\d.]*\sMB\sof/.test(
            document.querySelector("stevedore-upload")?.shadowRoot?.querySelector<HTMLElement>("#all")?.innerText ?? ""
          )
        )
      )
      yield* Effect.sleep("500 millis")
      yield* Effect.promise(() => page.reload())
      yield* click(page, "Resume large.bin")
      yield* shows(page, "1 file uploaded.")
      const { requests } = yield* sandbox.report
      assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
    }))

  it.scoped("pauses, resumes, cancels and clears all files, and shows finishing while it awaits a response", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("put").always().delay("1 minute") })
      const files = page.locator("#queue li")
      const each = (state: string, count = 4) =>
        Effect.promise(() => page.locator(`#queue li[data-state="${state}"]`).nth(count - 1).waitFor())
      yield* choose(page, ["a", "b", "c", "d"].map((name) => text(`${name}.txt`)))
      yield* each("finishing", 3)
      assert.deepStrictEqual(
        yield* Effect.promise(() =>
          files.evaluateAll((rows) =>
            rows.map((row) => [
              row.querySelector(".state")?.textContent.replaceAll("\u00a0", " "),
              row.querySelector("[role=progressbar]")?.ariaValueText
            ])
          )
        ),
        [...Array.from({ length: 3 }, () => ["1.0 kB · finishing", "100%, finishing"]), [
          "1.0 kB · waiting",
          "0%, waiting"
        ]]
      )
      yield* click(page, "Pause all")
      yield* each("paused", 1)
      // for those that await a response, there is nothing to pause
      yield* each("finishing", 3)
      assert.isFalse(yield* Effect.promise(() => page.locator("#pause-all").isVisible()))
      assert.strictEqual(
        yield* Effect.promise(() => page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.id)),
        "resume-all"
      )
      yield* click(page, "Resume all")
      yield* each("queued", 1)
      yield* click(page, "Cancel all")
      yield* each("cancelled")
      assert.isTrue(yield* Effect.promise(() => page.locator("#queue .bar").first().isHidden()))
      yield* click(page, "Clear finished")
      yield* Effect.promise(() => page.locator("#queue").waitFor({ state: "hidden" }))
    }))

  it.scoped("reports progress and being offline in a single live region, and errors as alerts", () =>
    Effect.gen(function*() {
      const { page } = yield* opened({ faults: FaultScript.on("put").times(1).answer(403, "AccessDenied") })
      const said = Effect.promise(() => page.evaluate(() => Reflect.get(window, "said") as Array<string>))
      yield* Effect.promise(() =>
        page.evaluate(() => {
          const said: Array<string> = []
          const regions = document.querySelector("stevedore-upload")?.shadowRoot?.querySelectorAll(
            "[role=status], [aria-live], output"
          ) ?? []
          Object.assign(window, { said, regions: Array.from(regions).length })
          for (const region of regions) {
            new MutationObserver(() => said.push(region.textContent ?? "")).observe(region, { childList: true })
          }
        })
      )
      assert.strictEqual(yield* Effect.promise(() => page.evaluate(() => Reflect.get(window, "regions"))), 1)
      yield* choose(page, [text("a.txt")])
      yield* Effect.promise(() => page.getByRole("alert").getByText("Something on this site does not work").waitFor())
      // how far it is may be said in between, where that takes long
      const beforehand = yield* said
      assert.deepStrictEqual([beforehand[0], beforehand.at(-1)], [
        "Uploading 1 file.",
        "0 of 1 file uploaded, 1 failed."
      ])
      assert.isAtMost(beforehand.length, 3)
      const away = (isAway: boolean) => Effect.promise(() => page.context().setOffline(isAway))
      yield* away(true)
      yield* Effect.promise(() => page.locator("#offline").waitFor())
      assert.include((yield* said).at(-1), "You are offline.")
      yield* away(false)
      yield* Effect.promise(() => page.locator("#offline").waitFor({ state: "hidden" }))
      yield* click(page, "Retry a.txt")
      yield* shows(page, "1 file uploaded.")
      assert.strictEqual((yield* said).at(-1), "1 file uploaded.")
    }))
})
