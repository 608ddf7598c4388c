/** The example page, which is the element and little else, in a tab of any browser. */
import type {} from "@stevedore/browser/element"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import type { SandboxOptions } from "@stevedore/testing"
import axe from "axe-core"
import { Effect, type Scope } from "effect"
import * as BrowserDemo from "../../../../examples/browser/server/BrowserDemo.js"
import { Engine, inPage, type Tab, untilHolds } from "./engine.js"
import { ExamplePage } from "./examplePage.js"
import { sparseFile } from "./world.js"

export type Behaviour = Omit<SandboxOptions.Options, "apiOrigin" | "storageOrigin">

/** The example page in another language, and another page to go to. */
export const inLanguage = (files: BrowserDemo.Files, language: string): BrowserDemo.Files =>
  new Map(files)
    .set("/index.html", `${files.get("/index.html")}`.replace("lang=\"en\"", `lang="${language}"`))
    .set("/elsewhere.html", "<!doctype html><title>Elsewhere</title>")

/** What a visitor sees of the element. */
const look = () => {
  const root = document.querySelector("stevedore-upload")?.shadowRoot
  const plain = (text: string | null | undefined) => (text ?? "").replaceAll("\u00a0", " ").trim()
  const isSeen = (element: Element) => element.checkVisibility({ visibilityProperty: true })
  const seen = (within: ParentNode | null | undefined, selector: string) =>
    Array.from(within?.querySelectorAll<HTMLElement>(selector) ?? []).filter(isSeen)
  const one = (within: ParentNode | null | undefined, selector: string) => plain(seen(within, selector)[0]?.innerText)
  // of a row also before it is drawn
  const told = (within: ParentNode, selector: string) => plain(seen(within, selector)[0]?.textContent)
  const labels = (within: ParentNode | null | undefined) =>
    seen(within, "button").map((button) => button.ariaLabel ?? plain(button.textContent))
  return {
    buttons: labels(root),
    /** The files, from top to bottom, without those that are folded away. */
    rows: seen(root, "li").map((row) => ({
      name: told(row, ".name"),
      state: row.dataset["state"],
      told: told(row, ".state"),
      error: told(row, ".error"),
      progress: row.querySelector("[role=progressbar]")?.ariaValueText ?? "",
      buttons: labels(row)
    })),
    alerts: seen(root, "[role=alert]").map((alert) => plain(alert.textContent)).filter((words) => words !== ""),
    refused: one(root, "#refused [role=alert]"),
    unfinished: one(root, "#unfinished h2"),
    folded: one(root, "summary"),
    done: one(root, "#done"),
    announced: plain(root?.querySelector("#announcements")?.textContent),
    /** How high the place to drop is, in pixels. */
    drop: root?.querySelector("#drop")?.getBoundingClientRect().height ?? 0
  }
}

export type Shown = ReturnType<typeof look>

export const shown = (page: Tab): Effect.Effect<Shown> => inPage(page, look, null)

/** What is shown once something holds of it, or it is clear that it never will. */
export const until = (page: Tab, holds: (shown: Shown) => boolean): Effect.Effect<Shown> =>
  untilHolds(shown(page), holds)

export const isAnnounced = (page: Tab, words: string): Effect.Effect<Shown> =>
  until(page, ({ announced }) => announced === words)

export const hasButton = (page: Tab, name: string): Effect.Effect<Shown> =>
  until(page, ({ buttons }) => buttons.includes(name))

type Opened = Effect.Effect.Success<ReturnType<typeof BrowserDemo.start>> & { readonly page: Tab }

/** A page of these files in a tab of its own. */
export const opening = (
  files: BrowserDemo.Files,
  behaviour: Behaviour = {}
): Effect.Effect<Opened, never, Engine | Scope.Scope> =>
  Effect.gen(function*() {
    const demo = yield* BrowserDemo.start({ files }, behaviour)
    const { open } = yield* Effect.flatMap(Engine, ({ session }) => session)
    return { ...demo, page: yield* Effect.promise(() => open(demo.origin)) }
  }).pipe(Effect.provide(NodeContext.layer), Effect.orDie)

export const opened = (
  behaviour: Behaviour = {},
  language = "en"
): Effect.Effect<Opened, never, Engine | ExamplePage | Scope.Scope> =>
  Effect.gen(function*() {
    const world = yield* opening(inLanguage(yield* ExamplePage, language), behaviour)
    // the element shows itself once its words are there
    yield* until(world.page, ({ buttons }) => buttons.length > 0)
    return world
  })

/** A file of so many bytes on disk, in a folder of its own. */
export const onDisk = (name: string, size: number): Effect.Effect<string, never, Scope.Scope> =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "stevedore-" })).pipe(
    Effect.flatMap((directory) => sparseFile({ directory }, name, size)),
    Effect.provide(NodeContext.layer),
    Effect.orDie
  )

/** Chooses a file as a visitor does. */
export const choose = (page: Tab, path: string): Effect.Effect<void> => Effect.promise(() => page.choose(path))

/** Adds files that the page has made, by name and size. */
export const add = (page: Tab, ...files: ReadonlyArray<readonly [name: string, size: number]>): Effect.Effect<void> =>
  inPage(page, (files) => {
    const made = files.map(([name, size]) => new File([new Uint8Array(size)], name, { type: "text/plain" }))
    return document.querySelector("stevedore-upload")?.add(made)
  }, files)

export const click = (page: Tab, name: string): Effect.Effect<void> =>
  inPage(page, (name) => {
    const buttons = document.querySelector("stevedore-upload")?.shadowRoot?.querySelectorAll("button") ?? []
    Array.from(buttons).find(({ ariaLabel, textContent }) => (ariaLabel ?? textContent) === name)?.click()
  }, name)

/** Calls back with what the live region says from now on. */
export const listen = (page: Tab): Effect.Effect<{ readonly said: Effect.Effect<ReadonlyArray<string>> }> =>
  Effect.as(
    inPage(page, () => {
      const said: Array<string> = []
      const region = document.querySelector("stevedore-upload")?.shadowRoot?.querySelector("[aria-live]")
      Object.assign(window, { said })
      if (region == null) return
      new MutationObserver(() => said.push((region.textContent ?? "").replaceAll("\u00a0", " ")))
        .observe(region, { childList: true, characterData: true, subtree: true })
    }, null),
    { said: inPage(page, () => Reflect.get(window, "said") as ReadonlyArray<string>, null) }
  )

/** What axe finds in the current state of the page, in light and in dark. */
export const violations = (page: Tab): Effect.Effect<ReadonlyArray<string>> =>
  inPage(page, async (source) => {
    if (Reflect.get(window, "axe") === undefined) {
      const script = document.createElement("script")
      script.textContent = source
      document.head.append(script)
    }
    let told: ReadonlyArray<string> = []
    for (const colours of ["light", "dark"]) {
      document.documentElement.style.colorScheme = colours
      const found: { readonly violations: ReadonlyArray<axe.Result> } = await Reflect.get(window, "axe").run()
      told = told.concat(found.violations.map(({ id, nodes }) => `${colours}, ${id}: ${nodes.map(({ html }) => html)}`))
    }
    return told
  }, axe.source)
