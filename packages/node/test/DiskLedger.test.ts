import { Error as PlatformError, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Checksum, UploadLedger } from "@stevedore/core"
import { DiskLedger, NodeChecksum, NodeStevedore } from "@stevedore/node"
import { Clock, Effect, Exit, FastCheck, Layer, Logger, LogLevel, Option, Redacted, Scope, TestClock } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { settableWallClock } from "../../core/test/fixtures/wallClock.js"
import { runs } from "../../testing/test/support/runs.js"
import * as ProcessIdentity from "../src/file/processIdentity.js"
import * as PrivateDirectory from "../src/ledger/privateDirectory.js"
import * as PrivateStore from "../src/ledger/privateStore.js"
import {
  agedFor,
  contents,
  deadProcess,
  fresh,
  ledgerAt,
  list,
  listening,
  lockOf,
  locksAt,
  plant,
  quietly,
  receiptOf,
  recordOf
} from "./support/diskLedger.js"
import * as OtherDisk from "./support/otherDisk.js"
import * as Temporary from "./support/temporary.js"

const isRoot = process.getuid?.() === 0

const failure = (path: string, description: string) =>
  new PlatformError.SystemError({
    reason: "Unknown",
    module: "FileSystem",
    method: "any",
    pathOrDescriptor: path,
    description
  })

const refused = (path: string, code: string) =>
  new PlatformError.SystemError({
    reason: "Unknown",
    module: "FileSystem",
    method: "readFile",
    pathOrDescriptor: path,
    cause: OtherDisk.refusal(code)
  })

const assignVariable = (name: "XDG_STATE_HOME" | "HOME", value: string | undefined): string | undefined => {
  const before = process.env[name]
  if (value === undefined) Reflect.deleteProperty(process.env, name)
  else process.env[name] = value
  return before
}

// The default directory is told from the process's own environment, so a test of it has to change that.
const setVariable = (...[name, value]: Parameters<typeof assignVariable>) =>
  Effect.acquireRelease(
    Effect.sync(() => assignVariable(name, value)),
    (before) => Effect.sync(() => assignVariable(name, before))
  )

const home = "/homes/ada"

const cases: ReadonlyArray<readonly [string, Parameters<typeof DiskLedger.directoryOf>[0], string]> = [
  ["Linux", { platform: "linux", environment: {}, home }, "/homes/ada/.local/state/stevedore"],
  ["XDG", { platform: "linux", environment: { XDG_STATE_HOME: "/var/state" }, home }, "/var/state/stevedore"],
  [
    "a relative XDG_STATE_HOME, which is ignored",
    { platform: "linux", environment: { XDG_STATE_HOME: "state" }, home },
    "/homes/ada/.local/state/stevedore"
  ],
  [
    "an empty XDG_STATE_HOME, which is ignored",
    { platform: "freebsd", environment: { XDG_STATE_HOME: "" }, home },
    "/homes/ada/.local/state/stevedore"
  ],
  [
    "macOS, ignoring XDG_STATE_HOME",
    { platform: "darwin", environment: { XDG_STATE_HOME: "/var/state" }, home: "/homes/ada" },
    "/homes/ada/Library/Application Support/stevedore"
  ],
  [
    "Windows",
    { platform: "win32", environment: { LOCALAPPDATA: "D:\\Data" }, home: "C:\\Users\\ada" },
    "D:\\Data\\stevedore"
  ],
  [
    "Windows without LOCALAPPDATA",
    { platform: "win32", environment: {}, home: "C:\\Users\\ada" },
    "C:\\Users\\ada\\AppData\\Local\\stevedore"
  ]
]

describe("DiskLedger.directoryOf", () => {
  for (const [name, machine, directory] of cases) {
    it(`returns the directory for ${name}`, () => assert.strictEqual(DiskLedger.directoryOf(machine), directory))
  }
})

