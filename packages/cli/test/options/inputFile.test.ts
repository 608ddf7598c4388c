import { FileSystem, type Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Recorder } from "@stevedore/testing"
import { ConfigProvider, Effect, Either, FastCheck, Layer, Option, Redacted } from "effect"
import { tmpdir } from "node:os"
import * as Configuration from "../../src/connection/configuration.js"
import { commands } from "../../src/line/commands.js"
import * as Settings from "../../src/line/settings.js"
import { textOf } from "../../src/options/inputFile.js"
import type { InvalidInput } from "../../src/options/invalidInput.js"

const warnings = Effect.map(
  Recorder.logs,
  (logs) => logs.filter(({ level }) => level === "WARN").map(({ message }) => message)
)

const bigEndian = (text: string) => Buffer.from(text, "utf16le").swap16()

const saved: ReadonlyArray<readonly [encoding: string, save: (text: string) => Uint8Array]> = [
  ["UTF-8", (text) => Buffer.from(text)],
  ["UTF-8 with a mark", (text) => Buffer.from(`\ufeff${text}`)],
  ["UTF-16LE", (text) => Buffer.from(text, "utf16le")],
  ["UTF-16LE with a mark", (text) => Buffer.from(`\ufeff${text}`, "utf16le")],
  ["UTF-16BE", bigEndian],
  ["UTF-16BE with a mark", (text) => bigEndian(`\ufeff${text}`)]
]

const fileOf = (bytes: Uint8Array) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped({ directory: tmpdir() })}/saved`
    yield* fs.writeFile(path, bytes, { mode: 0o600 })
    return path
  })

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
    readFile: () => Effect.succeed(new TextEncoder().encode("api.secret")),
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

const resolve = (given: Partial<Configuration.ConnectionOptions>, variables: Readonly<Record<string, string>> = {}) =>
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
      yield* readConfigFile(yield* written(`{ "baseUrl": "https://host.example" }`, 0o644))
      assert.deepStrictEqual(yield* warnings, [])
      yield* readConfigFile(yield* written(`{ "token": "api.secret" }`, 0o644))
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

const readConfigFile = (path: string) =>
  Effect.map(Settings.read({ path, named: true }, commands), ({ variables }) => variables)

describe("the text of an input file", () => {
  it.scoped.each(saved)("in %s is read: a token, a profile, a configuration", ([, save]) =>
    Effect.gen(function*() {
      const tokenFile = yield* fileOf(save("api.secret\r\n"))
      const profile = yield* fileOf(save(`{ "download": "link" }\r\n`))
      const service = yield* resolve({ tokenFile: Option.some(tokenFile), profile: Option.some(profile) })
      assert.strictEqual(Redacted.value(service.token), "api.secret")
      assert.strictEqual(service.profile.download, "link")
      assert.deepStrictEqual(
        yield* readConfigFile(yield* fileOf(save(`{ "baseUrl": "https://host.example" }`))),
        { STEVEDORE_BASE_URL: "https://host.example" }
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped.each<readonly [string, Uint8Array]>([
    ["is in UTF-32", Uint8Array.of(0xff, 0xfe, 0, 0, 0x61, 0, 0, 0)],
    ["is in UTF-32", Uint8Array.of(0, 0, 0xfe, 0xff, 0, 0, 0, 0x61)],
    ["is in UTF-32", Uint8Array.of(0x61, 0, 0, 0, 0x62, 0, 0, 0)],
    ["is not text in UTF-8", Uint8Array.of(0x61, 0xff, 0x62, 0x63)],
    ["is not text in UTF-16", Uint8Array.of(0xff, 0xfe, 0x61)]
  ])(
    "that %s is refused for every kind of file, with the name of its encoding",
    ([words, bytes]) =>
      Effect.gen(function*() {
        const path = yield* fileOf(bytes)
        const reads: ReadonlyArray<Effect.Effect<unknown, InvalidInput, FileSystem.FileSystem | Path.Path>> = [
          resolve({ tokenFile: Option.some(path) }),
          resolve({}, { STEVEDORE_TOKEN_FILE: path }),
          resolve({ profile: Option.some(path) }),
          readConfigFile(path)
        ]
        for (const read of reads) assert.include((yield* Effect.flip(read)).message, `${path} ${words}`)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.prop("is never another text than what was saved, and no problem with it quotes it", {
    text: FastCheck.string({ unit: "binary", minLength: 1 }),
    bytes: FastCheck.uint8Array({ minLength: 4 })
  }, ({ bytes, text }) => {
    assert.deepStrictEqual(textOf(Buffer.from(`\ufeff${text}`)), Either.right(text))
    const read = textOf(bytes)
    if (Either.isLeft(read)) assert.match(read.left, /^is (?:in|not text in) UTF-\d+: save it as UTF-8$/)
  })
})
