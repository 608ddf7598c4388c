import { Effect, Layer, Schedule, type Scope } from "effect"
import { spawn } from "node:child_process"
import { createServer } from "node:net"
import { Builder, By, Capabilities, type WebDriver } from "selenium-webdriver"
import { webkitPaths } from "../../../../../.ci/optional-suites.mjs"
import { Engine, script, type Session, type Tab } from "./engine.js"

/** A program that runs until the scope ends. */
const running = (program: string, words: ReadonlyArray<string>, environment: Readonly<Record<string, string>> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn(program, words, { env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "ignore"] })
    ),
    (child) =>
      Effect.async<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill()
      })
  )

// Xvfb takes a display that is free, and tells its number
const display: Effect.Effect<string, never, Scope.Scope> = Effect.flatMap(
  running(webkitPaths?.display ?? "Xvfb", ["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]),
  (child) =>
    Effect.async<string>((resume) => {
      child.stdout.once("data", (number) => resume(Effect.succeed(`:${String(number).trim()}`)))
    })
)

const freePort: Effect.Effect<number> = Effect.async((resume) => {
  const server = createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

const answers = (url: string) =>
  Effect.tryPromise(() => fetch(`${url}/status`)).pipe(
    Effect.retry({ times: 200, schedule: Schedule.spaced("50 millis") }),
    Effect.orDie
  )

const driverUrl: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function*() {
  const port = yield* freePort
  yield* running(webkitPaths?.driver ?? "WebKitWebDriver", [`--port=${port}`, "--host=127.0.0.1"], {
    DISPLAY: yield* display,
    // without a graphics card
    LIBGL_ALWAYS_SOFTWARE: "1",
    WEBKIT_DISABLE_COMPOSITING_MODE: "1",
    // its sandbox needs user namespaces, which a container may not have
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1"
  })
  const url = `http://127.0.0.1:${port}`
  yield* answers(url)
  return url
})

interface Answer {
  readonly value?: unknown
  readonly failure?: string
}

/** The driver has one current window: whoever uses it switches to its own first, one after another. */
const tabsOf = (driver: WebDriver) => {
  let turn: Promise<unknown> = Promise.resolve()
  return (handle: string): Tab => {
    const inTurn = <A>(use: () => Promise<A>): Promise<A> => {
      const used = turn.then(() => driver.switchTo().window(handle)).then(use)
      turn = used.catch(() => undefined)
      return used
    }
    return {
      evaluate: <A>(run: unknown, argument: unknown) =>
        inTurn(async () => {
          const { failure, value } = await driver.executeAsyncScript<Answer>(
            `const done = arguments[1]
             Promise.resolve(arguments[0]).then(${run}).then(
               (value) => done({ value }),
               (error) => done({ failure: String(error) })
             )`,
            argument
          )
          if (failure !== undefined) throw new Error(failure)
          return value as A
        }),
      choose: (path) => inTurn(() => driver.findElement(By.css("input[type=file]")).sendKeys(path)),
      reload: () => inTurn(() => driver.navigate().refresh()),
      close: () => inTurn(() => driver.close())
    }
  }
}

const sessionAt = async (url: string): Promise<Session> => {
  const driver = await new Builder().usingServer(url).withCapabilities(
    new Capabilities({
      browserName: "MiniBrowser",
      "webkitgtk:browserOptions": { binary: webkitPaths?.browser, args: ["--automation"] }
    })
  ).build()
  await driver.manage().setTimeouts({ script: 120_000 })
  const tabOf = tabsOf(driver)
  let isFirst = true
  return {
    open: async (url) => {
      if (!isFirst) await driver.switchTo().newWindow("tab")
      isFirst = false
      await driver.get(url)
      return tabOf(await driver.getWindowHandle())
    },
    clearCookies: () => driver.manage().deleteAllCookies(),
    close: () => driver.quit()
  }
}

export const WebKitLive: Layer.Layer<Engine> = Layer.scoped(
  Engine,
  Effect.map(Effect.all([driverUrl, script]), ([url, script]) => ({ session: () => sessionAt(url), script }))
)
