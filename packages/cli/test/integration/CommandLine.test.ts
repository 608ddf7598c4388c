import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import { printable } from "@stevedore/core/parts/text"
import { FaultScript } from "@stevedore/testing"
import { Effect, Layer, Option, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { commands } from "../../src/line/commands.js"
import type { Sink } from "../../src/print/output.js"
import { invoke, jsonLines, Sandbox, sandbox, sinkOf, stoppedAfter, stoppedAt } from "./invoke.js"
import { listening } from "./listening.js"

const uploadReports = Schema.decodeUnknownSync(Schema.Array(Reports.UploadReport), { onExcessProperty: "preserve" })

const titlesOf = (stdout: string) =>
  Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ title: Schema.String })))(jsonLines(stdout))
    .map(({ title }) => title)

const fixtures = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  const bytes = Uint8Array.from({ length: 1_500_000 }, (_, index) => (index * 7919) % 251)
  yield* fs.writeFile(`${folder}/interview.mp4`, bytes)
  yield* fs.writeFileString(`${folder}/empty.txt`, "")
  yield* fs.makeDirectory(`${folder}/notes`)
  yield* fs.writeFileString(`${folder}/notes/one.txt`, "one")
  yield* fs.writeFileString(`${folder}/notes/-two.txt`, "two")
  return { folder, bytes, fs }
})

const nowhere = { STEVEDORE_BASE_URL: "http://127.0.0.1:1", STEVEDORE_TOKEN: "api.nothing" }

describe("the command", () => {
  it.live.each(["", "--help", "-h", "help"])("%s summarizes every command", (line) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* invoke(line === "" ? [] : [line])
      assert.deepStrictEqual([code, stderr], [0, ""])
      for (const { name, summary } of commands) {
        assert.include(stdout, `  ${name.padEnd(8)}  ${summary}`)
      }
    }))

  it.live("help describes a command, like its --help", () =>
    Effect.gen(function*() {
      for (const { name } of commands) {
        const { code, stdout } = yield* invoke(["help", name])
        assert.strictEqual(code, 0)
        assert.isTrue(stdout.startsWith(`stevedore ${name} [`), stdout)
        assert.strictEqual(stdout, (yield* invoke([name, "--help"])).stdout)
      }
    }))

  it.live.each(["--help=false", "--version=false"])("%s is a flag that is off", (word) =>
    Effect.gen(function*() {
      const { code, stderr } = yield* invoke(["whoami", word])
      assert.strictEqual(code, 2)
      assert.match(stderr, /STEVEDORE_BASE_URL: not set/)
    }))

  it.live("the help says that uploads lists unfinished uploads", () =>
    Effect.gen(function*() {
      for (const words of [["--help"], ["uploads", "--help"]]) {
        assert.match((yield* invoke(words)).stdout, /list unfinished uploads/i)
      }
    }))
})

