import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as CompileCache from "../../src/line/compileCache.js"

const home = "/homes/ada"

const ofLinux = { platform: "linux", environment: {}, home } as const

const cases: ReadonlyArray<readonly [string, Parameters<typeof CompileCache.directoryOf>[0], string]> = [
  ["Linux", ofLinux, "/homes/ada/.cache/stevedore-compiled"],
  [
    "an absolute XDG_CACHE_HOME",
    { platform: "linux", environment: { XDG_CACHE_HOME: "/var/cache/ada" }, home },
    "/var/cache/ada/stevedore-compiled"
  ],
  [
    "a relative XDG_CACHE_HOME, which is ignored",
    { platform: "linux", environment: { XDG_CACHE_HOME: "cache" }, home },
    "/homes/ada/.cache/stevedore-compiled"
  ],
  [
    "macOS, where XDG_CACHE_HOME is ignored",
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

describe("the compile cache directory", () => {
  for (const [name, machine, directory] of cases) {
    it(`is resolved for ${name}`, () => assert.strictEqual(CompileCache.directoryOf(machine), directory))
  }

  it.scoped("is created with its parent directory, accessible only to its user", () =>
    Effect.map(fresh, (root) => {
      const directory = join(root, "cache", "compiled")
      assert.strictEqual(CompileCache.prepare(() => directory), directory)
      assert.strictEqual(permissions(directory), 0o700)
      assert.strictEqual(permissions(join(root, "cache")), 0o700)
      assert.strictEqual(CompileCache.prepare(() => directory), directory)
    }))

  it.scoped("is not used if other users may write to it", () =>
    Effect.map(fresh, (root) => {
      for (const mode of [0o777, 0o720, 0o702]) {
        chmodSync(root, mode)
        assert.isUndefined(CompileCache.prepare(() => root))
      }
      chmodSync(root, 0o755)
      assert.strictEqual(CompileCache.prepare(() => root), root)
    }))

  it("is not used in the current directory, where it would be if HOME is empty", () => {
    assert.isUndefined(CompileCache.prepare(() => CompileCache.directoryOf({ ...ofLinux, home: "" })))
  })

  it.scoped("is not used if it cannot be created or there is no home directory", () =>
    Effect.map(fresh, (root) => {
      const file = join(root, "file")
      writeFileSync(file, "")
      assert.isUndefined(CompileCache.prepare(() => join(file, "compiled")))
      assert.isUndefined(CompileCache.prepare(() => {
        throw new Error("no home")
      }))
    }))
})
