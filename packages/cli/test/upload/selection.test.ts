import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option, Scope } from "effect"
import * as FilesFrom from "../../src/files/filesFrom.js"
import type { FileToUpload } from "../../src/files/paths.js"
import * as ReportFile from "../../src/files/reportFile.js"
import * as Selection from "../../src/upload/selection.js"

const given: Selection.GivenFiles = {
  paths: [],
  filesFrom: Option.none(),
  nul: false,
  retryFailed: Option.none(),
  into: Option.none(),
  followLinks: false,
  include: [],
  exclude: [],
  newerThan: Option.none(),
  olderThan: Option.none(),
  largerThan: Option.none(),
  smallerThan: Option.none(),
  skipEmpty: false
}

const file = (path: string): FileToUpload => ({
  path,
  real: path,
  name: Option.none(),
  linked: false,
  url: Option.none(),
  row: Option.none(),
  size: 1,
  modified: Option.none(),
  refused: Option.none()
})

const written = (name: string, text: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/${name}`
    yield* fs.writeFileString(path, text)
    return path
  })

const retried = (report: string, more: Partial<Selection.GivenFiles> = {}) =>
  Effect.map(
    Selection.select({ ...given, ...more, retryFailed: Option.some(report) }),
    ({ files }) => files.map(({ path }) => path)
  )

const mark = "{\"status\":\"complete\"}\n"

const listed = (text: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const list = `${yield* fs.makeTempDirectoryScoped()}/list.csv`
    yield* fs.writeFileString(list, text)
    return yield* Effect.flip(Selection.select({ ...given, filesFrom: Option.some(list) }))
  }).pipe(Effect.provide(NodeContext.layer))

describe("the rows of a list", () => {
  it.scoped("are refused for a misspelt column, and for what is no media type, before a file is read", () =>
    Effect.gen(function*() {
      assert.match((yield* listed("path,nam\na,b\n")).message, /no such column: "nam": did you mean name\?/)
      assert.match((yield* listed("path,media_type\na,foo\n")).message, /the media type of a: expected a type such/)
    }))
})

describe("what says which files to upload", () => {
  it.scoped.each<readonly [what: string, name: string, text: string, problem: RegExp]>([
    ["a list of paths", "r", "/a\n/b\n", /is no report of an upload/],
    ["a list in JSON", "r.jsonl", "{\"path\":\"/a\"}\n", /is no report of an upload/],
    ["an empty file", "r.csv", "", /is no report of an upload/],
    ["a table without a status", "r.csv", "path,name\n/a,b\n", /is no report of an upload/],
    [
      "a report that was cut",
      "r.jsonl",
      "{\"path\":\"/a\",\"status\":\"uploaded\"}\n",
      /because it was cut: run that command again/
    ],
    [
      "a report that was cut in a cell",
      "r.csv",
      "path,status\n/a,uploaded\n\"/b",
      /line 3: a quoted cell that does not end/
    ],
    [
      "a report with a URL without its query",
      "r.jsonl",
      `{"path":"https://a.test/b?0123456789ab","status":"failed"}\n${mark}`,
      /URLs without their query: give --files-from beside it/
    ]
  ])("--retry-failed refuses %s", ([_, name, text, problem]) =>
    Effect.gen(function*() {
      const { exitCode, message } = yield* Effect.flip(retried(yield* written(name, text)))
      assert.match(message, problem)
      assert.strictEqual(exitCode, 2)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped.each(["report.csv", "report.jsonl"])(
    "%s has a row for each file from the start, which a command that is killed leaves, and one for each at the end",
    (name) =>
      Effect.gen(function*() {
        const path = yield* written(name, "what an earlier command left\n")
        const files = ["/a", "/b, \"c\"", "/d"].map(file)
        const scope = yield* Scope.make()
        const rows = Effect.map(
          FilesFrom.readReport(path, { input: "--report", nul: false, first: ["path"] }),
          ({ isComplete, rows }) => {
            assert.isTrue(isComplete)
            return rows.map(({ status, what }) => [what, Option.getOrNull(status)])
          }
        )
        const report = yield* Scope.extend(ReportFile.make(Option.some(path), files), scope)
        assert.deepStrictEqual(yield* rows, files.map(({ path }) => [path, "not-tried"]))
        yield* report({ _tag: "Skipped", path: "/a", reason: "uploaded", fileId: Option.some("f1"), input: file("/a") })
        assert.deepStrictEqual(yield* retried(path), ["/b, \"c\"", "/d"])
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(yield* rows, [["/a", "skipped"], ["/b, \"c\"", "not-tried"], ["/d", "not-tried"]])
        assert.deepStrictEqual(yield* retried(path), ["/b, \"c\"", "/d"])
        assert.deepStrictEqual(yield* retried(path, { paths: ["/d", "/a"] }), ["/d"])
        assert.match(
          (yield* Effect.flip(retried(path, { paths: ["/a", "/e"] }))).message,
          /none of its 2 files to upload again is among what is named/
        )
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped.each<readonly [name: string, problem: RegExp | null]>([
    ["r.csv", null],
    ["r.jsonl", null],
    ["r.log", null],
    ["report-2026.01.31", null],
    ["r.xlsx", /\.xlsx is not written: name it \.csv for a table, or \.jsonl/],
    ["r.tsv", /\.tsv is not written/],
    ["none/r.csv", /cannot write .*none\/r\.csv: it does not exist/],
    ["", /it is a directory/]
  ])("a report %j is written, or refused before anything is sent", ([name, problem]) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const checked = yield* Effect.option(Effect.flip(ReportFile.check(`${folder}/${name}`)))
      if (problem === null) assert.isTrue(Option.isNone(checked))
      else assert.match(Option.getOrThrow(checked).message, problem)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped.each<readonly [what: string, name: string, text: string, problem: RegExp]>([
    ["of a bucket", "l", "s3://bucket/key\n", /^s3:\/\/bucket\/key: begins with s3:\/\/, which cannot be read/],
    ["that is no URL", "l", "https://[a/b?token=very-secret\n", /^https:\/\/\[a\/b: is no URL that can be read/],
    [
      "twice with different names",
      "l.csv",
      "path,name\n/a,one\n/a,two\n",
      /\/a is in two rows that say different things/
    ]
  ])("a row %s is refused", ([_, name, text, problem]) =>
    Effect.gen(function*() {
      const filesFrom = Option.some(yield* written(name, text))
      const { message } = yield* Effect.flip(Selection.select({ ...given, filesFrom }))
      assert.match(message, problem)
      assert.notInclude(message, "very-secret")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("two URLs that only their tokens tell apart are two files, and the same URL twice is one", () =>
    Effect.gen(function*() {
      const urls = ["?token=a", "?token=b", "?token=b", "?id=1&token=a"].map((query) => `https://a.test/b${query}`)
      const filesFrom = Option.some(yield* written("l", urls.join("\n")))
      const { files, repeated } = yield* Selection.select({ ...given, filesFrom })
      assert.deepStrictEqual([files.length, repeated.length, new Set(files.map(({ real }) => real)).size], [3, 1, 3])
      assert.notMatch(files.map(({ path }) => path).join(), /token/)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scoped("a path is found in the other Unicode form, and what its row says goes with it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const onDisk = `${folder}/${"für".normalize("NFD")}/${"später.wav".normalize("NFD")}`
      yield* fs.makeDirectory(`${folder}/${"für".normalize("NFD")}`)
      yield* fs.writeFileString(onDisk, "sound")
      const filesFrom = Option.some(
        yield* written("l.csv", `path,name\n${folder}/${"für/später.wav".normalize("NFC")},mine.wav\n`)
      )
      const { files } = yield* Selection.select({ ...given, filesFrom })
      assert.deepStrictEqual(
        files.map(({ path, row, size }) => [path, size, Option.map(row, ({ name }) => name)]),
        [[onDisk, 5, Option.some(Option.some("mine.wav"))]]
      )
    }).pipe(Effect.provide(NodeContext.layer)))
})
