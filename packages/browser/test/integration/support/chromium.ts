import { Context, Effect, Layer } from "effect"
import { type Browser, chromium, type LaunchOptions, type Page } from "playwright-core"
import { chromiumPath } from "../../../../../.ci/optional-suites.mjs"
import { Engine, script, type Tab } from "./engine.js"
import { largest } from "./processes.js"

/** Chromium itself, for what only it can do. */
export class Chromium extends Context.Tag("test/Chromium")<Chromium, Browser>() {}

const tabOf = (page: Page): Tab => {
  const errors: Array<string> = []
  page.on("pageerror", (error) => errors.push(String(error)))
  page.on("console", (line) => line.type() === "error" && errors.push(line.text()))
  return {
    evaluate: (run, argument) => page.evaluate(`(${run})(${JSON.stringify(argument)})`),
    choose: (path) => page.setInputFiles("input", path),
    reload: async () => void await page.reload(),
    goTo: async (url) => void await page.goto(url),
    // a page that was kept commits, and never loads
    goBack: async () => void await page.goBack({ waitUntil: "commit" }),
    errors: () => errors,
    close: () => page.close()
  }
}

const memoryOf = async (browser: Browser): Promise<number> => {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send("SystemInfo.getProcessInfo")
  await session.detach()
  return largest(processInfo.filter(({ type }) => type === "renderer").map(({ id }) => id))
}

const sessionIn = (browser: Browser): Engine["Type"]["session"] =>
  Effect.acquireRelease(
    Effect.promise(() => browser.newContext()),
    (context) => Effect.promise(() => context.close())
  ).pipe(Effect.map((context) => ({
    open: async (url) => {
      const page = await context.newPage()
      await page.goto(url)
      return tabOf(page)
    },
    clearCookies: () => context.clearCookies(),
    setOffline: (offline) => context.setOffline(offline),
    memory: () => memoryOf(browser)
  })))

const launched = (options: LaunchOptions) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      chromium.launch({
        executablePath: chromiumPath ?? "chromium",
        args: ["--no-sandbox", "--disable-dev-shm-usage", "--js-flags=--expose-gc"],
        ...options
      })
    ),
    (browser) => Effect.promise(() => browser.close())
  )

/** One that keeps no page that was left: after the back button a page loads again. */
export const forgetful = launched({})

export const ChromiumLive: Layer.Layer<Chromium | Engine> = Layer.scopedContext(
  Effect.map(
    // as it is for visitors
    Effect.all([launched({ ignoreDefaultArgs: ["--disable-back-forward-cache"] }), script]),
    ([browser, script]) =>
      Context.make(Chromium, browser).pipe(Context.add(Engine, { session: sessionIn(browser), script }))
  )
)
