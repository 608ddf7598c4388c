import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import type { Browser } from "playwright-core"
import { chromium } from "playwright-core"
import { chromiumPath } from "../../../../.ci/optional-suites.mjs"
import * as Contest from "../Contest.js"
import * as Files from "../Files.js"
import * as Markdown from "../Markdown.js"
import type { Course, Runner } from "../pages/race.js"
import * as Processes from "../Processes.js"
import { summary } from "../Statistics.js"
import type { Goal, Setting, Topic } from "../Topic.js"

const mebibyte = 2 ** 20

const partSize = 16 * mebibyte

const concurrency = 4

interface Contender {
  readonly runner: Runner
  readonly title: string
}

const bare: Contender = { runner: "bare", title: "a bare loop over XMLHttpRequest" }

const stevedore: Contender = { runner: "stevedore", title: "**Stevedore**" }

const withoutChecksums: Contender = { runner: "withoutChecksums", title: "**Stevedore**, without checksums" }

interface Case {
  readonly title: string
  /** None: straight to the sink. */
  readonly line: Processes.Line | undefined
  readonly size: number
  readonly contenders: ReadonlyArray<Contender>
}

// Nothing but the rate is what a part waits for: the window is wider than all that is ever on its way.
const lineOf = (title: string, rate: number): Processes.Line => ({ title, rate, roundTrip: 4, window: 64 * mebibyte })

const fast = lineOf("1 Gbit/s", 125_000_000)

const usual = lineOf("200 Mbit/s", 25_000_000)

const cases = (size: number): ReadonlyArray<Case> => [
  { title: "loopback", line: undefined, size, contenders: [bare, stevedore, withoutChecksums] },
  { title: fast.title, line: fast, size, contenders: [bare, stevedore] },
  { title: usual.title, line: usual, size: Math.ceil(size / 4), contenders: [bare, stevedore] }
]

/** In milliseconds. */
const longestRun = 180_000

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
  readonly origin: string
  readonly contenders: ReadonlyArray<Contender>
  readonly file: string
  readonly size: number
  readonly course: Course
}

// Each time in a page of its own, as somebody who uploads has just opened it. Any answer of the sink is its document:
// so it is of the storage's origin, and no preflight is measured.
const seconds = ({ browser, course, file, origin, script }: Heat, runner: Runner) =>
  Effect.acquireUseRelease(
    attempt(() => browser.newContext()),
    (context) =>
      attempt(async () => {
        const page = await context.newPage()
        await page.goto(origin)
        await page.setContent("<!doctype html><input type=file>")
        await page.addScriptTag({ content: script })
        await page.setInputFiles("input", file)
        await page.evaluate(([runner, course]) => window.race(runner, course), [runner, course] as const)
        const ended = await page.waitForFunction(() => window.outcome, undefined, { polling: 100, timeout: longestRun })
        return ended.jsonValue()
      }),
    (context) => Effect.promise(() => context.close())
  ).pipe(Effect.flatMap((outcome) =>
    outcome !== undefined && "seconds" in outcome
      ? Effect.succeed(outcome.seconds)
      : Effect.fail(new Processes.ContenderFailed({ message: `${runner}: ${outcome?.failure ?? "has no end"}` }))
  ))

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

const roundOf = (heat: Heat, round: number) =>
  Effect.map(
    Effect.forEach(
      Contest.inOrderOf(round, heat.contenders),
      ({ runner }) => Effect.map(once(heat, runner), (took) => [runner, took] as const)
    ),
    (entries) => new Map(entries)
  )

interface Raced {
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  readonly goals: ReadonlyArray<Goal>
}

const raceOver = (
  setting: Setting,
  { browser, script, sink }: Pick<Heat, "browser" | "script" | "sink">,
  { contenders, line, size, title }: Case
) =>
  Effect.gen(function*() {
    yield* Console.error(`  ${title}`)
    const heat: Heat = {
      browser,
      script,
      sink,
      origin: line === undefined ? sink.origin : yield* Processes.line(setting.programs, line, sink.port),
      contenders,
      file: yield* Files.make(setting.folder, size),
      size,
      course: { parts: Math.ceil(size / partSize), concurrency }
    }
    // what the browser does for the first time only is nobody's
    yield* once(heat, "bare")
    const rounds = yield* Effect.forEach(Array.from({ length: setting.runs }, (_, round) => round + 1), (round) =>
      roundOf(heat, round))
    const took = (runner: Runner) =>
      summary(rounds.map((round) => round.get(runner) ?? NaN))
    const ratio = (runner: Runner) =>
      summary(rounds.map((round) => (round.get(runner) ?? NaN) / (round.get("bare") ?? NaN)))
    const raced: Raced = {
      rows: contenders.map((contender) => [
        `${title}, ${Markdown.size(size)}: ${contender.title}`,
        Markdown.spread(took(contender.runner)),
        Markdown.spread(ratio(contender.runner)),
        Markdown.number(size / mebibyte / took(contender.runner).median)
      ]),
      goals: contenders.filter(({ runner }) => runner !== "bare").map(({ runner, title: who }) => ({
        title: `${title}: ${who.replaceAll("*", "")} against a bare loop over XMLHttpRequest, wall`,
        safe: 1.05,
        aim: 1,
        measured: ratio(runner).median
      }))
    }
    return raced
  })

export const xhr: Topic = {
  name: "xhr",
  run: (setting) =>
    Effect.gen(function*() {
      const browser = yield* launched
      const field = { browser, script: yield* scriptOf("race"), sink: yield* Processes.sink(setting.programs) }
      const size = setting.size ?? (setting.full ? 2 * 2 ** 30 : 2 ** 30)
      const raced = yield* Effect.forEach(cases(size), (one) => raceOver(setting, field, one))
      return {
        title: "Upload from a page",
        conditions:
          `Parts of ${Markdown.size(partSize)}, ${concurrency} at a time, in headless Chromium ${browser.version()}. ` +
          `${setting.runs} runs each, interleaved, each in a new page. Stevedore also reads each part for its checksum, ` +
          "unless it is without. Ratios compare the runs of one round. Over loopback, the page, the browser, its network process and the sink " +
          "share the machine's cores, and nothing else limits them. The other runs use a simulated network of the given " +
          `rate, ${fast.roundTrip} ms round trip, without loss and without slow start.`,
        body: Markdown.table(["", "wall, s", "×", "MiB/s"], raced.flatMap(({ rows }) => rows)),
        goals: raced.flatMap(({ goals }) => goals)
      }
    })
}
