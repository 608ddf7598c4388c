// The pictures of the documentation. STEVEDORE_PICTURES names the folder that they are written to: packages/docs/public.
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import type { UploadQueue } from "@stevedore/browser"
import { Effect, Layer } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as BrowserDemo from "../../../../examples/browser/server/BrowserDemo.js"
import { empty, snapshotOf } from "../../../src/queue/item.js"
import { Chromium, ChromiumLive } from "../support/chromium.js"
import { inLanguage } from "../support/elementPage.js"
import { ExamplePage } from "../support/examplePage.js"

const docs = fileURLToPath(new URL("../../../../docs/public", import.meta.url))

const folder = process.env.STEVEDORE_PICTURES

/** So many pixels of a picture are one of the page. */
const scale = 1.5

const MB = 1_000_000

const item = (
  name: string,
  mediaType: string,
  megabytes: number,
  more: Partial<UploadQueue.Item> = {}
): UploadQueue.Item => ({
  id: name,
  name,
  mediaType,
  size: megabytes * MB,
  state: "queued",
  sent: 0,
  confirmed: 0,
  speed: undefined,
  secondsLeft: undefined,
  stalled: false,
  kept: false,
  error: undefined,
  result: undefined,
  ...more
})

/** A queue at one moment: the same whenever and wherever it is looked at. */
const snapshot = snapshotOf(empty, [
  item("Sunset over the harbour.jpg", "image/jpeg", 3.4, { state: "completed", sent: 3.4 * MB, confirmed: 3.4 * MB }),
  item("Minutes of the annual meeting.docx", "application/msword", 0.9, {
    state: "completed",
    sent: 0.9 * MB,
    confirmed: 0.9 * MB
  }),
  item("Holiday in Norway.mp4", "video/mp4", 312, {
    state: "uploading",
    sent: 184 * MB,
    confirmed: 160 * MB,
    speed: 3.1 * MB,
    secondsLeft: 49
  }),
  item("Interview with customers, take 17.mp3", "audio/mpeg", 18, {
    state: "uploading",
    sent: 13 * MB,
    confirmed: 10 * MB,
    speed: 0.8 * MB,
    secondsLeft: 10
  }),
  item("مقابلة مع السيد أحمد – الجزء الأول.pdf", "application/pdf", 6.1),
  item("Backup of the old website, without its pictures.tar.gz", "application/gzip", 96)
])

const looks = {
  light: { language: "en", colorScheme: "light", direction: "ltr" },
  dark: { language: "en", colorScheme: "dark", direction: "ltr" },
  arabic: { language: "ar", colorScheme: "light", direction: "rtl" }
} as const

/** Those that the documentation shows. */
const shown = ["768-light", "768-dark", "768-arabic"]

const opened = ({ colorScheme, language }: typeof looks[keyof typeof looks], width: number) =>
  Effect.gen(function*() {
    const browser = yield* Chromium
    const demo = yield* BrowserDemo.start({ files: inLanguage(yield* ExamplePage, language) })
    const page = yield* Effect.acquireRelease(
      Effect.promise(() =>
        browser.newPage({
          colorScheme,
          reducedMotion: "reduce",
          deviceScaleFactor: scale,
          viewport: { width, height: 1000 }
        })
      ),
      (page) => Effect.promise(() => page.close())
    )
    yield* Effect.promise(() => page.goto(demo.origin))
    yield* Effect.promise(() => page.locator("#choose-files").waitFor())
    yield* Effect.promise(() =>
      page.evaluate((snapshot) => {
        const upload = document.querySelector("stevedore-upload")
        const nothing = () => {}
        const queue = {
          getSnapshot: () => snapshot,
          subscribe: () => nothing,
          addUploaded: nothing,
          getLimits: () => ({})
        }
        if (upload !== null) Object.assign(upload, { queue })
      }, snapshot)
    )
    yield* Effect.promise(() => page.locator("li").nth(snapshot.items.length - 1).waitFor())
    return page
  })

/** The width and the height of a picture, in its own pixels. */
const sizeOf = async (name: string): Promise<readonly [width: number, height: number]> => {
  const header = await readFile(join(docs, `element-${name}.png`))
  return [header.readUInt32BE(16), header.readUInt32BE(20)]
}

layer(Layer.merge(ChromiumLive, ExamplePage.Live), {
  excludeTestServices: true,
  timeout: "3 minutes"
})("the pictures of the element", (it) => {
  for (const [look, wanted] of Object.entries(looks)) {
    for (const width of [360, 768, 1280]) {
      const name = `${width}-${look}`
      it.scoped(`${name}: has each file in its room, and is as large as the element`, () =>
        Effect.gen(function*() {
          const page = yield* opened(wanted, width)
          const found = yield* Effect.promise(() =>
            page.locator("#all").evaluate((all) => {
              const box = all.getBoundingClientRect()
              const isOutside = (element: Element) => {
                const { left, right } = element.getBoundingClientRect()
                return left < box.left || right > box.right
              }
              const shown = (selector: string) =>
                Array.from(all.querySelectorAll(selector)).filter((element) => element.checkVisibility())
              const distance = (row: Element): number => {
                const picture = row.querySelector(".picture")?.getBoundingClientRect() ?? box
                const called = row.querySelector("bdi")?.getBoundingClientRect() ?? box
                return Math.max(called.left - picture.right, picture.left - called.right)
              }
              const card = getComputedStyle(all.querySelector("#queue") ?? all).backgroundColor
              return {
                direction: getComputedStyle(all).direction,
                isDark: Number(/\d+/.exec(card)?.[0]) < 128,
                outside: shown("*").filter(isOutside).map(({ className }) => className),
                names: shown("li .name").map(({ textContent }) => textContent),
                // a name stands beside its picture, in whatever direction it is written
                apart: shown("li").map(distance).filter((pixels) => pixels < 0 || pixels > 16),
                height: box.height
              }
            })
          )
          assert.deepStrictEqual(found, {
            direction: wanted.direction,
            isDark: wanted.colorScheme === "dark",
            outside: [],
            names: [2, 3, 1, 0, 4, 5].flatMap((index) => snapshot.items[index]?.name ?? []),
            apart: [],
            height: found.height
          })
          if (!shown.includes(name)) return
          const room = yield* Effect.promise(() =>
            page.locator("main").evaluate((main) => {
              main.querySelector("header")?.remove()
              main.setAttribute("style", "padding: 16px")
              const { height, width } = main.getBoundingClientRect()
              return { width, height }
            })
          )
          if (folder !== undefined) {
            const path = join(folder, `element-${name}.png`)
            yield* Effect.promise(() => page.locator("main").screenshot({ path }))
          }
          const [across, down] = yield* Effect.promise(() => sizeOf(name))
          assert.approximately(across, scale * room.width, 2)
          // fonts of another machine are somewhat higher
          assert.approximately(down / (scale * room.height), 1, 0.1)
        }).pipe(Effect.provide(NodeContext.layer)))
    }
  }
})
