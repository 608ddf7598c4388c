import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Uploads from "@stevedore/core/Uploads"
import * as UploadSources from "@stevedore/core/UploadSources"
import { FaultScript, SandboxLayer } from "@stevedore/testing"
import { ConfigProvider, Deferred, Effect, Exit, FastCheck as fc, FiberId, Layer, Option } from "effect"
import { rmSync } from "node:fs"
import * as DownloadMany from "../../src/download/many.js"
import type { Options as DownloadOptions } from "../../src/download/options.js"
import * as FilesFrom from "../../src/files/filesFrom.js"
import * as SeparatedValues from "../../src/files/separatedValues.js"
import * as ExitCode from "../../src/print/exitCode.js"
import * as Output from "../../src/print/output.js"
import type { Options } from "../../src/upload/options.js"
import * as Upload from "../../src/upload/upload.js"

// `.ci/run` sets more: for a push 300, each night 10,000
const numRuns = Number(process.env["STEVEDORE_OUTCOMES"] ?? 2)

const within = { fastCheck: { numRuns }, timeout: Math.max(30_000, numRuns * 2000) }

// How a run is stopped: by the user after so many lines of its output, or by its failures
type Stop =
  | { readonly _tag: "Never" }
  | { readonly _tag: "Interrupt"; readonly afterLines: number }
  | { readonly _tag: "Failures"; readonly most: number }

const stop: fc.Arbitrary<Stop> = fc.oneof(
  fc.constant<Stop>({ _tag: "Never" }),
  fc.nat(5).map((afterLines): Stop => ({ _tag: "Interrupt", afterLines })),
  fc.integer({ min: 1, max: 3 }).map((most): Stop => ({ _tag: "Failures", most }))
)

const after = fc.nat(4)

const service: fc.Arbitrary<FaultScript.FaultScript> = fc.oneof(
  fc.constant(FaultScript.empty),
  after.map((count) => FaultScript.on("initiate").after(count).always().answer(401)),
  after.map((count) => FaultScript.on("initiate").after(count).answer(422)),
  after.map((count) => FaultScript.on("initiate").after(count).always().reset()),
  after.map((count) => FaultScript.on("complete").after(count).answer(400)),
  after.map((count) => FaultScript.on("put").after(count).times(20).answer(403)),
  after.map((count) => FaultScript.on("file").after(count).always().answer(401)),
  after.map((count) => FaultScript.on("file").after(count).answer(403)),
  after.map((count) => FaultScript.on("download").after(count).times(20).answer(500))
)

interface Ended {
  readonly code: number
  readonly lines: ReadonlyArray<{ readonly [field: string]: unknown }>
  readonly said: string
}

/** Runs a command, over whichever services, until it ends or is stopped. */
const ended = <E, R>(command: Effect.Effect<unknown, E, R>, stop: Stop, onLine?: () => void) =>
  Effect.gen(function*() {
    const stopped = yield* Deferred.make<never>()
    let written = ""
    let said = ""
    const halt = () => Deferred.unsafeDone(stopped, Exit.interrupt(FiberId.none))
    const sink = (onText: (text: string) => void): Output.Sink => ({
      isTTY: false,
      write: (text, done) => {
        onText(text)
        done()
        return true
      },
      on: () => {},
      off: () => {}
    })
    const out = sink((text) => {
      written += text
      onLine?.()
      if (stop._tag === "Interrupt" && written.split("\n").length > stop.afterLines) setImmediate(halt)
    })
    if (stop._tag === "Interrupt" && stop.afterLines === 0) setImmediate(halt)
    const exit = yield* Effect.raceFirst(command, Deferred.await(stopped)).pipe(
      Effect.provide(Output.layer({
        out,
        error: sink((text) => {
          said += text
        })
      })),
      Effect.exit
    )
    const lines = written.split("\n").filter((line) => line !== "").map((line) => Object(JSON.parse(line)))
    return { code: ExitCode.ofExit(exit), lines, said } satisfies Ended
  })