describe("an invalid command line", () => {
  it.live.each<readonly [string, RegExp]>([
    ["nothing", /^nothing: no such command\. See stevedore help\n$/],
    ["uplaod a", /^uplaod: no such command: did you mean upload\? See stevedore help\n$/],
    ["--json downlaod a", /"downlaod: no such command: did you mean download\? /],
    ["completions", /^completions: no such command: did you mean --completions\?/],
    ["bulk", /^ACTION: is missing: expected one of start, run, status, .*, migrate\. See --help\n$/],
    ["lst projects", /^lst: no such command: did you mean list\?/],
    ["help uplods", /^uplods: no such command: did you mean uploads\?/],
    ["help upload a", /^a: one argument too many: see stevedore help help/],
    ["upload a --file 3", /^--file: no such option: did you mean --files\? See --help/],
    ["download a --ouput=b", /^--ouput: no such option: did you mean --output\?/],
    ["upload", /PATH/],
    ["upload a --no-such-option", /--no-such-option/],
    ["upload -dash.txt", /^-dash\.txt: no such option\. See --help\. Write a name .* as \.\/-dash\.txt\n$/],
    ["upload -v -qx a", /^-qx: no such option\. See --help/],
    ["upload -qv -xy a", /^-xy: no such option\. See --help/],
    ["list -qx projects", /^-qx: no such option\. See --help/],
    ["list -q0 projects", /^-q0: no such option\. See --help/],
    ["download -id", /^-id: no such option\. See --help/],
    ["upload a --token api.secret", /^--token: a token is never an argument.*STEVEDORE_TOKEN/],
    ["--versoin", /^--versoin: no such option: did you mean --version\? See --help/],
    ["whoami --log-level=loud", /^--log-level: expected one of all, trace/],
    ["--completions fsh", /^--completions: expected one of sh, bash/],
    ["upload a --concurrency 33", /^--concurrency: expected a whole number, 1 to 32, not "33"/],
    ["upload a --parts 0", /--parts/],
    ["upload a --strategy fast", /auto, single, multipart/],
    ["upload a b --name c", /^--name: it names a single file, but there are 2/],
    ["upload a --name ", /^--name: expected 1 to 1024 characters/],
    [`upload a --name ${"n".repeat(1025)}`, /^--name: expected 1 to 1024 characters/],
    ["upload a --media-type ", /^--media-type: expected a type such as video\/mp4, not ""/],
    ["upload a --media-type text/ü", /^--media-type: expected a type such as video\/mp4, not "text\/ü"/],
    ["download", /FILE_ID/],
    ["download a -o -", /^--output: cannot be standard output/],
    ["download a --output ", /^--output: it is empty/],
    ["--config /no/such/file download a", /^--config: cannot read \/no\/such\/file/],
    ["file a b", /^b: one argument too many: see stevedore help file/],
    ["projects --page-size 101", /--page-size/],
    ["projects --limit 0", /--limit/],
    ["list nothing", /^nothing: no such list\. Known lists: projects, /],
    ["list projects --filter title", /^--filter title: expected/],
    ["list projects --filter nothing=1", /no such filter at nothing/],
    ["list projects --filter sort=title:asc", /^--filter sort: this list has no such filter/],
    ["list projects --filter cursor=a", /^--filter cursor: this list has no such filter/],
    ["list projects --resume /no/such/place", /^--resume: cannot write the checkpoint: .*\/no\/such/],
    ["list projects --sort title", /^--sort: expected a field and a direction, such as title:asc, not "title"/],
    ["list projects --sort nothing:asc", /at sort/],
    ["projects --profile /no/such/file", /^profile: cannot read \/no\/such\/file/],
    ["projects --base-url host", /^--base-url: expected a URL/],
    ["sandbox --port 65536", /--port/],
    ["sandbox --port 0 --storage-port 0 --token ", /^--token: expected a token, found nothing/],
    ["sandbox --faults /no/such/file", /^--faults: cannot read \/no\/such\/file: it does not exist/],
    ["sandbox --faults /dev/null --port 0 --storage-port 0", /^--faults: /],
    ["whoami --config /no/such/file", /^--config: cannot read \/no\/such\/file: it does not exist/],
    ["upload a --verify nothing", /sample, all, download/],
    ["upload a --on-impossible hope", /fail, continue/],
    ["upload a --checksum md5", /crc32, sha256/],
    ["upload a --files 0", /^--files: expected a whole number, 1 to 64/],
    ["upload a --bwlimit 5M", /^--bwlimit: no such option: did you mean --limit-rate\?/],
    ["upload a -n", /^-n: no such option: did you mean --dry-run\?/],
    ["upload a --recursive", /^--recursive: not needed: a directory is uploaded with everything in it/],
    ["download a --transfers 4", /^--transfers: no such option: did you mean --files\?/],
    ["copy a b", /^copy: no such command: did you mean upload\?/],
    ["sync a b", /^sync: no such command: did you mean upload\?/],
    ["ls", /^ls: no such command: did you mean list\?/],
    ["file", /^FILE_ID: is missing: Id of a file at the service\. See --help/],
    ["upload a --on-impossible", /^--on-impossible: needs a value: fail\|continue/],
    ["upload a --json=maybe", /^--json: expected true or false, not "maybe"/],
    ["upload a --include [", /^--include: "\[": a bracket in it is not closed/],
    ["token list --days 3", /^--days: means nothing to token list: see stevedore help token/],
    ["sandbox --port 0 --storage-port 0 --directory /dev/null", /^--directory: cannot create or write to \/dev\/null/]
  ])("%s exits with 2 and reports the mistake on standard error only", ([line, words]) =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* invoke(line.split(" "), nowhere)
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, words)
      assert.notInclude(stderr, "\u001b")
    }))

  it.live("a word after -- is named as it was written, where it is one too many", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* invoke(["file", "--", "-a", "-b"], nowhere)
      assert.deepStrictEqual([code, stderr], [2, "-b: one argument too many: see stevedore help file\n"])
    }))

  it.live.each([
    { words: ["--\u202ecod.exe"] },
    { words: ["--a\u061c\u007f\r\u2028\u200b\u{e0041}"] },
    { words: ["upload", "--\u2066x\u001b[8m"] },
    { words: ["file", "a", "\u202eb\u009b"] },
    { words: ["file", "--", "a", "-\u202eb\u009b"] },
    { words: ["list", "\u202eb"] },
    { words: ["upload", "\u2066a\n\u061c"] }
  ])("the words of %j are shown without what is not safe to print", ({ words }) =>
    Effect.gen(function*() {
      const { code, stderr } = yield* invoke(words, nowhere)
      assert.isAbove(code, 0)
      for (const line of stderr.split("\n")) assert.strictEqual(printable(line), line)
      assert.match(stderr, /\ufffd|\\u2066/)
    }))

  it.live("a missing variable exits with 2 and is named", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* invoke(["whoami"])
      assert.strictEqual(code, 2)
      assert.match(stderr, /^STEVEDORE_BASE_URL: not set/)
    }))
})

