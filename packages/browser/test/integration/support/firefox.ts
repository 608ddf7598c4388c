import { Effect, Layer } from "effect"
import puppeteer, { type Browser, type Page } from "puppeteer-core"
import { firefoxPath } from "../../../../../.ci/optional-suites.mjs"
import { Engine, script, type Tab } from "./engine.js"
import { largestNamed } from "./processes.js"

const tabOf = (page: Page): Tab => {
  const errors: Array<string> = []
  page.on("pageerror", (error) => errors.push(String(error)))
  page.on("console", (line) => line.type() === "error" && errors.push(line.text()))
  return {
    evaluate: <A>(run: unknown, argument: unknown) =>
      page.evaluate(`(${run})(${JSON.stringify(argument)})`) as Promise<A>,
    choose: async (path) => {
      const input = await page.$("input[type=file], >>> input[type=file]")
      await input?.uploadFile(path)
    },
    reload: async () => void await page.reload(),
    goTo: async (url) => void await page.goto(url),
    goBack: async () => void await page.evaluate(() => history.back()),
    errors: () => errors,
    close: () => page.close()
  }
}

const sessionIn = (browser: Browser): Engine["Type"]["session"] =>
  Effect.acquireRelease(
    Effect.promise(() => browser.createBrowserContext()),
    (context) => Effect.promise(() => context.close())
  ).pipe(Effect.map((context) => ({
    open: async (url) => {
      const page = await context.newPage()
      await page.goto(url)
      return tabOf(page)
    },
    clearCookies: async () => context.deleteCookie(...await context.cookies()),
    setOffline: async (offline) => {
      for (const page of await context.pages()) await page.setOfflineMode(offline)
    },
    memory: () => largestNamed(browser.process()?.pid, /^(?:Isolated Web Co|Web Content)$/)
  })))

const launched = Effect.acquireRelease(
  Effect.promise(() => puppeteer.launch({ browser: "firefox", executablePath: firefoxPath ?? "firefox-esr" })),
  (browser) => Effect.promise(() => browser.close())
)

export const FirefoxLive: Layer.Layer<Engine> = Layer.scoped(
  Engine,
  Effect.map(Effect.all([launched, script]), ([browser, script]) => ({ session: sessionIn(browser), script }))
)
