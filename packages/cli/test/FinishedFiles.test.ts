import { Error as PlatformError, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ServiceApi, ServiceError } from "@stevedore/core"
import { DiskLedger } from "@stevedore/node"
import { Effect, Logger, Option } from "effect"
import { relative } from "node:path"
import * as FinishedFiles from "../src/FinishedFiles.js"
import type { Completed } from "../src/Reports.js"

const file = { id: "1kf00nQk9yfWKfsTDni8aO", name: "a", status: "pending", created_at: "2026-01-01" } as const

const report: typeof Completed.Type = {
  type: "completed",
  path: "/a",
  file,
  bytes: 3,
  parts: 1,
  sessions: 1,
  seconds: 1,
  checksum: null
}

const finished = { path: "/a", fingerprint: { kind: "file", size: 3 }, report }

const command: FinishedFiles.Command = { service: "http://127.0.0.1", paths: ["/a", "/b"], mediaType: Option.none() }

const setStateHome = (directory: string | undefined): void => {
  if (directory === undefined) delete process.env.XDG_STATE_HOME
  else process.env.XDG_STATE_HOME = directory
}

const stateHome = (): string | undefined => process.env.XDG_STATE_HOME

/** The directory of state is told from the environment of the process: a test has one of its own. */
const state = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const before = stateHome()
  yield* Effect.acquireRelease(
    Effect.sync(() => setStateHome(folder)),
    () => Effect.sync(() => setStateHome(before))
  )
  return `${folder}/stevedore`
})

/** A file where the finished files of all commands have their directory. */
const somethingElseAt = (directory: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(directory, { mode: 0o700 })
    yield* fs.writeFileString(`${directory}/finished`, "in the way")
  })

const exhausted = (path: string) =>
  new PlatformError.SystemError({
    reason: "Unknown",
    module: "FileSystem",
    method: "readFile",
    pathOrDescriptor: path,
    description: "EMFILE: too many open files",
    cause: Object.assign(new Error("EMFILE"), { code: "EMFILE" })
  })

const listening = () => {
  const told: Array<string> = []
  const layer = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ logLevel, message }) => told.push(`${logLevel.label} ${String(message)}`))
  )
  return { layer, told }
}

