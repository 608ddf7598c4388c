import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it, vi } from "@effect/vitest"
import { Effect } from "effect"
import type { Plugin } from "esbuild"
import { execFile } from "node:child_process"
import * as Fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { withinBudget } from "../../../node/test/support/budgets.js"
import { plainService } from "../../../node/test/support/plainService.js"
import { between, counted } from "../../../node/test/support/steps.js"
import * as Temporary from "../../../node/test/support/temporary.js"
import { bundled } from "../integration/bundle.js"
import { invoke } from "../integration/invoke.js"

const MiB = 1_048_576

/**
 * The steps of `stevedore upload` with files of these sizes, and a home of their own: the fewest of three runs, of which the first finds no state, because each
 * tick of a clock that a busy machine lets pass is some more.
 */
const prepared = Effect.gen(function*() {
  const { origin } = yield* plainService
  const home = yield* Temporary.directory
  const env = { STEVEDORE_BASE_URL: origin, STEVEDORE_TOKEN: "api.loopback", HOME: home, XDG_STATE_HOME: home }
  return (sizes: ReadonlyArray<number>, options = ["--no-resume"]) =>
    Effect.gen(function*() {
      const folder = yield* Temporary.directory
      const paths = sizes.map((_, index) => join(folder, `${index}.bin`))
      yield* Effect.promise(async () => {
        for (const [index, path] of paths.entries()) {
          await Fs.writeFile(path, "")
          await Fs.truncate(path, sizes[index])
        }
      })
      const [{ code, stderr }, steps] = yield* counted(invoke(["upload", ...paths, ...options, "--json"], env))
      assert.strictEqual(code, 0, stderr)
      return steps
    }).pipe(
      Effect.replicateEffect(3),
      Effect.map((runs) => ({
        steps: Math.min(...runs.map(({ steps }) => steps)),
        fibers: Math.min(...runs.map(({ fibers }) => fibers)),
        fileCalls: Math.min(...runs.map(({ fileCalls }) => fileCalls))
      }))
    )
})

const constructor = "export function make(ast) {"

/** Lets a program say at its end how many Schemas it has made: all of them are made there. */
const countingSchemas: Plugin = {
  name: "counting-schemas",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/effect\/dist\/esm\/Schema\.js$/ }, async ({ path }) => {
      const own = await Fs.readFile(path, "utf8")
      assert.include(own, constructor)
      const exit = "process.once(\"exit\", () => console.error(\"Schemas: \" + made))"
      return { contents: `var made = 0; ${exit}\n${own.replace(constructor, `${constructor} made++;`)}` }
    })
}

describe("what the command takes, by count", () => {
  let counting: ReadonlyArray<string> = []
  let folder = ""

  beforeAll(async () => {
    folder = await Fs.mkdtemp(join(tmpdir(), "stevedore-counting-"))
    counting = await bundled(folder, [countingSchemas])
  })

  // what other tests have left in the directory of the state costs calls too
  beforeEach(async () => {
    vi.stubEnv("XDG_STATE_HOME", await Fs.mkdtemp(join(folder, "state-")))
  })

  afterEach(() => vi.unstubAllEnvs())

  afterAll(() => Fs.rm(folder, { recursive: true }))

  // loads what it imports only when it uploads
  beforeAll(() =>
    Effect.runPromise(Effect.scoped(Effect.flatMap(prepared, (upload) => Effect.zip(upload([1]), upload([1], [])))))
  )

  it.scopedLive("an upload of one small file", () =>
    Effect.gen(function*() {
      const upload = yield* prepared
      const { steps } = yield* upload([10_240])
      const { fileCalls, steps: recorded } = yield* upload([10_240], [])
      withinBudget({
        "command: calls of the file system of one small file with the ledger": fileCalls,
        "command: steps of one small file": steps,
        "command: steps of one small file with the ledger": recorded
      })
    }))

  it.scopedLive("a start, whose modules make Schemas", () =>
    Effect.gen(function*() {
      const { origin } = yield* plainService
      const directory = yield* Temporary.directory
      const file = yield* Temporary.file("interview.mp4", new Uint8Array(10_240))
      const { stderr } = yield* Effect.promise(() =>
        promisify(execFile)(process.execPath, [...counting, "upload", file], {
          env: { STEVEDORE_BASE_URL: origin, STEVEDORE_TOKEN: "api.loopback", HOME: directory }
        })
      )
      withinBudget({ "command: Schemas of an upload": Number(/^Schemas: (\d+)$/m.exec(stderr)?.[1]) })
    }))

  it.scopedLive("a MiB of a single PUT", () =>
    Effect.gen(function*() {
      const upload = yield* prepared
      const { steps } = between(yield* upload([2 * MiB]), yield* upload([34 * MiB]), 32)
      withinBudget({ "command: steps per MiB of a single PUT": steps })
    }))

  it.scopedLive("a further small file", () =>
    Effect.gen(function*() {
      const upload = yield* prepared
      const sizes = (count: number) => Array.from({ length: count }, () => 10_240)
      const { steps } = between(yield* upload(sizes(2)), yield* upload(sizes(12)), 10)
      withinBudget({ "command: steps of a further small file": steps })
    }))
})
