import { assert, layer } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Effect, Layer, Schedule } from "effect"
import * as Page from "../support/elementPage.js"
import { type Engine, inPage, type Tab, untilHolds } from "../support/engine.js"
import { ExamplePage } from "../support/examplePage.js"

const MiB = 1024 * 1024

/** So that an upload lasts long enough to be announced. */
const slow = FaultScript.on("put").always().delay("500 millis")

const completed = ({ sandbox }: Effect.Effect.Success<ReturnType<typeof Page.opened>>) =>
  Effect.map(
    sandbox.files,
    (files) => files.filter(({ status }) => status === "completed").map(({ name }) => name).sort()
  )

/** Drops or pastes what a browser would hand over: files, and folders as it lists them. */
const bring = (page: Tab, event: "drop" | "paste", names: ReadonlyArray<string>) =>
  inPage(page, ({ event, names }) => {
    const fileOf = (name: string) => new File(["hello"], name)
    const entryOf = (path: string): object => ({
      isFile: true,
      isDirectory: false,
      fullPath: `/${path}`,
      file: (give: FileCallback) => give(fileOf(path.slice(path.lastIndexOf("/") + 1)))
    })
    const folderOf = (path: string, inside: ReadonlyArray<string>): object => {
      const entries = inside.map((name) => entryOf(`${path}/${name}`))
      return {
        isFile: false,
        isDirectory: true,
        fullPath: `/${path}`,
        createReader: () => ({ readEntries: (give: (found: Array<object>) => void) => give(entries.splice(0)) })
      }
    }
    const items = names.map((name) => ({
      kind: "file",
      webkitGetAsEntry: () => name.endsWith("/") ? folderOf(name.slice(0, -1), ["x.txt", "y.txt"]) : entryOf(name),
      getAsFile: () => fileOf(name)
    }))
    const brought = event === "drop"
      ? new DragEvent("drop", { bubbles: true, composed: true, cancelable: true })
      : new ClipboardEvent("paste", { bubbles: true, composed: true, cancelable: true })
    Object.defineProperty(brought, event === "drop" ? "dataTransfer" : "clipboardData", {
      value: { items, types: ["Files"] }
    })
    document.querySelector("stevedore-upload")?.dispatchEvent(brought)
  }, { event, names })