const lived = <A, E, R>(effect: Effect.Effect<A, E, R>, folder: string) =>
  Effect.withConfigProvider(
    effect,
    ConfigProvider.fromMap(new Map([["XDG_STATE_HOME", `${folder}/state`], ["HOME", folder]]))
  )

const standings: Readonly<Record<string, "done" | "there" | "failed" | "notTried">> = {
  completed: "done",
  downloaded: "done",
  skipped: "there",
  failed: "failed",
  notTried: "notTried"
}

const sumOf = (numbers: Iterable<unknown>): number => [...numbers].reduce<number>((sum, one) => sum + Number(one), 0)

/** The law: whatever the run was given has one line, the summary counts each once, and the exit code follows from them. */
const checkOutcomes = (
  { code, lines, said }: Ended,
  given: ReadonlyArray<string>,
  nameOf: (line: object) => unknown
) => {
  const outcomes = lines.filter(({ type }) => standings[String(type)] !== undefined)
  assert.sameMembers(outcomes.map((line) => String(nameOf(line))), [...given], said)
  const counted = { done: 0, there: 0, failed: 0, notTried: 0 }
  for (const { type } of outcomes) counted[standings[String(type)] ?? "failed"] += 1
  const summary = lines.at(-1) ?? {}
  assert.strictEqual(summary["type"], "summary", said)
  assert.deepStrictEqual(
    {
      files: summary["files"],
      done: summary["uploaded"] ?? summary["downloaded"],
      there: sumOf(Object.values(Object(summary["skipped"]))),
      failed: summary["failed"],
      notTried: summary["notTried"]
    },
    { files: given.length, ...counted },
    said
  )
  if (code === ExitCode.interrupted) return counted
  assert.strictEqual(code === ExitCode.ok, counted.failed + counted.notTried === 0, `exit ${code}\n${said}`)
  const isRejected = outcomes.some(({ error }) => Object(error)["_tag"] === "Unauthorized")
  assert.strictEqual(code === ExitCode.unauthorized, isRejected, said)
  return counted
}

const given: Options = {
  quiet: false,
  config: Option.none(),
  baseUrl: Option.none(),
  tokenFile: Option.none(),
  profile: Option.none(),
  allowInsecureHttp: false,
  paths: [],
  filesFrom: Option.none(),
  nul: false,
  retryFailed: Option.none(),
  followLinks: false,
  include: [],
  exclude: [],
  newerThan: Option.none(),
  olderThan: Option.none(),
  largerThan: Option.none(),
  smallerThan: Option.none(),
  skipEmpty: false,
  dryRun: false,
  into: Option.none(),
  sourceHeaders: Option.none(),
  report: Option.none(),
  limitRate: Option.none(),
  failFast: false,
  maxErrors: Option.none(),
  strategy: "auto",
  parts: Option.none(),
  partSize: Option.none(),
  concurrency: Option.none(),
  files: 2,
  verify: "sample",
  onImpossible: "fail",
  checksum: "crc32",
  mediaType: Option.none(),
  name: Option.none(),
  noResume: false,
  again: false,
  check: false,
  json: true,
  verbose: false
}

const names = ["a.txt", "für später.wav", "a, b.txt", "a;b \"c\".txt", "=1.txt", "zoë.txt", "d.txt"]

const form = fc.constantFrom("NFC" as const, "NFD" as const)

const chosen = fc.uniqueArray(
  fc.record({
    index: fc.nat(names.length - 1),
    onDisk: form,
    listed: form,
    state: fc.constantFrom("there", "there", "there", "missing", "empty"),
    isTwice: fc.boolean()
  }),
  { selector: ({ index }) => index, minLength: 1 }
)

interface Listing {
  readonly file: string
  readonly nul: boolean
  readonly write: (paths: ReadonlyArray<string>, end: string) => string
}

