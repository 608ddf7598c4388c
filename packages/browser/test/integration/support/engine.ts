/** A browser to drive, whichever it is. */
import { assert } from "@effect/vitest"
import { Context, Effect, type Scope } from "effect"
import { build, type BuildOptions } from "esbuild"
import { fileURLToPath } from "node:url"

export interface Tab {
  /** Runs a function in the page; it may use nothing but its argument and what the page has. */
  readonly evaluate: <Argument, Result>(
    run: (argument: Argument) => Result | Promise<Result>,
    argument: Argument
  ) => Promise<Result>
  /** Chooses a file for the first input of the page. */
  readonly choose: (path: string) => Promise<void>
  readonly reload: () => Promise<void>
  readonly goTo: (url: string) => Promise<void>
  /** Back to where it came from: a page that the browser has kept does not load again. */
  readonly goBack: () => Promise<void>
  /** What the console showed as errors. Absent if no tool can read this browser's console. */
  readonly errors?: () => ReadonlyArray<string>
  readonly close: () => Promise<void>
}

export const inPage = <Argument, Result>(
  page: Tab,
  run: (argument: Argument) => Result | Promise<Result>,
  argument: Argument
): Effect.Effect<Result> => Effect.promise(() => page.evaluate(run, argument))

/** What is read once something holds of it, or it is clear that it never will. */
export const untilHolds = <A>(read: Effect.Effect<A>, holds: (read: A) => boolean): Effect.Effect<A> =>
  Effect.gen(function*() {
    let now = yield* read
    yield* Effect.whileLoop({
      while: () => !holds(now),
      body: () => Effect.delay(read, "50 millis"),
      step: (next) => {
        now = next
      }
    }).pipe(
      Effect.timeoutFail({ duration: "60 seconds", onTimeout: () => new Error(`never: ${JSON.stringify(now)}`) }),
      Effect.orDie
    )
    return now
  })

/** Tabs with cookies and storage of their own. */
export interface Session {
  readonly open: (url: string) => Promise<Tab>
  readonly clearCookies: () => Promise<void>
  /** Absent if no tool can take this browser's network away. */
  readonly setOffline?: (offline: boolean) => Promise<void>
  /** What the largest of the processes of pages has in memory beside mapped files, in bytes. */
  readonly memory: () => Promise<number>
}

export class Engine extends Context.Tag("test/Engine")<Engine, {
  /** A new one for each test. */
  readonly session: Effect.Effect<Session, never, Scope.Scope>
  /** What runs in the page. */
  readonly script: string
}>() {}

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

// what `npm run build` made resolves by its own `exports`
const sources = process.env.TEST_DIST === "1"
  ? { tsconfigRaw: {} }
  : { tsconfig: path("../../../../../tsconfig.json") }

/** A script for a page, from modules. */
export const bundled = (options: BuildOptions) =>
  Effect.promise(async () => {
    const { outputFiles, warnings } = await build({
      bundle: true,
      format: "iife",
      target: "es2022",
      logLevel: "error",
      ...sources,
      ...options,
      write: false
    })
    assert.deepStrictEqual(warnings, [])
    return outputFiles[0]?.text ?? ""
  })

/** The script of the page: made once for a file of tests. */
export const script = bundled({ entryPoints: [path("page.ts")] })
