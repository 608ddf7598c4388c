import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import { FaultScript } from "@stevedore/testing"
import { Effect, Schema } from "effect"
import { jobs, prepared } from "./bulkSupport.js"
import { invoke, jsonLines } from "./invoke.js"
import { interrupt, run, start } from "./stevedore.js"

describe("stevedore bulk in a file of SQLite", () => {
  it.scopedLive("uploads a directory, tells what failed, and retries only that", () =>
    Effect.gen(function*() {
      const { env, files, folder, names, proof, sandbox } = yield* prepared(12, {
        faults: FaultScript.on("initiate").times(2).answer(400, "BadRequest")
      })
      const store = ["--store", `${folder}/jobs.db`]
      const bulk = (...words: ReadonlyArray<string>) => invoke(["bulk", ...words, ...store], env)
      const first = yield* bulk("start", "night", files, "--chunk", "5")
      assert.strictEqual(first.code, 1, first.stderr)
      assert.match(first.stdout, /^night\tdone\t10\t2\t12\t/)
      assert.match(first.stderr, /2 files of "night" failed/)
      const failed = yield* bulk("failures", "night", "--json")
      const paths = jsonLines(failed.stdout).map((line) => Schema.decodeUnknownSync(Reports.Failed)(line))
      assert.lengthOf(paths, 2)
      for (const { error, path } of paths) {
        assert.include(names, path)
        assert.strictEqual(error.kind, "refused")
      }
      const [retried] = jobs((yield* bulk("retry", "night", "--json")).stdout)
      assert.deepInclude(retried, { state: "running", uploaded: 10, failed: 0, calls: { left: 4, perMinute: null } })
      // without its directory: it goes on with what is in the store
      const { code, stdout } = yield* bulk("start", "night", "--json")
      assert.strictEqual(code, 0)
      assert.deepInclude(jobs(stdout).at(-1), { name: "night", state: "done", uploaded: 12, failed: 0, timeLeft: 0 })
      yield* proof
      const uploaded = yield* bulk("files", "night", "--json")
      const lines = jsonLines(uploaded.stdout).map((line) => Schema.decodeUnknownSync(Reports.JobFile)(line))
      assert.deepStrictEqual(lines.map(({ path }) => path).sort(), [...names].sort())
      // the sandbox reports no checksum
      for (const { proof } of lines) assert.strictEqual(proof, "unproven")
      const shown = (yield* bulk("files", "night")).stdout.trim().split("\n")
      assert.deepStrictEqual(shown, lines.map(({ fileId, path, proof }) => [path, proof, fileId].join("\t")))
      const { requests } = yield* sandbox.report
      yield* bulk("start", "night", files)
      assert.lengthOf((yield* sandbox.report).requests, requests.length)
      assert.strictEqual((yield* bulk("forget", "night")).code, 0)
      assert.strictEqual((yield* bulk("status", "--json")).stdout, "")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("is stopped by what is true of every file, which counts as no failure, and goes on by the same command", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { env, files, folder, names, proof, sandbox } = yield* prepared(30)
      const words = ["bulk", "start", "night", files, "--store", `${folder}/jobs.db`, "--files", "2"]
      const status = Effect.map(
        invoke(["bulk", "status", "night", "--store", `${folder}/jobs.db`, "--json"], env),
        ({ stdout }) => jobs(stdout).at(-1)
      )
      const revoked = { ...env, STEVEDORE_TOKEN: "api.revoked-0123456789" }
      for (const command of [words, ["bulk", "run", "--store", `${folder}/jobs.db`, "--files", "2"]]) {
        const before = (yield* sandbox.report).requests.length
        const refused = yield* invoke(command, revoked)
        assert.strictEqual(refused.code, 3, refused.stderr)
        assert.match(refused.stderr, /"night" was stopped, because each file that is left would fail by the same/)
        assert.isAtMost((yield* sandbox.report).requests.length - before, 6)
        assert.deepInclude(yield* status, { state: "running", total: 30, uploaded: 0, failed: 0, left: 30 })
      }
      yield* fs.rename(files, `${folder}/away`)
      const gone = yield* invoke(["bulk", "start", "night", ...words.slice(4)], env)
      assert.strictEqual(gone.code, 1, gone.stderr)
      assert.match(gone.stderr, /was stopped/)
      assert.deepInclude(yield* status, { state: "running", failed: 0, left: 30 })
      yield* fs.rename(`${folder}/away`, files)
      const last = yield* invoke(words, env)
      assert.strictEqual(last.code, 0, last.stderr)
      assert.lengthOf(names, 30)
      yield* proof
    }).pipe(Effect.provide(NodeContext.layer)))

  // Whatever a file keeps of what it was, its content decides, and only that
  it.scopedLive.each(["upload", "bulk start night"])(
    "%s sends again what has other bytes, and nothing else",
    (words) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { env, files, names: [name = ""], there } = yield* prepared(1)
        const path = `${files}/${name}`
        const date = new Date("2030-01-01T00:00:00Z")
        yield* fs.utimes(path, date, date)
        const changes: ReadonlyArray<readonly [change: Effect.Effect<void, unknown>, files: number]> = [
          [Effect.void, 1],
          [Effect.void, 1],
          [fs.chmod(path, 0o600), 1],
          // another one of the same size and date takes its place
          [
            Effect.andThen(
              fs.writeFileString(`${path}.new`, name.toUpperCase()),
              () => Effect.zipRight(fs.utimes(`${path}.new`, date, date), fs.rename(`${path}.new`, path))
            ),
            2
          ],
          [fs.chmod(path, 0o644), 2],
          [Effect.zipRight(fs.writeFileString(path, name), fs.utimes(path, date, date)), 3],
          [fs.utimes(path, new Date("2030-01-02T00:00:00Z"), new Date("2030-01-02T00:00:00Z")), 4]
        ]
        for (const [index, [change, expected]] of changes.entries()) {
          yield* change
          const { code, stderr } = yield* invoke([...words.split(" "), files], env)
          assert.deepStrictEqual([code, yield* there], [0, expected], `${index}: ${stderr}`)
        }
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("uploads on the next night what is new, and refuses the name for other files", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { env, files, folder, there } = yield* prepared(2)
      const night = (path: string, ...more: ReadonlyArray<string>) =>
        invoke(["bulk", "start", "night", path, "--store", `${folder}/jobs.db`, ...more], env)
      assert.strictEqual((yield* night(files)).code, 0)
      yield* fs.writeFileString(`${files}/tuesday.txt`, "2")
      const second = yield* night(files)
      assert.strictEqual(second.code, 0, second.stderr)
      assert.strictEqual(yield* there, 3)
      yield* fs.writeFileString(`${folder}/more.jsonl`, "{\"path\":\"wednesday.txt\"}")
      yield* fs.writeFileString(`${files}/wednesday.txt`, "3")
      assert.strictEqual((yield* night(files, "--manifest", `${folder}/more.jsonl`)).code, 0)
      assert.strictEqual(yield* there, 4)
      for (const words of [[folder], [files, "--host", "h"], [files, "--mount", "m"]]) {
        const [path = "", ...more] = words
        const other = yield* night(path, ...more)
        assert.strictEqual(other.code, 2, other.stderr)
        assert.match(other.stderr, /There is a job "night" already \(done\), and its files are in/)
        assert.match(other.stderr, /Use another name, or forget that job first/)
      }
      assert.strictEqual(yield* there, 4)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("uploads what a manifest lists, and keeps the store to its owner", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { env, files, folder, names, proof } = yield* prepared(3)
      const manifest = `${folder}/files.jsonl`
      yield* fs.writeFileString(manifest, names.map((path) => JSON.stringify({ path })).join("\n"))
      const store = `${folder}/new/jobs.db`
      const words = ["bulk", "start", "listed", files, "--manifest", manifest, "--store", store]
      const submitted = yield* invoke([...words, "--submit-only"], { XDG_STATE_HOME: folder })
      assert.strictEqual(submitted.stdout, "listed\trunning\t0\t0\t3\t0 B\t-\n")
      assert.strictEqual((yield* fs.stat(store)).mode & 0o077, 0)
      assert.strictEqual(yield* fs.readFileString(`${folder}/new/.gitignore`), "*\n")
      const { code, stderr } = yield* invoke(words, env)
      assert.strictEqual(code, 0, stderr)
      yield* proof
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("takes each file once, and skips what upload skips, by name", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const env = { XDG_STATE_HOME: folder }
      yield* fs.makeDirectory(`${folder}/in/sub`, { recursive: true })
      yield* fs.writeFileString(`${folder}/in/a.txt`, "a")
      yield* fs.writeFileString(`${folder}/in/sub/b.txt`, "b")
      yield* fs.writeFileString(`${folder}/in/empty`, "")
      yield* fs.symlink(`${folder}/in/a.txt`, `${folder}/in/link`)
      const start = (...words: ReadonlyArray<string>) =>
        invoke(["bulk", "start", ...words, "--store", `${folder}/jobs.db`, "--submit-only"], env)
      const chosen = yield* start("all", `${folder}/in`, "--recursive")
      assert.deepStrictEqual([chosen.code, chosen.stdout], [0, "all\trunning\t0\t0\t2\t0 B\t-\n"], chosen.stderr)
      assert.match(chosen.stderr, /^Skipped 1 empty file \(\S+\/empty\), 1 link \(\S+\/link\)$/m)
      const rows = ["a.txt", "./a.txt", "link", "sub//b.txt", "sub/b.txt"].map((path) => JSON.stringify({ path }))
      yield* fs.writeFileString(`${folder}/rows.jsonl`, rows.join("\n"))
      const listed = yield* start("listed", `${folder}/in`, "--manifest", `${folder}/rows.jsonl`)
      assert.strictEqual(listed.stdout, "listed\trunning\t0\t0\t2\t0 B\t-\n", listed.stderr)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("refuses what means nothing, before it opens anything", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const store = `${folder}/jobs.db`
      const table: ReadonlyArray<readonly [words: string, env: Readonly<Record<string, string>>, said: RegExp]> = [
        ["pauze night", {}, /ACTION: expected one of start, run, .*, not "pauze"/],
        ["pause", {}, /JOB: is missing: Name of the job/],
        ["run night", {}, /JOB: means nothing to bulk run/],
        ["cancel night files", {}, /PATH: means nothing to bulk cancel/],
        ["status night --files 3", {}, /--files: means nothing to bulk status/],
        ["pause night --watch", {}, /--watch: means nothing to bulk pause/],
        [`status --store ${store}`, {}, /--store: .*jobs\.db is not there: stevedore bulk start creates it/],
        [`status --store ${store} --database-env DB`, { DB: "postgres://h/d" }, /--store: not beside --database-env/],
        ["status --database-env DB", {}, /DB: not set: --database-env names this variable/],
        ["status --database-env DB", { DB: "mysql://u:s3cret@h/d" }, /DB: expected the URL of a PostgreSQL/],
        ["status --database-env DB", { DB: "postgres://u:s3cret/1@h/d" }, /DB: expected the URL .*\/ is %2F/],
        ["status --database-env DB", { DB: "postgres://u:s3cret#1@h/d" }, /DB: expected the URL .* # is %23/],
        ["status", { STEVEDORE_DATABASE_URL: "s3cret" }, /STEVEDORE_DATABASE_URL: expected the URL/],
        [`start night --submit-only --store ${store}`, {}, /PATH: there is no job "night" yet/],
        [`start a d --mount m --host h --submit-only --store ${store}`, {}, /--mount: not beside --host/],
        [`start a ${folder} --root nowhere --store ${store}`, {}, /--root: expected a name and a directory/],
        [`retry nights --store ${store}`, {}, /nights: There is no job "nights"/]
      ]
      for (const [words, env, said] of table) {
        const { code, stderr, stdout } = yield* invoke(["bulk", ...words.split(" ")], env)
        assert.strictEqual(code, 2, `${words}: ${stderr}`)
        assert.match(stderr, said)
        assert.notInclude(stdout + stderr, "s3cret")
      }
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive(
    "goes on where its process was killed, has one process at a time, and drains on SIGTERM",
    () =>
      Effect.gen(function*() {
        const { env, files, folder, proof, there } = yield* prepared(40, {
          faults: FaultScript.on("put").always().delay("150 millis")
        })
        const store = `${folder}/jobs.db`
        const words = ["bulk", "start", "killed", files, "--store", store, "--files", "2", "--chunk", "10"]
        const begun = Effect.fn(function*(count: number) {
          const command = yield* start(words, { env })
          const progress = Effect.repeat(Effect.delay(there, "20 millis"), { until: (there) => there >= count })
          yield* Effect.raceFirst(progress, Effect.flatMap(command.ended, ({ stderr }) => Effect.dieMessage(stderr)))
          return command
        })
        const first = yield* begun(3)
        const second = yield* invoke(words, env)
        assert.strictEqual(second.code, 2)
        assert.match(second.stderr, /another command runs the jobs of /)
        // whoever only watches is let in
        const [seen] = jobs((yield* invoke(["bulk", "status", "killed", "--store", store, "--json"], env)).stdout)
        assert.deepInclude(seen, { state: "running", total: 40, chunks: 1 })
        yield* interrupt(first, "SIGKILL")
        const drained = yield* begun((yield* there) + 3)
        const { code, stderr } = yield* interrupt(drained, "SIGTERM")
        assert.strictEqual(code, 130)
        assert.include(stderr, "To go on:\n  stevedore bulk start killed")
        // what was under way has ended: nothing is left of it, and nothing is claimed
        const [stopped] = jobs((yield* invoke(["bulk", "status", "killed", "--store", store, "--json"], env)).stdout)
        assert.deepInclude(stopped, { uploaded: yield* there, chunks: 0 })
        const last = yield* run(words, { env })
        assert.strictEqual(last.code, 0, last.stderr)
        yield* proof
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000
  )
})