const table = (separator: string, isDeclared: boolean): Listing => ({
  file: "list.csv",
  nul: false,
  write: (paths, end) =>
    [
      ...(isDeclared ? [`sep=${separator}`] : []),
      `note${separator}path`,
      ...paths.map((path) => `${separator}"${path.replaceAll("\"", "\"\"")}"`)
    ].join(end)
})

const listing = fc.constantFrom<Listing>(
  { file: "list", nul: false, write: (paths, end) => paths.join(end) },
  { file: "list", nul: true, write: (paths) => paths.map((path) => `${path}\0`).join("") },
  { file: "list.jsonl", nul: false, write: (paths, end) => paths.map((path) => JSON.stringify({ path })).join(end) },
  table(",", false),
  table(";", true),
  table("\t", false)
)

const encoding = fc.constantFrom<(text: string) => Uint8Array>(
  (text) => Buffer.from(text),
  (text) => Buffer.from(`\ufeff${text}`),
  (text) => Buffer.from(`\ufeff${text}`, "utf16le"),
  (text) => Buffer.from(`\ufeff${text}`, "utf16le").swap16()
)

describe("whatever a run was given has one outcome, and the exit code is 0 only if each is done or there", () => {
  it.scopedLive("a directory that is taken away stops the upload of the files in it, in its own words", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.makeDirectory(`${folder}/in`)
      for (const name of names) yield* fs.writeFileString(`${folder}/in/${name}`, name)
      const run = yield* ended(
        Upload.program({ ...given, paths: [`${folder}/in`], files: 1 }),
        { _tag: "Never" },
        () => rmSync(`${folder}/in`, { recursive: true, force: true })
      )
      checkOutcomes(run, names.map((name) => `${folder}/in/${name}`), (line) => Object(line).path)
      assert.strictEqual(run.code, ExitCode.failed)
      assert.include(run.said, `"${folder}/in" could not be read`)
    }).pipe(
      (test) => lived(test, "/nowhere"),
      Effect.provide(Layer.merge(SandboxLayer.memory(), NodeContext.layer))
    ))

  it.scopedLive.prop(
    "upload: in its lines, its summary and its report, which is all that a retry needs",
    {
      chosen,
      listing,
      encoding,
      end: fc.constantFrom("\n", "\r\n"),
      stop,
      service,
      report: fc.constantFrom("report.csv", "report.jsonl")
    },
    ({ chosen, encoding, end, listing, report, service, stop }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        yield* fs.makeDirectory(`${folder}/in`)
        for (const { index, onDisk, state } of chosen) {
          const name = (names[index] ?? "").normalize(onDisk)
          if (state !== "missing") yield* fs.writeFileString(`${folder}/in/${name}`, state === "empty" ? "" : name)
        }
        const listed = chosen.flatMap(({ index, isTwice, listed }) => {
          const path = `${folder}/in/${(names[index] ?? "").normalize(listed)}`
          return isTwice ? [path, path] : [path]
        })
        yield* fs.writeFile(`${folder}/${listing.file}`, encoding(listing.write(listed, end)))
        const paths = chosen.map(({ index, listed, onDisk, state }) =>
          `${folder}/in/${(names[index] ?? "").normalize(state === "missing" ? listed : onDisk)}`
        )
        const options: Options = {
          ...given,
          filesFrom: Option.some(`${folder}/${listing.file}`),
          nul: listing.nul,
          report: Option.some(`${folder}/${report}`),
          maxErrors: stop._tag === "Failures" ? Option.some(stop.most) : Option.none()
        }
        const run = yield* ended(Upload.program(options), stop)
        // one that was stopped while it read its list was given nothing yet
        if (run.lines.length === 0 && run.code === ExitCode.interrupted) return
        const counted = checkOutcomes(run, paths, (line) => Object(line).path)

        const { isComplete, rows } = yield* FilesFrom.readReport(`${folder}/${report}`, {
          input: "--report",
          nul: false,
          first: ["path"]
        })
        assert.isTrue(isComplete)
        assert.sameMembers(rows.map(({ what }) => what), paths)
        const toRetry = rows.filter(({ status }) =>
          ["failed", "not-tried"].includes(Option.getOrElse(status, () => ""))
        )
        assert.lengthOf(toRetry, counted.failed + counted.notTried)
        const retry = yield* ended(
          Upload.program({ ...given, retryFailed: Option.some(`${folder}/${report}`), dryRun: true }),
          { _tag: "Never" }
        )
        const again = retry.lines.filter(({ type }) => type !== "plan").map(({ path }) => path)
        assert.sameMembers(again, toRetry.map(({ what }) => what), retry.said)
      }).pipe(
        (test) =>
          Effect.flatMap(
            FileSystem.FileSystem,
            (fs) => Effect.flatMap(fs.makeTempDirectoryScoped(), (folder) => lived(test, folder))
          ),
        Effect.provide(Layer.merge(SandboxLayer.memory({ faults: service }), NodeContext.layer))
      ),
    within
  )

  it.scopedLive.prop(
    "download: in its lines and its summary, each under a name of its own with its own bytes, also the second time",
    {
      wanted: fc.array(fc.record({ index: fc.nat(4), name: fc.option(fc.constantFrom("a.txt", "A.TXT")) }), {
        minLength: 1
      }),
      titles: fc.array(fc.constantFrom("a.txt", "a.txt", "für.txt", "fu\u0308r.txt", "A.TXT", "a-2.txt"), {
        minLength: 4,
        maxLength: 4
      }),
      stop,
      service
    },
    ({ service, stop, titles, wanted }) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const contents = new Map<string, string>()
        // all of one size: only what they are tells them apart
        for (const [index, title] of titles.entries()) {
          const content = `content ${index}`
          const uploaded = yield* Effect.option(
            Uploads.upload(UploadSources.fromBytes(title, new TextEncoder().encode(content)))
          )
          if (Option.isSome(uploaded)) contents.set(uploaded.value.id, content)
        }
        const ids = [...contents.keys(), "missing"]
        const rows = wanted.map(({ index, name }) => [ids[index % ids.length] ?? "", name ?? ""] as const)
        yield* fs.writeFileString(
          `${folder}/ids.csv`,
          [["id", "name"], ...rows].map((row) => SeparatedValues.line(row)).join("\n")
        )
        const none = Option.none()
        const options: DownloadOptions = {
          fileIds: [],
          filesFrom: Option.some(`${folder}/ids.csv`),
          nul: false,
          directory: Option.some(`${folder}/to`),
          files: 2,
          overwrite: false,
          anySize: false,
          keep: false,
          json: true,
          verbose: false,
          quiet: false,
          allowInsecureHttp: false,
          baseUrl: none,
          tokenFile: none,
          profile: none,
          config: none,
          limitRate: none,
          output: none
        }
        const asked = [...new Map(rows.map((row) => [row.join("\0"), row[0]])).values()]
        const check = (run: Ended) =>
          Effect.gen(function*() {
            if (run.lines.length === 0 && run.code === ExitCode.interrupted) return
            checkOutcomes(run, asked, (line) => Object(line).fileId)
            const saved = run.lines.filter(({ type }) => type === "downloaded" || type === "skipped")
            assert.lengthOf(new Set(saved.map(({ path }) => path)), saved.length)
            for (const { fileId, path } of saved) {
              assert.strictEqual(yield* fs.readFileString(String(path)), contents.get(String(fileId)))
            }
          })
        yield* check(yield* ended(DownloadMany.run(options), stop))
        yield* check(yield* ended(DownloadMany.run(options), { _tag: "Never" }))
      }).pipe(
        (test) =>
          Effect.flatMap(FileSystem.FileSystem, (fs) =>
            Effect.flatMap(fs.makeTempDirectoryScoped(), (folder) => lived(test, folder))),
        Effect.provide(Layer.merge(SandboxLayer.memory({ faults: service }), NodeContext.layer))
      ),
    within
  )
})