describe("DiskLedger", () => {
  it.scopedLive("reads what another ledger wrote to the same directory", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const first = yield* ledgerAt(directory)
      yield* first.begin(recordOf("a"))
      yield* first.receive(recordOf("a"), receiptOf(2))
      const second = yield* ledgerAt(directory)
      const { receipts, record } = Option.getOrThrow(yield* second.find("a"))
      assert.deepStrictEqual(record, recordOf("a"))
      assert.deepStrictEqual(receipts, [receiptOf(2)])
      assert.lengthOf(yield* second.unfinished, 1)
    }))

  it.scopedLive("keeps receipts whatever the ids of an upload and of its file", () =>
    Effect.gen(function*() {
      const ledger = yield* ledgerAt(yield* fresh)
      const record = { ...recordOf("a/b"), session: { ...recordOf("a/b").session, fileId: "files/1" } }
      yield* ledger.begin(record)
      yield* ledger.receive(record, receiptOf(2))
      assert.deepStrictEqual(Option.getOrThrow(yield* ledger.find("a/b")).receipts, [receiptOf(2)])
    }))

  it.scopedLive("creates directories with mode 0700 and files with mode 0600, even with umask 0", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const umask = process.umask(0)
      yield* Effect.addFinalizer(() => Effect.sync(() => process.umask(umask)))
      const ledger = yield* ledgerAt(directory)
      assert.isTrue(yield* ledger.lock("a"))
      yield* ledger.begin(recordOf("a"))
      yield* ledger.receive(recordOf("a"), receiptOf(1))
      const entries = yield* list(directory)
      assert.isAtLeast(entries.filter(({ stats }) => stats.isFile()).length, 2)
      for (const { name, stats } of entries) {
        assert.strictEqual(stats.mode & 0o777, stats.isDirectory() ? 0o700 : 0o600, name)
      }
      assert.strictEqual((yield* Effect.promise(() => Fs.stat(directory))).mode & 0o777, 0o700)
      assert.strictEqual(yield* Effect.promise(() => Fs.readFile(join(directory, ".gitignore"), "utf8")), "*\n")
    }))

  it.scopedLive("creates no directory before the first write", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const ledger = yield* ledgerAt(directory)
      assert.deepStrictEqual(yield* ledger.unfinished, [])
      assert.isTrue(Option.isNone(yield* ledger.find("a")))
      const made = yield* Effect.promise(() => Fs.stat(directory).then(() => true, () => false))
      assert.isFalse(made)
    }))

  it.scopedLive("leaves no file of a forgotten upload, not even a temporary one", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const ledger = yield* ledgerAt(directory)
      yield* Effect.scoped(Effect.gen(function*() {
        assert.isTrue(yield* ledger.lock("a"))
        yield* ledger.begin(recordOf("a"))
        yield* Effect.forEach([1, 2, 3], (part) => ledger.receive(recordOf("a"), receiptOf(part)))
        yield* ledger.forget(recordOf("a"))
      }))
      const files = (yield* list(directory)).filter(({ stats }) => stats.isFile())
      assert.deepStrictEqual(files, [])
      assert.deepStrictEqual(yield* ledger.unfinished, [])
      yield* ledger.forget(recordOf("never"))
    }))

  it.scopedLive("finds what cannot be read at the first attempt, with the receipts, and says nothing", () =>
    Effect.gen(function*() {
      const { layer, messages } = listening()
      const directory = yield* fresh
      const before = yield* ledgerAt(directory)
      yield* before.begin(recordOf("a"))
      yield* before.receive(recordOf("a"), receiptOf(1))
      const reads: Array<string> = []
      const busy = yield* Effect.map(FileSystem.FileSystem, (fs): FileSystem.FileSystem => ({
        ...fs,
        readFileString: (path) =>
          Effect.suspend(() => {
            if (!path.startsWith(directory) || path.endsWith(".format")) return fs.readFileString(path)
            reads.push(path)
            const isEarly = reads.filter((read) => read === path).length < 3
            return isEarly ? Effect.fail(refused(path, "EMFILE")) : fs.readFileString(path)
          })
      }))
      const ledger = yield* DiskLedger.make({ directory }).pipe(Effect.provideService(FileSystem.FileSystem, busy))
      const found = yield* Effect.provide(ledger.find("a"), layer)
      assert.deepStrictEqual(Option.getOrThrow(found).receipts, [receiptOf(1)])
      assert.lengthOf(reads, 6)
      assert.deepStrictEqual(messages, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("writes no URL with keepUrls: false", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const strict = yield* ledgerAt(directory, { keepUrls: false })
      yield* strict.begin(recordOf("a"))
      assert.notInclude(yield* contents(directory), "s3cret")
      const open = yield* ledgerAt(directory)
      yield* open.begin(recordOf("a"))
      assert.include(yield* contents(directory), "s3cret")
    }))

  it.scopedLive("warns and continues without a record when other users can access its directory", () =>
    Effect.forEach([0o755, 0o710, 0o702, 0o770], (mode) =>
      Effect.gen(function*() {
        const { layer, messages } = listening()
        const directory = yield* Temporary.directory
        yield* Effect.promise(() => Fs.chmod(directory, mode))
        yield* Effect.scoped(Effect.gen(function*() {
          const ledger = yield* ledgerAt(directory)
          assert.isTrue(yield* ledger.lock("a"))
          yield* ledger.begin(recordOf("a"))
        })).pipe(Effect.provide(layer))
        assert.deepStrictEqual(yield* list(directory), [])
        assert.isAtLeast(messages.length, 1)
        for (const message of messages) assert.include(message, "chmod 700")
      })))

  it.scopedLive("ignores records in a directory that other users can write to", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const ledger = yield* ledgerAt(directory)
      yield* ledger.begin(recordOf("a"))
      yield* Effect.promise(() => Fs.chmod(directory, 0o777))
      assert.isTrue(Option.isNone(yield* ledger.find("a")))
      assert.deepStrictEqual(yield* ledger.unfinished, [])
    }).pipe(quietly))

  it("reports a directory's wrong mode, owner or type", () => {
    const info = { type: "Directory", mode: 0o40700, uid: Option.some(1) } as const
    assert.strictEqual(PrivateDirectory.problemOf(info, 1), undefined)
    assert.include(PrivateDirectory.problemOf({ ...info, mode: 0o40750 }, 1), "chmod 700")
    assert.include(PrivateDirectory.problemOf(info, 2), "another user")
    assert.include(PrivateDirectory.problemOf({ ...info, type: "File" }, 1), "not a directory")
    assert.strictEqual(PrivateDirectory.problemOf({ ...info, mode: 0o40777 }, undefined), undefined)
  })

  it.scopedLive("warns and continues when its directory is a file or lies below a file", () =>
    Effect.gen(function*() {
      const file = yield* Temporary.file("plain", new Uint8Array(1))
      for (const directory of [file, join(file, "below")]) {
        const { layer, messages } = listening()
        yield* Effect.scoped(Effect.gen(function*() {
          const ledger = yield* ledgerAt(directory)
          assert.isTrue(yield* ledger.lock("a"))
          yield* ledger.begin(recordOf("a"))
          yield* ledger.receive(recordOf("a"), receiptOf(1))
          yield* ledger.forget(recordOf("a"))
        })).pipe(Effect.provide(layer))
        assert.isAtLeast(messages.length, 1)
        assert.isTrue(messages.every((message) => message.startsWith("WARN")))
      }
    }))

  it.scopedLive("warns once and continues when the disk is full", () =>
    Effect.gen(function*() {
      const { layer, messages } = listening()
      const full = yield* Effect.map(FileSystem.FileSystem, (fs): FileSystem.FileSystem => ({
        ...fs,
        writeFileString: (path) =>
          Effect.zipRight(
            fs.writeFileString(path, ""),
            Effect.fail(failure(path, "ENOSPC: no space left on device"))
          ),
        open: (path, options) =>
          options?.flag === "r"
            ? fs.open(path, options)
            : Effect.zipRight(
              fs.writeFileString(path, ""),
              Effect.fail(failure(path, "ENOSPC: no space left on device"))
            )
      }))
      const directory = yield* fresh
      const ledger = yield* DiskLedger.make({ directory }).pipe(Effect.provideService(FileSystem.FileSystem, full))
      yield* Effect.scoped(Effect.gen(function*() {
        assert.isTrue(yield* ledger.lock("a"))
        yield* ledger.begin(recordOf("a"))
        yield* Effect.forEach([1, 2, 3], (part) => ledger.receive(recordOf("a"), receiptOf(part)))
      })).pipe(Effect.provide(layer))
      assert.lengthOf(messages.filter((message) => message.includes("could not be written")), 1)
      const files = (yield* list(directory)).filter(({ stats }) => stats.isFile())
      assert.deepStrictEqual(files, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("leaves no file behind that cannot be moved to its place", () =>
    Effect.gen(function*() {
      const { layer, messages } = listening()
      const refusing = yield* Effect.map(FileSystem.FileSystem, (fs): FileSystem.FileSystem => ({
        ...fs,
        rename: (from) => Effect.fail(failure(from, "EACCES: permission denied"))
      }))
      const directory = yield* fresh
      const ledger = yield* DiskLedger.make({ directory }).pipe(
        Effect.provideService(FileSystem.FileSystem, refusing)
      )
      yield* Effect.provide(ledger.begin(recordOf("a")), layer)
      assert.lengthOf(messages.filter((message) => message.includes("could not be written")), 1)
      const files = (yield* list(directory)).filter(({ stats }) => stats.isFile())
      assert.deepStrictEqual(files, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("retries a rename or removal that fails with EBUSY, without logging", () =>
    Effect.gen(function*() {
      const { layer, messages } = listening()
      const held = new Set<string>()
      const heldOnce = (path: string, by: Effect.Effect<void, PlatformError.PlatformError>) =>
        Effect.suspend(() =>
          held.size === held.add(path).size ? by : Effect.fail(
            new PlatformError.SystemError({
              reason: "Busy",
              module: "FileSystem",
              method: "rename",
              pathOrDescriptor: path,
              cause: OtherDisk.refusal("EBUSY")
            })
          )
        )
      const scanned = yield* Effect.map(FileSystem.FileSystem, (fs): FileSystem.FileSystem => ({
        ...fs,
        rename: (from, to) => heldOnce(from, fs.rename(from, to)),
        remove: (path, options) => heldOnce(path, fs.remove(path, options))
      }))
      const directory = yield* fresh
      const ledger = yield* DiskLedger.make({ directory }).pipe(Effect.provideService(FileSystem.FileSystem, scanned))
      yield* Effect.gen(function*() {
        yield* Effect.scoped(ledger.lock("a"))
        assert.isTrue(yield* Effect.scoped(ledger.lock("a")))
        yield* ledger.begin(recordOf("a"))
        assert.isTrue(Option.isSome(yield* ledger.find("a")))
        yield* ledger.forget(recordOf("a"))
        assert.isTrue(Option.isNone(yield* ledger.find("a")))
      }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(messages, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  if (isRoot && process.platform === "linux") {
    it.scopedLive("warns once on a full tmpfs, and writes intact receipts again once there is space", () =>
      Effect.gen(function*() {
        const { layer, messages } = listening()
        const disk = yield* mounted("size=64k,mode=0700")
        if (Option.isNone(disk)) return
        const directory = disk.value
        const ledger = yield* ledgerAt(directory)
        const record = recordOf("a", 100)
        yield* Effect.gen(function*() {
          yield* ledger.begin(record)
          yield* ledger.receive(record, receiptOf(1))
          // the file's last block has room for half a receipt, which is what a full disk leaves of one
          const [lines = ""] = yield* Effect.promise(() => Fs.readdir(join(directory, "a"))).pipe(
            Effect.map((names) => names.filter((name) => name.endsWith(".lines")))
          )
          yield* Effect.promise(async () => {
            const path = join(directory, "a", lines)
            const { size } = await Fs.stat(path)
            await Fs.appendFile(path, "\n".repeat(4096 - 30 - size))
            await Fs.writeFile(join(directory, "filler"), new Uint8Array(1_000_000)).catch(() => undefined)
          })
          yield* Effect.forEach([2, 3], (part) => ledger.receive(record, receiptOf(part)))
          assert.deepStrictEqual(Option.getOrThrow(yield* ledger.find("a")).receipts, [receiptOf(1)])
          yield* Effect.promise(() => Fs.rm(join(directory, "filler")))
          yield* ledger.receive(record, receiptOf(3))
          assert.deepStrictEqual(Option.getOrThrow(yield* ledger.find("a")).receipts, [receiptOf(1), receiptOf(3)])
        }).pipe(Effect.provide(layer))
        assert.lengthOf(messages, 1)
        assert.include(messages.join(), "ENOSPC")
      }))
  }

  it.scopedLive("removes old temporary files and directories, but not recent ones", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const aside = join(directory, "temporary")
      yield* Effect.promise(async () => {
        await Fs.mkdir(join(aside, "old-directory"), { recursive: true, mode: 0o700 })
        await Fs.chmod(directory, 0o700)
        await Fs.writeFile(join(aside, "old-file"), "x")
        await Fs.writeFile(join(aside, "old-directory", "receipt"), "x")
        await Fs.writeFile(join(aside, "new-file"), "x")
        const longAgo = Date.now() / 1000 - 7200
        await Fs.utimes(join(aside, "old-file"), longAgo, longAgo)
        await Fs.utimes(join(aside, "old-directory"), longAgo, longAgo)
      })
      const ledger = yield* ledgerAt(directory)
      yield* ledger.begin(recordOf("a"))
      assert.deepStrictEqual(yield* Effect.promise(() => Fs.readdir(aside)), ["new-file"])
    }))

  it.scopedLive("lists, forgets and after 30 days removes an upload whatever id its caller chose", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const ids = [
        "a",
        "Job 42",
        "job_43",
        "x".repeat(200),
        "locks",
        "temporary",
        "finished",
        "uploaded",
        "downloaded",
        "running",
        "..",
        "a/b",
        "a/b/c",
        "/"
      ]
      const month = Date.now() / 1000 - 31 * 86_400
      const before = yield* ledgerAt(directory)
      yield* Effect.forEach(ids, (id) => before.begin({ ...recordOf(id), startedAt: month * 1000 }))
      assert.sameMembers((yield* before.unfinished).map(({ record }) => record.id), ids)
      yield* Effect.scoped(Effect.gen(function*() {
        assert.isTrue(yield* before.lock("Job 42"))
        yield* before.forget(recordOf("locks"))
        yield* before.forget(recordOf("temporary"))
        assert.isFalse(yield* before.lock("Job 42"))
      }))
      assert.lengthOf(yield* before.unfinished, ids.length - 2)
      yield* before.forget(recordOf("a"))
      assert.isTrue(Option.isSome(yield* before.find("a/b")))
      yield* before.forget(recordOf("a/b"))
      assert.lengthOf(yield* before.unfinished, ids.length - 4)

      for (const name of yield* Effect.promise(() => Fs.readdir(directory))) {
        yield* Effect.promise(() => Fs.utimes(join(directory, name), month, month))
      }
      yield* agedFor(directory, 1)
      const ledger = yield* ledgerAt(directory)
      yield* ledger.begin({ ...recordOf("new"), startedAt: Date.now() })
      assert.deepStrictEqual((yield* ledger.unfinished).map(({ record }) => record.id), ["new"])
    }))

  it.scopedLive("forgets uploads idle for 31 days, and a day ago too, but none idle for 29 days, locked or started again", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const now = Date.now()
      const daysAgo = (days: number) => now - days * 86_400_000
      const before = yield* ledgerAt(directory)
      const begun = [["lost", 31], ["late", 29], ["kept", 31], ["begun-anew", 31]] as const
      for (const [id, days] of begun) {
        const record = { ...recordOf(id), startedAt: id === "begun-anew" ? now : daysAgo(days) }
        yield* before.begin(record)
        yield* before.receive(record, receiptOf(1))
        yield* Effect.promise(() => Fs.utimes(join(directory, id), daysAgo(days) / 1000, daysAgo(days) / 1000))
      }
      assert.isTrue(yield* before.lock("kept"))

      // as if a clock had leapt
      yield* (yield* ledgerAt(directory)).begin({ ...recordOf("new"), startedAt: now })
      assert.lengthOf(yield* before.unfinished, 5)
      yield* agedFor(directory, 1)
      const ledger = yield* ledgerAt(directory)
      yield* ledger.begin({ ...recordOf("new"), startedAt: now })
      assert.sameMembers(
        (yield* ledger.unfinished).map(({ record }) => record.id),
        ["late", "kept", "begun-anew", "new"]
      )
      assert.notInclude(yield* Effect.promise(() => Fs.readdir(directory)), "lost")
    }))

  it.scopedLive("removes locks that killed processes left behind a day ago, but none of a running one", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const daysAgo = Date.now() / 1000 - 2 * 86_400
      const before = yield* ledgerAt(directory)
      assert.isTrue(yield* before.lock("kept"))
      const left = JSON.stringify({ pid: yield* deadProcess, taking: "x" })
      yield* Effect.forEach(["old", PrivateStore.nameOf("a/b"), "recent"], (name) => plant(directory, name, left))
      const locks = Effect.promise(() => Fs.readdir(join(directory, "locks")))
      for (const name of yield* locks) {
        if (name !== "recent") yield* Effect.promise(() => Fs.utimes(join(directory, "locks", name), daysAgo, daysAgo))
      }
      const ledger = yield* ledgerAt(directory)
      yield* ledger.begin(recordOf("new"))
      assert.sameMembers(yield* locks, ["recent", "kept"])
    }))

  it.scopedLive("looks for old uploads once a day, however many uploads begin", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      let looked = 0
      const counting: FileSystem.FileSystem = {
        ...fs,
        readDirectory: (path, options) =>
          Effect.suspend(() => {
            if (path === directory) looked += 1
            return fs.readDirectory(path, options)
          })
      }
      const directory = yield* fresh
      const ledger = yield* Effect.provideService(DiskLedger.make({ directory }), FileSystem.FileSystem, counting)
      const begin = ledger.begin(recordOf("a"))
      yield* Effect.replicateEffect(begin, 5)
      assert.strictEqual(looked, 1)
      const clock = yield* settableWallClock
      clock.set("1 day", "ahead")
      yield* Effect.replicateEffect(clock.within(begin), 5)
      assert.strictEqual(looked, 2)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("says what it could not read, of each record that it has read once", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      yield* setVariable("XDG_STATE_HOME", yield* Temporary.directory)
      const directory = Option.getOrThrow(yield* DiskLedger.defaultDirectory)
      const read: Array<string> = []
      const { ledger, unreadable } = yield* Effect.provideService(
        DiskLedger.makeWithUnreadable,
        FileSystem.FileSystem,
        {
          ...fs,
          readFileString: (path, encoding) =>
            Effect.suspend(() => {
              read.push(path)
              return fs.readFileString(path, encoding)
            })
        }
      )
      const names = ["a", "b", "c"]
      yield* Effect.forEach(names, (id) => ledger.begin(recordOf(id)))
      yield* ledger.unfinished
      assert.deepStrictEqual(yield* unreadable, Option.none())
      assert.sameMembers(
        read.filter((path) => path.endsWith("record.json")),
        names.map((name) => join(directory, name, "record.json"))
      )
      yield* fs.makeDirectory(join(directory, "d", "record.json"), { recursive: true })
      assert.lengthOf(yield* ledger.unfinished, names.length)
      assert.include(Option.getOrThrow(yield* unreadable).message, join(directory, "d", "record.json"))
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None), Effect.provide(NodeContext.layer)))

  it.scopedLive("has a default directory, which is below XDG_STATE_HOME on Linux", () =>
    Effect.gen(function*() {
      const state = yield* Temporary.directory
      yield* setVariable("XDG_STATE_HOME", state)
      if (process.platform === "linux") {
        assert.deepStrictEqual(yield* DiskLedger.defaultDirectory, Option.some(join(state, "stevedore")))
      }
      assert.isTrue(Option.isSome(yield* DiskLedger.defaultDirectory))
    }))

  it.scopedLive.skipIf(process.platform === "win32")(
    "has no default directory if HOME is empty or relative",
    () =>
      Effect.forEach(["", ".", "homes/ada"], (home) =>
        Effect.scoped(Effect.gen(function*() {
          yield* setVariable("XDG_STATE_HOME", undefined)
          yield* setVariable("HOME", home)
          assert.deepStrictEqual(yield* DiskLedger.defaultDirectory, Option.none())
        })))
  )

  it.scopedLive.skipIf(process.platform === "win32")(
    "warns once that there is no home directory, and only a program that uploads or lists its uploads",
    () =>
      Effect.gen(function*() {
        yield* setVariable("XDG_STATE_HOME", undefined)
        yield* setVariable("HOME", "")
        const { layer, messages } = listening()
        const ledger = yield* Effect.provide(DiskLedger.make(), layer)
        yield* Effect.provide(ledger.find("a"), layer)
        assert.deepStrictEqual(messages, [])
        assert.isTrue(yield* Effect.provide(ledger.lock("a"), layer))
        assert.deepStrictEqual(yield* Effect.provide(ledger.unfinished, layer), [])
        assert.deepStrictEqual(messages, [
          "WARN No home directory for the upload ledger: uploads cannot be resumed after this process ends"
        ])
      }).pipe(Effect.provide(NodeContext.layer))
  )
})

const mounted = (options: string) =>
  Effect.flatMap(Temporary.directory, (path) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        try {
          execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path], { stdio: "ignore" })
          return Option.some(path)
        } catch {
          return Option.none()
        }
      }),
      Option.match({
        onNone: () => Effect.void,
        onSome: (disk) => Effect.sync(() => execFileSync("umount", [disk]))
      })
    ))

