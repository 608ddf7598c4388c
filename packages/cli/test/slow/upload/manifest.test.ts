import { Error as PlatformError, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { DiskLedger } from "@stevedore/node"
import { Effect, Layer, Logger, Option } from "effect"
import type { UploadedFile } from "../../../src/print/schemas.js"
import * as Manifest from "../../../src/upload/manifest.js"

const service = "http://127.0.0.1"

const uploaded = (path: string, fileId = "1kf00nQk9yfWKfsTDni8aO"): UploadedFile => ({
  path,
  name: "a",
  mediaType: "text/plain",
  size: 3,
  modified: "2026-01-01T00:00:00.000Z",
  fingerprint: { kind: "file", size: 3, modified: 1_767_225_600_000.25, identity: "1:2" },
  service,
  fileId,
  checksum: { algorithm: "crc32", value: "AAAAAA==" },
  uploadedAt: "2026-01-02T00:00:00.000Z",
  checkedAt: "2026-01-02T00:00:00.000Z"
})

const setStateHome = (directory: string | undefined): void => {
  if (directory === undefined) delete process.env.XDG_STATE_HOME
  else process.env.XDG_STATE_HOME = directory
}

const stateHome = () => process.env.XDG_STATE_HOME

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

const manifest = Manifest.make(service)

const find = (path: string) => Effect.flatMap(manifest, ({ find }) => find(path))

const add = (...files: ReadonlyArray<UploadedFile>) =>
  Effect.flatMap(manifest, ({ add }) => Effect.forEach(files, add, { discard: true }))

const manifestFiles = (directory: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.map(
      fs.readDirectory(`${directory}/uploaded`),
      (names) => names.map((name) => `${directory}/uploaded/${name}`).sort()
    ))

const logged = () => {
  const told: Array<string> = []
  const layer = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ logLevel, message }) => told.push(`${logLevel.label} ${String(message)}`))
  )
  return { layer, told }
}

const exhausted = (path: string) =>
  new PlatformError.SystemError({
    reason: "Unknown",
    module: "FileSystem",
    method: "open",
    pathOrDescriptor: path,
    description: "EMFILE: too many open files",
    cause: Object.assign(new Error("EMFILE"), { code: "EMFILE" })
  })