describe("an id that begins with a dash", () => {
  it.scopedLive("is one after --, whatever the command, and wherever its options are", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const origin = yield* listening((request, response) => {
        asked.push(`${request.url}`)
        response.writeHead(404).end("{}")
      })
      const env = { STEVEDORE_BASE_URL: origin, STEVEDORE_TOKEN: "api.nothing" }
      const lines = [
        "file -- -abc",
        "-- file -abc",
        "file --json -- -abc",
        "--json file -- -abc",
        "--quiet -- file -abc",
        "--profile standard file -- -abc",
        "--profile standard -- file -abc",
        "--log-level none file -- -abc",
        "download -- -abc",
        "download --overwrite --output /no/such -- -abc",
        "-q download --any-size -- -abc"
      ]
      for (const line of lines) yield* invoke(line.split(" "), env)
      yield* invoke(["file", "--", "--help"], env)
      yield* invoke(["file", "--", "--"], env)
      assert.deepStrictEqual(asked, [
        ...lines.filter((line) => !line.includes("/no/such")).map(() => "/v1/files/-abc"),
        "/v1/files/--help",
        "/v1/files/--"
      ])
    }))
})

describe("standard output that accepts nothing", () => {
  const refusing = (code: string): Sink => ({
    ...sinkOf(() => {}),
    write: (_, written) => {
      written(Object.assign(new Error(), { code }))
      return false
    }
  })

  it.live.each(["--help", "--version", "upload --help", "--completions bash", "uploads --help"])(
    "is a failure of %s if its disk is full, and none if its reader went away",
    (line) =>
      Effect.gen(function*() {
        const full = yield* invoke(line.split(" "), {}, refusing("ENOSPC"))
        assert.deepStrictEqual(full.code, 1)
        assert.match(full.stderr, /^Cannot write to standard output \(ENOSPC\)/)
        const { code, stderr } = yield* invoke(line.split(" "), {}, refusing("EPIPE"))
        assert.deepStrictEqual([code, stderr], [0, ""])
      })
  )
})

