import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Recorder } from "@stevedore/testing"
import { ConfigProvider, Effect, Layer, Option } from "effect"
import { tmpdir } from "node:os"
import * as Configuration from "../../src/Configuration.js"
import * as Shared from "../../src/Shared.js"

const warnings = Effect.map(
  Recorder.logs,
  (logs) => logs.filter(({ level }) => level === "WARN").map(({ message }) => message)
)

const written = (content: string, mode: number) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped({ directory: tmpdir() })}/token`
    yield* fs.writeFileString(path, content)
    yield* fs.chmod(path, mode)
    return path
  })

const ownedBy = (uid: number) =>
  FileSystem.layerNoop({
    readFileString: () => Effect.succeed("api.secret"),
    stat: () =>
      Effect.succeed({
        type: "File",
        mtime: Option.none(),
        atime: Option.none(),
        birthtime: Option.none(),
        dev: 0,
        rdev: Option.none(),
        ino: Option.none(),
        mode: 0o100_444,
        nlink: Option.none(),
        uid: Option.some(uid),
        gid: Option.none(),
        size: FileSystem.Size(10),
        blksize: Option.none(),
        blocks: Option.none()
      })
  })

const resolve = (given: Partial<Configuration.Given>, variables: Readonly<Record<string, string>> = {}) =>
  Configuration.resolve({
    baseUrl: Option.some("https://host.example"),
    tokenFile: Option.none(),
    profile: Option.none(),
    allowInsecureHttp: false,
    ...given
  }).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))))

describe.skipIf(process.platform === "win32")("warnOfOthers", () => {
  it.scoped.each([0o644, 0o640, 0o602])(
    "warns once per read of a token file with mode %o, and does not show the token",
    (mode) =>
      Effect.gen(function*() {
        const path = yield* written("api.secret", mode)
        yield* resolve({ tokenFile: Option.some(path) })
        yield* resolve({}, { STEVEDORE_TOKEN_FILE: path })
        const [first = "", ...more] = yield* warnings
        assert.deepStrictEqual(more, [first])
        assert.include(
          first,
          `Other users can read or change ${path}, which contains the token (mode 0${mode.toString(8)})`
        )
        assert.notInclude(first, "secret")
      }).pipe(Effect.provide(Layer.merge(NodeContext.layer, Recorder.layer)))
  )

  it.scoped.each([0o600, 0o400, 0o711])(
    "does not warn about a token file with mode %o, or about a token in a variable",
    (mode) =>
      Effect.gen(function*() {
        const path = yield* written("api.secret", mode)
        yield* resolve({ tokenFile: Option.some(path) })
        yield* resolve({ baseUrl: Option.some("https://host.example") }, { STEVEDORE_TOKEN: "api.secret" })
        assert.deepStrictEqual(yield* warnings, [])
      }).pipe(Effect.provide(Layer.merge(NodeContext.layer, Recorder.layer)))
  )

  it.scoped("warns about a configuration file only if it contains a token", () =>
    Effect.gen(function*() {
      yield* Shared.readConfigFile(yield* written(`{ "baseUrl": "https://host.example" }`, 0o644))
      assert.deepStrictEqual(yield* warnings, [])
      yield* Shared.readConfigFile(yield* written(`{ "token": "api.secret" }`, 0o644))
      assert.lengthOf(yield* warnings, 1)
    }).pipe(Effect.provide(Layer.merge(NodeContext.layer, Recorder.layer))))

  it.effect("does not warn about another user's read-only file, but warns about the user's own", () =>
    Effect.gen(function*() {
      const own = process.getuid?.() ?? 0
      const resolved = (uid: number) =>
        Effect.provide(resolve({ tokenFile: Option.some("/run/secrets/token") }), ownedBy(uid))
      yield* resolved(own + 1)
      assert.deepStrictEqual(yield* warnings, [])
      yield* resolved(own)
      assert.lengthOf(yield* warnings, 1)
    }).pipe(Effect.provide(Recorder.layer)))
})
