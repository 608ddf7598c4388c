import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as CompileCache from "../../src/internal/compileCache.js"

const home = "/homes/ada"

const cases: ReadonlyArray<readonly [string, Parameters<typeof CompileCache.directoryOf>[0], string]> = [
  ["Linux", { platform: "linux", environment: {}, home }, "/homes/ada/.cache/stevedore-compiled"],
  [
    "XDG",
    { platform: "linux", environment: { XDG_CACHE_HOME: "/var/cache/ada" }, home },
    "/var/cache/ada/stevedore-compiled"
  ],
  [
    "a relative XDG_CACHE_HOME, which does not count",
    { platform: "linux", environment: { XDG_CACHE_HOME: "cache" }, home },
    "/homes/ada/.cache/stevedore-compiled"
  ],
  [
    "macOS, whatever XDG says",
    { platform: "darwin", environment: { XDG_CACHE_HOME: "/var/cache/ada" }, home },
    "/homes/ada/Library/Caches/stevedore-compiled"
  ],
  [
    "Windows",
    { platform: "win32", environment: { LOCALAPPDATA: "D:\\Data" }, home: "C:\\Users\\ada" },
    "D:\\Data\\stevedore-compiled"
  ],
  [
    "Windows without LOCALAPPDATA",
    { platform: "win32", environment: {}, home: "C:\\Users\\ada" },
    "C:\\Users\\ada\\AppData\\Local\\stevedore-compiled"
  ]
]

const fresh = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-compiled-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const permissions = (path: string): number => statSync(path).mode & 0o777

describe("where the command keeps itself compiled", () => {
  for (const [name, machine, directory] of cases) {
    it(`knows ${name}`, () => assert.strictEqual(CompileCache.directoryOf(machine), directory))
  }

  it.scoped("is made with all that it lies in, for its user alone", () =>
    Effect.map(fresh, (root) => {
      const directory = join(root, "cache", "compiled")
      assert.strictEqual(CompileCache.prepare(() => directory), directory)
      assert.strictEqual(permissions(directory), 0o700)
      assert.strictEqual(permissions(join(root, "cache")), 0o700)
      assert.strictEqual(CompileCache.prepare(() => directory), directory)
    }))

  it.scoped("is not used where others may write to it: what they left there would run", () =>
    Effect.map(fresh, (root) => {
      for (const mode of [0o777, 0o720, 0o702]) {
        chmodSync(root, mode)
        assert.isUndefined(CompileCache.prepare(() => root))
      }
      chmodSync(root, 0o755)
      assert.strictEqual(CompileCache.prepare(() => root), root)
    }))

  it.scoped("is nowhere where no folder can be made, or nobody has a home", () =>
    Effect.map(fresh, (root) => {
      const file = join(root, "file")
      writeFileSync(file, "")
      assert.isUndefined(CompileCache.prepare(() => join(file, "compiled")))
      assert.isUndefined(CompileCache.prepare(() => {
        throw new Error("no home")
      }))
    }))
})