describe("an upload of several files", () => {
  it.scopedLive("to an unreachable service reports the refused connection once and exits with 1", () =>
    Effect.gen(function*() {
      const { folder } = yield* fixtures
      const { code, stderr, stdout } = yield* invoke(["upload", folder, "--json"], nowhere)
      assert.strictEqual(code, 1)
      const reports = uploadReports(jsonLines(stdout)).flatMap((report) =>
        report.type === "failed" ? [report.error] : []
      )
      const tags = reports.map(({ _tag }) => _tag)
      assert.deepStrictEqual(tags, ["ConnectionFailed", "ConnectionFailed", "ConnectionFailed"])
      assert.lengthOf(stderr.match(/ECONNREFUSED/g) ?? [], 1)
      assert.match(
        stderr,
        /\nFailed, 3 files \(ConnectionFailed\): .*\n(?: {2}\S+\n){3}\{"type":"failed",.*"message":"3 of 3 files failed/
      )
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe.skipIf(process.platform === "win32")("list --resume", () => {
  it.scopedLive("rejects a named pipe and leaves it in place", () =>
    Effect.gen(function*() {
      const { folder, fs } = yield* fixtures
      execFileSync("mkfifo", [`${folder}/pipe`])
      const { code, stderr } = yield* invoke(["list", "projects", "--resume", `${folder}/pipe`], nowhere)
      assert.strictEqual(code, 2)
      assert.match(stderr, /^--resume: \S+ is not a checkpoint/)
      assert.strictEqual((yield* fs.stat(`${folder}/pipe`)).type, "FIFO")
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("the target of a download", () => {
  it.scopedLive("is refused before any request if it exists or cannot be written", () =>
    Effect.gen(function*() {
      const { folder } = yield* fixtures
      const to = (path: string, ...more: ReadonlyArray<string>) =>
        invoke(["download", "f1", "-o", `${folder}/${path}`, ...more], nowhere)
      const there = yield* to("interview.mp4")
      assert.strictEqual(there.code, 2)
      assert.match(there.stderr, /interview\.mp4" already exists/)
      const missing = yield* to("none/copy.mp4")
      assert.strictEqual(missing.code, 1)
      assert.match(missing.stderr, /none\/copy\.mp4".*ENOENT/)
      assert.match((yield* to("interview.mp4", "--overwrite")).stderr, /ECONNREFUSED/)
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("the size check of a download", () => {
  const serving = (record: Readonly<Record<string, unknown>> | string, status = 200) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const body = typeof record === "string"
        ? record
        : JSON.stringify({ data: { id: "f1", created_at: "now", ...record } })
      const origin = yield* listening(({ url }, response) => {
        if (url?.endsWith("/download") === true) response.end("short")
        else response.writeHead(status).end(body)
      })
      const env = { STEVEDORE_BASE_URL: origin, STEVEDORE_TOKEN: "api.nothing" }
      const download = (to: string, ...more: ReadonlyArray<string>) =>
        invoke(["download", "f1", "-o", `${folder}${to}`, ...more], env)
      return { download, files: Effect.orDie(fs.readDirectory(folder)) }
    })

  const record = { name: "one.txt", type: "text/plain", size: 10, status: "completed" }

  it.scopedLive.each<readonly [to: string, size: number]>([["", 10], ["/one.txt", 10], ["/one.txt", 10.5]])(
    "to \"%s\" leaves no file if fewer than the recorded %d bytes arrive, unless --any-size is given",
    ([to, size]) =>
      Effect.gen(function*() {
        const { download, files } = yield* serving({ ...record, size })
        const { code, stderr, stdout } = yield* download(to)
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.match(stderr, new RegExp(`Received 5 bytes of .* instead of ${size} `))
        assert.include(stderr, "--any-size")
        assert.deepStrictEqual(yield* files, [])
        assert.strictEqual((yield* download(to, "--any-size")).code, 0)
        assert.deepStrictEqual(yield* files, ["one.txt"])
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive.each<readonly [string, Readonly<Record<string, unknown>> | string, number]>([
    ["is forbidden", record, 403],
    ["is not JSON", "<html>", 200]
  ])("suggests --any-size, which succeeds, if the record %s", ([, served, status]) =>
    Effect.gen(function*() {
      const { download, files } = yield* serving(served, status)
      const { code, stderr } = yield* download("/one.txt")
      assert.strictEqual(code, 1)
      assert.match(stderr, /--any-size downloads without it\n(?:The token does not allow|The response to)/)
      assert.strictEqual((yield* download("/one.txt", "--any-size")).code, 0)
      assert.deepStrictEqual(yield* files, ["one.txt"])
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("has nothing to compare with if the record has no size, and the download succeeds", () =>
    Effect.gen(function*() {
      const { download, files } = yield* serving({})
      const { code, stderr } = yield* download("/one.txt")
      assert.strictEqual(code, 0, stderr)
      assert.notInclude(stderr, "--any-size")
      assert.deepStrictEqual(yield* files, ["one.txt"])
    }).pipe(Effect.provide(NodeContext.layer)))
})

layer(Layer.merge(sandbox("--projects", "250"), NodeContext.layer), { excludeTestServices: true })(
  "the command line against a sandbox",
  (it) => {
    it.scoped("an uploaded file downloads with the same bytes, and the file command shows its record", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { bytes, folder, fs } = yield* fixtures
        const up = yield* invoke(["upload", `${folder}/interview.mp4`, "--name", "../a\u001b.mp4", "--json"], env)
        assert.strictEqual(up.code, 0, up.stderr)
        const report = uploadReports(jsonLines(up.stdout)).at(-2)
        if (report?.type !== "completed") return assert.fail(up.stdout)
        const { file, parts, path, sessions } = report
        assert.deepStrictEqual([path, report.bytes, parts, sessions], [`${folder}/interview.mp4`, 1_500_000, 1, 1])
        assert.deepStrictEqual([file.name, file.type], ["../a\u001b.mp4", "video/mp4"])

        assert.deepStrictEqual(jsonLines((yield* invoke(["file", file.id, "--json"], env)).stdout), [file])
        const table = yield* invoke(["file", file.id], env)
        assert.include(table.stdout, `id          ${file.id}\nname        ../a\ufffd.mp4\n`)

        const down = yield* invoke(["download", file.id, "-o", `${folder}/copy.mp4`, "--json"], env)
        assert.strictEqual(down.code, 0, down.stderr)
        const [downloaded] = jsonLines(down.stdout).map((line) => Schema.decodeUnknownSync(Reports.Downloaded)(line))
        assert.deepStrictEqual([downloaded?.path, downloaded?.bytes], [`${folder}/copy.mp4`, 1_500_000])
        assert.deepStrictEqual(yield* fs.readFile(`${folder}/copy.mp4`), bytes)
      }))

    it.scoped("a download named ../../one.txt stays in its folder and overwrites a file only with --overwrite", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        const up = yield* invoke(["upload", `${folder}/notes/one.txt`, "--name", "../../one.txt"], env)
        const [id = ""] = up.stdout.split("\t")
        yield* fs.makeDirectory(`${folder}/down`)
        const download = ["download", id, "--output", `${folder}/down`]
        const first = yield* invoke(download, env)
        const [, path = ""] = first.stdout.trimEnd().split("\t")
        assert.strictEqual(first.code, 0, first.stderr)
        assert.deepStrictEqual((yield* fs.readDirectory(`${folder}/down`)).map((name) => `${folder}/down/${name}`), [
          path
        ])
        yield* fs.writeFileString(path, "mine")
        const second = yield* invoke(download, env)
        assert.strictEqual(second.code, 2)
        assert.include(second.stderr, "already exists")
        assert.strictEqual(yield* fs.readFileString(path), "mine")
        const third = yield* invoke([...download, "--overwrite"], env)
        assert.strictEqual(third.code, 0, third.stderr)
        assert.strictEqual(yield* fs.readFileString(path), "one")
      }))

    it.scoped("a path given twice is uploaded once, with a notice, but a hard link to it is uploaded too", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        yield* fs.link(`${folder}/notes/one.txt`, `${folder}/notes/three.txt`)
        const ended = yield* invoke(["upload", `${folder}/notes`, `${folder}/notes/one.txt`], env)
        assert.strictEqual(ended.code, 0, ended.stderr)
        assert.include(ended.stderr, `${folder}/notes/one.txt is given more than once: uploading it once\n`)
        const paths = ended.stdout.trimEnd().split("\n").map((line) => line.split("\t")[1])
        assert.sameMembers(paths, ["-two.txt", "one.txt", "three.txt"].map((name) => `${folder}/notes/${name}`))
      }))

    it.scoped("an upload that is stopped once every file is reported does not ask to be run again", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        for (const [path, standing] of [["notes/one.txt", "the file was"], ["notes", "all 2 files were"]]) {
          let reports = 0
          // so that the second upload is not skipped
          yield* Effect.forEach(
            ["one", "-two"],
            (name) => fs.writeFileString(`${folder}/notes/${name}.txt`, `${path} ${name}`)
          )
          const isLast = (text: string) => {
            reports += text.split("\n").filter((line) => line.includes("\"completed\"")).length
            return reports === (path === "notes" ? 2 : 1)
          }
          const ended = yield* stoppedAfter(isLast, ["upload", `${folder}/${path}`, "--json"], env)
          assert.strictEqual(ended.code, 130)
          assert.strictEqual(
            ended.stderr,
            `Stopped after ${standing} uploaded: nothing is left to resume.\n` +
              "{\"type\":\"failed\",\"error\":{\"_tag\":\"Interrupted\",\"kind\":\"tryLater\",\"message\":\"Interrupted.\"}}\n"
          )
        }
      }))

    it.scoped("uploads a file whose name is a word for true or false, after any option", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        const directory = process.cwd()
        yield* Effect.acquireRelease(
          Effect.sync(() => process.chdir(folder)),
          () => Effect.sync(() => process.chdir(directory))
        )
        yield* Effect.forEach(["1", "no"], (name) => fs.writeFileString(name, name))
        const ended = yield* invoke(["upload", "--quiet", "1", "--no-resume", "no"], env)
        assert.sameMembers(ended.stdout.trimEnd().split("\n").map((line) => line.split("\t")[1]), ["1", "no"])
      }))

    it.scoped.skipIf(process.platform === "win32")(
      "tells of a file in one line even if its name has two",
      () =>
        Effect.gen(function*() {
          const { env } = yield* Sandbox
          const { folder, fs } = yield* fixtures
          yield* fs.writeFileString(`${folder}/a\nb`, "one")
          yield* fs.writeFileString(`${folder}/c\nd`, "")
          const ended = yield* invoke(["upload", `${folder}/a\nb`, `${folder}/a\nb`, `${folder}/c\nd`], env)
          assert.match(ended.stderr, /\/a\ufffdb is given more than once/)
          assert.match(ended.stderr, /\/c\ufffdd: /)
          assert.match(ended.stderr, /^Failed: \S*\/c\ufffdd: /m)
          const [id = ""] = ended.stdout.split("\t")
          const down = yield* invoke(["download", id, "-o", `${folder}/e\nf`], env)
          assert.match(down.stderr, /^Downloaded \S*\/e\ufffdf: /m)
        })
    )

    it.scoped("a hard link of the same name in another folder is uploaded as a separate file", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        yield* fs.makeDirectory(`${folder}/again`)
        const paths = [`${folder}/notes/one.txt`, `${folder}/again/one.txt`]
        yield* Effect.forEach(paths.slice(1), (path) => fs.link(`${folder}/notes/one.txt`, path))
        const ended = yield* invoke(["upload", ...paths], env)
        assert.strictEqual(ended.code, 0, ended.stderr)
        const told = ended.stdout.trimEnd().split("\n").map((line) => line.split("\t"))
        assert.sameMembers(told.map(([, path]) => path), paths)
        assert.strictEqual(new Set(told.map(([id]) => id)).size, 2)
      }))

    it.scoped("a file that cannot be read does not stop the others, and the exit code is that of wrong input", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder } = yield* fixtures
        const paths = ["missing.mp4", "empty.txt", "notes", "interview.mp4"].map((name) => `${folder}/${name}`)
        const ended = yield* invoke(["upload", ...paths, "--json", "--strategy", "multipart"], env)
        assert.strictEqual(ended.code, 2)
        const reports = uploadReports(jsonLines(ended.stdout)).flatMap((report) =>
          report.type !== "completed" && report.type !== "failed"
            ? []
            : [{ path: report.path, outcome: report.type === "failed" ? report.error._tag : report.type }]
        )
        assert.deepStrictEqual(
          new Map(reports.map(({ outcome, path }) => [path, outcome])),
          new Map([
            [`${folder}/missing.mp4`, "SourceUnreadable"],
            [`${folder}/empty.txt`, "EmptySource"],
            [`${folder}/notes/-two.txt`, "completed"],
            [`${folder}/notes/one.txt`, "completed"],
            [`${folder}/interview.mp4`, "completed"]
          ])
        )
        assert.match(ended.stderr, /missing\.mp4: "missing\.mp4" does not exist[^]*2 of 5 files failed/)
      }))

    /** What was uploaded and what was skipped, each by its path, with the id. */
    const ended = (stdout: string) => {
      const reports = uploadReports(jsonLines(stdout))
      return {
        completed: new Map(
          reports.flatMap((report) => report.type === "completed" ? [[report.path, report.file.id]] : [])
        ),
        skipped: new Map(
          reports.flatMap((report) =>
            report.type === "skipped" && report.fileId !== undefined ? [[report.path, report.fileId]] : []
          )
        ),
        summary: reports.at(-1)
      }
    }

    it.scoped("an upload sends only what was never uploaded, or has changed since, whatever the list of paths", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        const upload = (...words: ReadonlyArray<string>) =>
          Effect.map(invoke(["upload", ...words, "--json"], env), ({ code, stderr, stdout }) => {
            assert.strictEqual(code, 0, stderr)
            return ended(stdout)
          })
        const [one, two, film] = ["notes/one.txt", "notes/-two.txt", "interview.mp4"].map((name) => `${folder}/${name}`)
        const first = yield* upload(folder)
        assert.sameMembers([...first.completed.keys()], [one, two, film])
        const all = yield* upload(folder)
        assert.deepStrictEqual(all.completed, new Map())
        assert.deepStrictEqual(all.skipped, first.completed)
        const some = yield* upload(`${folder}/./notes`, film ?? "")
        assert.deepStrictEqual(some.completed, new Map())
        assert.strictEqual(some.skipped.size, 3)
        yield* fs.writeFileString(one ?? "", "changed")
        yield* fs.writeFileString(`${folder}/empty.txt`, "no longer empty")
        const changed = yield* upload(folder)
        assert.sameMembers([...changed.completed.keys()], [one, `${folder}/empty.txt`])
        assert.strictEqual(changed.skipped.size, 2)
        assert.deepInclude(changed.summary, {
          type: "summary",
          files: 4,
          uploaded: 2,
          skipped: { uploaded: 2 },
          failed: 0
        })
        const again = yield* upload(folder, "--again")
        assert.strictEqual(again.completed.size, 4)
        assert.isTrue([...again.completed].every(([path, id]) => changed.completed.get(path) !== id))
        assert.deepStrictEqual((yield* upload(folder)).skipped, again.completed)
      }))

    it.scoped("what has other bytes with the same date is uploaded, and with --check not what only has another date", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        const upload = (...words: ReadonlyArray<string>) =>
          Effect.map(invoke(["upload", `${folder}/notes`, "--json", ...words], env), ({ stdout }) => ended(stdout))
        const [one, two] = ["notes/one.txt", "notes/-two.txt"].map((name) => `${folder}/${name}`)
        yield* Effect.forEach([one, two], (path = "") => fs.utimes(path, 1_700_000_000, 1_700_000_000))
        yield* upload()
        yield* fs.writeFileString(one ?? "", "ONE")
        yield* fs.utimes(one ?? "", 1_700_000_000, 1_700_000_000)
        yield* fs.utimes(two ?? "", 1_700_000_001, 1_700_000_001)
        const byDate = yield* upload()
        assert.sameMembers([...byDate.completed.keys()], [one, two])
        yield* fs.utimes(two ?? "", 1_700_000_002, 1_700_000_002)
        const byContent = yield* upload("--check")
        assert.deepStrictEqual(byContent.completed, new Map())
        assert.sameMembers([...byContent.skipped.keys()], [one, two])
        // what was compared once need not be compared again
        assert.deepStrictEqual((yield* upload()).completed, new Map())
      }))

    it.scoped("a file with another --name or --media-type is uploaded, and skipped the next time", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder } = yield* fixtures
        const upload = (...words: ReadonlyArray<string>) =>
          Effect.map(
            invoke(["upload", `${folder}/interview.mp4`, "--json", ...words], env),
            ({ stdout }) => ended(stdout).completed.size
          )
        assert.strictEqual(yield* upload(), 1)
        assert.strictEqual(yield* upload("--name", "interview.mp4"), 0)
        assert.strictEqual(yield* upload("--name", "other.mp4"), 1)
        assert.strictEqual(yield* upload("--name", "other.mp4"), 0)
        assert.strictEqual(yield* upload("--media-type", "video/quicktime"), 1)
        assert.strictEqual(yield* upload("--media-type", "video/quicktime"), 0)
        assert.strictEqual(yield* upload(), 0)
      }))

    it.scoped("two commands at once upload each file once", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        yield* Effect.forEach(Array.from({ length: 20 }, (_, index) => `${folder}/notes/${index}`), (path) =>
          fs.writeFileString(path, path))
        const upload = Effect.map(invoke(["upload", folder, "--json"], env), ({ stdout }) =>
          ended(stdout))
        const both = yield* Effect.all([upload, upload], { concurrency: "unbounded" })
        const paths = both.flatMap(({ completed }) => [...completed.keys()])
        assert.strictEqual(new Set(paths).size, paths.length)
        assert.lengthOf(paths, 23)
      }))

    it.scoped("an upload stopped before it reports its completed file skips that file when repeated", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder } = yield* fixtures
        const upload = ["upload", `${folder}/interview.mp4`, "--json"]
        const before = yield* stoppedAt((text) => text.includes("\"completed\""), upload, env)
        const { completed, skipped } = ended((yield* invoke(upload, env)).stdout)
        assert.deepStrictEqual(completed, new Map())
        assert.deepStrictEqual(skipped, ended(before).completed)
      }))

    it.scoped("a repeated upload of several files keeps those completed before a stop and leaves none unfinished", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder } = yield* fixtures
        const upload = ["upload", `${folder}/interview.mp4`, `${folder}/notes/one.txt`, "--files", "1", "--json"]
        const before = ended(yield* stoppedAt((text) => text.includes("\"completed\""), upload, env))
        const { completed, skipped } = ended((yield* invoke(upload, env)).stdout)
        assert.deepStrictEqual(skipped, before.completed)
        assert.strictEqual(completed.size + skipped.size, 2)
        // another process of tests may be uploading to a sandbox of its own
        const left = jsonLines((yield* invoke(["uploads", "--json"], env)).stdout)
          .map((line) => Schema.decodeUnknownSync(Reports.Unfinished)(line))
        assert.isEmpty(left.filter(({ service }) => service === env["STEVEDORE_BASE_URL"]))
      }))

    it.scoped("a link and an empty file in a folder are skipped with a line at the end, and an empty folder is no failure", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        yield* fs.symlink("notes", `${folder}/link`)
        const some = yield* invoke(["upload", folder], env)
        assert.strictEqual(some.code, 0, some.stderr)
        assert.match(some.stderr, /^Skipped 1 empty file \(\S+\/empty\.txt\), 1 link \(\S+\/link\)$/m)
        yield* fs.makeDirectory(`${folder}/none`)
        const none = yield* invoke(["upload", `${folder}/none`], env)
        assert.deepStrictEqual([none.code, none.stdout, none.stderr], [0, "", "Nothing to upload\n"])
      }))

    it.scoped("a repeated upload reads back a file that could not be read back, and sends nothing", () =>
      Effect.gen(function*() {
        const { folder } = yield* fixtures
        const token = "api.of-this-test"
        const { baseUrl, report } = yield* SandboxServer.start({
          port: 0,
          storagePort: 0,
          directory: Option.none(),
          token: Option.some(token),
          projects: 0
        }, { faults: FaultScript.on("download").answer(403, "Forbidden") })
        const env = { STEVEDORE_BASE_URL: baseUrl, STEVEDORE_TOKEN: token }
        const upload = ["upload", `${folder}/interview.mp4`, "--verify", "download", "--json"]
        const first = yield* invoke(upload, env)
        assert.strictEqual(first.code, 1)
        const second = yield* invoke(upload, env)
        assert.strictEqual(second.code, 0, second.stderr)
        const told = uploadReports(jsonLines(first.stdout + second.stdout)).flatMap((report) =>
          report.type === "failed" ? [report.error._tag] : report.type === "completed" ? [report.type] : []
        )
        assert.deepStrictEqual(told, ["ContentUnverified", "completed"])
        const operations = (yield* report).requests.map(({ operation }) => operation)
        assert.deepStrictEqual(operations, ["initiate", "put", "complete", "download", "complete", "download"])
        assert.notInclude((yield* invoke(["uploads", "--json"], env)).stdout, baseUrl)
      }))

    it.scoped("a repeated upload skips completed files, but sends those that the service no longer has", () =>
      Effect.gen(function*() {
        const { folder } = yield* fixtures
        const token = "api.of-this-test"
        const served = (port: number) =>
          SandboxServer.start({
            port,
            storagePort: 0,
            directory: Option.none(),
            token: Option.some(token),
            projects: 0
          })
        const upload = (baseUrl: string) =>
          invoke(["upload", folder], { STEVEDORE_BASE_URL: baseUrl, STEVEDORE_TOKEN: token })
        const baseUrl = yield* Effect.scoped(Effect.gen(function*() {
          const { baseUrl, report } = yield* served(0)
          yield* upload(baseUrl)
          assert.match((yield* upload(baseUrl)).stderr, /^Skipped .*3 already uploaded/m)
          const operations = (yield* report).requests.map(({ operation }) => operation)
          assert.strictEqual(operations.filter((operation) => operation === "file").length, 3)
          assert.strictEqual(operations.filter((operation) => operation === "initiate").length, 3)
          return baseUrl
        }))
        const { stored } = yield* served(Number(new URL(baseUrl).port))
        const { stderr, stdout } = yield* upload(baseUrl)
        assert.notInclude(stderr, "already uploaded")
        const ids = stdout.trimEnd().split("\n").map((line) => line.split("\t")[0] ?? "")
        const sizes = yield* Effect.forEach(ids, (id) => Effect.map(stored(id), (bytes) => bytes.byteLength))
        assert.sameMembers(sizes, [3, 3, 1_500_000])
      }))

    it.scoped("without --json, upload prints id and path to standard output and the rest to standard error", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder } = yield* fixtures
        const ended = yield* invoke(["upload", `${folder}/notes/one.txt`], env)
        assert.strictEqual(ended.code, 0, ended.stderr)
        assert.match(ended.stdout, /^\w{22}\t\S+\/one\.txt\n$/)
        assert.match(ended.stderr, /^Uploaded \S+\/one\.txt: 3 B in .*\n$/)
      }))

    it.scoped("a rejected token exits with 3, is sent once for all files of an upload, and is never shown", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        yield* fs.writeFileString(`${folder}/token`, "api.wrong-one\n")
        const wrong = ["--token-file", `${folder}/token`, "--log-level", "all"]
        const right = { ...env, STEVEDORE_TOKEN: "api.right-one" }
        const up = yield* invoke(["upload", `${folder}/interview.mp4`, `${folder}/notes`, "--json", ...wrong], right)
        const list = yield* invoke(["projects", ...wrong], right)
        const who = yield* invoke(["whoami", ...wrong], right)
        assert.deepStrictEqual([up.code, list.code, who.code], [3, 3, 3])
        const reports = uploadReports(jsonLines(up.stdout)).filter((report) => report.type === "failed")
        assert.strictEqual(reports.length, 3)
        assert.strictEqual(new Set(reports.map(({ error }) => error["requestId"])).size, 1)
        for (const { stderr, stdout } of [up, list, who]) {
          assert.notInclude(stdout + stderr, "wrong-one")
          assert.notInclude(stdout + stderr, "right-one")
        }
        assert.match(who.stderr, /rejected the token/)
        assert.lengthOf(up.stderr.match(/rejected the token/g) ?? [], 1)
        assert.match(
          up.stderr,
          /\nFailed, 3 files \(Unauthorized\): .*\n(?: {2}\S+\n){3}\{"type":"failed",.*"message":"3 of 3 files failed/
        )
      }))

    it.scoped("list --resume continues where the last run stopped, and rejects a foreign or invalid checkpoint", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder } = yield* fixtures
        const five = ["list", "projects", "--limit", "5", "--sort", "created_at:asc", "--resume", `${folder}/place`]
        const first = yield* invoke([...five, "--json"], env)
        const second = yield* invoke([...five, "--json"], env)
        assert.deepStrictEqual(
          [first, second].flatMap(({ stdout }) => titlesOf(stdout)),
          Array.from({ length: 10 }, (_, index) => `Project ${index + 1}`)
        )
        const other = yield* invoke(["list", "projects", "--resume", `${folder}/place`], env)
        assert.deepStrictEqual([other.code, other.stdout], [2, ""])
        assert.match(other.stderr, /^The checkpoint of \/v1\/projects/)
        const notOne = yield* invoke(["list", "projects", "--resume", `${folder}/interview.mp4`], env)
        assert.deepStrictEqual([notOne.code, notOne.stdout], [2, ""])
      }))

    it.scoped("list --resume does not write through a symbolic link, and replaces a half-written checkpoint", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        const words = ["list", "projects", "--limit", "1", "--resume", `${folder}/place`]
        yield* fs.writeFileString(`${folder}/precious`, "precious")
        yield* fs.symlink(`${folder}/precious`, `${folder}/place.new`)
        assert.strictEqual((yield* invoke(words, env)).code, 0)
        yield* fs.writeFileString(`${folder}/place.new`, "half of a pla")
        assert.strictEqual((yield* invoke(words, env)).code, 0)
        assert.strictEqual(yield* fs.readFileString(`${folder}/precious`), "precious")
        assert.strictEqual(JSON.parse(yield* fs.readFileString(`${folder}/place`)).position, 2)
      }))

    it.scoped("list applies filters, sorting and any path, and projects is short for list /v1/projects", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const filtered = yield* invoke(
          ["list", "projects", "--filter", "title.contains=24", "--sort", "title:desc", "--limit", "2", "--json"],
          env
        )
        assert.deepStrictEqual(titlesOf(filtered.stdout), ["Project 249", "Project 248"])
        const anyPath = yield* invoke(["list", "/v1/projects", "--limit", "1"], env)
        const short = yield* invoke(["projects", "--page-size", "7", "--limit", "1"], env)
        assert.strictEqual(short.stdout, anyPath.stdout)
        assert.match(short.stdout, /^\w{22}\tProject 250\t2024-\S+\n$/)
        assert.strictEqual((yield* invoke(["projects"], env)).stdout.split("\n").length, 251)
      }))

    it.scoped("whoami --json prints the subdomain of the token", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { code, stdout } = yield* invoke(["whoami", "--json"], env)
        assert.strictEqual(code, 0)
        assert.property(jsonLines(stdout)[0], "subdomain")
      }))

    it.scoped("STEVEDORE_PROFILE may name a profile file, and --profile overrides it", () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const { folder, fs } = yield* fixtures
        const other = { ...env, STEVEDORE_PROFILE: `${folder}/profile.json` }
        yield* fs.writeFileString(
          `${folder}/profile.json`,
          JSON.stringify({ encryptionHeaders: { "x-amz-other": "1" } })
        )
        const upload = ["upload", `${folder}/notes/one.txt`, "--json"]
        const unsigned = yield* invoke(upload, other)
        assert.strictEqual(unsigned.code, 1)
        const report = uploadReports(jsonLines(unsigned.stdout)).at(-2)
        assert.strictEqual(report?.type === "failed" ? report.error._tag : "", "SignedHeaderMissing")
        const given = yield* invoke([...upload, "--profile", "standard"], other)
        assert.strictEqual(given.code, 0, given.stderr)
      }))
  }
)
