import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import { Duration, Effect, Option, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs/promises"
import { connected } from "./mcpClient.js"

const searchPath = process.env["PATH"] ?? ""

const started = (projects = 0) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const { join } = yield* Path.Path
    const home = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-mcp-" }))
    const sandbox = yield* SandboxServer.start(
      { port: 0, storagePort: 0, directory: Option.none(), token: Option.none(), projects }
    )
    const env = {
      PATH: searchPath,
      HOME: home,
      XDG_STATE_HOME: join(home, "state"),
      STEVEDORE_BASE_URL: sandbox.baseUrl,
      STEVEDORE_TOKEN: Redacted.value(sandbox.token)
    }
    const root = join(home, "root")
    const downloads = join(home, "downloads")
    yield* Effect.forEach([root, downloads], (path) => fs.makeDirectory(path), { discard: true })
    const checkSilence = ({ messages, stderr }: { messages: ReadonlyArray<string>; stderr: () => string }) => {
      assert.deepStrictEqual(messages.filter(({ length }) => length > 4096).map((text) => text.slice(0, 200)), [])
      const all = [...messages, stderr()].join("\n")
      for (const secret of [env.STEVEDORE_TOKEN, "X-Amz-", "signature=", home]) assert.notInclude(all, secret)
    }
    return { fs, join, home, root, downloads, sandbox, env, checkSilence }
  })

// sparse, and in a night as large as an upload can be
const [size, rate] = process.env["STEVEDORE_NIGHTLY"] === "1" ? [10_000_000_000, "200M"] : [64 * 1024 * 1024, "20M"]

const ended = (id: unknown, call: Effect.Effect.Success<ReturnType<typeof connected>>["call"]) =>
  Effect.repeat(call("upload_status", { id, wait: 20 }), {
    until: (status) => status["isError"] === true || !["waiting", "moving"].includes(String(status["state"]))
  })

