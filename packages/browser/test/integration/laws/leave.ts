import { assert, layer } from "@effect/vitest"
import { FaultScript } from "@stevedore/testing"
import { Effect, Layer, Schedule } from "effect"
import * as Page from "../support/elementPage.js"
import { type Engine, inPage, type Tab, untilHolds } from "../support/engine.js"
import { ExamplePage } from "../support/examplePage.js"

const MiB = 1024 * 1024

const mark = (page: Tab) =>
  inPage(page, () => {
    const told: Array<string> = []
    Object.assign(window, { told })
    for (const event of ["pagehide", "pageshow"]) {
      addEventListener(event, (now) => told.push(`${event} ${Reflect.get(now, "persisted")}`))
    }
    for (const event of ["freeze", "resume"]) document.addEventListener(event, () => told.push(event))
  }, null)

/** What a page heard since it was marked; nothing if it is a new one. */
const heard = (page: Tab) =>
  inPage(page, () => (Reflect.get(window, "told") ?? null) as ReadonlyArray<string> | null, null)

/** Leaves the page and returns to it. */
const leaveAndReturn = (page: Tab, origin: string) =>
  Effect.gen(function*() {
    yield* mark(page)
    yield* Effect.promise(() => page.goTo(`${origin}/elsewhere.html`))
    yield* Effect.sleep("1 second")
    yield* Effect.promise(() => page.goBack())
    yield* untilHolds(
      inPage(page, () => document.querySelector("stevedore-upload")?.shadowRoot?.childElementCount ?? 0, null).pipe(
        // between two pages
        Effect.catchAllCause(() => Effect.succeed(0))
      ),
      (count) => count > 0
    )
  })

/** What a page hears whose browser has kept it meanwhile, and none if the browser loads it again. */
export interface Kept {
  readonly done: ReadonlyArray<string> | null
  readonly uploading: ReadonlyArray<string> | null
}

/** A page that a visitor leaves and returns to by the browser's buttons, in any browser. */
export const leave = (engine: Layer.Layer<Engine>, browser: string, kept: Kept) =>
  layer(Layer.merge(engine, ExamplePage.Live), {
    excludeTestServices: true,
    timeout: "3 minutes"
  })(`a page that is left and returned to in ${browser}`, (it) => {
    it.scoped("is as it was if the browser has kept it, and takes further files", () =>
      Effect.gen(function*() {
        const { origin, page, sandbox } = yield* Page.opened()
        yield* Page.choose(page, yield* Page.onDisk("first.txt", 1000))
        yield* Page.isAnnounced(page, "1 file uploaded.")
        yield* leaveAndReturn(page, origin)
        assert.deepStrictEqual(yield* heard(page), kept.done)
        yield* Page.choose(page, yield* Page.onDisk("second.txt", 1000))
        const uploaded = kept.done === null ? ["second.txt"] : ["first.txt", "second.txt"]
        const { rows } = yield* Page.until(page, ({ rows }) =>
          rows.length === uploaded.length && rows.every(({ state }) => state === "completed"))
        assert.sameMembers(
          rows.map(({ name }) =>
            name
          ),
          uploaded
        )
        const files = yield* sandbox.files
        assert.sameMembers(files.map(({ name, status }) => `${name} ${status}`), [
          "first.txt completed",
          "second.txt completed"
        ])
        assert.deepStrictEqual((yield* sandbox.report).breaches, [])
      }))

    for (const does of ["uploads", "is paused"]) {
      it.scoped(`goes on with a file that ${does} where it was, in the same session`, () =>
        Effect.gen(function*() {
          const { origin, page, sandbox } = yield* Page.opened({
            faults: FaultScript.on("putPart").part(2).delay("5 seconds")
          })
          const path = yield* Page.onDisk("large.bin", 80 * MiB)
          yield* Page.choose(page, path)
          yield* Effect.repeat(
            Effect.map(sandbox.report, ({ requests }) =>
              requests.filter(({ operation }) => operation === "putPart").length),
            {
              schedule: Schedule.spaced("50 millis"),
              until: (puts) =>
                puts >= 2
            }
          )
          yield* Page.until(page, ({ rows }) => /[1-9].* of/.test(rows[0]?.told ?? ""))
          if (does === "is paused") yield* Page.click(page, "Pause large.bin")
          yield* Effect.sleep("500 millis")
          yield* leaveAndReturn(page, origin)
          assert.deepStrictEqual(yield* heard(page), kept.uploading)
          if (kept.uploading === null) {
            yield* Page.hasButton(page, "Choose large.bin again")
            yield* Page.choose(page, path)
          } else if (does === "is paused") yield* Page.click(page, "Resume large.bin")
          yield* Page.isAnnounced(page, "1 file uploaded.")
          const { requests } = yield* sandbox.report
          assert.lengthOf(requests.filter(({ operation }) => operation === "initiateLarge"), 1)
        }))
    }
  })