/** The element as visitors have it, in any browser. What only Chromium's tools can do is tested there. */
export const element = (engine: Layer.Layer<Engine>, browser: string) =>
  layer(Layer.merge(engine, ExamplePage.Live), {
    excludeTestServices: true,
    timeout: "3 minutes"
  })(`the element in ${browser}`, (it) => {
    it.scoped("uploads chosen, dropped and pasted files and a folder, and says so in order", () =>
      Effect.gen(function*() {
        const world = yield* Page.opened({ faults: slow })
        const { page, sandbox } = world
        assert.deepStrictEqual(yield* Page.violations(page), [])
        const { said } = yield* Page.listen(page)
        const before = yield* Page.shown(page)
        yield* Page.choose(page, yield* Page.onDisk("chosen.txt", 1000))
        const after = yield* Page.isAnnounced(page, "1 file uploaded.")
        assert.deepInclude(after, { done: "Done", folded: "1 file uploaded" })
        // the place to drop has made room
        assert.isBelow(after.drop, before.drop / 2)
        yield* bring(page, "drop", ["dropped.txt", "folder/"])
        yield* Page.isAnnounced(page, "4 files uploaded.")
        yield* bring(page, "paste", ["pasted.txt"])
        const last = yield* Page.isAnnounced(page, "5 files uploaded.")
        // more than three are folded
        assert.deepInclude(last, { folded: "5 files uploaded", rows: [] })
        assert.deepStrictEqual(yield* completed(world), [
          "chosen.txt",
          "dropped.txt",
          "folder/x.txt",
          "folder/y.txt",
          "pasted.txt"
        ])
        const quarters = /^\d+% uploaded\.$/
        assert.deepStrictEqual((yield* said).filter((words) => !quarters.test(words)), [
          "Uploading 1 file.",
          "1 file uploaded.",
          "Uploading 4 files.",
          "4 files uploaded.",
          "Uploading 5 files.",
          "5 files uploaded."
        ])
        assert.deepStrictEqual(yield* Page.violations(page), [])
        assert.deepStrictEqual((yield* sandbox.report).breaches, [])
        assert.deepStrictEqual(page.errors?.() ?? [], [])
      }))

    it.scoped("has its place to drop also where it was given files before it stood in the document", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        const shown = yield* inPage(page, async () => {
          const upload = document.createElement("stevedore-upload")
          void upload.add([new File(["early"], "early.txt")])
          document.body.append(upload)
          for (let tries = 0; tries < 100; tries++) {
            const root = upload.shadowRoot
            if (root?.querySelector("#drop") && root.textContent?.includes("early.txt")) return true
            await new Promise((resolve) => setTimeout(resolve, 50))
          }
          return false
        }, null)
        assert.isTrue(shown)
      }))

    it.scoped("takes only files, of a drop once, and of a paste only what is meant for it", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        const found = yield* inPage(page, async () => {
          const main = document.querySelector("stevedore-upload")
          if (main === null) return []
          main.id = "main"
          const dialog = document.createElement("dialog")
          dialog.innerHTML = "<stevedore-upload id=closed></stevedore-upload>"
          const more = document.createElement("div")
          more.innerHTML = "<stevedore-upload id=whole whole-page></stevedore-upload>" +
            "<stevedore-upload id=other whole-page></stevedore-upload><textarea></textarea>" +
            "<p></p><div id=own></div>"
          document.body.prepend(dialog)
          document.body.append(more)
          const own = more.querySelector("#own")
          own?.addEventListener("drop", (event) => event.preventDefault())
          const got: Array<string> = []
          addEventListener("added", (event) => {
            if (event.target instanceof Element) got.push(event.target.id)
          })
          const brought = (name: string, type: string): Event => {
            const isPaste = name === "paste"
            const event = new (isPaste ? ClipboardEvent : DragEvent)(name, {
              bubbles: true,
              composed: true,
              cancelable: true
            })
            const file = new File([String(performance.now())], `${name}-${performance.now()}.png`, {
              type: "image/png"
            })
            const item = { kind: "file", webkitGetAsEntry: () => null, getAsFile: () => file }
            Object.defineProperty(event, isPaste ? "clipboardData" : "dataTransfer", {
              value: { types: [type], items: type === "Files" ? [item] : [] }
            })
            return event
          }
          const taken = async (name: string, at: Element | null | undefined, type = "Files") => {
            const before = got.length
            const isLeft = [...name === "drop" ? ["dragover"] : [], name]
              .map((name) => at?.dispatchEvent(brought(name, type)))
              .every((isLeft) => isLeft === true)
            for (let tries = 0; tries < 100 && got.length === before && type === "Files"; tries++) {
              await new Promise((resolve) => setTimeout(resolve, tries < 3 ? 100 : 10))
            }
            await new Promise((resolve) => setTimeout(resolve, 300))
            return `${got.slice(before).join()}${isLeft ? " left" : ""}`
          }
          const [field, plain] = [more.querySelector("textarea"), more.querySelector("p")]
          const other = more.querySelector("#other")
          const results = [
            await taken("drop", main),
            await taken("drop", plain),
            await taken("drop", own),
            await taken("drop", field, "text/plain"),
            await taken("drop", main, "text/uri-list"),
            await taken("paste", document.body),
            await taken("paste", other),
            await taken("paste", field)
          ]
          for (const one of document.querySelectorAll<HTMLElement>("#main, #whole, #other")) one.hidden = true
          results.push(await taken("paste", document.body))
          dialog.showModal()
          results.push(await taken("paste", document.body))
          return results
        }, null)
        assert.deepStrictEqual(found, [
          "main",
          // of two for the whole page the first
          "main",
          // the page's own
          "",
          " left",
          " left",
          "main",
          "other",
          " left",
          " left",
          "closed"
        ])
      }))

    it.scoped("says of each refused file why, and adds the others", () =>
      Effect.gen(function*() {
        const world = yield* Page.opened()
        const { page } = world
        yield* inPage(page, () => {
          const upload = document.querySelector("stevedore-upload")
          if (upload !== null) upload.limits = { size: 100_000, accept: [".txt"] }
        }, null)
        yield* Page.add(page, ["a.txt", 1000], ["large.txt", 240_000], ["setup.exe", 1000], ["empty.txt", 0])
        const { refused } = yield* Page.isAnnounced(page, "1 file uploaded.")
        assert.deepStrictEqual(refused.split(/\n+/), [
          "large.txt was not added. It has 240 kB; at most 100 kB are accepted.",
          "setup.exe was not added. Only TXT are accepted.",
          "empty.txt was not added. It is empty or gone."
        ])
        assert.deepStrictEqual(yield* completed(world), ["a.txt"])
        assert.deepStrictEqual(yield* Page.violations(page), [])
        yield* Page.click(page, "Dismiss")
        yield* Page.until(page, ({ refused }) => refused === "")
      }))

    it.scoped("pauses, resumes, cancels and removes a file, and has no violation in any of these states", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened({ faults: FaultScript.on("initiate").always().delay("1 minute") })
        yield* Page.add(page, ["a.txt", 1000], ["b.txt", 1000])
        const { said } = yield* Page.listen(page)
        const state = (name: string, wanted: string) =>
          Page.until(page, ({ rows }) => rows.some((row) => row.name === name && row.state === wanted))
        yield* Page.hasButton(page, "Pause a.txt")
        assert.deepStrictEqual(yield* Page.violations(page), [])
        yield* Page.click(page, "Pause a.txt")
        yield* state("a.txt", "paused")
        yield* Page.click(page, "Pause b.txt")
        yield* Page.isAnnounced(page, "All uploads are paused.")
        assert.deepStrictEqual(yield* Page.violations(page), [])
        yield* Page.click(page, "Resume a.txt")
        yield* Page.hasButton(page, "Pause a.txt")
        yield* Page.click(page, "Cancel a.txt")
        const { rows } = yield* state("a.txt", "cancelled")
        assert.deepStrictEqual(rows.find(({ name }) => name === "a.txt")?.buttons, [
          "Upload a.txt after all",
          "Remove a.txt"
        ])
        assert.deepStrictEqual(yield* Page.violations(page), [])
        yield* Page.click(page, "Remove a.txt")
        yield* Page.until(page, ({ rows }) => rows.length === 1)
        assert.deepStrictEqual(yield* said, [
          "All uploads are paused.",
          "Uploading 2 files.",
          "All uploads are paused.",
          "a.txt was removed."
        ])
      }))

    it.scoped("shows failed files first, with what is wrong in words, and uploads them when they are retried", () =>
      Effect.gen(function*() {
        const world = yield* Page.opened({
          faults: FaultScript.on("put").times(2).answer(403, "AccessDenied").and(slow)
        })
        const { page } = world
        yield* inPage(page, () => {
          const upload = document.querySelector("stevedore-upload")
          if (upload !== null) upload.linkOf = ({ name }) => `https://files.example/${name}`
        }, null)
        const { said } = yield* Page.listen(page)
        const fault = "Something on this site does not work. Try again, or contact its owner."
        yield* Page.add(page, ["first.txt", 1000])
        const one = yield* Page.isAnnounced(page, "0 of 1 file uploaded, 1 failed.")
        assert.deepStrictEqual(one.rows.map(({ error }) => error), [fault])
        yield* Page.add(page, ["second.txt", 1000], ["third.txt", 1000])
        const { alerts, done, rows } = yield* Page.isAnnounced(page, "1 of 3 files uploaded, 2 failed.")
        assert.strictEqual(done, "")
        // what they have in common is said once
        assert.deepStrictEqual(alerts, [fault])
        // of the two that were added together, either may have come first
        assert.deepStrictEqual(rows.map(({ state }) => state), ["failed", "failed", "completed"])
        assert.strictEqual(rows[0]?.name, "first.txt")
        assert.sameMembers(rows.map(({ name }) => name), ["first.txt", "second.txt", "third.txt"])
        assert.deepStrictEqual(yield* Page.violations(page), [])
        yield* Page.click(page, "Retry failed")
        const last = yield* Page.isAnnounced(page, "3 files uploaded.")
        assert.deepInclude(last, { done: "Done", alerts: [] })
        assert.deepStrictEqual(
          last.rows.map(({ buttons, name, state }) => [name, state, ...buttons]).sort(),
          ["first.txt", "second.txt", "third.txt"].map((name) => [
            name,
            "completed",
            `Copy link to ${name}`,
            `Remove ${name}`
          ])
        )
        assert.deepStrictEqual(yield* Page.violations(page), [])
        assert.deepStrictEqual(yield* completed(world), ["first.txt", "second.txt", "third.txt"])
        // of a retry that is over at once, only the end is said
        const sentences = (yield* said).filter((words) => !words.includes("%"))
        assert.strictEqual(sentences.shift(), "Uploading 1 file.")
        assert.deepStrictEqual(sentences.filter((words) => words !== "Uploading 3 files."), [
          "0 of 1 file uploaded, 1 failed.",
          "1 of 3 files uploaded, 2 failed.",
          "3 files uploaded."
        ])
        assert.strictEqual(sentences[1], "Uploading 3 files.")
      }))

    it.scoped("says why a server refused, in its words or in those for visitors, and tells its developer what it is", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        const said = yield* inPage(page, () => {
          const said: Array<string> = []
          console.error = (text: string) => said.push(text)
          Object.assign(window, { said })
          const json = (message?: string) => JSON.stringify({ errors: [{ code: "Plan", title: "No", message }] })
          const answers: Readonly<Record<string, readonly [number, string]>> = {
            "invoice.txt": [422, json("Only PDFs of invoices are accepted here.")],
            "plan.txt": [403, json("Your plan allows 2 GB.")],
            "silent.txt": [403, json()],
            "proxy.txt": [413, "<h1>413 Request Entity Too Large</h1>"],
            "missing.txt": [404, "<h1>Not Found</h1>"],
            "missing too.txt": [404, "<h1>Not Found</h1>"]
          }
          window.fetch = (_, { body } = {}) => {
            const asked = typeof body === "string" ? body : new TextDecoder().decode(new Uint8Array(Object(body)))
            const [, [status, text] = [500, ""]] = Object.entries(answers).find(([name]) =>
              asked.includes(`"${name}"`)
            ) ?? []
            return Promise.resolve(new Response(text, { status }))
          }
          return Object.keys(answers)
        }, null)
        yield* Page.add(page, ...said.map((name, index) => [name, 1000 + index] as const))
        const { rows } = yield* Page.isAnnounced(page, "0 of 6 files uploaded, 6 failed.")
        const owner = "Something on this site does not work. Try again, or contact its owner."
        assert.deepStrictEqual(Object.fromEntries(rows.map(({ error, name }) => [name, error])), {
          "invoice.txt": "Only PDFs of invoices are accepted here.",
          "plan.txt": "Your plan allows 2 GB.",
          "silent.txt": "You are not allowed to upload files here.",
          "proxy.txt": "The file is too large.",
          "missing.txt": owner,
          "missing too.txt": owner
        })
        const failures = yield* inPage(page, () =>
          document.querySelector("stevedore-upload")?.queue?.getSnapshot().items.map((
            { error }
          ) => [error?.status, error?.code]), null)
        assert.deepStrictEqual(failures?.slice(0, 2), [[422, "Plan"], [403, "Plan"]])
        const told = yield* inPage(page, () =>
          Reflect.get(window, "said") as ReadonlyArray<string>, null)
        assert.lengthOf(told, 1)
        assert.match(told[0] ?? "", /^<stevedore-upload>: .*Check the id and the base URL/)
        assert.deepStrictEqual(yield* Page.violations(page), [])
      }))

    it.scoped("shows a file as failed that the application could not save, and uploads it again", () =>
      Effect.gen(function*() {
        const world = yield* Page.opened()
        const { page } = world
        yield* inPage(page, () => {
          const upload = document.querySelector("stevedore-upload")
          upload?.addEventListener("completed", ({ detail: { item } }) =>
            upload.queue?.fail(item.id, "The album is full.", "Full"), { once: true })
        }, null)
        yield* Page.add(page, ["a.txt", 1000])
        const { rows } = yield* Page.isAnnounced(page, "0 of 1 file uploaded, 1 failed.")
        assert.deepStrictEqual(
          rows.map(({ error }) =>
            error
          ),
          ["The album is full."]
        )
        yield* Page.click(page, "Retry a.txt")
        yield* Page.isAnnounced(page, "1 file uploaded.")
        assert.deepStrictEqual(yield* completed(world), ["a.txt", "a.txt"])
      }))

    it.scoped("is a control of a form: its value, whether it is valid, what is disabled, and what a reset brings back", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        yield* inPage(page, () => {
          const form = document.createElement("form")
          form.innerHTML =
            "<fieldset><stevedore-upload name=attachments required max-files=2></stevedore-upload></fieldset>"
          document.querySelector("stevedore-upload")?.replaceWith(form)
          const told: Array<string> = []
          Object.assign(window, { told })
          for (const name of ["changed", "removed", "paused", "refused"] as const) {
            form.addEventListener(name, (event) => {
              const { item, refused, value } = Object(Reflect.get(event, "detail"))
              told.push([name, item?.name ?? value?.length ?? refused.map(Object.values).join()].join(" "))
            })
          }
        }, null)
        const seen = inPage(page, () => {
          const upload = document.querySelector("stevedore-upload")
          return {
            isValid: upload?.checkValidity(),
            why: upload?.validationMessage ?? "",
            ids: upload?.form === null || upload?.form === undefined
              ? []
              : new FormData(upload.form).getAll("attachments").map(String),
            value: upload?.value ?? []
          }
        }, null)
        const becomes = (wanted: { readonly ids?: number; readonly why: string }) =>
          Effect.map(
            untilHolds(seen, ({ ids, isValid, why }) =>
              why === wanted.why && isValid === (why === "") && ids.length === (wanted.ids ?? 0)),
            ({ ids, value }) =>
              assert.deepStrictEqual(ids, [...value])
          )
        const empty = "Choose a file to upload."
        yield* becomes({ why: empty })
        assert.deepStrictEqual(yield* Page.violations(page), [])
        yield* inPage(page, () =>
          document.querySelector("form")?.requestSubmit(), null)
        yield* Page.until(page, ({ alerts }) =>
          alerts.includes(empty))
        // files that the record has
        yield* inPage(page, () => {
          const upload = document.querySelector("stevedore-upload")
          if (upload !== null) {
            upload.existing = [{ id: "7", name: "old.pdf" }]
          }
        }, null)
        yield* becomes({ why: "", ids: 1 })
        yield* Page.add(page, ["new.txt", 1000], ["one too many.txt", 1000])
        yield* Page.isAnnounced(page, "2 files uploaded.")
        yield* becomes({ why: "", ids: 2 })
        yield* inPage(page, () =>
          document.querySelector("fieldset")?.setAttribute("disabled", ""), null)
        assert.deepStrictEqual((yield* seen).ids, [])
        yield* Page.add(page, ["ignored.txt", 1000])
        yield* inPage(page, () => document.querySelector("fieldset")?.removeAttribute("disabled"), null)
        assert.lengthOf((yield* seen).ids, 2)
        yield* inPage(page, () => document.querySelector("form")?.reset(), null)
        yield* becomes({ why: "", ids: 1 })
        yield* Page.click(page, "Remove old.pdf")
        yield* becomes({ why: empty })
        const told = yield* inPage(page, () => Reflect.get(window, "told") as ReadonlyArray<string>, null)
        assert.deepStrictEqual(told, [
          "changed 1",
          "refused one too many.txt,1000,TooMany,At most 2 files are accepted.",
          "changed 2",
          "removed old.pdf",
          "changed 1",
          "removed new.txt",
          "changed 0",
          "changed 1",
          "removed old.pdf",
          "changed 0"
        ])
      }))

    it.scoped("keeps what was chosen until it is started, and does not let a form be sent before that", () =>
      Effect.gen(function*() {
        const world = yield* Page.opened()
        const { page } = world
        yield* inPage(page, () => {
          const form = document.createElement("form")
          form.innerHTML = "<stevedore-upload name=later autostart=false></stevedore-upload>"
          document.querySelector("stevedore-upload")?.replaceWith(form)
        }, null)
        yield* Page.until(page, ({ buttons }) => buttons.length > 0)
        yield* Page.add(page, ["a.txt", 1000], ["b.txt", 1000])
        yield* Page.until(page, ({ rows }) => rows.length === 2 && rows.every(({ state }) => state === "ready"))
        const isValid = inPage(page, () => document.querySelector("form")?.checkValidity(), null)
        assert.isFalse(yield* isValid)
        assert.deepStrictEqual(yield* completed(world), [])
        yield* inPage(page, () => document.querySelector("stevedore-upload")?.start(), null)
        yield* Page.isAnnounced(page, "2 files uploaded.")
        assert.isTrue(yield* isValid)
        assert.deepStrictEqual(yield* completed(world), ["a.txt", "b.txt"])
      }))

    it.scoped("offers an unfinished upload after a reload, and resumes it when its file is chosen again", () =>
      Effect.gen(function*() {
        const { page, sandbox } = yield* Page.opened({
          faults: FaultScript.on("putPart").part(2).stall("connect")
        })
        const path = yield* Page.onDisk("large.bin", 80 * MiB)
        yield* Page.choose(page, path)
        const confirmed = Effect.map(
          sandbox.report,
          ({ requests }) => requests.some(({ operation, status }) => operation === "putPart" && status === 200)
        )
        yield* Effect.repeat(confirmed, {
          schedule: Schedule.spaced("50 millis"),
          until: (is) => is
        })
        yield* Page.until(page, ({ rows }) => /[1-9].* of/.test(rows[0]?.told ?? ""))
        yield* Effect.sleep("500 millis")
        yield* Effect.promise(() => page.reload())
        const left = yield* Page.hasButton(page, "Choose large.bin again")
        assert.strictEqual(left.unfinished, "Unfinished uploads")
        assert.deepInclude(left.rows[0], { name: "large.bin", state: "needs-file" })
        assert.deepStrictEqual(yield* Page.violations(page), [])
        yield* Page.choose(page, path)
        yield* Page.isAnnounced(page, "1 file uploaded.")
        const { requests } = yield* sandbox.report
        assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
      }))

    it.scoped("is a view of a queue, which the next element of its kind shows again, or any that is given it", () =>
      Effect.gen(function*() {
        const world = yield* Page.opened({ faults: FaultScript.on("put").always().delay("3 seconds") })
        const { page } = world
        const found = yield* inPage(page, async () => {
          const until = async (holds: () => boolean) => {
            for (let tries = 0; tries < 500 && !holds(); tries++) await new Promise((done) => setTimeout(done, 10))
          }
          const namesIn = (upload: Element | undefined) =>
            Array.from(upload?.shadowRoot?.querySelectorAll("li .name") ?? [], ({ textContent }) => textContent)
          const isBusy = (upload: Element | undefined) => (upload?.shadowRoot?.querySelectorAll("li").length ?? 0) > 0
          const mounted = (attributes: Readonly<Record<string, string>>) => {
            const upload = document.createElement("stevedore-upload")
            for (const [name, value] of Object.entries(attributes)) upload.setAttribute(name, value)
            document.body.append(upload)
            return upload
          }
          let listeners = 0
          const { addEventListener, removeEventListener } = EventTarget.prototype
          const counted = new Set<unknown>()
          window.addEventListener = (...given: Parameters<typeof addEventListener>) => {
            const [, listener, options] = given
            const signal = typeof options === "object" ? options.signal : undefined
            listeners++
            counted.add(listener)
            signal?.addEventListener("abort", () => listeners--)
            addEventListener.apply(window, given)
          }
          window.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
            if (counted.delete(given[1])) listeners--
            removeEventListener.apply(window, given)
          }
          document.querySelector("stevedore-upload")?.remove()
          const first = mounted({ "queue-name": "photos" })
          await until(() => first.shadowRoot?.getElementById("drop") != null)
          await first.add([new File(["one"], "one.txt"), new File(["another"], "two.txt")])
          await until(() => isBusy(first))
          const { queue } = first
          first.remove()
          await new Promise((done) => setTimeout(done, 50))
          const left = namesIn(first)
          const other = mounted({ "queue-name": "papers" })
          let second = mounted({ "queue-name": "photos" })
          await until(() => isBusy(second))
          await until(() => second.queue?.getSnapshot().totals.state === "completed")
          await until(() => second.shadowRoot?.querySelector("li[data-state=completed]") != null)
          const states = queue?.getSnapshot().items.map(({ state }) => state)
          const shown = { same: second.queue === queue, rows: namesIn(second).sort(), states, other: namesIn(other) }
          const before = listeners
          for (let again = 0; again < 3; again++) {
            second.remove()
            await new Promise((done) => setTimeout(done, 20))
            second = mounted({ "queue-name": "photos" })
            await until(() => isBusy(second))
          }
          const more = listeners - before
          // two without a name have a queue each, unless they are given the same
          const [third, fourth] = [mounted({}), mounted({})]
          await Promise.all([third.add([new File(["3"], "three.txt")]), fourth.add([new File(["4"], "four.txt")])])
          await until(() => isBusy(third) && isBusy(fourth))
          const apart = [namesIn(third), namesIn(fourth)]
          fourth.queue = third.queue
          await until(() => namesIn(fourth).includes("three.txt"))
          const given = namesIn(fourth)
          await queue?.dispose()
          second.remove()
          const last = mounted({ "queue-name": "photos" })
          await until(() => last.queue !== undefined)
          return { left, shown, more, apart, given, disposed: namesIn(last) }
        }, null)
        assert.deepStrictEqual(found, {
          left: [],
          more: 0,
          shown: {
            same: true,
            rows: ["one.txt", "two.txt"],
            states: ["completed", "completed"],
            other: []
          },
          apart: [["three.txt"], ["four.txt"]],
          given: ["three.txt"],
          disposed: []
        })
        assert.deepStrictEqual(page.errors?.() ?? [], [])
      }))

    it.scoped("has a width in whatever holds it, is never wider than the page, and takes on no alignment or spacing", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        const found = yield* inPage(page, async () => {
          const parents = {
            block: "",
            "flex row": "display: flex",
            "flex row, centred": "display: flex; justify-content: center",
            "flex column": "display: flex; flex-direction: column",
            "flex column, centred": "display: flex; flex-direction: column; align-items: center",
            grid: "display: grid",
            "grid, centred": "display: grid; place-items: center",
            "inline-block": "display: inline-block",
            float: "float: left",
            absolute: "position: absolute",
            "table cell": "display: table-cell",
            dialog: ""
          }
          const wrong: Array<string> = []
          // a frame is a screen of any width, in any browser
          const frame = document.createElement("iframe")
          frame.src = "/"
          document.body.append(frame)
          while (frame.contentDocument?.querySelector("stevedore-upload")?.shadowRoot?.getElementById("drop") == null) {
            await new Promise((done) => setTimeout(done, 20))
          }
          const inside = frame.contentDocument
          const upload = inside.querySelector("stevedore-upload")
          const all = upload?.shadowRoot?.getElementById("all")
          if (upload === null || all == null) return ["no element"]
          for (const sheet of Array.from(inside.styleSheets)) sheet.disabled = true
          inside.body.style.cssText = "text-align: center; letter-spacing: 3px; text-transform: uppercase"
          for (const width of [320, 375, 768, 1024, 1440]) {
            frame.style.cssText = `border: 0; width: ${width}px; height: 900px`
            for (const [name, style] of Object.entries(parents)) {
              const parent = inside.createElement(name === "dialog" ? "dialog" : "div")
              parent.style.cssText = style
              parent.toggleAttribute("open", name === "dialog")
              parent.append(upload)
              inside.body.replaceChildren(parent)
              const { left, right, width: own } = upload.getBoundingClientRect()
              const { letterSpacing, textAlign, textTransform } = getComputedStyle(all)
              const [root, screen] = [inside.documentElement, inside.documentElement.clientWidth]
              const at = `${name} at ${width}:`
              if (own < Math.min(480, 0.7 * screen - 1)) wrong.push(`${at} ${own} wide`)
              if (left < 0 || right > screen || root.scrollWidth > screen) wrong.push(`${at} out of the page`)
              if (name.includes("centred") && Math.abs(left + right - screen) > 1) wrong.push(`${at} off centre`)
              const taken = [letterSpacing, textAlign, textTransform].join()
              if (taken !== "normal,start,none") wrong.push(`${at} ${taken}`)
            }
          }
          return wrong
        }, null)
        assert.deepStrictEqual(found, [])
      }))

    it.scoped("is laid out from right to left, in words of its language", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened({}, "ar")
        yield* Page.add(page, ["a.txt", 1000])
        yield* Page.until(page, ({ done }) => done === "تم")
        const [picture = 0, end = 0] = yield* inPage(page, () => {
          const row = document.querySelector("stevedore-upload")?.shadowRoot?.querySelector("li")
          return Array.from(row?.querySelectorAll(".picture, button:not([hidden])") ?? [])
            .map((element) => element.getBoundingClientRect().left)
        }, null)
        assert.isAbove(picture, end)
        const gap = yield* inPage(page, () => {
          const row = document.querySelector("stevedore-upload")?.shadowRoot?.querySelector("li")
          const of = (selector: string) => row?.querySelector(selector)?.getBoundingClientRect()
          return (of(".picture")?.left ?? NaN) - (of(".name bdi")?.right ?? NaN)
        }, null)
        // a name in another script stands beside its picture too
        assert.isAbove(gap, 0)
        assert.isBelow(gap, 24)
        assert.deepStrictEqual(yield* Page.violations(page), [])
      }))
  })
