import { Error as PlatformError, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Fiber, Layer, Option } from "effect"
import * as ListItems from "../../src/list/list.js"
import * as ExitCode from "../../src/print/exitCode.js"
import * as Output from "../../src/print/output.js"
import { invoke, jsonLines, Sandbox, sandbox, sinkOf } from "./invoke.js"

const silent = sinkOf(() => {})

const refusal = (reason: PlatformError.SystemErrorReason, path: string, code: string) =>
  new PlatformError.SystemError({
    reason,
    module: "FileSystem",
    method: "any",
    pathOrDescriptor: path,
    description: code,
    cause: Object.assign(new Error(code), { code })
  })

const options = {
  baseUrl: Option.none(),
  tokenFile: Option.none(),
  profile: Option.none(),
  allowInsecureHttp: false,
  quiet: false,
  verbose: false,
  config: Option.none(),
  resource: "projects",
  filter: [],
  sort: [],
  pageSize: Option.none(),
  limit: Option.some(1),
  skipInvalid: false,
  json: false
}

const runOn = (fs: FileSystem.FileSystem, place: string) =>
  Effect.flatMap(Sandbox, ({ env }) =>
    ListItems.run({ ...options, resume: Option.some(place) }).pipe(
      Effect.provideService(FileSystem.FileSystem, fs),
      Effect.provide(Output.layer({ out: silent, error: silent })),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env))))
    ))

type Writing = (
  file: FileSystem.File,
  bytes: Uint8Array,
  path: string
) => Effect.Effect<void, PlatformError.PlatformError>

/** Opens files that are written in this way. */
const writing = (fs: FileSystem.FileSystem, write: Writing): FileSystem.FileSystem["open"] => (path, options) =>
  Effect.map(fs.open(path, options), (file) =>
    new Proxy(file, {
      get: (own, name) =>
        name === "writeAll" ? (bytes: Uint8Array) => write(own, bytes, path) : Reflect.get(own, name, own)
    }))

const live = Layer.merge(sandbox("--projects", "3"), NodeContext.layer)

