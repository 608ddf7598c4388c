import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import { Effect, Layer, Schema } from "effect"
import { StandardInput } from "../../src/files/standardInput.js"
import { invoke, jsonLines, Sandbox, sandbox } from "./invoke.js"

const reportsOf = (stdout: string) =>
  Schema.decodeUnknownSync(Schema.Array(Reports.UploadReport), { onExcessProperty: "preserve" })(jsonLines(stdout))

/** A folder with files of these sizes, each with its own name as content. */
const filled = (sizes: Readonly<Record<string, number>>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    for (const [name, size] of Object.entries(sizes)) {
      yield* fs.makeDirectory(`${folder}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true })
      yield* fs.writeFileString(`${folder}/${name}`, name.padEnd(size, ".").slice(0, size))
    }
    return { folder, fs }
  })

const from = (text: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provideService(effect, StandardInput, async function*() {
    yield new TextEncoder().encode(text)
  })

layer(Layer.merge(sandbox(), NodeContext.layer), { excludeTestServices: true })("the habits of moving files", (it) => {
  const upload = (...words: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const { env } = yield* Sandbox
      const ended = yield* invoke(["upload", ...words, "--json"], env)
      const reports = reportsOf(ended.stdout)
      return {
        ...ended,
        reports,
        uploaded: reports.flatMap((report) => report.type === "completed" ? [report.file.name ?? ""] : []).sort(),
        files: new Map(reports.flatMap((report) => report.type === "completed" ? [[report.file.id, report.file]] : [])),
        failed: reports.flatMap((report) => report.type === "failed" ? [report.path] : [])
      }
    })

  it.scoped("--include and --exclude choose by gitignore's patterns, and count what they leave out", () =>
    Effect.gen(function*() {
      const { folder } = yield* filled({
        "a.wav": 3,
        "a.txt": 3,
        "drafts/b.wav": 3,
        "deep/down/c.wav": 3,
        "deep/keep.wav": 3,
        "deep/d.wav": 3
      })
      const words = ["--include", "*.wav", "--exclude", "drafts/", "--exclude", "deep/*.wav", "--exclude", "!keep.wav"]
      const { stderr, uploaded } = yield* upload(folder, ...words)
      assert.deepStrictEqual(uploaded, ["a.wav", "deep/down/c.wav", "deep/keep.wav"])
      assert.include(stderr, "Left out 3 that the options exclude")
      const named = yield* upload(`${folder}/a.txt`, `${folder}/deep/d.wav`, "--include", "*.txt")
      assert.deepStrictEqual(named.uploaded, ["a.txt"])
    }))

  it.scoped("the report is no file of the folder that it stands in, on any night", () =>
    Effect.gen(function*() {
      const { folder } = yield* filled({ "a.wav": 3 })
      for (const uploaded of [["a.wav"], [], []]) {
        const night = yield* upload(folder, "--report", `${folder}/last.csv`)
        assert.deepStrictEqual([night.code, night.uploaded], [0, uploaded])
      }
    }))

  it.scoped("a link that is left out is not told as skipped", () =>
    Effect.gen(function*() {
      const { folder, fs } = yield* filled({ "a.wav": 3 })
      yield* fs.symlink("a.wav", `${folder}/b.tmp`)
      const { reports } = yield* upload(folder, "--exclude", "*.tmp")
      assert.isEmpty(reports.filter(({ type }) => type === "skipped"))
    }))

  it.scoped("a link or an empty file in a folder is a skip, told at the end, and the exit code is 0", () =>
    Effect.gen(function*() {
      const { folder, fs } = yield* filled({ "a.wav": 3, ".gitkeep": 0 })
      const { folder: elsewhere } = yield* filled({ "target.wav": 5 })
      yield* fs.symlink(`${elsewhere}/target.wav`, `${folder}/link.wav`)
      const plain = yield* upload(folder)
      assert.deepStrictEqual([plain.code, plain.uploaded], [0, ["a.wav"]])
      const skips = plain.reports.flatMap((report) => report.type === "skipped" ? [report.path] : [])
      assert.deepStrictEqual(skips.map((path) => path.replace(`${folder}/`, "")).sort(), [".gitkeep", "link.wav"])

      const followed = yield* upload(folder, "--follow-links")
      assert.deepStrictEqual([followed.code, followed.uploaded], [0, ["link.wav"]])
    }))

  it.scoped("--skip-empty leaves out empty files that were named, and an empty folder has nothing to upload", () =>
    Effect.gen(function*() {
      const { folder, fs } = yield* filled({ "a.wav": 3, "empty.wav": 0 })
      const named = yield* upload(`${folder}/a.wav`, `${folder}/empty.wav`, "--skip-empty")
      assert.deepStrictEqual([named.code, named.uploaded], [0, ["a.wav"]])
      const refused = yield* upload(`${folder}/empty.wav`)
      assert.notStrictEqual(refused.code, 0)
      const nothing = yield* upload(yield* fs.makeTempDirectoryScoped())
      assert.deepStrictEqual([nothing.code, nothing.uploaded], [0, []])
    }))

  it.scoped("--newer-than, --older-than, --larger-than and --smaller-than choose by date and size", () =>
    Effect.gen(function*() {
      const { folder, fs } = yield* filled({ "small": 10, "large": 3000, "old": 3000 })
      const now = Date.now() / 1000
      yield* fs.utimes(`${folder}/old`, now - 3 * 86_400, now - 3 * 86_400)
      const chosen = (...words: ReadonlyArray<string>) =>
        Effect.map(upload(folder, ...words, "--again"), ({ uploaded }) => uploaded)
      assert.deepStrictEqual(yield* chosen("--newer-than", "2d"), ["large", "small"])
      assert.deepStrictEqual(yield* chosen("--older-than", "36h"), ["old"])
      assert.deepStrictEqual(yield* chosen("--newer-than", "2001-01-01", "--larger-than", "2.9kB"), ["large", "old"])
      assert.deepStrictEqual(yield* chosen("--smaller-than", "2KiB"), ["small"])
    }))

  it.scoped("what is not a size, an age or a date is refused before anything is sent", () =>
    Effect.gen(function*() {
      for (
        const [option, value] of [
          ["--newer-than", "yesterday"],
          ["--older-than", "2026-13-45"],
          ["--larger-than", "10 apples"],
          ["--smaller-than", "-1"]
        ] as const
      ) {
        const { code, stderr } = yield* upload(".", `${option}=${value}`)
        assert.strictEqual(code, 2)
        assert.include(stderr, option)
        assert.include(stderr, value)
      }
    }))

  it.scoped.each<readonly [kind: string, file: string, list: (folder: string) => string, more: ReadonlyArray<string>]>([
    ["lines", "list", (folder) => `${folder}/a b.bin\n\n${folder}/c.bin\r\n`, []],
    ["NUL", "list", (folder) => `${folder}/a b.bin\0${folder}/c.bin\0`, ["-0"]],
    [
      "JSON lines",
      "list.jsonl",
      (folder) =>
        `{"path":"${folder}/a b.bin","name":"A"}\n{"path":"${folder}/c.bin","media_type":"audio/wav","note":1}\n`,
      []
    ],
    [
      "a table",
      "list.csv",
      (folder) => `\ufeffPath;Name;Media type\r\n"${folder}/a b.bin";A;\r\n${folder}/c.bin;;audio/wav\r\n`,
      []
    ]
  ])("--files-from reads %s from a file and from standard input", ([kind, file, list, more]) =>
    Effect.gen(function*() {
      const { folder, fs } = yield* filled({ "a b.bin": 3, "c.bin": 4, "not listed": 5 })
      yield* fs.writeFileString(`${folder}/${file}`, list(folder))
      const one = yield* upload("--files-from", `${folder}/${file}`, ...more)
      assert.strictEqual(one.code, 0, one.stderr)
      const rows = kind === "JSON lines" || kind === "a table"
      assert.deepStrictEqual(one.uploaded, rows ? ["A", "c.bin"] : ["a b.bin", "c.bin"])
      if (rows) {
        assert.include([...one.files.values()].map(({ type }) => type), "audio/wav")
      }
      const other = yield* from(list(folder))(upload("--files-from", "-", "--again", ...more))
      assert.deepStrictEqual(other.uploaded, one.uploaded)
    }))

  it.scoped("a list without paths, or nothing to upload at all, is wrong usage", () =>
    Effect.gen(function*() {
      const { folder, fs } = yield* filled({ "list.csv": 0 })
      yield* fs.writeFileString(`${folder}/list.csv`, "name,size\na,1\n")
      const list = yield* upload("--files-from", `${folder}/list.csv`)
      assert.strictEqual(list.code, 2)
      assert.match(list.stderr, /--files-from: \S+list\.csv, line 2: expected a row with one of path, url, file/)
      const nothing = yield* upload()
      assert.deepStrictEqual([nothing.code, nothing.stdout], [2, ""])
      assert.match(nothing.stderr, /PATH: nothing to upload is named/)
    }))

  it.scoped("- uploads standard input under the name given, and asks for one", () =>
    Effect.gen(function*() {
      const { env } = yield* Sandbox
      const { folder, fs } = yield* filled({ "a": 1 })
      const unnamed = yield* from("hello")(upload("-"))
      assert.strictEqual(unnamed.code, 2)
      assert.match(unnamed.stderr, /--name: standard input has no name/)
      const { files, reports, uploaded } = yield* from("hello")(upload("-", "--name", "hello.txt"))
      assert.deepStrictEqual(uploaded, ["hello.txt"])
      // as it was given, in every line about it; its name is that of the record
      assert.deepStrictEqual(reports.flatMap((report) => report.type === "completed" ? [report.path] : []), ["-"])
      const [id = ""] = files.keys()
      yield* invoke(["download", id, "-o", `${folder}/copy`], env)
      assert.strictEqual(yield* fs.readFileString(`${folder}/copy`), "hello")
      // it has no date by which it could be known again
      const { stdout } = yield* from("hello")(invoke(["upload", "-", "--name", "hello.txt"], env))
      assert.match(stdout, /^\S+\thello\.txt\n$/)
    }))

  it.scoped("--part-size says how many parts a file has", () =>
    Effect.gen(function*() {
      const { folder } = yield* filled({ "a.bin": 12_000_000 })
      const { reports, stderr } = yield* upload(`${folder}/a.bin`, "--strategy", "multipart", "--part-size", "6M")
      const parts = reports.flatMap((report) => report.type === "completed" ? [report.parts] : [])
      assert.deepStrictEqual(parts, [2], stderr)
    }))

  it.scoped(
    "--dry-run says what would be sent, its calls and the time they take, and sends nothing",
    () =>
      Effect.gen(function*() {
        const { env } = yield* Sandbox
        const sizes = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`${index}.bin`, 1000]))
        const { folder } = yield* filled({ ...sizes, "empty": 0 })
        yield* upload(`${folder}/0.bin`)
        const dry = yield* upload(folder, "--dry-run", "--profile", "dovetail")
        assert.strictEqual(dry.code, 0, dry.stderr)
        assert.deepStrictEqual(dry.reports.at(-1), {
          type: "plan",
          files: 249,
          bytes: 249_000,
          calls: 498,
          rateLimit: { calls: 200, seconds: 60 },
          seconds: 149.4,
          bytesSeconds: null,
          by: "calls"
        })
        assert.lengthOf(dry.reports.filter(({ type }) => type === "planned"), 249)
        assert.lengthOf(dry.reports.filter(({ type }) => type === "skipped"), 2)
        const words = yield* invoke(["upload", folder, "--dry-run", "--profile", "dovetail"], env)
        assert.match(
          words.stderr,
          /^Would upload 249 files, 249\.0 kB: 498 calls, 2m 29s, as the service allows 200 in 1m\. The bytes .* below 1\.7 kB\/s$/m
        )
        const there = yield* invoke(["upload", `${folder}/0.bin`, "--dry-run"], env)
        assert.match(there.stderr, /1 already uploaded/)
        const few = yield* invoke(["upload", `${folder}/1.bin`, "--dry-run", "--profile", "dovetail"], env)
        assert.include(few.stderr, "2 calls, at once: the service allows 200 in 1m")
        assert.lengthOf((yield* upload(folder, "--include", "1*.bin")).uploaded, 111)
      }),
    60_000
  )

  it.scoped("--report has a row for each file, and --retry-failed uploads those that failed", () =>
    Effect.gen(function*() {
      for (const name of ["report.csv", "report.jsonl"]) {
        const { folder, fs } = yield* filled({ "a.bin": 3, "b, \"c\".bin": 4 })
        const report = `${folder}/../${name}-${folder.split("/").at(-1)}.${name.split(".")[1]}`
        yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(report)))
        yield* fs.writeFileString(`${folder}/rows.csv`, `path,name\n${folder}/a.bin,A\n${folder}/missing.bin,M\n`)
        const first = yield* upload("--files-from", `${folder}/rows.csv`, "--report", report)
        assert.deepStrictEqual([first.code, first.uploaded, first.failed], [2, ["A"], [`${folder}/missing.bin`]])
        const text = yield* fs.readFileString(report)
        assert.strictEqual(text.trimEnd().split("\n").length, name === "report.csv" ? 4 : 3)
        assert.match(text, /missing\.bin[",]+(?:status":")?failed.*SourceUnreadable/)
        yield* fs.writeFileString(`${folder}/missing.bin`, "there now")
        const second = yield* upload("--retry-failed", report, "--report", report)
        assert.deepStrictEqual([second.code, second.uploaded], [0, ["M"]])
        const third = yield* upload("--retry-failed", report)
        assert.deepStrictEqual([third.code, third.uploaded], [0, []])
      }
    }))

  it.scoped("--fail-fast stops at the first failure, and --max-errors at the given one", () =>
    Effect.gen(function*() {
      const missing = Array.from({ length: 20 }, (_, index) => `/no/such/${index}`)
      const fast = yield* upload(...missing, "--files", "1", "--fail-fast")
      assert.deepStrictEqual([fast.code, fast.failed.length], [2, 1])
      assert.include(fast.stderr, "1 of 20 files failed, and 19 were not tried.")
      const some = yield* upload(...missing, "--files", "1", "--max-errors", "3")
      assert.strictEqual(some.failed.length, 3)
      assert.strictEqual((yield* upload(...missing)).failed.length, 20)
    }))

  it.scoped("uploaded lists what was uploaded, and --forget makes it be uploaded again", () =>
    Effect.gen(function*() {
      const { env } = yield* Sandbox
      const { folder } = yield* filled({ "a.bin": 3, "deep/b.bin": 4 })
      const { files } = yield* upload(folder)
      const listed = (...words: ReadonlyArray<string>) => invoke(["uploaded", ...words], env)
      const rows = (yield* listed(folder)).stdout.trimEnd().split("\n").map((line) => line.split("\t"))
      assert.deepStrictEqual(rows.map(([, path = ""]) => path.split("/").at(-1)), ["a.bin", "b.bin"])
      assert.sameMembers(rows.map(([id]) => id), [...files.keys()])
      const entries = yield* Schema.decodeUnknown(Schema.Array(Reports.Uploaded))(
        jsonLines((yield* listed(`${folder}/deep`, "--json")).stdout)
      )
      assert.deepStrictEqual(entries.map(({ name, size }) => [name, size]), [["deep/b.bin", 4]])
      assert.strictEqual((yield* listed("--forget", `${folder}/deep`)).code, 0)
      assert.deepStrictEqual((yield* upload(folder)).uploaded, ["deep/b.bin"])
      const unknown = yield* listed("--forget", `${folder}/none`)
      assert.strictEqual(unknown.code, 2)
    }))

  it.scoped("the failures are repeated at the end by their reasons, and --json ends with a summary", () =>
    Effect.gen(function*() {
      const { folder } = yield* filled({ "a.bin": 3 })
      const missing = ["x", "y", "z"].map((name) => `/no/such/${name}`)
      const { reports, stderr } = yield* upload(...missing, `${folder}/a.bin`)
      assert.match(
        stderr,
        /^Failed, 3 files \(SourceUnreadable\): "x" does not exist.*\n {2}\/no\/such\/x\n {2}\/no\/such\/y\n {2}\/no\/such\/z$/m
      )
      const summary = reports.at(-1)
      if (summary?.type !== "summary") return assert.fail()
      assert.deepInclude(summary, { files: 4, uploaded: 1, failed: 3, bytesSent: 3, bytesResumed: 0, resumed: 0 })
      assert.deepStrictEqual(summary.failures.map(({ _tag, paths }) => [_tag, paths.length]), [["SourceUnreadable", 3]])
    }))

  it.scoped("several downloads go into a directory under safe names, skip what is there, and fail one by one", () =>
    Effect.gen(function*() {
      const { env } = yield* Sandbox
      const { folder, fs } = yield* filled({ "a.bin": 3, "deep/a.bin": 4, "deep/b.bin": 5 })
      yield* fs.writeFileString(
        `${folder}/rows.csv`,
        `path,name\n${folder}/a.bin,../x.bin\n${folder}/deep/a.bin,../x.bin\n`
      )
      const { files } = yield* upload("--files-from", `${folder}/rows.csv`, `${folder}/deep/b.bin`)
      yield* fs.writeFileString(`${folder}/ids`, [...files.keys(), "missing"].join("\n"))
      const download = ["download", "--files-from", `${folder}/ids`, "--directory", `${folder}/down/here`]
      const first = yield* invoke([...download, "--json"], env)
      assert.strictEqual(first.code, 1)
      assert.match(first.stderr, /^missing: .*\nFailed: missing: .*\n.*1 of 4 files failed/)
      const [small] = [...files].find(([, { size }]) => size === 3) ?? []
      const names = yield* fs.readDirectory(`${folder}/down/here`)
      assert.lengthOf(names, 3)
      assert.includeMembers(names, ["_x.bin", "b.bin"])
      assert.isTrue(names.some((name) => /^_x-\w{22}\.bin$/.test(name)), names.join())
      const paths = jsonLines(first.stdout).flatMap((line) =>
        Schema.is(Reports.Downloaded)(line) ? [[line.fileId, line.path]] : []
      )
      assert.strictEqual(
        (yield* fs.readFileString(new Map(paths.map(([id = "", path = ""]) => [id, path])).get(small ?? "") ?? ""))
          .length,
        3
      )
      const second = yield* invoke(download, env)
      assert.match(
        second.stderr,
        /^missing: NotFound\nFailed: missing: .*\nSkipped 3 already there\n1 of 4 files failed/
      )
      yield* fs.writeFileString(`${folder}/down/here/b.bin`, "longer than before")
      const third = yield* invoke(download, env)
      assert.match(third.stderr, /b\.bin" already exists/)
      assert.strictEqual(yield* fs.readFileString(`${folder}/down/here/b.bin`), "longer than before")
      yield* invoke([...download, "--overwrite"], env)
      assert.strictEqual(yield* fs.readFileString(`${folder}/down/here/b.bin`), "deep/")
    }))
})
