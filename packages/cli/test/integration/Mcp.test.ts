import { FileSystem, Path } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type { ClientOptions } from "@modelcontextprotocol/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import { Duration, Effect, Option, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs/promises"
import { connected } from "./mcpClient.js"
import { words } from "./stevedore.js"

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
const isNight = process.env["STEVEDORE_NIGHTLY"] === "1"
const [size, rate, records] = isNight ? [10_000_000_000, "200M", 10_000] : [64 * 1024 * 1024, "20M", 300]

const ended = (id: unknown, call: Effect.Effect.Success<ReturnType<typeof connected>>["call"]) =>
  Effect.repeat(call("upload_status", { id, wait: 20 }), {
    until: (status) => status["isError"] === true || !["waiting", "moving"].includes(String(status["state"]))
  })

const modes: ReadonlyArray<readonly [name: string, revision: string, options: ClientOptions]> = [
  ["legacy", "2025-11-25", {}],
  ["auto", "2026-07-28", { versionNegotiation: { mode: "auto" } }],
  ["pinned", "2026-07-28", { versionNegotiation: { mode: { pin: "2026-07-28" } } }]
]

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
      assert.include(done, { state: "done", isError: false, proof: "unproven" })
      const file_id = done["file_id"]
      assert.include(yield* call("file", { file_id }), { id: file_id, name: "Notes.txt", size: 31 })
      const saved = yield* ended((yield* call("download", { file_id }))["id"], call)
      assert.include(saved, { state: "done" })
      assert.strictEqual(yield* fs.readFileString(join(downloads, "Notes.txt")), "the content that no message has")
      assert.include(yield* call("download", { file_id }), { isError: false, id: saved["id"], state: "done" })
      yield* fs.writeFileString(join(downloads, "mine.txt"), "mine")
      const taken = yield* call("download", { file_id, path: "mine.txt" })
      assert.include(taken, { isError: true, reason: "mine.txt is there already" })
      assert.include(yield* call("doctor"), { isError: false, roots: 1, downloads: true })
      assert.include(yield* call("file", { file_id: "nothing" }), { isError: true, kind: "refused" })
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

  it.scopedLive("walks a list by cursors", () =>
    Effect.gen(function*() {
      const { checkSilence, env, root } = yield* started(records)
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
      assert.strictEqual(seen.size, records)
      checkSilence(server)
    }).pipe(Effect.provide(NodeContext.layer)), 120_000)

  it.scopedLive("speaks with the official clients of both eras", () =>
    Effect.gen(function*() {
      const { env, root } = yield* started()
      for (const [mode, revision, options] of modes) {
        const { call, client } = yield* connected(["--root", root], env, options)
        assert.strictEqual(client.getNegotiatedProtocolVersion(), revision, mode)
        assert.include(yield* call("doctor"), { isError: false, roots: 1 })
        const wrong = yield* call("upload_status", { id: "none" })
        assert.include(wrong, { isError: true, kind: "input", reason: "There is no transfer none" })
        const instructions = client.getInstructions() ?? ""
        assert.isBelow(instructions.split(/\s+/).length, 150)
        assert.isNotEmpty(instructions)
      }
      const earlier = new Client({ name: "test", version: "1.0.0" })
      const [command = "", ...before] = words
      const args = [...before, "mcp", "--root", root]
      yield* Effect.promise(() => earlier.connect(new StdioClientTransport({ command, args, env })))
      const { tools } = yield* Effect.promise(() => earlier.listTools())
      assert.strictEqual(tools.length, 7)
      yield* Effect.promise(() => earlier.close())
    }).pipe(Effect.provide(NodeContext.layer)), 60_000)

  it.scopedLive("moves each file once, whoever asks and how often", () =>
    Effect.gen(function*() {
      const { env, fs, join, root, sandbox } = yield* started()
      const path = "recording.bin"
      yield* fs.writeFileString(join(root, path), "")
      yield* fs.truncate(join(root, path), 12_000_000)
      const given = ["--root", root, "--limit-rate", "6M"]
      const [one, other] = yield* Effect.all([connected(given, env), connected(given, env)], { concurrency: 2 })
      const servers = [one, other, one, other, one, other]
      const begun = yield* Effect.all(servers.map(({ call }) => call("upload", { path })), { concurrency: "unbounded" })
      const [id] = begun.map(({ id }) => id)
      assert.deepStrictEqual([...new Set(begun.map(({ id }) => id))], [id])
      const done = yield* ended(id, one.call)
      assert.include(done, { id, state: "done", size: 12_000_000 })
      const { file_id } = done
      // afterwards, at the other server, and after a restart
      yield* one.kill
      const later = yield* connected(given, env)
      for (const { call } of [other, later]) {
        assert.include(yield* call("upload", { path }), {
          id,
          state: "done",
          file_id,
          proof: "unproven",
          isError: false
        })
      }
      assert.strictEqual((yield* sandbox.files).length, 1)
      const again = yield* later.call("upload", { path, again: true })
      assert.notStrictEqual(again["id"], id)
      assert.include(yield* ended(again["id"], later.call), { state: "done" })
      assert.strictEqual((yield* sandbox.files).length, 2)
      // a file that has changed is another one
      yield* fs.writeFileString(join(root, path), "changed")
      const changed = yield* ended((yield* later.call("upload", { path }))["id"], later.call)
      assert.include(changed, { state: "done", size: 7 })
      assert.strictEqual((yield* sandbox.files).length, 3)
    }).pipe(Effect.provide(NodeContext.layer)), 120_000)

  it.scopedLive("downloads once to a target, and leaves nothing else", () =>
    Effect.gen(function*() {
      const { downloads, env, fs, join, root, sandbox } = yield* started()
      yield* fs.writeFileString(join(root, "recording.bin"), "")
      yield* fs.truncate(join(root, "recording.bin"), 40_000_000)
      const given = ["--root", root, "--allow-downloads", downloads]
      const file_id = yield* Effect.scoped(Effect.gen(function*() {
        const { call } = yield* connected(given, env)
        const { id } = yield* call("upload", { path: "recording.bin" })
        return (yield* ended(id, call))["file_id"]
      }))
      const slowly = [...given, "--limit-rate", "8M"]
      const ask = { file_id, path: "saved.bin" }
      const id = yield* Effect.scoped(Effect.gen(function*() {
        const [one, other] = yield* Effect.all([connected(slowly, env), connected(slowly, env)], { concurrency: 2 })
        const begun = yield* Effect.all(
          [one, other, one, other].map(({ call }) => call("download", ask)),
          { concurrency: "unbounded" }
        )
        const [id] = begun.map(({ id }) => id)
        assert.deepStrictEqual([...new Set(begun.map(({ id }) => id))], [id])
        const second = yield* one.call("download", { file_id: "0000000000000000000000", path: "saved.bin" })
        assert.isTrue(second["isError"])
        yield* Effect.all([one.kill, other.kill])
        return id
      }))
      const { call } = yield* connected(slowly, env)
      assert.include(yield* ended(id, call), { id, state: "done", size: 40_000_000 })
      assert.deepStrictEqual(yield* fs.readDirectory(downloads), ["saved.bin"])
      const stopped = (yield* call("download", { file_id, path: "stopped.bin" }))["id"]
      assert.include(yield* call("cancel", { id: stopped }), { state: "cancelled" })
      assert.deepStrictEqual(yield* fs.readDirectory(downloads), ["saved.bin"])
      assert.strictEqual((yield* sandbox.files).length, 1)
    }).pipe(Effect.provide(NodeContext.layer)), 120_000)

  it.scopedLive("tells how far a call is, and stops what a cancelled call has begun", () =>
    Effect.gen(function*() {
      const { env, fs, join, root, sandbox } = yield* started()
      for (const name of ["one.bin", "other.bin"]) {
        yield* fs.writeFileString(join(root, name), "")
        yield* fs.truncate(join(root, name), 15_000_000)
      }
      const { call, client } = yield* connected(["--root", root, "--limit-rate", "5M"], env)
      const seen: Array<number> = []
      const result = yield* Effect.promise(() =>
        client.callTool({ name: "upload", arguments: { path: "one.bin" } }, {
          onprogress: ({ progress, total }) => {
            assert.strictEqual(total, 15_000_000)
            seen.push(progress)
          }
        })
      )
      assert.include(result.structuredContent, { state: "done" })
      assert.isAbove(seen.length, 1)
      assert.deepStrictEqual(seen, [...new Set(seen)].sort((a, b) => a - b))
      const stopping = new AbortController()
      const cancelled = client.callTool({ name: "upload", arguments: { path: "other.bin" } }, {
        signal: stopping.signal,
        onprogress: () => stopping.abort()
      })
      assert.isTrue(yield* Effect.promise(() => cancelled.then(() => false, () => true)))
      const once = yield* Effect.repeat(call("doctor"), { until: ({ running }) => running === 0, times: 50 })
      assert.include(once, { running: 0 })
      assert.strictEqual((yield* sandbox.files).filter(({ status }) => status === "completed").length, 1)
    }).pipe(Effect.provide(NodeContext.layer)), 60_000)
})
