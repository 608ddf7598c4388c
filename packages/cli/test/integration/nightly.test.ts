import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import { Effect, Option, Redacted, Schema } from "effect"
import { spawn } from "node:child_process"
import { command } from "./bundle.js"

const searched = process.env.PATH

// For a longer run: STEVEDORE_NIGHTLY_FILES=5000
const count = Number(process.env.STEVEDORE_NIGHTLY_FILES ?? 150)

const sizeOf = (index: number): number => 1 + ((index * 7919) % 20_000)

const contentOf = (index: number): string => `${index} `.padEnd(sizeOf(index), "abcdefghij").slice(0, sizeOf(index))

const uploadReport = Schema.decodeUnknownSync(Schema.parseJson(Reports.UploadReport))

/** Runs the command, and kills it once so many files have been reported. */
const killedAfter = (words: ReadonlyArray<string>, env: Readonly<Record<string, string | undefined>>, most: number) =>
  Effect.async<{ readonly code: number | null; readonly lines: ReadonlyArray<string> }>((resume) => {
    const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "inherit"] })
    let text = ""
    child.stdout.setEncoding("utf8").on("data", (more: string) => {
      text += more
      if (text.split("\"type\":\"completed\"").length > most) child.kill("SIGKILL")
    })
    child.on("close", (code) => {
      // the last line of a killed process may be incomplete
      resume(Effect.succeed({ code, lines: text.split("\n").slice(0, -1).filter((line) => line !== "") }))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

it.scopedLive(
  `${count} files of mixed sizes, killed three times: nothing is missing, and nothing is there twice`,
  () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const [bundle, state, recordings] = [`${folder}/bundle`, `${folder}/state`, `${folder}/recordings`]
      const indexes = Array.from({ length: count }, (_, index) => index)
      const nameOf = (index: number) => `${index % 7}/${index}.bin`
      yield* Effect.forEach(indexes.slice(0, 7), (index) =>
        fs.makeDirectory(`${recordings}/${index}`, { recursive: true }))
      yield* Effect.forEach(indexes, (index) =>
        fs.writeFileString(`${recordings}/${nameOf(index)}`, contentOf(index)), {
        concurrency: 16
      })
      const sandbox = yield* SandboxServer.start({
        port: 0,
        storagePort: 0,
        directory: Option.none(),
        token: Option.none(),
        projects: 0
      })
      const words = [...yield* Effect.promise(() => command(bundle)), "upload", recordings, "--json", "--files", "8"]
      const env = {
        PATH: searched,
        HOME: state,
        XDG_STATE_HOME: state,
        LOCALAPPDATA: state,
        STEVEDORE_BASE_URL: sandbox.baseUrl,
        STEVEDORE_TOKEN: Redacted.value(sandbox.token)
      }
      for (const most of [0.2, 0.3, 0.1]) {
        const { code } = yield* killedAfter(words, env, Math.ceil(count * most))
        assert.isNull(code)
      }
      const { code } = yield* killedAfter(words, env, Number.POSITIVE_INFINITY)
      assert.strictEqual(code, 0)
      const again = yield* killedAfter(words, env, Number.POSITIVE_INFINITY)
      assert.strictEqual(again.code, 0)
      const skipped = again.lines.map((line) => uploadReport(line)).flatMap((report) =>
        report.type === "skipped" && report.fileId !== undefined ? [[report.path, report.fileId] as const] : []
      )
      assert.lengthOf(skipped, count)
      const ids = new Map(skipped)
      for (const index of indexes) {
        const id = ids.get(`${recordings}/${nameOf(index)}`) ?? "not uploaded"
        assert.strictEqual(new TextDecoder().decode(yield* sandbox.stored(id)), contentOf(index))
      }
      // whatever was reported before it was killed, the service has each name once
      const names = (yield* sandbox.files).map(({ name }) => name)
      assert.sameMembers(names, indexes.map(nameOf))
    }).pipe(Effect.provide(NodeContext.layer)),
  120_000 + count * 100
)