describe("list --resume", () => {
  it.scopedLive("replaces its checkpoint once another program lets go of it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const place = `${yield* fs.makeTempDirectoryScoped()}/place`
      let attempts = 0
      const scanned: FileSystem.FileSystem = {
        ...fs,
        rename: (from, to) =>
          Effect.suspend(() => attempts++ < 2 ? Effect.fail(refusal("Busy", from, "EBUSY")) : fs.rename(from, to))
      }
      yield* runOn(scanned, place)
      assert.strictEqual(attempts, 3)
      assert.strictEqual(JSON.parse(yield* fs.readFileString(place)).position, 1)
    }).pipe(Effect.provide(live)))

  it.scopedLive("goes on only with a token of the owner whose checkpoint it is", () =>
    Effect.gen(function*() {
      const { env } = yield* Sandbox
      const fs = yield* FileSystem.FileSystem
      const place = `${yield* fs.makeTempDirectoryScoped()}/place`
      const words = ["list", "projects", "--limit", "1", "--resume", place]
      yield* invoke(words, env)
      const own = JSON.parse(yield* fs.readFileString(place))
      assert.isString(own.owner)
      yield* fs.writeFileString(place, JSON.stringify({ ...own, owner: `not ${own.owner}` }))
      const { code, stderr, stdout } = yield* invoke(words, env)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.include(stderr, "was taken with the token of another owner")
    }).pipe(Effect.provide(live)))

  it.scopedLive("starts over, and says so, where a power cut left nothing or only a part of its checkpoint", () =>
    Effect.gen(function*() {
      const { env } = yield* Sandbox
      const fs = yield* FileSystem.FileSystem
      const place = `${yield* fs.makeTempDirectoryScoped()}/place`
      const words = ["list", "projects", "--limit", "1", "--resume", place]
      const first = yield* invoke(words, env)
      const whole = yield* fs.readFileString(place)
      const torn = [
        "",
        "\0".repeat(whole.length),
        ...[1, 12, 30, whole.length - 1].map((length) => whole.slice(0, length))
      ]
      for (const text of [...torn, `${whole.slice(0, 40)}${"\0".repeat(40)}`]) {
        yield* fs.writeFileString(place, text)
        const { code, stderr, stdout } = yield* invoke(words, env)
        assert.deepStrictEqual([code, stdout], [0, first.stdout], JSON.stringify(text))
        assert.match(stderr, /^--resume: \S+ is empty or incomplete, as after a power cut/)
        assert.strictEqual(JSON.parse(yield* fs.readFileString(place)).position, 1)
      }
    }).pipe(Effect.provide(live)))

  it.scopedLive.each([
    "{}",
    "{\"version\":1}",
    "[1]",
    "precious",
    "{\"version\":1,\"path\":\"/v1/projects\"}",
    "{\"id\":"
  ])(
    "leaves a file alone that is no checkpoint: %j",
    (text) =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const fs = yield* FileSystem.FileSystem
        const place = `${yield* fs.makeTempDirectoryScoped()}/place`
        yield* fs.writeFileString(place, text)
        assert.strictEqual((yield* invoke(["list", "projects", "--resume", place], env)).code, 2)
        assert.strictEqual(yield* fs.readFileString(place), text)
      }).pipe(Effect.provide(live))
  )

  it.scopedLive("has its checkpoint, which only its owner can read, on the disk before that replaces the earlier one", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const place = `${yield* fs.makeTempDirectoryScoped()}/place`
      const steps: Array<string> = []
      const step = (name: string) => Effect.sync(() => void steps.push(name))
      const watched: FileSystem.FileSystem = {
        ...fs,
        open: (path, options) =>
          Effect.map(fs.open(path, options), (file) =>
            new Proxy(file, {
              get: (own, name) =>
                name === "sync"
                  ? Effect.zipRight(step(path === `${place}.new` ? "content" : "names"), own.sync)
                  : Reflect.get(own, name, own)
            })),
        rename: (from, to) => Effect.zipRight(step("rename"), fs.rename(from, to))
      }
      yield* runOn(watched, place)
      assert.deepStrictEqual(steps, ["content", "rename", "names"])
      assert.strictEqual((yield* fs.stat(place)).mode & 0o777, 0o600)
    }).pipe(Effect.provide(live)))

  it.scopedLive("does not say to remove a checkpoint that cannot be read for the moment", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const place = `${yield* fs.makeTempDirectoryScoped()}/place`
      yield* runOn(fs, place)
      const before = yield* fs.readFileString(place)
      const locked: FileSystem.FileSystem = {
        ...fs,
        readFileString: (path) => Effect.fail(refusal("PermissionDenied", path, "EACCES"))
      }
      const { message } = yield* Effect.flip(runOn(locked, place))
      assert.match(message, /^--resume: cannot read the checkpoint: cannot read .*\/place: you have no permission/)
      assert.strictEqual(yield* fs.readFileString(place), before)
    }).pipe(Effect.provide(live)))

  it.scopedLive("leaves the earlier checkpoint and no temporary file if the disk is full or the walk is stopped, and exits with 1", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const place = `${folder}/place`
      yield* runOn(fs, place)
      const before = yield* fs.readFileString(place)
      const full: FileSystem.FileSystem = {
        ...fs,
        open: writing(
          fs,
          (file, _, path) =>
            Effect.zipRight(file.writeAll(Buffer.from("{")), Effect.fail(refusal("Unknown", path, "ENOSPC")))
        )
      }
      const error = yield* Effect.flip(runOn(full, place))
      assert.match(error.message, /^--resume: .*\/place: its disk is full.*continues from the last checkpoint/)
      assert.strictEqual(ExitCode.ofError(error), ExitCode.failed, "2 says that nothing was sent to the service")
      assert.strictEqual(yield* fs.readFileString(place), before)
      assert.deepStrictEqual(yield* fs.readDirectory(folder), ["place"])

      const written = yield* Deferred.make<void>()
      const slow: FileSystem.FileSystem = {
        ...fs,
        open: writing(fs, (file, bytes) =>
          file.writeAll(bytes).pipe(
            Effect.zipRight(Deferred.succeed(written, undefined)),
            Effect.zipRight(Effect.sleep("20 millis"))
          ))
      }
      const walk = yield* Effect.fork(runOn(slow, place))
      yield* Deferred.await(written)
      yield* Fiber.interrupt(walk)
      assert.strictEqual(JSON.parse(yield* fs.readFileString(place)).position, 2)
      assert.deepStrictEqual(yield* fs.readDirectory(folder), ["place"])
    }).pipe(Effect.provide(live)))
})

const oneCorrupted = Layer.unwrapScoped(Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const faults = `${yield* fs.makeTempDirectoryScoped()}/faults`
  yield* fs.writeFileString(faults, "on(\"list\").corruptPage()\n")
  return sandbox("--projects", "3", "--faults", faults)
})).pipe(Layer.provide(NodeContext.layer))

describe("list --skip-invalid", () => {
  it.scopedLive("says how many items it skipped, unless it skipped none, and how many there are", () =>
    Effect.gen(function*() {
      const { env } = yield* Sandbox
      const words = ["list", "projects", "--skip-invalid", "--json"]
      const ended = [yield* invoke(words, env), yield* invoke(words, env)]
      assert.deepStrictEqual(
        ended.map(({ code, stderr, stdout }) => [code, jsonLines(stdout).length, stderr]),
        [[0, 2, "Skipped 1 invalid item on the pages that were read\n"], [0, 3, ""]]
      )
      assert.match((yield* invoke(["list", "projects", "--limit", "2"], env)).stderr, /^2 of 3$/m)
    }).pipe(Effect.provide(oneCorrupted)))
})
