import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FilesFrom from "../../src/files/filesFrom.js"
import { jsonLines, Sandbox, sandbox } from "./invoke.js"
import { interrupt, isGone, run, start } from "./stevedore.js"

// each file takes a while, so that a command is stopped between them
const faults = join(mkdtempSync(join(tmpdir(), "stevedore-")), "slow.faults")
writeFileSync(faults, "on(\"put\").always().delay(\"300 millis\")\n")

const names = Array.from({ length: 8 }, (_, index) => `${index}, "quoted".bin`)

layer(Layer.merge(sandbox("--faults", faults), NodeContext.layer), { excludeTestServices: true })(
  "a command that is stopped by a signal",
  (it) => {
    it.scoped.each<readonly [signal: NodeJS.Signals, report: string]>([
      ["SIGINT", "report.csv"],
      ["SIGTERM", "report.jsonl"],
      ["SIGKILL", "report.csv"],
      ["SIGKILL", "report.jsonl"]
    ])(
      "%s leaves a %s with each file, from which a retry uploads the rest, each once",
      ([signal, report]) =>
        Effect.gen(function*() {
          const { env } = yield* Sandbox
          const fs = yield* FileSystem.FileSystem
          const cwd = yield* fs.makeTempDirectoryScoped()
          yield* fs.makeDirectory(`${cwd}/in`)
          yield* Effect.forEach(names, (name) => fs.writeFileString(`${cwd}/in/${name}`, `${name} ${signal} ${report}`))
          const options = { cwd, env: { ...env, XDG_STATE_HOME: `${cwd}/state` } }
          const upload = yield* start(["upload", "in", "--files", "2", "--json", "--report", report], options)
          yield* Stream.runHead(Stream.filter(upload.lines, (line) => line.includes("\"completed\"")))
          const stopped = yield* interrupt(upload, signal)
          assert.isTrue(yield* isGone(upload.child))

          const rows = Effect.map(
            FilesFrom.readReport(`${cwd}/${report}`, { input: "--report", nul: false, first: ["path"] }),
            ({ isComplete, rows }) => {
              assert.isTrue(isComplete)
              return new Map(rows.map(({ status, what }) => [what, Option.getOrElse(status, () => "")]))
            }
          )
          const all = names.map((name) => `in/${name}`)
          const standing = yield* rows
          assert.sameMembers([...standing.keys()], all)
          assert.isAbove([...standing.values()].filter((status) => status === "uploaded").length, 0)
          assert.isAbove([...standing.values()].filter((status) => status === "not-tried").length, 0)
          if (signal !== "SIGKILL") {
            const lines = jsonLines(stopped.stdout).map(Object)
            const told = lines.filter(({ type }) => type === "completed" || type === "notTried").map(({ path }) => path)
            assert.sameMembers(told, all)
            assert.deepInclude(lines.at(-1), { type: "summary", files: 8 })
          }

          const retry = yield* run(["upload", "--retry-failed", report, "--json", "--report", report], options)
          assert.strictEqual(retry.code, 0, retry.stderr)
          const again = yield* rows
          assert.isTrue([...again.values()].every((status) => status === "uploaded" || status === "skipped"))
          const remembered = yield* run(["uploaded", "--json"], options)
          assert.lengthOf(jsonLines(remembered.stdout), names.length)
          const night = yield* run(["upload", "in", "--quiet"], options)
          assert.deepStrictEqual([night.code, night.stdout, night.stderr], [0, "", ""])
        }),
      60_000
    )
  }
)
