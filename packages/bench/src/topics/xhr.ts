import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import type { Browser } from "playwright-core"
import { chromium } from "playwright-core"
import { chromiumPath } from "../../../../.ci/optional-suites.mjs"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import type { Course, Runner } from "../pages/race.js"
import * as Processes from "../Processes.js"
import { summary } from "../Statistics.js"
import type { Topic } from "../Topic.js"

const partSize = 16 * 2 ** 20

const concurrency = 4

const contenders: ReadonlyArray<{ readonly runner: Runner; readonly title: string }> = [
  { runner: "bare", title: "a loop over XMLHttpRequest, no more" },
  { runner: "stevedore", title: "**Stevedore**" },
  { runner: "withoutLedger", title: "**Stevedore**, no ledger" }
]

const attempt = <A>(what: () => Promise<A>): Effect.Effect<A, Processes.ContenderFailed> =>
  Effect.tryPromise({ try: what, catch: (cause) => new Processes.ContenderFailed({ message: String(cause) }) })

const scriptOf = (module: string): Effect.Effect<string> =>
  Effect.promise(async () => {
    const { outputFiles: [file] } = await build({
      entryPoints: [fileURLToPath(new URL(`../pages/${module}.ts`, import.meta.url))],
      tsconfig: fileURLToPath(new URL("../../../../tsconfig.json", import.meta.url)),
      bundle: true,
      minify: true,
      write: false,
      format: "iife",
      target: "es2022",
      logLevel: "error"
    })
    return file?.text ?? ""
  })

const launched: Effect.Effect<Browser, Processes.ContenderFailed, Scope.Scope> = Effect.acquireRelease(
  attempt(() =>
    chromium.launch({
      executablePath: chromiumPath ?? "chromium",
      args: ["--no-sandbox", "--disable-dev-shm-usage"]
    })
  ),
  (browser) => Effect.promise(() => browser.close())
)

interface Heat {
  readonly browser: Browser
  readonly script: string
  readonly sink: Processes.Sink
  readonly file: string
  readonly size: number
  readonly course: Course
}

// Each time in a page of its own, as somebody who uploads has just opened it. Any answer of the sink is its document:
// so it is of the storage's origin, and no preflight is measured.
const seconds = ({ browser, course, file, script, sink }: Heat, runner: Runner) =>
  Effect.acquireUseRelease(
    attempt(() => browser.newContext()),
    (context) =>
      attempt(async () => {
        const page = await context.newPage()
        await page.goto(sink.origin)
        await page.setContent("<!doctype html><input type=file>")
        await page.addScriptTag({ content: script })
        await page.setInputFiles("input", file)
        return page.evaluate(([runner, course]) => window.race(runner, course), [runner, course] as const)
      }),
    (context) => Effect.promise(() => context.close())
  )

const once = (heat: Heat, runner: Runner) =>
  Effect.gen(function*() {
    yield* heat.sink.read
    const took = yield* seconds(heat, runner)
    const { bytes } = yield* heat.sink.read
    yield* Console.error(`  ${runner}: ${took.toFixed(2)} s`)
    return bytes === heat.size ? took : yield* new Processes.ContenderFailed({
      message: `${runner}: ${heat.size} bytes are due, the sink counted ${bytes}`
    })
  })

// In turns, and who begins changes: whatever drifts does so for all.
const roundOf = (heat: Heat, number: number) => {
  const order = number % 2 === 0 ? contenders : contenders.toReversed()
  return Effect.map(
    Effect.forEach(order, ({ runner }) => Effect.map(once(heat, runner), (took) => [runner, took] as const)),
    (entries) => new Map(entries)
  )
}

export const xhr: Topic = {
  name: "xhr",
  run: (setting) =>
    Effect.gen(function*() {
      const size = setting.size ?? (setting.full ? 2 * 2 ** 30 : 2 ** 30)
      const browser = yield* launched
      const heat: Heat = {
        browser,
        script: yield* scriptOf("race"),
        sink: yield* Processes.sink(setting.programs),
        file: yield* Files.make(setting.folder, size),
        size,
        course: { parts: Math.ceil(size / partSize), concurrency }
      }
      // what the browser does for the first time only is nobody's
      yield* once(heat, "bare")
      const rounds = yield* Effect.forEach(Array.from({ length: setting.runs }, (_, number) => number), (number) =>
        roundOf(heat, number))
      const took = (runner: Runner) =>
        summary(rounds.map((round) => round.get(runner) ?? NaN))
      const ratio = (runner: Runner) =>
        summary(rounds.map((round) => (round.get(runner) ?? NaN) / (round.get("bare") ?? NaN)))
      return {
        title: "Upload from a page",
        conditions: `${Markdown.size(size)} in parts of ${Markdown.size(partSize)}, ${concurrency} at once, in ` +
          `Chromium ${browser.version()} without a window, ${setting.runs} runs each, in turns, each in a page of its ` +
          "own. Checksums of all parts are part of ours. Ratios are of the two runs of a turn.",
        body: Markdown.table(
          ["", "wall, s", "×", "MiB a second"],
          contenders.map(({ runner, title }) => [
            title,
            Markdown.spread(took(runner)),
            Markdown.spread(ratio(runner)),
            Markdown.number(size / 2 ** 20 / took(runner).median)
          ])
        ),
        goals: [{
          title: "upload from a page against a loop over XMLHttpRequest: wall",
          safe: 1.05,
          aim: 1,
          measured: ratio("stevedore").median
        }]
      }
    })
}
