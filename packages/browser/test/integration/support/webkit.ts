import { Effect, ExecutionStrategy, Exit, Layer, Schedule, Scope } from "effect"
import { spawn } from "node:child_process"
import { Builder, By, Capabilities, type WebDriver } from "selenium-webdriver"
import { freePort } from "../../../../../.ci/free-port.mjs"
import { webkitPaths } from "../../../../../.ci/optional-suites.mjs"
import { Engine, script, type Session, type Tab } from "./engine.js"
import { largestNamed } from "./processes.js"

// Once nobody holds its standard input any more, the group ends: at the end of the scope, or when this process is gone
const inGroup = `"$@" & cat; kill -$0 0`

interface Program {
  readonly words: readonly [program: string, ...Array<string>]
  readonly environment?: Readonly<Record<string, string>>
  /** What ends it. */
  readonly signal: "TERM" | "KILL"
}

/** A program that runs until the scope ends, with all that it starts. */
const running = ({ environment, signal, words }: Program) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn("sh", ["-c", inGroup, signal, ...words], {
        detached: true,
        env: { ...process.env, ...environment },
        stdio: ["pipe", "pipe", "ignore"]
      })
    ),
    (shell) =>
      Effect.async<void>((resume) => {
        if (shell.exitCode !== null || shell.signalCode !== null) return resume(Effect.void)
        shell.once("exit", () => resume(Effect.void))
        shell.stdin.end()
      })
  )

// Xvfb takes a display that is free, and tells its number
const display: Effect.Effect<string, never, Scope.Scope> = Effect.flatMap(
  running({
    words: [webkitPaths?.display ?? "Xvfb", "-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"],
    signal: "TERM"
  }),
  (shell) =>
    Effect.async<string>((resume) => {
      shell.stdout.once("data", (number) => resume(Effect.succeed(`:${String(number).trim()}`)))
    })
)

const answers = (url: string) =>
  Effect.tryPromise((signal) => fetch(`${url}/status`, { signal })).pipe(Effect.retry(Schedule.spaced("50 millis")))

const driverOn = (display: string) =>
  Effect.gen(function*() {
    const port = yield* Effect.promise(freePort)
    const { pid } = yield* running({
      words: [webkitPaths?.driver ?? "WebKitWebDriver", `--port=${port}`, "--host=127.0.0.1"],
      environment: {
        DISPLAY: display,
        // without a graphics card
        LIBGL_ALWAYS_SOFTWARE: "1",
        WEBKIT_DISABLE_COMPOSITING_MODE: "1",
        // its sandbox needs user namespaces, which a container may not have
        WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: "1"
      },
      // it may hang
      signal: "KILL"
    })
    const url = `http://127.0.0.1:${port}`
    yield* answers(url)
    return { url, group: pid }
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
      choose: (path) =>
        inTurn(async () => {
          const [element] = await driver.findElements(By.css("stevedore-upload"))
          const root = element === undefined ? driver : await element.getShadowRoot()
          const input = await root.findElement(By.css("input[type=file]"))
          await input.sendKeys(path)
        }),
      reload: () => inTurn(() => driver.navigate().refresh()),
      goTo: (url) => inTurn(() => driver.navigate().to(url)),
      goBack: () => inTurn(() => driver.navigate().back()),
      close: () => inTurn(() => driver.close())
    }
  }
}

const driverAt = (url: string): Promise<WebDriver> =>
  new Builder().usingServer(url).withCapabilities(
    new Capabilities({
      browserName: "MiniBrowser",
      "webkitgtk:browserOptions": { binary: webkitPaths?.browser, args: ["--automation"] }
    })
  ).build()

const sessionOf = (driver: WebDriver, group: number | undefined): Session => {
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
    memory: () => largestNamed(group, /^WebKitWebProces/)
  }
}

const attempt = (display: string) =>
  Effect.gen(function*() {
    const { group, url } = yield* driverOn(display)
    const driver = yield* Effect.tryPromise(() => driverAt(url))
    yield* Effect.tryPromise(() => driver.manage().setTimeouts({ script: 120_000 }))
    return sessionOf(driver, group)
  }).pipe(Effect.timeout("60 seconds"))

/** Ends what a failed attempt has started before the next one begins. */
const endedOnFailure = <A, E>(attempt: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, E, Scope.Scope> =>
  Effect.gen(function*() {
    const own = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    return yield* Effect.onError(Scope.extend(attempt, own), (cause) => Scope.close(own, Exit.failCause(cause)))
  })

// A driver that has served a session before sometimes never answers the next one, on a busy machine: each gets its own
const session = (display: string) => Effect.orDie(Effect.retry(endedOnFailure(attempt(display)), { times: 2 }))

export const WebKitLive: Layer.Layer<Engine> = Layer.scoped(
  Engine,
  Effect.map(Effect.all([display, script]), ([display, script]) => ({ session: session(display), script }))
)