describe("stevedore mcp", () => {
  it.scopedLive("moves files by path and id, and answers with nothing else", () =>
    Effect.gen(function*() {
      const { checkSilence, downloads, env, fs, join, root } = yield* started()
      yield* fs.writeFileString(join(root, "notes.txt"), "the content that no message has")
      const server = yield* connected(["--root", root, "--allow-downloads", downloads], env)
      const { call, client } = server
      const { tools } = yield* Effect.promise(() => client.listTools())
      assert.deepStrictEqual(
        tools.map(({ name }) => name),
        ["upload", "upload_status", "cancel", "list", "file", "download", "doctor"]
      )
      const begun = yield* call("upload", { path: "notes.txt", name: "Notes.txt" })
      const done = yield* ended(begun["id"], call)
      assert.include(done, { state: "done", isError: false })
      const file_id = done["file_id"]
      assert.include(yield* call("file", { file_id }), { id: file_id, name: "Notes.txt", size: 31 })
      const saved = yield* ended((yield* call("download", { file_id }))["id"], call)
      assert.include(saved, { state: "done" })
      assert.strictEqual(yield* fs.readFileString(join(downloads, "Notes.txt")), "the content that no message has")
      assert.include(yield* call("download", { file_id }), { isError: true, reason: "Notes.txt is there already" })
      assert.include(yield* call("doctor"), { isError: false, roots: 1, downloads: true })
      const wrong = yield* call("upload", { path: 7 })
      assert.isTrue(wrong["isError"])
      assert.match(String(wrong["reason"]), /^path: Expected string/)
      assert.include(yield* call("file", { file_id: "nothing" }), { isError: true })
      assert.include(yield* call("upload_status", { id: "upload-none" }), { isError: true })
      assert.notInclude(server.messages.join("\n"), "the content that")
      checkSilence(server)
    }).pipe(Effect.provide(NodeContext.layer)), 60_000)

  it.scopedLive(
    "refuses what is not a plain file below its roots, whatever it is called",
    () =>
      Effect.gen(function*() {
        const { checkSilence, downloads, env, fs, home, join, root } = yield* started()
        const outside = join(home, "outside.txt")
        yield* fs.writeFileString(outside, "outside")
        yield* fs.makeDirectory(join(root, "folder"))
        yield* Effect.forEach(
          [
            ".env",
            "server.pem",
            "id_rsa",
            "folder/credentials.json",
            "folder/inside.txt",
            ".env.local",
            "caf\u00e9.txt"
          ],
          (name) => fs.writeFileString(join(root, name), "x"),
          { discard: true }
        )
        yield* fs.makeDirectory(join(root, ".git"))
        yield* fs.writeFileString(join(root, ".git/config"), "x")
        yield* fs.writeFileString(join(root, "empty.txt"), "")
        yield* Effect.promise(() =>
          Promise.all([
            Fs.symlink(outside, join(root, "link.txt")),
            Fs.symlink(home, join(root, "up")),
            Fs.symlink(join(root, "folder/inside.txt"), join(root, "near.txt")),
            Fs.symlink(join(root, "nowhere"), join(root, "broken.txt"))
          ])
        )
        execFileSync("mkfifo", [join(root, "pipe")])
        const { call, ...server } = yield* connected(["--root", root, "--allow-downloads", downloads], env)
        const hostile = [
          "",
          ".",
          "..",
          "../outside.txt",
          "folder/../../outside.txt",
          "folder/..",
          "/etc/passwd",
          outside,
          home,
          root,
          "folder",
          "missing.txt",
          "link.txt",
          "up/outside.txt",
          "near.txt",
          "broken.txt",
          "pipe",
          "empty.txt",
          ".env",
          ".ENV",
          ".env.local",
          "server.pem",
          "id_rsa",
          "folder/credentials.json",
          ".git/config",
          "folder\\..\\..\\outside.txt",
          "notes\u0000.txt",
          "cafe\u0301.txt",
          "/dev/zero",
          "/proc/self/environ",
          "folder/inside.txt/",
          "~/outside.txt",
          "file:///etc/passwd",
          "x".repeat(5000)
        ]
        for (const path of hostile) {
          const answer = yield* call("upload", { path })
          assert.isTrue(answer["isError"], path)
          assert.isNotEmpty(answer["next"], path)
        }
        for (const path of ["../x", "/tmp/x", ".bashrc", "up/x", "missing/x", "con", "a/../b"]) {
          assert.isTrue((yield* call("download", { file_id: "any", path }))["isError"], path)
        }
        assert.isFalse((yield* call("upload", { path: join(root, "folder/inside.txt") }))["isError"])
        checkSilence({ ...server })
      }).pipe(Effect.provide(NodeContext.layer)),
    60_000
  )

  it.scopedLive(
    "goes on with what was under way when it was killed, twice, and has it once",
    () =>
      Effect.gen(function*() {
        const { env, fs, join, root, sandbox } = yield* started()
        const path = join(root, "interview.mp4")
        yield* fs.writeFileString(path, "")
        yield* fs.truncate(path, size)
        const words = ["--root", root, "--limit-rate", rate]
        const id = yield* Effect.scoped(Effect.gen(function*() {
          const { call, kill } = yield* connected(words, env)
          const { id } = yield* call("upload", { path: "interview.mp4" })
          yield* call("upload_status", { id, wait: 20 })
          yield* kill
          return id
        }))
        yield* Effect.scoped(Effect.gen(function*() {
          const { call, kill } = yield* connected(words, env)
          const [took, status] = yield* Effect.timed(call("upload_status", { id, wait: 20 }))
          assert.include(status, { isError: false, state: "moving" })
          assert.isBelow(Duration.toSeconds(took), 15, "it waits for news, not for the time")
          yield* kill
        }))
        const { call } = yield* connected(["--root", root], env)
        assert.include(yield* ended(id, call), { id, state: "done" })
        const { breaches, files } = yield* Effect.all({
          breaches: Effect.map(sandbox.report, (it) => it.breaches),
          files: sandbox.files
        })
        assert.deepStrictEqual(breaches, [])
        assert.strictEqual(files.length, 1)
      }).pipe(Effect.provide(NodeContext.layer)),
    120_000
  )

  it.scopedLive("walks a list of 10,000 by cursors", () =>
    Effect.gen(function*() {
      const { checkSilence, env, root } = yield* started(10_000)
      const server = yield* connected(["--root", root], env)
      const seen = new Set<string>()
      let cursor: unknown
      do {
        const page: Record<string, unknown> = yield* server.call("list", {
          list: "projects",
          limit: 15,
          ...(cursor === undefined ? {} : { cursor })
        })
        assert.isFalse(page["isError"], JSON.stringify(page))
        const items = page["items"]
        if (Array.isArray(items)) { for (const { id } of items) seen.add(String(id)) }
        cursor = page["next"]
      } while (cursor !== undefined)
      assert.strictEqual(seen.size, 10_000)
      checkSilence(server)
    }).pipe(Effect.provide(NodeContext.layer)), 120_000)
})
