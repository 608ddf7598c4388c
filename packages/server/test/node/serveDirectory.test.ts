import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SystemError } from "@effect/platform/Error"
import { assert, describe, it } from "@effect/vitest"
import type { Scope } from "effect"
import { Effect, Exit, Layer, Logger, Stream } from "effect"
import * as ServeDirectory from "../../src/node/serveDirectory.js"
import * as ObjectStore from "../../src/ObjectStore.js"
import * as Identifiers from "../../src/parts/identifiers.js"
import * as SqlObjectStore from "../../src/SqlObjectStore.js"
import * as PrivateFiles from "../../src/storage/disk.js"
import { databaseIn } from "../support/sqlite.js"

const within = <A, E>(
  run: (folder: string, fs: FileSystem.FileSystem) => Effect.Effect<A, E, NodeContext.NodeContext | Scope.Scope>
) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return yield* run(yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-serve-directory-" }), fs)
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

const modeOf = (fs: FileSystem.FileSystem, path: string) => Effect.map(fs.stat(path), ({ mode }) => mode & 0o777)

const KEY = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"

/** A file system of which one operation fails, from its `nth` call on, also of the files that it opens. */
const failing = (fs: FileSystem.FileSystem, nth: number, code: string) => {
  let calls = 0
  const error = () =>
    new SystemError({
      reason: code === "EACCES" ? "PermissionDenied" : "Unknown",
      module: "FileSystem",
      method: "any",
      cause: Object.assign(new Error(code), { code })
    })
  const guarded = (effect: Effect.Effect<unknown, unknown, unknown>) =>
    Effect.suspend(() => ++calls >= nth ? Effect.fail(error()) : effect)
  const broken = new Proxy(fs, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver)
      if (typeof member !== "function") return member
      return (...args: ReadonlyArray<unknown>): unknown => {
        const answer: unknown = Reflect.apply(member, target, args)
        if (!Effect.isEffect(answer)) return answer
        return Effect.map(
          guarded(answer),
          (file) =>
            name !== "open" || typeof file !== "object" || file === null ? file : new Proxy(file, {
              get: (inner, method) => {
                const one: unknown = Reflect.get(inner, method, inner)
                return Effect.isEffect(one)
                  ? guarded(one)
                  : method === "writeAll" && typeof one === "function"
                  ? (...bytes: ReadonlyArray<unknown>) => guarded(Reflect.apply(one, inner, bytes))
                  : one
              }
            })
        )
      }
    }
  })
  return { layer: Layer.succeed(FileSystem.FileSystem, broken), count: () => calls }
}

describe("a secret of the directory", () => {
  const kept = [
    ["whole", KEY, true],
    ["empty", "", false],
    ["one character", "a", false],
    ["cut", KEY.slice(1), false],
    ["too long", `${KEY}a`, false],
    ["followed by a line", `${KEY}\n`, false],
    ["of other characters", KEY.replace("0", "-"), false],
    ["of no text at all", "\0".repeat(43), false]
  ] as const
  it.effect.each(kept)(
    "is used only if it is whole, and never replaced: %s",
    ([_, text, isWhole]) =>
      within((folder, fs) =>
        Effect.gen(function*() {
          const file = `${folder}/signing-key`
          yield* fs.writeFileString(file, text)
          const exit = yield* Effect.exit(ServeDirectory.signingKey(file, Effect.succeed("z".repeat(43))))
          assert.deepStrictEqual(Exit.isSuccess(exit), isWhole)
          if (Exit.isSuccess(exit)) assert.strictEqual(exit.value, KEY)
          else assert.include(String(exit.cause), "is not whole")
          assert.strictEqual(yield* fs.readFileString(file), text)
        })
      )
  )

  it.effect.each(["EACCES", "EIO"])(
    "that cannot be read fails the start and stays: %s",
    (code) =>
      within((folder, fs) =>
        Effect.gen(function*() {
          const file = `${folder}/signing-key`
          yield* fs.writeFileString(file, KEY)
          const { layer } = failing(fs, 1, code)
          const exit = yield* Effect.exit(Effect.provide(ServeDirectory.signingKey(file, Identifiers.secret), layer))
          assert.isTrue(Exit.isFailure(exit))
          assert.strictEqual(yield* fs.readFileString(file), KEY)
          assert.strictEqual(yield* ServeDirectory.signingKey(file, Identifiers.secret), KEY)
        })
      )
  )

  it.effect("is there as a whole or not at all, wherever there is no room at the first start, and the next goes on", () =>
    within((folder, fs) =>
      Effect.gen(function*() {
        const whole = failing(fs, Infinity, "ENOSPC")
        yield* Effect.provide(ServeDirectory.signingKey(`${folder}/0`, Identifiers.secret), whole.layer)
        assert.isAbove(whole.count(), 5)
        for (let nth = 1; nth <= whole.count(); nth++) {
          const file = `${folder}/${nth}`
          const { layer } = failing(fs, nth, "ENOSPC")
          yield* Effect.exit(Effect.provide(ServeDirectory.signingKey(file, Identifiers.secret), layer))
          if (yield* fs.exists(file)) assert.match(yield* fs.readFileString(file), /^[0-9A-Za-z]{43}$/)
          const key = yield* ServeDirectory.signingKey(file, Identifiers.secret)
          assert.match(key, /^[0-9A-Za-z]{43}$/)
          assert.strictEqual(yield* fs.readFileString(file), key)
          assert.strictEqual(yield* modeOf(fs, file), 0o600)
        }
      })
    ))
})

