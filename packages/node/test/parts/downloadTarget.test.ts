import { assert, describe, it } from "@effect/vitest"
import { NodeDownloads } from "@stevedore/node"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import { TargetUnwritable } from "../../src/DownloadTargetError.js"
import * as Target from "../../src/parts/downloadTarget.js"
import * as OtherDisk from "../support/otherDisk.js"
import * as Temporary from "../support/temporary.js"

const checked = (path: string, overwrite = true) =>
  Effect.match(NodeDownloads.checkTarget(path, { overwrite }), {
    onFailure: (error) => error._tag === "TargetUnwritable" ? error.occupied ?? error.code : error._tag,
    onSuccess: () => "can be replaced"
  })

const present = Effect.tap(
  Effect.map(Temporary.directory, (directory) => join(directory, "interview 1.mp4")),
  (path) => Effect.promise(() => Fs.writeFile(path, "before"))
)

const posix = describe.skipIf(process.platform === "win32")

describe("the name of a target", () => {
  it("rejects a target that ends in a slash, and on Windows a target with a reserved character", () => {
    const targets = [
      "C:\\files\\a.mp4",
      "C:a.mp4",
      "\\\\?\\C:\\a.mp4",
      "a?.mp4",
      "a.mp4:b",
      "files/what*.mp4",
      "a.mp4/"
    ]
    const named = (platform: NodeJS.Platform) => targets.map((target) => Target.canName(target, platform))
    assert.deepStrictEqual(named("win32"), [true, true, true, false, false, false, false])
    assert.deepStrictEqual(named("linux"), [true, true, true, true, true, true, false])
  })
})

posix("a target that a rename cannot replace", () => {
  it.scoped("is refused if it is a mount point, through links to its directory too, and a file beside it is not", () =>
    Effect.gen(function*() {
      const path = yield* present
      const beside = `${path}.other`
      const linked = join(yield* Temporary.directory, "linked")
      yield* Effect.promise(async () => {
        await Fs.writeFile(beside, "before")
        await Fs.symlink(join(path, ".."), linked)
      })
      const real = yield* Effect.promise(() => Fs.realpath(path))
      const { readFile } = Fs
      const line = `36 26 254:0 /host.bin ${real.replaceAll(" ", "\\040")} rw,relatime - ext4 /dev/vda rw\n`
      yield* OtherDisk.answering({
        readFile: (of: string) => of === "/proc/self/mountinfo" ? Promise.resolve(line) : readFile(of)
      })
      assert.deepStrictEqual(
        yield* Effect.forEach([path, join(linked, "interview 1.mp4"), beside, `${path}.none`], (of) => checked(of)),
        ["MountPoint", "MountPoint", "can be replaced", "can be replaced"]
      )
    }))

  it.scoped("is refused if nobody may open it for writing, as an immutable file, but not for its mode or for being run", () =>
    Effect.gen(function*() {
      const path = yield* present
      const { open } = Fs
      const outcomes = yield* Effect.forEach(
        ["EPERM", "EACCES", "ETXTBSY", "ELOOP"],
        (code) =>
          Effect.scoped(Effect.zipRight(
            OtherDisk.answering({
              open: (...args: Parameters<typeof open>) =>
                args[0] === path ? Promise.reject(OtherDisk.refusal(code)) : open(...args)
            }),
            checked(path)
          ))
      )
      assert.deepStrictEqual(outcomes, ["Protected", "can be replaced", "can be replaced", "can be replaced"])
    }))

  it.scoped("can be a program that is running, and a link, which is replaced itself", () =>
    Effect.gen(function*() {
      const path = yield* present
      yield* Effect.promise(() => Fs.symlink(path, `${path}.link`))
      assert.strictEqual(yield* checked(`${path}.link`), "can be replaced")
      assert.strictEqual(yield* checked(process.execPath), "can be replaced")
    }))

  it("is refused if it is another user's in a directory where only owners replace files", () => {
    const shared = { mode: 0o41777, uid: 0 }
    const outcomes = [
      [shared, 1000, 1000],
      [shared, 1001, 1000],
      [shared, 1001, 0],
      [{ mode: 0o41777, uid: 1000 }, 1001, 1000],
      [{ mode: 0o40777, uid: 0 }, 1001, 1000],
      [shared, 1001, undefined]
    ] as const
    assert.deepStrictEqual(
      outcomes.map(([directory, uid, user]) => Target.isOfOwnerOnly(directory, { uid }, user)),
      [false, true, false, false, false, false]
    )
  })

  it.scoped("is not looked at unless it is to be replaced", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* checked(yield* present, false), "TargetExists")
    }))

  it("reads Linux's list of mounts, in which blanks are octal numbers", () => {
    const list = "21 26 0:20 / /proc rw - proc proc rw\n40 26 8:1 /a /mnt/with\\040blank\\134 rw - ext4 /dev/sda rw\n"
    assert.isTrue(Target.mountPointsOf(list).has("/proc"))
    assert.isTrue(Target.mountPointsOf(list).has("/mnt/with blank\\"))
    assert.isFalse(Target.mountPointsOf("").has("/mnt"))
  })
})

// the attributes of a file on ext4, xfs or btrfs
const canProtect = process.platform === "linux" && process.geteuid?.() === 0 && (() => {
  try {
    execFileSync("chattr", ["-i", process.cwd()], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
})()

describe.runIf(canProtect)("a file that the file system itself protects", () => {
  it.scoped.each(["i", "a"])("is refused: chattr +%s", (attribute) =>
    Effect.gen(function*() {
      const path = yield* present
      yield* Effect.acquireRelease(
        Effect.sync(() => execFileSync("chattr", [`+${attribute}`, path])),
        () => Effect.sync(() => execFileSync("chattr", [`-${attribute}`, path]))
      )
      assert.strictEqual(yield* checked(path), "Protected")
    }))
})

describe("the message of a target that cannot be written", () => {
  it("says what is short or in the way, and where to go", () => {
    const messages = ["ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EBUSY", undefined].map((code) =>
      new TargetUnwritable({ path: "a", code }).message
    )
    assert.match(messages[0] ?? "", /\(ENOSPC\)\. The disk is full: make room/)
    assert.match(messages[1] ?? "", /quota/)
    assert.match(messages[2] ?? "", /larger than its file system/)
    assert.match(messages[3] ?? "", /read-only/)
    assert.match(messages[4] ?? "", /mount point/)
    assert.match(messages[5] ?? "", /Check that its directory exists/)
    assert.match(
      new TargetUnwritable({ path: "a", occupied: "MountPoint" }).message,
      /mount point.*was not changed\. Download to another path/
    )
  })
})