describe("PrivateStore", () => {
  it.prop(
    "gives each key segment a distinct file name that every file system accepts",
    [FastCheck.array(
      FastCheck.oneof(FastCheck.string(), FastCheck.constantFrom("con", "lpt1", "..", ".", "A", "a", "x".repeat(5000)))
    )],
    ([segments]) => {
      const names = segments.map(PrivateStore.nameOf)
      for (const name of names) assert.match(name, /^[a-z0-9_][a-z0-9-]{0,63}$/)
      assert.strictEqual(new Set(names).size, new Set(segments).size)
      assert.notInclude(names, "con")
    }
  )

  it.effect.prop(
    "returns the last value set for each key, also when one key is a prefix of another",
    [FastCheck.array(
      FastCheck.tuple(
        FastCheck.constantFrom("a", "a/b", "a/b/c", "A", "a/B", "..", "a/../b", "", "/", "uploads"),
        FastCheck.option(FastCheck.string())
      ),
      { maxLength: 20 }
    )],
    ([changes]) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const directory = yield* fresh
        const { store } = PrivateStore.make(fs, yield* PrivateDirectory.make(fs, directory))
        const model = new Map<string, string>()
        for (const [key, value] of changes) {
          if (value === null) {
            model.delete(key)
            yield* store.remove(key)
          } else {
            model.set(key, value)
            yield* store.set(key, value)
          }
        }
        for (const [key] of changes) {
          assert.deepStrictEqual(yield* store.get(key), Option.fromNullable(model.get(key)))
        }
      }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)),
    { fastCheck: { numRuns: runs(20) } }
  )

  for (const reason of ["Unknown", "NotFound"] as const) {
    it.scopedLive(`has set what was moved into place, even if the system says that it failed: ${reason}`, () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const lost = new PlatformError.SystemError({ reason, module: "FileSystem", method: "rename" })
        const moving = (moved: boolean): FileSystem.FileSystem => ({
          ...fs,
          rename: (from, to) => Effect.zipRight(Effect.when(fs.rename(from, to), () => moved), Effect.fail(lost))
        })
        const directory = yield* PrivateDirectory.make(fs, yield* fresh)
        const setting = (moved: boolean, value: string) =>
          Effect.isSuccess(PrivateStore.make(moving(moved), directory).store.set("a/b", value))
        assert.isFalse(yield* setting(false, "one"))
        assert.isTrue(yield* setting(true, "one"))
        assert.isFalse(yield* setting(false, "two"))
        assert.deepStrictEqual(yield* PrivateStore.make(fs, directory).store.get("a/b"), Option.some("one"))
      }).pipe(Effect.provide(NodeContext.layer)))
  }

  it.scopedLive("removeAll removes the keys of a prefix, and no others", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { removeAll, store } = PrivateStore.make(fs, yield* PrivateDirectory.make(fs, yield* fresh))
      yield* Effect.forEach(["a", "a/b", "a/b/c", "ab/c", "b"], (key) => store.set(key, key))
      yield* removeAll("a")
      yield* removeAll("never")
      const left = yield* Effect.filter(
        ["a", "a/b", "a/b/c", "ab/c", "b"],
        (key) => Effect.map(store.get(key), Option.isSome)
      )
      assert.deepStrictEqual(left, ["a", "a/b/c", "ab/c", "b"])
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("the lock of an upload", () => {
  it.scopedLive("has one holder until its scope ends, also across ledgers in one process", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const first = yield* locksAt(directory)
      const second = yield* locksAt(directory)
      yield* Effect.scoped(Effect.gen(function*() {
        assert.isTrue(yield* first("a"))
        assert.isFalse(yield* first("a"))
        assert.isFalse(yield* second("a"))
        assert.isTrue(yield* second("b"))
        assert.isFalse(yield* Effect.scoped(second("a")))
        assert.isFalse(yield* second("a"))
      }))
      assert.isTrue(yield* second("a"))
      assert.isTrue(yield* first("b"))
    }))

  it.scopedLive("leaves no file after its scope ends", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      yield* plant(directory, "dead", JSON.stringify({ pid: yield* deadProcess, taking: "t" }))
      const lock = yield* locksAt(directory)
      assert.isTrue(yield* Effect.scoped(lock("a")))
      assert.isTrue(yield* Effect.scoped(lock("dead")))
      assert.deepStrictEqual((yield* list(directory)).filter(({ stats }) => stats.isFile()), [])
    }))

  it.scopedLive("leaves no file aside if a dead one's cannot be replaced", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fresh
      yield* plant(directory, "dead", JSON.stringify({ pid: yield* deadProcess, taking: "t" }))
      const refusing: FileSystem.FileSystem = { ...fs, rename: (_, to) => Effect.fail(failure(to, "EIO: i/o error")) }
      const lock = yield* lockOf(refusing, yield* PrivateDirectory.make(refusing, directory))
      assert.isTrue(yield* quietly(lock("dead")))
      const left = (yield* list(directory)).filter(({ stats }) => stats.isFile())
      assert.deepStrictEqual(left.map(({ name }) => name), ["locks/dead"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("is not acquired on a full disk while a running process has it", () =>
    Effect.gen(function*() {
      const { layer, messages } = listening()
      const fs = yield* FileSystem.FileSystem
      const full: FileSystem.FileSystem = {
        ...fs,
        writeFileString: (path) => Effect.fail(failure(path, "ENOSPC: no space left on device"))
      }
      const place = yield* PrivateDirectory.make(fs, yield* fresh)
      const before = yield* lockOf(fs, place)
      const now = yield* lockOf(full, yield* PrivateDirectory.make(full, place.pathOf("")))
      assert.isTrue(yield* before("a"))
      yield* Effect.gen(function*() {
        assert.isFalse(yield* now("a"))
        assert.deepStrictEqual(messages, [])
        assert.isTrue(yield* now("b"))
      }).pipe(Effect.provide(layer))
      assert.match(messages.join("\n"), /^WARN Uploads cannot be locked: .*ENOSPC/)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("is released even if it cannot be read then, as without a free file descriptor", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fresh
      let isExhausted = false
      const busy: FileSystem.FileSystem = {
        ...fs,
        readFileString: (path, encoding) =>
          isExhausted ? Effect.fail(failure(path, "EMFILE: too many open files")) : fs.readFileString(path, encoding)
      }
      const lock = yield* lockOf(busy, yield* PrivateDirectory.make(busy, directory))
      yield* Effect.scoped(Effect.gen(function*() {
        assert.isTrue(yield* lock("a"))
        isExhausted = true
      }))
      isExhausted = false
      assert.isTrue(yield* lock("a"))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("is not acquired while a running process has it, even if that cannot be read just now", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fresh
      let refusals = 2
      const busy: FileSystem.FileSystem = {
        ...fs,
        readFileString: (path, encoding) =>
          path.includes("locks") && refusals-- > 0
            ? Effect.fail(refused(path, "EMFILE"))
            : fs.readFileString(path, encoding)
      }
      const locksOf = (fs: FileSystem.FileSystem) =>
        Effect.flatMap(PrivateDirectory.make(fs, directory), (place) => lockOf(fs, place))
      assert.isTrue(yield* Effect.flatMap(locksOf(fs), (lock) => lock("a")))
      assert.isFalse(yield* Effect.flatMap(locksOf(busy), (lock) => lock("a")))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive.each(["AlreadyExists", "Unknown"] as const)(
    "is acquired on a network drive that creates it but reports %s, as when its response is lost",
    (reason) =>
      Effect.gen(function*() {
        const { layer, messages } = listening()
        const fs = yield* FileSystem.FileSystem
        const losing: FileSystem.FileSystem = {
          ...fs,
          link: (from, to) =>
            Effect.zipRight(
              fs.link(from, to),
              Effect.fail(
                new PlatformError.SystemError({ reason, module: "FileSystem", method: "link", pathOrDescriptor: to })
              )
            )
        }
        const lock = yield* lockOf(losing, yield* PrivateDirectory.make(losing, yield* fresh))
        yield* Effect.gen(function*() {
          assert.isTrue(yield* Effect.scoped(lock("a")))
          assert.isTrue(yield* lock("a"))
          assert.isFalse(yield* lock("a"))
        }).pipe(Effect.provide(layer))
        assert.deepStrictEqual(messages, [])
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("is not taken from a running process", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const child = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], {
            stdio: ["pipe", "ignore", "ignore"]
          })
          await once(child, "spawn")
          return child
        }),
        (child) =>
          Effect.promise(() => {
            child.kill("SIGKILL")
            return once(child, "exit")
          })
      )
      yield* plant(directory, "a", JSON.stringify({ pid: child.pid, taking: "t" }))
      const lock = yield* locksAt(directory)
      assert.isFalse(yield* lock("a"))
    }))

  it.scopedLive("is taken over when its process is dead or its file is invalid", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const lock = yield* locksAt(directory)
      const pid = yield* deadProcess
      const planted = [JSON.stringify({ pid, taking: "t" }), "", "{", "[]", JSON.stringify({ pid: -1, taking: "t" })]
      for (const content of planted) {
        yield* plant(directory, "a", content)
        yield* Effect.scoped(Effect.gen(function*() {
          assert.isTrue(yield* lock("a"), content)
          assert.isFalse(yield* lock("a"), content)
        }))
      }
    }))

  it.scoped("stays with its holder after the clock is set ahead, when process start times are unavailable", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const withoutProc = {
        ...fs,
        readFileString: (path: string) => fs.readFileString(path.replace(/^\/proc/, "/nowhere"))
      }
      const directory = yield* fresh
      const locks = Effect.flatMap(PrivateDirectory.make(fs, directory), (place) => lockOf(withoutProc, place))
      const ofService = yield* locks
      yield* TestClock.setTime(Date.UTC(2100, 0, 1))
      assert.isTrue(yield* ofService("a"))
      assert.isFalse(yield* Effect.flatMap(locks, (lock) => lock("a")))
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("stays with its holder as long as that runs, and not with its number, when process start times are unavailable", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const withoutProc = {
        ...fs,
        readFileString: (path: string) => fs.readFileString(path.replace(/^\/proc/, "/nowhere"))
      }
      yield* TestClock.setTime(Date.now())
      const directory = yield* fresh
      const locks = Effect.flatMap(
        PrivateDirectory.make(fs, directory),
        (place) => lockOf(withoutProc, place, { secondsUp: () => 86_400 })
      )
      const taken = Effect.scoped(Effect.flatMap(locks, (lock) => lock("a")))
      const holding = yield* Scope.make()
      assert.isTrue(yield* Scope.extend(Effect.flatMap(locks, (lock) => lock("a")), holding))
      const path = join(directory, "locks", "a")
      for (let minute = 0; minute < 25; minute++) {
        yield* TestClock.adjust("1 minute")
        const now = yield* Clock.currentTimeMillis
        // the time of a file is set on the real disk
        yield* Effect.promise(async () => {
          for (let look = 0; look < 1000 && (await Fs.stat(path)).mtimeMs < now - 1; look++) await sleep(2)
        })
        assert.isFalse(yield* taken)
      }
      yield* Scope.close(holding, Exit.void)
      // killed; its number is now that of a process that runs, as this one
      const now = yield* Clock.currentTimeMillis
      for (const owner of [{}, { seenAt: now - 3_600_000 }]) {
        for (const [minutes, isFree] of [[9, false], [11, true]] as const) {
          const shown = (now - minutes * 60_000) / 1000
          yield* Effect.promise(async () => {
            await Fs.writeFile(path, JSON.stringify({ pid: process.pid, taking: "its own", ...owner }))
            await Fs.utimes(path, shown, shown)
          })
          assert.strictEqual(yield* taken, isFree)
        }
      }
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("changes nothing after it was taken over, when process start times are unavailable", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const withoutProc = {
        ...fs,
        readFileString: (path: string) => fs.readFileString(path.replace(/^\/proc/, "/nowhere"))
      }
      const directory = yield* fresh
      const ledger = yield* Effect.provideService(
        DiskLedger.make({ directory }),
        FileSystem.FileSystem,
        withoutProc
      )
      const { isHeld } = ledger
      assert.isDefined(isHeld)
      const holding = yield* Scope.make()
      assert.isTrue(yield* Scope.extend(ledger.lock("a"), holding))
      yield* ledger.begin(recordOf("a"))
      assert.isTrue(yield* isHeld("a"))
      // as a process does that has not seen this one for ten minutes
      yield* plant(directory, "a", JSON.stringify({ pid: process.pid, taking: "the other's" }))
      assert.isFalse(yield* isHeld("a"))
      const before = yield* contents(directory)
      yield* ledger.receive(recordOf("a"), receiptOf(1))
      yield* ledger.completing(recordOf("a"))
      yield* ledger.forget(recordOf("a"))
      yield* Scope.close(holding, Exit.void)
      assert.strictEqual(yield* contents(directory), before)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.effect("counts its holder as dead after a reboot, when process start times are unavailable", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const withoutProc = { ...fs, readFileString: (path: string) => fs.readFileString(`/nowhere${path}`) }
      let secondsUp = 600
      yield* TestClock.adjust("2 hours")
      const { isAlive, own: seenNow } = yield* ProcessIdentity.make(withoutProc, () => secondsUp)
      const own = yield* seenNow
      assert.strictEqual(own.startedAt, undefined)
      assert.isTrue(yield* isAlive(own))
      yield* TestClock.adjust("1 hour")
      secondsUp += 3600
      assert.isTrue(yield* isAlive(own))
      assert.isTrue(yield* isAlive({ pid: own.pid }))
      secondsUp = 1800
      assert.isFalse(yield* isAlive(own))
    }).pipe(Effect.provide(NodeContext.layer)))

  if (process.platform === "linux") {
    it.scopedLive("is taken over from a dead process whose pid is in use again", () =>
      Effect.gen(function*() {
        const directory = yield* fresh
        const lock = yield* locksAt(directory)
        yield* plant(directory, "a", JSON.stringify({ pid: process.pid, startedAt: "another-start:1", taking: "t" }))
        assert.isTrue(yield* lock("a"))
      }))

    it.scopedLive("is not taken from a running process when only one of the two knows when the machine started", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const confined: FileSystem.FileSystem = {
          ...fs,
          readFileString: (path, encoding) =>
            fs.readFileString(path.startsWith("/proc/sys/") ? `/nowhere${path}` : path, encoding)
        }
        const place = yield* PrivateDirectory.make(fs, yield* fresh)
        const ofService = yield* lockOf(confined, place)
        const ofUser = yield* lockOf(fs, place)
        assert.isTrue(yield* ofService("a"))
        assert.isFalse(yield* ofUser("a"))
        assert.isTrue(yield* ofUser("b"))
        assert.isFalse(yield* ofService("b"))
      }).pipe(Effect.provide(NodeContext.layer)))

    it.scopedLive("counts a zombie, or a process with another start time, as dead", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { isAlive, own: seenNow } = yield* ProcessIdentity.make(fs)
        const own = yield* seenNow
        assert.isTrue(yield* isAlive(own))
        assert.isTrue(yield* isAlive({ pid: own.pid }))
        assert.isFalse(yield* isAlive({ ...own, startedAt: `${own.startedAt}0` }))
        const statIn = (state: string) =>
          `${own.pid} (a) b) c) ${state} ${Array.from({ length: 30 }, (_, index) => index + 4).join(" ")}`
        // as proc(5) has them
        for (const state of ["R", "S", "D", "T", "t", "W", "K", "P", "I", "Z", "X", "x"]) {
          const seen = yield* ProcessIdentity.make({ ...fs, readFileString: () => Effect.succeed(statIn(state)) })
          assert.strictEqual(yield* seen.isAlive({ pid: own.pid }), !["Z", "X", "x"].includes(state), state)
        }
        assert.deepStrictEqual(ProcessIdentity.parseStat(statIn("Z")), Option.some({ state: "Z", ticks: "22" }))
        for (const text of ["", "1 (a)", "1 (a) S 1 2"]) assert.isTrue(Option.isNone(ProcessIdentity.parseStat(text)))
      }).pipe(Effect.provide(NodeContext.layer)))
  }

  it.scopedLive("is not taken from whoever has taken it over since its dead process was noticed", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const first = yield* locksAt(directory)
      const fs = yield* FileSystem.FileSystem
      const scope = yield* Effect.scope
      let isOvertaken = false
      const late: FileSystem.FileSystem = {
        ...fs,
        readFileString: (path, encoding) =>
          Effect.tap(fs.readFileString(path, encoding), () => {
            if (isOvertaken || path !== join(directory, "locks", "a")) return Effect.void
            isOvertaken = true
            return Effect.map(Scope.extend(first("a"), scope), (taken) => assert.isTrue(taken))
          })
      }
      const second = yield* lockOf(late, yield* PrivateDirectory.make(late, directory))
      yield* plant(directory, "a", JSON.stringify({ pid: yield* deadProcess, taking: "t" }))
      assert.isFalse(yield* second("a"))
      assert.isTrue(isOvertaken)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("is acquired, and kept from others, if it was released just after it was found", () =>
    Effect.gen(function*() {
      const { layer, messages } = listening()
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fresh
      const holding = yield* Scope.make()
      const releasing: FileSystem.FileSystem = {
        ...fs,
        stat: (path) =>
          path === join(directory, "locks", "a")
            ? Effect.zipRight(Scope.close(holding, Exit.void), fs.stat(path))
            : fs.stat(path)
      }
      const first = yield* locksAt(directory)
      const second = yield* lockOf(releasing, yield* PrivateDirectory.make(releasing, directory))
      assert.isTrue(yield* Scope.extend(first("a"), holding))
      assert.isTrue(yield* Effect.provide(second("a"), layer))
      assert.isFalse(yield* first("a"))
      assert.deepStrictEqual(messages, [])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("is left to its new holder if it was taken from this process all the same", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const lock = yield* locksAt(directory)
      const other = JSON.stringify({ pid: process.pid, taking: "other" })
      yield* Effect.scoped(Effect.zipRight(lock("a"), plant(directory, "a", other)))
      assert.isFalse(yield* lock("a"))
    }))

  it.scopedLive.skipIf(process.platform === "win32")(
    "counts as acquired in a directory that others can write to: they may have planted it",
    () =>
      Effect.gen(function*() {
        const directory = yield* fresh
        yield* plant(directory, "a", JSON.stringify({ pid: process.pid, taking: "t" }))
        yield* Effect.promise(() => Fs.chmod(directory, 0o777))
        const { layer, messages } = listening()
        assert.isTrue(yield* Effect.flatMap(locksAt(directory), (lock) => lock("a")).pipe(Effect.provide(layer)))
        assert.match(messages.join("\n"), /^WARN Uploads cannot be locked: .*chmod 700/)
      })
  )
})

