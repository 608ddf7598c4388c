import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import { Effect, Layer, Schedule, Schema, Stream } from "effect"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import * as ExitCode from "../../src/print/exitCode.js"
import { invoke, jsonLines, Sandbox, sandbox } from "./invoke.js"
import { interrupt, isGone, run, start } from "./stevedore.js"

const unfinished = (env: Readonly<Record<string, string>>) =>
  Effect.map(invoke(["uploads", "--json"]), ({ stdout }) =>
    jsonLines(stdout)
      .map((line) => Schema.decodeUnknownSync(Reports.Unfinished)(line))
      .filter(({ service }) => service === env["STEVEDORE_BASE_URL"]))

/** A file of that size on its way up, by a process that has begun to send, and the same command once more. */
const uploading = (name: string, size: number) =>
  Effect.gen(function*() {
    const { env } = yield* Sandbox
    const fs = yield* FileSystem.FileSystem
    const cwd = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${cwd}/${name}`, "")
    yield* fs.truncate(`${cwd}/${name}`, size)
    const words = ["upload", name, "--json"]
    const upload = yield* start(words, { cwd, env })
    yield* Stream.runHead(Stream.filter(upload.lines, (line) => line.includes("\"uploading\"")))
    return { upload, again: run(words, { cwd, env }) }
  })

describe("the stevedore process", () => {
  it.live("--help exits with 0 and prints to standard output, without colours in a pipe", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["upload", "--help"])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.include(stdout, "$ stevedore upload interview.mp4")
      assert.notInclude(stdout, "\u001b")
    }))

  it.live("the help and the guide list every exit code", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const codes = Object.values(ExitCode)
        .flatMap((value): ReadonlyArray<number> => typeof value === "number" ? [value] : [])
        .sort((one, other) => one - other)
      const { stdout } = yield* run(["--help"])
      const help = stdout.split("Exit codes\n")[1] ?? ""
      assert.deepStrictEqual([...help.matchAll(/^ {2}(\d+) +\w/gm)].map(([, code]) => Number(code)), codes)
      const guide = yield* fs.readFileString(
        fileURLToPath(new URL("../../../docs/guide/command-line.md", import.meta.url))
      )
      const table = /^\| code \|[^]*?\n\n/m.exec(guide)
      assert.deepStrictEqual([...(table?.[0] ?? "").matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code)), codes)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.live.skipIf(process.platform === "win32")(
    "bash completion completes commands and the choices of an option",
    () =>
      Effect.gen(function*() {
        const { stdout } = yield* run(["--completions", "bash"])
        const completed = (...words: ReadonlyArray<string>) =>
          execFileSync("bash", [
            "-c",
            `${stdout}\nCOMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n_stevedore_bash_completions "$1"\necho "\${COMPREPLY[@]}"`,
            "bash",
            ...words
          ], { encoding: "utf8" }).trim()
        assert.strictEqual(completed("stevedore", "whoa"), "whoami")
        assert.strictEqual(completed("stevedore", "upload", "--strategy", "mul"), "multipart")
        assert.strictEqual(completed("stevedore", "upload", "a", "--verify", ""), "sample all download")
      })
  )

  it.live("an unknown option exits with 2 and is named on standard error", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["upload", "a", "--no-such-option"])
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.include(stderr, "--no-such-option")
    }))
})

layer(Layer.merge(sandbox("--projects", "3000"), NodeContext.layer), { excludeTestServices: true })(
  "the stevedore process with a sandbox",
  (it) => {
    it.scoped("doctor ends once it has said everything, and keeps no connection open", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const doctor = yield* start(["doctor"], { env })
        yield* Stream.runHead(Stream.filter(doctor.lines, (line) => /^\d+ passed/.test(line)))
        // the sandbox would close an idle connection after a minute
        const { code } = yield* doctor.ended.pipe(
          Effect.timeoutFail({ duration: "20 seconds", onTimeout: () => new Error("it is still running") }),
          Effect.orDie
        )
        assert.strictEqual(code, 0)
      }))

    it.scoped("a list exits with 0 and prints no error when the reader closes the pipe", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const running = yield* start(["projects", "--json"], { env })
        yield* Stream.runHead(running.lines)
        running.child.stdout?.destroy()
        const { code, stderr } = yield* running.ended
        assert.deepStrictEqual([code, stderr], [0, ""])
      }))

    it.scoped("Ctrl-C ends an upload with 130 and keeps it unfinished, and `ps` does not show the token", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { upload } = yield* uploading("large.mp4", 4_000_000_000)
        const listed = execFileSync("ps", ["-o", "args=", "-p", `${upload.child.pid}`], { encoding: "utf8" })
        assert.include(listed, "large.mp4")
        assert.notInclude(listed, env["STEVEDORE_TOKEN"] ?? "")
        const { code, stderr } = yield* interrupt(upload)
        assert.strictEqual(code, 130)
        assert.match(
          stderr,
          /^Stopped\. To resume:\n {2}stevedore upload large\.mp4 --json\n\{"type":"failed","error":\{"_tag":"Interrupted",.*\}\n$/
        )
        assert.isTrue(yield* isGone(upload.child))
        const left = yield* unfinished(env)
        assert.deepStrictEqual(left.map(({ name, size }) => [name, size]), [["large.mp4", 4_000_000_000]])
        const forgotten = yield* Effect.forEach(left, ({ id }) => invoke(["uploads", "--forget", id]))
        assert.deepStrictEqual(forgotten.map((ended) => ended.code), [0])
      }))

    it.scoped("a second Ctrl-C ends an upload immediately, and the same command completes it", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { again, upload } = yield* uploading("twice.mp4", 1_000_000_000)
        yield* Effect.fork(interrupt(upload))
        const { code } = yield* Effect.timeout(interrupt(upload), "10 seconds")
        assert.include([130, null], code)
        assert.isTrue(yield* isGone(upload.child))
        assert.deepStrictEqual((yield* unfinished(env)).map(({ name }) => name), ["twice.mp4"])
        assert.strictEqual((yield* again).code, 0)
        assert.deepStrictEqual(yield* unfinished(env), [])
      }))

    /** A file of this size at the service, and a directory to have it in. */
    const stored = (size: number) =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const fs = yield* FileSystem.FileSystem
        const cwd = yield* fs.makeTempDirectoryScoped()
        yield* fs.writeFileString(`${cwd}/large.mp4`, "")
        yield* fs.truncate(`${cwd}/large.mp4`, size)
        const up = yield* invoke(["upload", `${cwd}/large.mp4`, "--json"], env)
        const [id = ""] = up.stdout.match(/\w{22}/) ?? []
        yield* fs.makeDirectory(`${cwd}/down`)
        return { cwd, env, fs, id, names: fs.readDirectory(`${cwd}/down`) }
      })

    it.scoped.skipIf(process.platform === "win32")(
      "a closed terminal ends a download with 129, and no partial file is left",
      () =>
        Effect.gen(function*() {
          const { cwd, env, id, names } = yield* stored(300_000_000)
          const download = yield* start(["download", id, "-o", "down/copy"], { cwd, env })
          yield* Effect.repeat(names, { schedule: Schedule.spaced("5 millis"), until: (names) => names.length > 0 })
          const { code, stderr } = yield* interrupt(download, "SIGHUP")
          assert.deepStrictEqual([code, stderr], [129, "Interrupted.\n"])
          assert.isTrue(yield* isGone(download.child))
          assert.deepStrictEqual(yield* names, [])
        })
    )

    it.scoped("Ctrl-C keeps the partial file of a download with --keep, and the same command completes it", () =>
      Effect.gen(function*() {
        const { cwd, env, fs, id, names } = yield* stored(600_000_000)
        const words = ["download", id, "-o", "down/copy", "--keep"]
        const download = yield* start(words, { cwd, env })
        const journal = Effect.map(names, (names) => names.filter((name) => name.endsWith(".part.json")))
        yield* Effect.repeat(journal, { schedule: Schedule.spaced("5 millis"), until: (names) => names.length > 0 })
        const { code, stderr } = yield* interrupt(download)
        assert.strictEqual(code, 130)
        assert.include(stderr, `The partial download is kept. To resume:\n  stevedore ${words.join(" ")}\n`)
        assert.isNotEmpty(yield* names)
        assert.strictEqual((yield* run(words, { cwd, env })).code, 0)
        assert.deepStrictEqual(yield* names, ["copy"])
        assert.strictEqual(Number((yield* fs.stat(`${cwd}/down/copy`)).size), 600_000_000)
      }))

    it.scoped("Ctrl-C while a download gets its name says that the file is complete", () =>
      Effect.gen(function*() {
        const { cwd, env, fs, id, names } = yield* stored(1_000_000)
        yield* fs.writeFileString(
          `${cwd}/late.cjs`,
          `const { promises } = require("node:fs")
          const link = promises.link
          promises.link = async (from, to) => {
            process.emit("SIGINT")
            await new Promise((resolve) => setTimeout(resolve, 100))
            await link(from, to)
          }
          require("node:module").syncBuiltinESMExports()`
        )
        const { code, stderr, stdout } = yield* run(["download", id, "-o", "down/copy", "--keep"], {
          cwd,
          env: { ...env, NODE_OPTIONS: `--require ${JSON.stringify(`${cwd}/late.cjs`)}` }
        })
        assert.deepStrictEqual([code, stdout, stderr], [
          130,
          "",
          "down/copy is complete, and in its place.\nInterrupted.\n"
        ])
        assert.deepStrictEqual(yield* names, ["copy"])
      }))

    it.scoped("a rejected token exits with 3", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { code, stdout } = yield* run(["whoami"], { env: { ...env, STEVEDORE_TOKEN: "api.wrong" } })
        assert.deepStrictEqual([code, stdout], [3, ""])
      }))

    it.scoped("Ctrl-C ends a sandbox with 130 and leaves its directory empty", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const running = yield* start(["sandbox", "--port", "0", "--storage-port", "0", "--directory", folder])
        yield* Stream.runHead(running.lines)
        const { code } = yield* interrupt(running)
        assert.strictEqual(code, 130)
        assert.isTrue(yield* isGone(running.child))
        assert.deepStrictEqual(yield* fs.readDirectory(folder), [])
      }))
  }
)
