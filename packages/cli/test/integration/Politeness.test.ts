import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import { Clock, Duration, Effect, Fiber, Layer, Option, Schema } from "effect"
import { Limited } from "../../src/print/schemas.js"
import { invoke, jsonLines, Sandbox, sandbox } from "./invoke.js"

const bytes = Uint8Array.from({ length: 1_200_000 }, (_, index) => (index * 7919) % 251)

const limits = (stdout: string) => Schema.decodeUnknownSync(Schema.Array(Limited))(jsonLines(stdout))

layer(Layer.merge(sandbox(), NodeContext.layer), { excludeTestServices: true })("the bandwidth limit", (it) => {
  const prepared = Effect.gen(function*() {
    const { env } = yield* Sandbox
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFile(`${folder}/a.bin`, bytes)
    const run = (...words: ReadonlyArray<string>) =>
      Effect.map(
        Effect.timed(invoke(words, env)),
        ([took, ended]) => ({ ...ended, seconds: Duration.toSeconds(took) })
      )
    const limited = Effect.repeat(Effect.delay(run("limit", "--json"), "100 millis"), {
      until: ({ stdout }) => stdout.includes(`"pid":${process.pid}`)
    })
    return { folder, fs, limited, run }
  })

  it.scoped("--limit-rate slows uploads and downloads, and changes no byte", () =>
    Effect.gen(function*() {
      const { folder, fs, run } = yield* prepared
      const up = yield* run("upload", `${folder}/a.bin`, "--limit-rate", "400k")
      assert.strictEqual(up.code, 0, up.stderr)
      assert.isAbove(up.seconds, 2.8)
      const [id = ""] = up.stdout.split("\t")
      const down = yield* run("download", id, "-o", `${folder}/copy`, "--limit-rate", "00:00,600k 12:00,600k")
      assert.strictEqual(down.code, 0, down.stderr)
      assert.isAbove(down.seconds, 1.8)
      assert.deepStrictEqual(yield* fs.readFile(`${folder}/copy`), bytes)
    }))

  it.scoped("stevedore limit shows it, and changes it while the command runs", () =>
    Effect.gen(function*() {
      const { folder, limited, run } = yield* prepared
      const startedAt = yield* Clock.currentTimeMillis
      const upload = yield* Effect.fork(run("upload", `${folder}/a.bin`, "--limit-rate", "1k"))
      const shown = limits((yield* limited).stdout).filter(({ pid }) => pid === process.pid)
      assert.deepStrictEqual(shown, [{ type: "limit", pid: process.pid, command: "upload", limit: "1k", rate: 1000 }])
      // slow enough to be running still when it is shown
      const changed = yield* run("limit", "50k")
      assert.strictEqual(changed.code, 0, changed.stderr)
      assert.include(changed.stdout, `${process.pid}\tupload\t50.0 kB/s\t50k\n`)
      assert.strictEqual((yield* run("limit", "off")).code, 0)
      const ended = yield* Fiber.join(upload)
      assert.strictEqual(ended.code, 0, ended.stderr)
      assert.isBelow((yield* Clock.currentTimeMillis) - startedAt, 120_000)
      const after = limits((yield* run("limit", "show", "--json")).stdout)
      assert.deepStrictEqual(after.filter(({ pid }) => pid === process.pid), [])
    }))

  it.scoped("what a killed command has left is removed", () =>
    Effect.gen(function*() {
      const { fs, run } = yield* prepared
      const left = `${Option.getOrThrow(yield* DiskLedger.defaultDirectory)}/running`
      yield* fs.makeDirectory(left, { recursive: true, mode: 0o700 })
      yield* fs.writeFileString(
        `${left}/a.json`,
        "{\"pid\":4194305,\"command\":\"upload\",\"limit\":\"off\",\"rate\":null}"
      )
      yield* fs.writeFileString(`${left}/a.limit`, "5M")
      yield* fs.writeFileString(`${left}/b.json`, "{\"pid\":")
      yield* run("limit")
      const names = yield* fs.readDirectory(left)
      assert.deepStrictEqual(names.filter((name) => /^[ab]\./.test(name)), [])
    }))

  it.scoped("has its default in the configuration file", () =>
    Effect.gen(function*() {
      const { folder, fs, run } = yield* prepared
      yield* fs.writeFileString(
        `${folder}/settings.json`,
        "{\"limitRate\":\"400k\",\"download\":{\"limitRate\":\"off\"}}"
      )
      const words = ["--config", `${folder}/settings.json`]
      const plan = yield* run("upload", `${folder}/a.bin`, "--dry-run", "--json", ...words)
      assert.deepInclude(jsonLines(plan.stdout).at(-1), { bytesSeconds: 3, by: "bytes" })
      const told = yield* run("upload", `${folder}/a.bin`, "--dry-run", "--profile", "dovetail", ...words)
      assert.match(told.stderr, /The bytes take 3s at the limit of 400\.0 kB\/s: the bytes take longer/)
      const without = yield* run("upload", `${folder}/a.bin`, "--dry-run", "--json", ...words, "--limit-rate", "off")
      assert.deepInclude(jsonLines(without.stdout).at(-1), { bytesSeconds: null })
    }))

  it.scoped("that is none is refused before anything is sent", () =>
    Effect.gen(function*() {
      const { folder, run } = yield* prepared
      for (const rate of ["fast", "0", "08:00"]) {
        const up = yield* run("upload", `${folder}/a.bin`, "--limit-rate", rate)
        assert.strictEqual(up.code, 2)
        assert.include(up.stderr, "--limit-rate")
        assert.include(up.stderr, "08:00,5M 18:00,off")
        const changed = yield* run("limit", rate)
        assert.strictEqual(changed.code, 2)
        assert.include(changed.stderr, "RATE: expected a rate such as")
      }
    }))
})