describe.skipIf(process.platform !== "linux")("Manifest", () => {
  it.scoped("a file that is added is found by its path, for its service only, and the last line counts", () =>
    Effect.gen(function*() {
      const directory = yield* state
      yield* add(uploaded("/x/a", "one"), uploaded("/x/b"), uploaded("/x/a", "two"))
      assert.deepStrictEqual(yield* find("/x/a"), Option.some(uploaded("/x/a", "two")))
      assert.deepStrictEqual(yield* find("/a"), Option.none())
      const other = yield* Manifest.make("http://localhost")
      assert.deepStrictEqual(yield* other.find("/x/a"), Option.none())
      const fs = yield* FileSystem.FileSystem
      const [file = ""] = yield* manifestFiles(directory)
      assert.strictEqual((yield* fs.stat(`${directory}/uploaded`)).mode & 0o777, 0o700)
      assert.strictEqual((yield* fs.stat(file)).mode & 0o777, 0o600)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("a command sees what another one adds while it runs", () =>
    Effect.gen(function*() {
      yield* state
      const [one, other] = yield* Effect.all([manifest, manifest])
      assert.isTrue(Option.isNone(yield* one.find("/x/a")))
      yield* other.add(uploaded("/x/a"))
      yield* one.add(uploaded("/x/b"))
      assert.isTrue(Option.isSome(yield* one.find("/x/a")))
      assert.isTrue(Option.isSome(yield* other.find("/x/b")))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("wherever the last line was cut, only that line is lost", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* state
      yield* add(uploaded("/x/a"))
      const [file = ""] = yield* manifestFiles(directory)
      const whole = yield* fs.readFileString(file)
      const line = `\n${JSON.stringify(uploaded("/x/cut"))}\n`
      for (let length = 0; length <= line.length; length += 7) {
        yield* fs.writeFileString(file, `${whole}${line.slice(0, length)}`)
        yield* add(uploaded("/x/b"))
        const known = yield* Effect.forEach(["/x/a", "/x/b"], find)
        assert.isTrue(known.every(Option.isSome), String(length))
      }
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("is made shorter once most lines say nothing any more, and keeps what is added meanwhile", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* state
      const before = yield* manifest
      for (let time = 0; time < 300; time++) yield* before.add(uploaded("/x/a", String(time)))
      const [file = ""] = yield* manifestFiles(directory)
      const size = (yield* fs.stat(file)).size
      const concurrent = Effect.forEach(
        Array.from({ length: 50 }, (_, index) => uploaded(`/x/${index}`)),
        (one) => before.add(one),
        { discard: true }
      )
      yield* Effect.all([find("/x/a"), concurrent], { concurrency: "unbounded" })
      assert.deepStrictEqual(yield* find("/x/a"), Option.some(uploaded("/x/a", "299")))
      assert.isBelow(Number((yield* fs.stat(file)).size), Number(size) / 2)
      assert.lengthOf(yield* Manifest.all, 51)
      assert.isTrue(Option.isSome(yield* before.find("/x/49")))
    }).pipe(Effect.provide(Layer.provideMerge(DiskLedger.layer(), NodeContext.layer))))

  it.scoped("lists everything by path, and forgets what it is told to", () =>
    Effect.gen(function*() {
      yield* state
      assert.deepStrictEqual(yield* Manifest.all, [])
      yield* add(uploaded("/y/b"), uploaded("/x/a"))
      assert.deepStrictEqual((yield* Manifest.all).map(({ path }) => path), ["/x/a", "/y/b"])
      yield* Manifest.forget([uploaded("/y/b")])
      assert.deepStrictEqual((yield* Manifest.all).map(({ path }) => path), ["/x/a"])
      assert.isTrue(Option.isNone(yield* find("/y/b")))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive.each([{ times: 2, found: true, warnings: 0 }, {
    times: Number.POSITIVE_INFINITY,
    found: false,
    warnings: 1
  }])(
    "what is recorded but cannot be read just now is read again for a moment, and then this is logged: %o",
    ({ found, times, warnings }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        yield* state
        yield* add(uploaded("/x/a"))
        let refusals = times
        const busy: FileSystem.FileSystem = {
          ...fs,
          open: (path, options) =>
            Effect.suspend(() =>
              path.includes("uploaded") && refusals-- > 0 ? Effect.fail(exhausted(path)) : fs.open(path, options)
            )
        }
        const { layer, told } = logged()
        const known = yield* find("/x/a").pipe(
          Effect.provideService(FileSystem.FileSystem, busy),
          Effect.provide(layer)
        )
        assert.strictEqual(Option.isSome(known), found)
        assert.lengthOf(told, warnings)
        for (const line of told) assert.match(line, /^WARN Files that are already uploaded are not skipped: .*EMFILE/)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("a directory that others can access is neither read nor written, and this is logged", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* state
      yield* add(uploaded("/x/a"))
      yield* fs.chmod(directory, 0o777)
      const { layer, told } = logged()
      const refused = yield* Effect.provide(manifest, layer)
      assert.isTrue(Option.isNone(yield* refused.find("/x/a")))
      assert.match(told.join("\n"), /Files that are already uploaded are neither recorded nor skipped.*chmod 700/)
      yield* refused.add(uploaded("/x/b"))
      yield* fs.chmod(directory, 0o700)
      assert.isTrue(Option.isNone(yield* find("/x/b")))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("warns once if uploaded files cannot be recorded", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* state
      yield* fs.makeDirectory(directory, { mode: 0o700 })
      yield* fs.writeFileString(`${directory}/uploaded`, "in the way")
      const { layer, told } = logged()
      yield* Effect.provide(add(uploaded("/x/a"), uploaded("/x/b")), layer)
      assert.lengthOf(told, 1)
      assert.match(told.join(), /^WARN An uploaded file cannot be recorded: .*\/uploaded/)
    }).pipe(Effect.provide(NodeContext.layer)))
})
