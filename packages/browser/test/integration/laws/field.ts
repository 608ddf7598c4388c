// A file that was handed over is in the list, in words, or in an event, until somebody takes it out. It belongs to the field
// that it was handed to, and to no other.
import { assert, layer } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Effect, Layer, Schedule } from "effect"
import * as Page from "../support/elementPage.js"
import { type Engine, inPage, untilHolds } from "../support/engine.js"
import { ExamplePage } from "../support/examplePage.js"
import { prepared } from "../support/fieldKit.js"

/** Files of the page that are not there when they are asked for first. */
const absentOnce = (files: ReadonlyMap<string, string | Uint8Array>, absent: ReadonlyArray<string>) => {
  const left = new Set(absent)
  const found = new Map(files)
  found.get = (name) => left.delete(name) ? undefined : files.get(name)
  return found
}

/** `remembers`: a browser that never asks again for what a script itself imports. `isBrief`: what takes longest is left out. */
export const field = (
  engine: Layer.Layer<Engine>,
  where: string,
  { isBrief = false, pages = ExamplePage.Live, remembers = false } = {}
) =>
  layer(Layer.merge(engine, pages), {
    excludeTestServices: true,
    timeout: "4 minutes"
  })(`a field in ${where}`, (it) => {
    it.scoped("has only what was handed to it: not of another form, record or person", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, inForm, isBuilt, mounted, pause, rows, unmounted, until, values } = window.kit
          const { field: first, form: one } = inForm({ name: "invoice" })
          const { field: second, form: two } = inForm({ name: "invoice" })
          await Promise.all([first.add([file("one.pdf")]), second.add([file("two.pdf")])])
          await until(() => first.value.length + second.value.length === 2)
          const apart = [rows(first), rows(second), values(one, "invoice").length, values(two, "invoice").length]
          for (const field of [first, second]) unmounted(field)
          // the same route with another record
          const next = mounted({ name: "invoice" })
          await until(() => isBuilt(next))
          await pause(300)
          const after = [rows(next), next.value]
          unmounted(next)
          // with an identity: one list, over two elements and a change of route
          const here = mounted({ "queue-name": "ada/7", name: "invoice" })
          const there = mounted({ "queue-name": "ada/7", "max-files": "9" })
          const other = mounted({ "queue-name": "bob/7", name: "invoice" })
          await here.add([file("three.pdf")])
          await until(() => here.value.length === 1 && rows(there).length === 1 && isBuilt(other))
          const shared = [rows(here), rows(there), rows(other)]
          for (const field of [here, there]) unmounted(field)
          await pause(50)
          const back = mounted({ "queue-name": "ada/7" })
          await until(() => rows(back).length > 0)
          const again = [rows(back), back.value.length, rows(other)]
          back.setAttribute("queue-name", "ada/8")
          await until(() => rows(back).length === 0)
          return { apart, after, shared, again, changed: rows(back) }
        }, null)
        assert.deepStrictEqual(found, {
          apart: [["one.pdf"], ["two.pdf"], 1, 1],
          after: [[], []],
          shared: [["three.pdf"], ["three.pdf"], []],
          again: [["three.pdf"], 1, []],
          changed: []
        })
        assert.deepStrictEqual(page.errors?.() ?? [], [])
      }))

    it.scoped("is a control as an input is one: properties, labels, focus and validity", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, inForm, isBuilt, pause, until } = window.kit
          const attributes = { id: "invoice", name: "invoice", required: true, disabled: false, "whole-page": false }
          const { field, form } = inForm(attributes, "<fieldset><label for=invoice>Invoice</label></fieldset>")
          // also before anything of it is loaded
          const early = [form.checkValidity(), field.validity.valueMissing, field.willValidate]
          const off = [field.disabled, field.wholePage]
          await until(() => isBuilt(field))
          const root = field.shadowRoot
          const named = [root?.getElementById("drop")?.ariaLabel, root?.getElementById("choose-files")?.ariaLabel]
          const described = root?.getElementById("choose-files")?.getAttribute("aria-describedby")
          form.requestSubmit()
          await pause(50)
          const line = root?.querySelector<HTMLElement>("#drop .error")
          const bad = document.createElement("p")
          const said = [document.activeElement === field, line?.textContent, line && getComputedStyle(line).color]
          document.body.append(bad)
          let opened = 0
          root?.getElementById("files")?.addEventListener("click", (event) => {
            event.preventDefault()
            opened++
          })
          document.querySelector("label")?.click()
          field.blur()
          const isBlurred = document.activeElement !== field
          field.focus()
          const isFocused = document.activeElement === field
          const flags: Array<unknown> = []
          for (const flag of ["disabled", "required", "wholePage"] as const) {
            field[flag] = true
            flags.push(field[flag], field.hasAttribute(flag === "wholePage" ? "whole-page" : flag))
            field[flag] = false
            flags.push(field[flag])
          }
          field.setCustomValidity("Not today.")
          const custom = [field.checkValidity(), field.validationMessage]
          field.setCustomValidity("")
          field.accept = ".png"
          field.multiple = false
          const input = root?.querySelector<HTMLInputElement>("#files")
          const live = [input?.accept, input?.multiple, root?.getElementById("limits")?.textContent, field.maxFiles]
          field.disabled = true
          const disabled = [field.matches(":disabled"), field.willValidate]
          const paste = new ClipboardEvent("paste", { bubbles: true, composed: true, cancelable: true })
          Object.defineProperty(paste, "clipboardData", {
            value: { items: [{ kind: "file", webkitGetAsEntry: () => null, getAsFile: () => file("a.png") }] }
          })
          const isLeft = document.body.dispatchEvent(paste)
          field.disabled = false
          const { form: owner, labels: { length }, name, type } = field
          return {
            early,
            off,
            named,
            described,
            said: said.slice(0, 2),
            color: said[2],
            opened,
            isBlurred,
            isFocused,
            flags,
            custom,
            live,
            disabled,
            isLeft,
            owner: owner === form,
            length,
            name,
            type
          }
        }, null)
        assert.deepStrictEqual(found, {
          early: [false, true, true],
          off: [false, false],
          named: ["Invoice", "Choose files: Invoice"],
          described: "limits required",
          said: [true, "Choose a file to upload."],
          color: "rgb(179, 38, 30)",
          opened: 1,
          isBlurred: true,
          isFocused: true,
          flags: [true, true, false, true, true, false, true, true, false],
          custom: [false, "Not today."],
          live: [".png", false, "PNG, one file", "1"],
          disabled: [true, false],
          isLeft: true,
          owner: true,
          length: 1,
          name: "invoice",
          type: "file"
        })
      }))

    it.scoped("has what was set as existing or as value in place of what was set before, by id, and nothing that was taken out", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, inForm, pause, press, rows, told, until } = window.kit
          const { field } = inForm({ name: "files" })
          const existing = (...ids: ReadonlyArray<string>) => ids.map((id) => ({ id, name: `${id}.pdf` }))
          const seen: Array<string> = []
          const becomes = async (value: string) => {
            await until(() => field.value.join() === value)
            seen.push(field.value.join())
          }
          field.existing = existing("a", "b")
          await becomes("a,b")
          await until(() => rows(field).length === 2)
          press(field, "Remove a.pdf")
          await becomes("b")
          // a framework sets it with every rendering
          field.existing = existing("a", "b")
          await pause(100)
          await becomes("b")
          // another view of the same list
          field.lang = "de"
          await pause(500)
          await becomes("b")
          field.existing = existing("b", "c")
          await becomes("b,c")
          await field.add([file("own.txt")])
          await until(() => field.value.length === 3)
          const own = field.value[2] ?? ""
          field.existing = []
          await becomes(own)
          field.value = ["x", own]
          await becomes(`${own},x`)
          field.value = undefined
          await becomes("")
          const buttons = Array.from(field.shadowRoot?.querySelectorAll("#clear:not([hidden])") ?? [])
          const changes = told.filter((line) => line.startsWith("changed")).map((line) =>
            line.slice(8).replace(own, "own")
          )
          return { seen: seen.map((value) => value.replace(own, "own")), changes, buttons: buttons.length }
        }, null)
        assert.deepStrictEqual(found, {
          seen: ["a,b", "b", "b", "b", "b,c", "own", "own,x", ""],
          changes: ["a,b", "b", "b,c", "b,c,own", "c,own", "own", "own,x", "x", ""],
          buttons: 0
        })
      }))

    it.scoped("keeps what is uploaded in a form that is tidied, and brings back what was taken out for five seconds", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, inForm, press, rows, until, values } = window.kit
          const { field, form } = inForm({ name: "files" })
          await field.add([file("a.txt"), file("b.txt")])
          await until(() => values(form, "files").length === 2)
          const isOffered = () => field.shadowRoot?.querySelector("#clear")?.checkVisibility() === true
          const inside = isOffered()
          await until(() => rows(field).length === 2)
          press(field, "Remove a.txt")
          await until(() => values(form, "files").length === 1)
          press(field, "Undo")
          await until(() => values(form, "files").length === 2)
          return { inside, names: [...rows(field)].sort() }
        }, null)
        assert.deepStrictEqual(found, { inside: false, names: ["a.txt", "b.txt"] })
      }))

    it.scoped("shows a name whole where it has room, and only then cuts it in its middle", () =>
      Effect.gen(function*() {
        const { page } = yield* Page.opened()
        yield* prepared(page)
        const found = yield* inPage(page, async () => {
          const { file, mounted, pause, rows, until } = window.kit
          const field = mounted({ autostart: "false" })
          const alphabet = "photo report_final (copy) 2024-05"
          // not so many that rows far down have only their name
          const names = Array.from({ length: 28 }, (_, index) => `${alphabet.repeat(2).slice(0, 2 * index + 1)}.jpg`)
          await field.add(names.map((name) => file(name)))
          await until(() => rows(field).length === names.length)
          const wrong: Array<string> = []
          for (const width of [320, 480, 1000]) {
            field.style.cssText = `width: ${width}px`
            await pause(100)
            for (const name of field.shadowRoot?.querySelectorAll<HTMLElement>("li .name") ?? []) {
              const spans = Array.from(name.querySelectorAll("span"))
              const natural = document.createElement("span")
              natural.style.cssText = "position: absolute; visibility: hidden; white-space: pre"
              natural.textContent = name.textContent
              name.append(natural)
              const fits = natural.getBoundingClientRect().width <= name.clientWidth
              natural.remove()
              const isCut = spans.some((span) => span.scrollWidth > span.clientWidth + 1)
              const [start = "", end = ""] = spans.map(({ textContent }) => textContent ?? "")
              if (isCut && fits || end.length > start.length + 1 && end !== "") wrong.push(`${width} ${start}|${end}`)
            }
          }
          return wrong
        }, null)
        assert.deepStrictEqual(found, [])
      }))

    if (!isBrief) {
      it.scoped("goes on with what runs when it is taken out, and shows it again by its identity", () =>
        Effect.gen(function*() {
          const { page, sandbox } = yield* Page.opened({ faults: FaultScript.on("put").always().delay("2 seconds") })
          yield* prepared(page)
          const found = yield* inPage(page, async () => {
            const { file, mounted, pause, rows, told, unmounted, until } = window.kit
            const named = mounted({ "queue-name": "ada/7" })
            const own = mounted({})
            await Promise.all([named.add([file("named.txt")]), own.add([file("own.txt")])])
            await until(() => rows(named).length + rows(own).length === 2)
            const queues = [named.queue, own.queue]
            for (const field of [named, own]) unmounted(field)
            await until(() => queues.every((queue) => queue?.getSnapshot().totals.completed === 1))
            told.length = 0
            const next = mounted({ "queue-name": "ada/7" })
            await until(() => next.value.length === 1)
            await until(() => told.length > 0)
            const other = mounted({})
            await pause(200)
            return { rows: [rows(next), rows(other)], told: told.map((one) => one.split(" ")[0]) }
          }, null)
          // whoever mirrors the value hears of what ended meanwhile
          assert.deepStrictEqual(found, { rows: [["named.txt"], []], told: ["changed"] })
          const files = yield* sandbox.files
          assert.sameMembers(files.map(({ name, status }) => `${name} ${status}`), [
            "named.txt completed",
            "own.txt completed"
          ])
        }))

      it.scoped("is offered what it left itself, and takes it only if it takes such a file", () =>
        Effect.gen(function*() {
          const { page, sandbox } = yield* Page.opened({ faults: FaultScript.on("putPart").part(2).stall("connect") })
          yield* prepared(page)
          yield* inPage(page, async () => {
            const passport = window.kit.mounted({ "queue-name": "ada/passport", metadata: "{\"record\":\"A\"}" })
            await passport.add([window.kit.file("passport.bin", 84_000_000)])
          }, null)
          const hasFirstPart = Effect.map(
            sandbox.report,
            ({ requests }) => requests.some(({ operation, status }) => operation === "putPart" && status === 200)
          )
          yield* Effect.repeat(hasFirstPart, { schedule: Schedule.spaced("50 millis"), until: (has) => has })
          yield* untilHolds(
            inPage(
              page,
              () => document.querySelector("stevedore-upload")?.queue?.getSnapshot().totals.confirmed ?? 0,
              null
            ),
            (confirmed) => confirmed > 0
          )
          yield* Effect.sleep("500 millis")
          yield* Effect.promise(() => page.reload())
          yield* Page.until(page, ({ buttons }) => buttons.length > 0)
          yield* prepared(page)
          const found = yield* inPage(page, async () => {
            const { buttons, file, isBuilt, mounted, pause, unmounted, until } = window.kit
            const fields = [
              mounted({ "queue-name": "ada/logo", accept: ".png" }),
              mounted({}),
              mounted({ name: "passport" }),
              mounted({ "queue-name": "bob/passport" })
            ]
            await until(() => fields.every(isBuilt))
            await pause(2500)
            const offered = fields.map((field) => buttons(field).filter((label) => label.includes("passport.bin")))
            for (const field of fields) unmounted(field)
            const same = mounted({ "queue-name": "ada/passport", accept: ".png" })
            await until(() => buttons(same).some((label) => label.includes("passport.bin")))
            const queue = same.queue
            const id = queue?.getSnapshot().unfinished[0]?.id ?? ""
            queue?.giveFile(id, file("passport.bin", 84_000_000))
            const refused = queue?.getSnapshot().unfinished[0]?.error?.tag
            same.accept = ".bin"
            queue?.giveFile(id, file("passport.bin", 84_000_000))
            await until(() => same.value.length === 1)
            const [item] = queue?.getSnapshot().items ?? []
            return { offered, refused, metadata: item?.metadata, sessions: item?.result?.sent.sessions }
          }, null)
          assert.deepStrictEqual(found, {
            offered: [[], [], [], []],
            refused: "WrongType",
            metadata: { record: "A" },
            sessions: 1
          })
          const { requests } = yield* sandbox.report
          assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
        }))

      it.scoped("loses no file of which a script does not load, says so, and loads it again", () =>
        Effect.gen(function*() {
          const files = yield* ExamplePage
          const scripts = Array.from(files.keys()).filter((name) => /\.js$/.test(name))
          const isShared = (name: string) =>
            scripts.some((other) => `${files.get(other)}`.includes(`from"./${name.slice(name.lastIndexOf("/") + 1)}"`))
          const late = scripts.filter((name) =>
            !`${files.get("/index.html")}`.includes(name) && !(remembers && isShared(name))
          )
          assert.isAbove(late.length, 6)
          const languageOf = (name: string) =>
            /german|french|spanish|japanese|arabic/.exec(name)?.[0].slice(0, 2).replace("ge", "de").replace(
              "sp",
              "es"
            ) ??
              "en"
          for (const name of late) {
            const world = yield* Page.opening(absentOnce(Page.inLanguage(files, languageOf(name)), [name]))
            const { page } = world
            const found = yield* inPage(page, async () => {
              const field = document.querySelector("stevedore-upload")
              if (field === null) throw new Error("no field")
              const form = document.createElement("form")
              field.name = "files"
              field.replaceWith(form)
              form.append(field)
              const told: Array<string> = []
              field.addEventListener(
                "failed",
                ({ detail }) => told.push(`${detail.item.name} ${detail.item.error?.tag}`)
              )
              const until = async (holds: () => unknown) => {
                for (let tries = 0; tries < 400 && !holds(); tries++) await new Promise((done) => setTimeout(done, 25))
              }
              const again = () =>
                Array.from(field.shadowRoot?.querySelectorAll<HTMLElement>("[role=alert] button") ?? [])
                  .find((button) => button.checkVisibility())
              await field.add([new File(["handed over"], "a.txt")])
              await until(() => again() !== undefined || field.value.length === 1)
              const isLost = field.value.length === 0
              const said = isLost ? again()?.parentElement?.textContent ?? "" : ""
              const isValid = form.checkValidity()
              again()?.click()
              await until(() => field.value.length === 1)
              return {
                isLost,
                isNamed: said.includes("a.txt"),
                isValid,
                told,
                sent: new FormData(form).getAll("files").length,
                isValidThen: form.checkValidity(),
                left: again() !== undefined
              }
            }, null)
            const { isLost } = found
            assert.deepStrictEqual(found, {
              isLost,
              isNamed: isLost,
              isValid: !isLost,
              told: isLost ? ["a.txt NotLoaded"] : [],
              sent: 1,
              isValidThen: true,
              left: false
            }, name)
            yield* Effect.promise(() => page.close())
          }
        }))
    }
  })