const options = { baseUrl: "https://api.test", token: Redacted.make("api.x") }

const inForce = (layer: ReturnType<typeof NodeStevedore.layer>) =>
  Effect.all({ ledger: UploadLedger.UploadLedger, algorithm: Checksum.Algorithm }).pipe(Effect.provide(layer))

describe("NodeStevedore", () => {
  it.scopedLive("records uploads on disk with their URLs, unless options disable the ledger or the URLs", () =>
    Effect.gen(function*() {
      const directory = yield* fresh
      const { ledger } = yield* inForce(NodeStevedore.layer({ ...options, ledger: { directory, keepUrls: false } }))
      assert.isFalse(ledger.keepUrls)
      yield* ledger.begin(recordOf("a"))
      assert.lengthOf(yield* (yield* ledgerAt(directory)).unfinished, 1)
      assert.isTrue((yield* inForce(NodeStevedore.layer(options))).ledger.keepUrls)
      const none = yield* inForce(NodeStevedore.layer({ ...options, ledger: false }))
      assert.strictEqual(none.ledger, yield* UploadLedger.UploadLedger)
    }))

  it.scopedLive("uses the native CRC-32 unless another algorithm is provided", () =>
    Effect.gen(function*() {
      const layer = NodeStevedore.layer({ ...options, ledger: false })
      assert.strictEqual((yield* inForce(layer)).algorithm, NodeChecksum.crc32)
      const strong = Layer.provide(layer, Checksum.layer(NodeChecksum.sha256))
      assert.strictEqual((yield* inForce(strong)).algorithm, NodeChecksum.sha256)
    }))
})

describe("NodeChecksum", () => {
  it.prop("computes the same CRC-32 as the JavaScript code", [FastCheck.uint8Array({ maxLength: 100 })], ([bytes]) => {
    assert.deepStrictEqual(Checksum.ofBytes(NodeChecksum.crc32, bytes), Checksum.ofBytes(Checksum.crc32, bytes))
  })

  it("computes SHA-256 without combine, and its value can be read between updates", () => {
    const { algorithm, value } = Checksum.ofBytes(NodeChecksum.sha256, new TextEncoder().encode("abc"))
    assert.strictEqual(algorithm, "sha256")
    assert.strictEqual(value, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=")
    assert.strictEqual(NodeChecksum.sha256.combine, undefined)
    const running = NodeChecksum.sha256.begin()
    running.update(new TextEncoder().encode("ab"))
    running.value()
    running.update(new TextEncoder().encode("c"))
    assert.strictEqual(running.value(), value)
  })
})