describe.skipIf(process.platform !== "linux")("FinishedFiles", () => {
  it.scoped("the same command finds its unchanged uploaded files again until they are cleared", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* state
      yield* Effect.flatMap(FinishedFiles.make(command), ({ add }) => add(finished))
      const again = yield* FinishedFiles.make({ ...command, paths: ["/b", relative("", "/a")] })
      assert.deepStrictEqual([again.has("/a"), again.has("/b")], [true, false])
      assert.deepStrictEqual(again.find("/a", finished.fingerprint), Option.some(report))
      assert.deepStrictEqual(again.find("/a", { kind: "file", size: 4 }), Option.none())
      const others = [
        { ...command, service: "http://localhost" },
        { ...command, paths: ["/a"] },
        { ...command, mediaType: Option.some("video/mp4") }
      ]
      for (const other of others) assert.isFalse((yield* FinishedFiles.make(other)).has("/a"))
      assert.strictEqual((yield* fs.stat(`${directory}/finished`)).mode & 0o777, 0o700)
      yield* again.clear
      assert.isFalse((yield* FinishedFiles.make(command)).has("/a"))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("a file is found by any path to it, however it was recorded", () =>
    Effect.gen(function*() {
      yield* state
      yield* Effect.flatMap(FinishedFiles.make(command), ({ add }) => add({ ...finished, path: relative("", "/a") }))
      assert.isTrue((yield* FinishedFiles.make(command)).has("/a"))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("nothing is logged about a command that has never run, or whose directory is something else", () =>
    Effect.gen(function*() {
      const directory = yield* state
      const { layer, told } = listening()
      yield* Effect.provide(FinishedFiles.make(command), layer)
      yield* somethingElseAt(directory)
      yield* Effect.provide(FinishedFiles.make(command), layer)
      assert.deepStrictEqual(told, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("finds what is recorded after an incomplete line", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* state
      const record = (path: string) =>
        Effect.flatMap(FinishedFiles.make(command), ({ add }) => add({ ...finished, path }))
      yield* record("/a")
      const [name = ""] = yield* fs.readDirectory(`${directory}/finished`)
      yield* fs.writeFileString(`${directory}/finished/${name}`, `\n{"path":"/killed`, { flag: "a" })
      yield* record("/b")
      const again = yield* FinishedFiles.make(command)
      assert.deepStrictEqual([again.has("/a"), again.has("/b")], [true, true])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("forgets the files of commands that have not run for 31 days", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* state
      const [old, again, other] = ["/old", "/again", "/other"].map((path) => ({ ...command, paths: [path] }))
      const has = (one = command) => Effect.scoped(Effect.map(FinishedFiles.make(one), ({ has }) => has("/a")))
      const record = (one = command) =>
        Effect.scoped(Effect.flatMap(FinishedFiles.make(one), ({ add }) => add(finished)))
      yield* Effect.zipRight(record(old), record(again))
      const month = new Date(Date.now() - 31 * 86_400_000)
      for (const name of yield* fs.readDirectory(`${directory}/finished`)) {
        yield* fs.utimes(`${directory}/finished/${name}`, month, month)
      }
      // each run counts, even if it adds nothing
      assert.isTrue(yield* has(again))
      assert.isFalse(yield* has(other))
      assert.deepStrictEqual([yield* has(old), yield* has(again)], [false, true])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive.each([{ times: 2, has: true, warnings: 0 }, {
    times: Number.POSITIVE_INFINITY,
    has: false,
    warnings: 1
  }])(
    "what is recorded but cannot be read just now is read again for a moment, and then this is logged: %o",
    ({ has, times, warnings }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* state
        yield* Effect.flatMap(FinishedFiles.make(command), ({ add }) => add(finished)).pipe(Effect.scoped)
        let refusals = times
        const busy: FileSystem.FileSystem = {
          ...fs,
          readFileString: (path, encoding) =>
            Effect.suspend(() =>
              path.includes("finished") && refusals-- > 0
                ? Effect.fail(exhausted(path))
                : fs.readFileString(path, encoding)
            )
        }
        const { layer, told } = listening()
        const again = yield* FinishedFiles.make(command).pipe(
          Effect.provideService(FileSystem.FileSystem, busy),
          Effect.provide(layer)
        )
        assert.strictEqual(again.has("/a"), has)
        assert.lengthOf(told, warnings)
        for (const line of told) assert.match(line, /^WARN Files that are already uploaded are not skipped: .*EMFILE/)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("the same command fails with CommandRunning until the first one's scope ends", () =>
    Effect.gen(function*() {
      yield* state
      const again = { ...command, paths: ["/b", "/a"] }
      yield* Effect.gen(function*() {
        yield* Effect.scoped(Effect.gen(function*() {
          const { add } = yield* FinishedFiles.make(command)
          yield* add(finished)
          assert.strictEqual((yield* Effect.flip(FinishedFiles.make(again)))._tag, "CommandRunning")
          yield* FinishedFiles.make({ ...command, paths: ["/a"] })
        }))
        assert.isTrue((yield* FinishedFiles.make(again)).has("/a"))
      }).pipe(Effect.provide(DiskLedger.layer()))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("a directory that others can access is neither read nor written, and this is logged", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* state
      yield* Effect.flatMap(FinishedFiles.make(command), ({ add }) => add(finished))
      yield* fs.chmod(directory, 0o777)
      const told: Array<string> = []
      const logger = Logger.replace(Logger.defaultLogger, Logger.make(({ message }) => told.push(String(message))))
      const refused = yield* Effect.provide(FinishedFiles.make(command), logger)
      assert.isFalse(refused.has("/a"))
      assert.match(told.join("\n"), /^Files that are already uploaded are neither recorded nor skipped.*chmod 700/)
      yield* refused.add({ ...finished, path: "/b" })
      yield* fs.chmod(directory, 0o700)
      assert.isFalse((yield* FinishedFiles.make(command)).has("/b"))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("warns once if uploaded files cannot be recorded", () =>
    Effect.gen(function*() {
      yield* Effect.flatMap(state, somethingElseAt)
      const { layer, told } = listening()
      yield* Effect.flatMap(FinishedFiles.make(command), ({ add }) =>
        Effect.forEach(["/a", "/b", "/c"], (path) => add({ ...finished, path }))).pipe(Effect.provide(layer))
      assert.lengthOf(told, 1)
      assert.match(told.join(), /^WARN An uploaded file cannot be recorded: .*\/finished/)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect("a file no longer counts as uploaded once it is missing, forbidden, failed or of another size", () =>
    Effect.gen(function*() {
      const answer = { operation: "file", issues: [] }
      const stillUp = (found: ReturnType<ServiceApi.Service["file"]>) =>
        Effect.provide(FinishedFiles.stillUp(report), ServiceApi.layerNoop({ file: () => found }))
      const completed = { ...file, status: "completed", size: 3 } as const
      assert.deepStrictEqual(
        yield* stillUp(Effect.succeed(completed)),
        Option.some({ ...report, file: completed })
      )
      assert.deepStrictEqual(yield* stillUp(Effect.succeed(file)), Option.some(report))
      const gone = [
        Effect.succeed({ ...completed, size: 4 }),
        Effect.succeed({ ...completed, status: "failed" } as const),
        Effect.fail(new ServiceError.NotFound({ ...answer, status: 404 })),
        Effect.fail(new ServiceError.Forbidden({ ...answer, status: 403 }))
      ]
      for (const one of gone) assert.deepStrictEqual(yield* stillUp(one), Option.none())
      const refused = new ServiceError.Unauthorized({ ...answer, status: 401 })
      assert.strictEqual(yield* Effect.flip(stillUp(Effect.fail(refused))), refused)
    }))
})
