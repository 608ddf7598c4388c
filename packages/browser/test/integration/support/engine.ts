/** A browser to drive, whichever it is. */
import { Context, Effect, type Scope } from "effect"
import { build } from "esbuild"
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
  /** What the console showed as errors. Absent if no tool can read this browser's console. */
  readonly errors?: () => ReadonlyArray<string>
  readonly close: () => Promise<void>
}

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

/** The script of the page: made once for a file of tests. */
export const script = Effect.promise(async () => {
  const { outputFiles } = await build({
    entryPoints: [path("page.ts")],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    logLevel: "error",
    ...sources
  })
  return outputFiles[0]?.text ?? ""
})