describe("the lock of the directory", () => {
  it.effect("is one process's, until it ends, whatever an earlier one has left", () =>
    within((folder) =>
      Effect.gen(function*() {
        // the number of a process that lives, and is another's
        yield* PrivateFiles.write(`${folder}/lock`, "1")
        for (const _ of ["first", "second"]) {
          yield* Effect.scoped(Effect.gen(function*() {
            yield* ServeDirectory.take(folder)
            const { message } = yield* Effect.flip(Effect.scoped(ServeDirectory.take(folder)))
            assert.match(message, new RegExp(`^process ${process.pid} on \\S+ serves .* already`))
            // who was refused has taken nothing away
            assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.scoped(ServeDirectory.take(folder)))))
          }))
        }
      })
    ))

  it.effect("is had by one of several that begin at once", () =>
    within((folder) =>
      Effect.gen(function*() {
        const exits = yield* Effect.forEach(
          Array.from({ length: 8 }),
          () => Effect.exit(ServeDirectory.take(folder)),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(exits.filter(Exit.isSuccess), 1)
      })
    ))
})

describe("what is in the directory", () => {
  const walked = (fs: FileSystem.FileSystem, folder: string) =>
    Effect.flatMap(
      fs.readDirectory(folder, { recursive: true }),
      (names) =>
        Effect.forEach(names, (name) =>
          Effect.map(fs.stat(`${folder}/${name}`), ({ mode, type }) =>
            `${name} ${type} ${(mode & 0o777).toString(8)}`))
    )

  it.effect.each([0o000, 0o022, 0o077])(
    "is its owner's alone, whatever the umask",
    (umask) =>
      within((folder, fs) =>
        Effect.acquireUseRelease(
          Effect.sync(() => process.umask(umask)),
          () =>
            Effect.gen(function*() {
              const directory = `${folder}/data`
              // as a version before may have left it
              yield* fs.makeDirectory(`${directory}/store/bytes`, { recursive: true, mode: 0o777 })
              yield* fs.chmod(directory, 0o755)
              const lines: Array<string> = []
              yield* ServeDirectory.take(directory).pipe(Effect.provide(Logger.replace(
                Logger.defaultLogger,
                Logger.make(({ message }) => void lines.push(String(message)))
              )))
              assert.include(lines.join(), `chmod 700 ${directory}`)
              yield* ServeDirectory.signingKey(`${directory}/signing-key`, Identifiers.secret)
              const context = yield* Layer.build(
                SqlObjectStore.layer({ directory: `${directory}/store` }).pipe(
                  Layer.provide(databaseIn(`${directory}/${ServeDirectory.DATABASE}`))
                )
              )
              const { put } = yield* Effect.provide(ObjectStore.ObjectStore, context)
              yield* put("files/t/a", Stream.make(new Uint8Array(5)))
              const found = yield* walked(fs, directory)
              assert.isAbove(found.length, 7)
              assert.deepStrictEqual(found.filter((line) => !/Directory 700$|File 600$/.test(line)), [])
              assert.strictEqual(yield* fs.readFileString(`${directory}/.gitignore`), "*\n")
            }),
          (before) => Effect.sync(() => process.umask(before))
        )
      )
  )

  it.effect.each([
    { by: "by a newer version of Stevedore", files: { format: "2\n" } },
    { by: "before version 0.1.0", files: { "stevedore.db": "" } }
  ])(
    "was written $by: it is refused, and nothing is touched",
    ({ by, files }) =>
      within((folder, fs) =>
        Effect.gen(function*() {
          yield* fs.makeDirectory(`${folder}/data`, { mode: 0o755 })
          for (const [name, text] of Object.entries(files)) yield* fs.writeFileString(`${folder}/data/${name}`, text)
          const before = yield* walked(fs, folder)
          const error = yield* Effect.flip(ServeDirectory.take(`${folder}/data`))
          assert.include(error.message, by)
          assert.deepStrictEqual(yield* walked(fs, folder), before)
        })
      )
  )

  it.effect("is hidden from a repository, and what else is there is not", () =>
    within((folder, fs) =>
      Effect.gen(function*() {
        yield* fs.writeFileString(`${folder}/package.json`, "{}")
        yield* ServeDirectory.take(folder)
        assert.isFalse(yield* fs.exists(`${folder}/.gitignore`))
      })
    ))
})
