import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { FaultScript, type SandboxOptions } from "@stevedore/testing"
import axe from "axe-core"
import { Effect, Layer, Option, Schedule } from "effect"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as BrowserDemo from "../../../../examples/browser/server/BrowserDemo.js"
import { Engine, type Tab } from "../support/engine.js"
import { ExamplePage } from "../support/examplePage.js"

const opened = (behaviour: Omit<SandboxOptions.Options, "apiOrigin" | "storageOrigin"> = {}) =>
  Effect.gen(function*() {
    const demo = yield* BrowserDemo.start({ files: yield* ExamplePage }, behaviour)
    const { open } = yield* Effect.flatMap(Engine, ({ session }) => session)
    return { ...demo, page: yield* Effect.promise(() => open(demo.origin)) }
  }).pipe(Effect.provide(NodeContext.layer))

/** A file that the page's input has been given. */
const choose = (page: Tab, name: string, size = 1000) =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "stevedore-"))),
      (directory) => Effect.promise(() => rm(directory, { recursive: true }))
    )
    const path = join(directory, name)
    yield* Effect.promise(() => writeFile(path, Buffer.alloc(size, "a")))
    yield* Effect.promise(() => page.choose(path))
  })

const inPage = <Argument, Result>(
  page: Tab,
  run: (argument: Argument) => Result | Promise<Result>,
  argument: Argument
): Effect.Effect<Result> => Effect.promise(() => page.evaluate(run, argument))

/** Until something holds in the page, or it is clear that it never will: then with what the page shows instead. */
const until = (page: Tab, holds: (words: string) => boolean, words: string) =>
  inPage(page, holds, words).pipe(
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: (held) => held }),
    Effect.timeoutOption("30 seconds"),
    Effect.flatMap(Option.match({
      onNone: () =>
        Effect.flatMap(
          inPage(page, () => document.body.innerText, null),
          (shown) => Effect.dieMessage(`no ${words}: ${shown}`)
        ),
      onSome: () => Effect.void
    }))
  )

const shows = (page: Tab, words: string) =>
  until(page, (words) => document.body.innerText.replaceAll("\u00a0", " ").includes(words), words)

const hasButton = (page: Tab, name: string) =>
  until(
    page,
    (name) =>
      Array.from(document.querySelectorAll("button")).some(({ ariaLabel, hidden }) => ariaLabel === name && !hidden),
    name
  )

const click = (page: Tab, name: string) =>
  inPage(
    page,
    (name) => Array.from(document.querySelectorAll("button")).find(({ ariaLabel }) => ariaLabel === name)?.click(),
    name
  )

/** What axe finds in the current state of the page. */
const violations = (page: Tab) =>
  inPage(page, async (source) => {
    const script = document.createElement("script")
    script.textContent = source
    document.head.append(script)
    const found: { readonly violations: ReadonlyArray<axe.Result> } = await Reflect.get(window, "axe").run()
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)
  }, axe.source)

/** What of the example page could differ between browsers: all else is tested in Chromium. */
export const page = (engine: Layer.Layer<Engine>, browser: string) =>
  layer(Layer.merge(engine, ExamplePage.Live), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })(`the example page in ${browser}`, (it) => {
    it.scoped("uploads a chosen file without an error in the console", () =>
      Effect.gen(function*() {
        const { page, sandbox } = yield* opened()
        yield* choose(page, "a.txt")
        yield* shows(page, "1 file uploaded.")
        assert.deepStrictEqual((yield* sandbox.files).map(({ name }) => name), ["a.txt"])
        assert.deepStrictEqual((yield* sandbox.report).breaches, [])
        assert.deepStrictEqual(page.errors?.() ?? [], [])
      }))

    it.scoped("has no violation that axe finds when it is empty, and when a file failed, is paused or is uploaded", () =>
      Effect.gen(function*() {
        const faults = FaultScript.on("put").times(1).answer(403, "AccessDenied").and(
          FaultScript.on("put").times(1).delay("1 minute")
        )
        const { page, sandbox } = yield* opened({ faults })
        assert.deepStrictEqual(yield* violations(page), [])
        yield* choose(page, "a.txt")
        yield* hasButton(page, "Retry a.txt")
        assert.deepStrictEqual(yield* violations(page), [])
        yield* choose(page, "b.txt")
        // before it is paused, the one that is delayed must be on its way
        yield* Effect.repeat(sandbox.report, {
          schedule: Schedule.spaced("50 millis"),
          until: ({ requests }) => requests.filter(({ operation }) => operation === "put").length === 2
        })
        yield* click(page, "Pause b.txt")
        yield* hasButton(page, "Resume b.txt")
        assert.deepStrictEqual(yield* violations(page), [])
        yield* click(page, "Retry a.txt")
        yield* shows(page, "1 of 2 files")
        assert.deepStrictEqual(yield* violations(page), [])
      }))
  })
