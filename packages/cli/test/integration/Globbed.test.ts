import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { spawn } from "node:child_process"
import * as Fs from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { commands } from "../../src/line/commands.js"
import * as Globbed from "../../src/line/globbed.js"
import { command } from "./bundle.js"
import { invoke } from "./invoke.js"
import { listening } from "./listening.js"

const directory = Effect.acquireRelease(
  Effect.promise(() => Fs.mkdtemp(join(tmpdir(), "stevedore-glob-"))),
  (path) => Effect.promise(() => Fs.rm(path, { recursive: true, force: true }))
)

class Command extends Context.Tag("test/Command")<Command, ReadonlyArray<string>>() {}

const prepared = Layer.scoped(
  Command,
  Effect.flatMap(directory, (path) => Effect.promise(() => command(path)))
)

/** What a service got to see, whatever it is asked. */
const witness = Effect.gen(function*() {
  const asked: Array<string> = []
  const origin = yield* listening((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    response.writeHead(400).end()
  })
  return { asked, port: Number(new URL(origin).port) }
})

/** A line of a real shell, in a directory with these names. `$stevedore` is the command. */
const shell = (line: string, names: ReadonlyArray<string>, port: number) =>
  Effect.gen(function*() {
    const words = yield* Command
    const cwd = yield* directory
    yield* Effect.promise(async () => {
      for (const name of names) await Fs.writeFile(join(cwd, name), "content")
    })
    return yield* Effect.async<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>(
      (resume) => {
        const child = spawn("sh", ["-c", line], {
          cwd,
          stdio: ["ignore", "pipe", "pipe"],
          env: {
            PATH: process.env.PATH,
            XDG_STATE_HOME: join(cwd, "../state"),
            stevedore: [process.execPath, ...words].join(" "),
            STEVEDORE_BASE_URL: `http://127.0.0.1:${port}/right`,
            STEVEDORE_TOKEN: "api.secret"
          }
        })
        let [stdout, stderr] = ["", ""]
        child.stdout.on("data", (text) => {
          stdout += text
        })
        child.stderr.on("data", (text) => {
          stderr += text
        })
        child.on("close", (code) => resume(Effect.succeed({ code, stdout, stderr })))
      }
    )
  }).pipe(Effect.scoped)

const optionsOf = (help: string): ReadonlyArray<string> =>
  [...help.matchAll(/^ {2}(-[\w-]+(?:, -[\w-]+)*)\b/gm)].flatMap(([, names = ""]) => names.split(", "))

layer(prepared, { timeout: "2 minutes", excludeTestServices: true })("a name from a shell's pattern", (it) => {
  it.scoped(
    "is refused if it is an option, for every option of every command in every form",
    () =>
      Effect.gen(function*() {
        const cwd = yield* directory
        const seen = new Set<string>()
        for (const { name } of commands) {
          for (const option of optionsOf((yield* invoke([name, "--help"])).stdout)) seen.add(option)
        }
        assert.includeMembers([...seen], ["--base-url", "--config", "--token-file", "--profile", "--help", "-o", "-q"])
        const forms = [...seen].flatMap((option) => [option, `${option}=x`, option.toUpperCase()])
        for (const word of [...forms, "-vq", "--no-json", "--log-level", "--completions=bash", "-", "--json=true"]) {
          const path = join(cwd, word)
          yield* Globbed.check(["upload", word, "a", "--no-such-name"], cwd)
          yield* Effect.promise(() => Fs.writeFile(path, ""))
          for (const words of [["upload", word, "a"], [word, "upload"], ["upload", "--name", word, "--", word]]) {
            const { input, problem } = yield* Effect.flip(Globbed.check(words, cwd))
            assert.strictEqual(input, word)
            assert.include(problem, `Give the name as ./${word}`)
          }
          yield* Globbed.check(["upload", "--no-such-name", "--", word, `./${word}`], cwd)
          yield* Effect.promise(() => Fs.rm(path))
          yield* Effect.promise(() => Fs.symlink("nowhere", path))
          assert.isTrue(yield* Effect.isFailure(Globbed.check(["upload", word], cwd)))
          yield* Effect.promise(() => Fs.rm(path))
        }
      }),
    60_000
  )

  it.scoped.each<readonly [string, ReadonlyArray<string>]>([
    ["$stevedore upload *", ["--base-url=http:127.0.0.1:PORT\\x.mp4", "talk.mp4"]],
    ["$stevedore * upload", ["--base-url=http:127.0.0.1:PORT\\x.mp4"]],
    ["$stevedore upload *", ["--help", "talk.mp4"]],
    ["$stevedore upload *", ["--version", "talk.mp4"]],
    ["$stevedore upload *", ["--overwrite", "-o", "talk.mp4"]],
    ["$stevedore upload talk.mp4 --profile *", ["-key", "talk.mp4"]],
    ["$stevedore upload * --verify download", ["--", "--help", "talk.mp4"]]
  ])("%s obeys no name", ([line, names]) =>
    Effect.gen(function*() {
      const { asked, port } = yield* witness
      const { code, stdout } = yield* shell(line, names.map((name) => name.replace("PORT", String(port))), port)
      assert.deepStrictEqual([code, stdout, asked], [2, "", []])
    }), 60_000)

  it.scoped.each(["$stevedore upload ./*", "$stevedore upload -- *", "$stevedore --quiet upload -- *"])(
    "%s takes every name for a name",
    (line) =>
      Effect.gen(function*() {
        const { asked, port } = yield* witness
        const names = [`--base-url=http:127.0.0.1:${port}\\x.mp4`, "--help", "--", "-q"]
        const { code, stderr } = yield* shell(line, names, port)
        assert.strictEqual(code, 1)
        for (const name of names) assert.include(stderr, name)
        assert.isAbove(asked.length, 0)
        for (const one of asked) assert.match(one, /^POST \/right\//)
      }),
    60_000
  )

  it.scoped("is also refused if it is not UTF-8, and so cannot be found again", () =>
    Effect.gen(function*() {
      const { asked, port } = yield* witness
      const { code, stderr } = yield* shell(
        `: > "$(printf '%s\\377' '--name=')"; $stevedore upload *`,
        ["talk.mp4"],
        port
      )
      assert.deepStrictEqual([code, asked], [2, []])
      assert.include(stderr, "is not UTF-8")
    }), 60_000)
})
