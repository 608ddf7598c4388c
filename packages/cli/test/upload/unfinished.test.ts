import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import type { UploadRecord } from "@stevedore/core/UploadLedger"
import { DiskLedger } from "@stevedore/node"
import { Effect, Schema } from "effect"
import * as Printable from "../../src/print/printable.js"
import * as Reports from "../../src/print/reports.js"
import { Unfinished } from "../../src/print/schemas.js"
import * as UnfinishedUploads from "../../src/upload/unfinished.js"
import { invoke } from "../integration/invoke.js"

const assignState = (value: string | undefined): string | undefined => {
  const before = process.env["XDG_STATE_HOME"]
  if (value === undefined) delete process.env["XDG_STATE_HOME"]
  else process.env["XDG_STATE_HOME"] = value
  return before
}

const stateDirectory = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const state = yield* fs.makeTempDirectoryScoped()
  yield* Effect.acquireRelease(
    Effect.sync(() => assignState(state)),
    (before) => Effect.sync(() => assignState(before))
  )
  return state
})

const record: UploadRecord = {
  version: 1,
  id: "a",
  service: "https://api.test",
  name: "interview.mp4",
  mediaType: "video/mp4",
  fingerprint: { kind: "file", size: 100 },
  checksumAlgorithm: "crc32",
  session: { fileId: "AbC", clockOffset: 0, openedAt: 0, parts: 1 },
  phase: "uploading",
  startedAt: 0
}

const upload = {
  id: "5f0c2a9be1d04477",
  service: "https://api.test",
  name: "inter\tview\u001b[31m.mp4",
  mediaType: "video/mp4",
  size: 40_000_000,
  phase: "uploading",
  confirmed: 10_485_760,
  parts: { total: 8, confirmed: 2 },
  startedAt: new Date(60_000)
} as const

describe("UnfinishedUploads", () => {
  it("shows an upload in seven columns even if its name contains control characters", () => {
    assert.deepStrictEqual(Printable.columns(UnfinishedUploads.row(upload, 3_720_000, false)).split("\t"), [
      "5f0c2a9be1d04477",
      "inter\ufffdview\ufffd[31m.mp4",
      "40.0 MB",
      "2 of 8 parts",
      "uploading",
      "1h 1m",
      "interrupted"
    ])
  })

  it("shows an age of 0 when the clock was set back", () => {
    assert.match(UnfinishedUploads.row(upload, 0, true)[5] ?? "", /^0/)
  })

  it("reports an upload as JSON that its schema decodes", () => {
    const line: unknown = JSON.parse(JSON.stringify(Reports.unfinished(upload, true)))
    assert.deepStrictEqual(Schema.decodeUnknownSync(Unfinished)(line), {
      ...upload,
      type: "unfinished",
      startedAt: "1970-01-01T00:01:00.000Z",
      running: true
    })
  })

  it.scopedLive.skipIf(process.platform !== "linux")(
    "does not say that it forgot an upload that it could not",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const state = yield* stateDirectory
        const aside = `${state}/stevedore/temporary`
        yield* Effect.flatMap(DiskLedger.make(), (ledger) => ledger.begin(record))
        yield* fs.remove(aside, { recursive: true })
        yield* fs.writeFileString(aside, "")
        const failed = yield* invoke(["uploads", "--forget", "a"])
        assert.strictEqual(failed.code, 1)
        assert.match(failed.stderr, /could not be written[^]*\na is still recorded/)
        assert.notInclude(failed.stderr, "Forgot")
        yield* fs.remove(aside)
        assert.match((yield* invoke(["uploads", "--forget", "a"])).stderr, /^Forgot a:/)
      }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive.skipIf(process.platform !== "linux")(
    "does not say that there are no unfinished uploads where it cannot read them",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const directory = `${yield* stateDirectory}/stevedore`
        yield* Effect.flatMap(DiskLedger.make(), (ledger) => ledger.begin(record))
        yield* fs.chmod(directory, 0o755)
        for (const words of [["uploads"], ["uploads", "--json"], ["uploads", "--forget", "a"]]) {
          const { code, stderr, stdout } = yield* invoke(words)
          assert.strictEqual(code, 1)
          assert.strictEqual(stdout, "")
          assert.match(stderr, /Cannot read all unfinished uploads: .*chmod 700/)
          assert.notMatch(stderr, /no unfinished/i)
        }
        yield* fs.chmod(directory, 0o700)
        yield* fs.makeDirectory(`${directory}/b/record.json`, { recursive: true })
        const some = yield* invoke(["uploads"])
        assert.strictEqual(some.code, 1)
        assert.match(some.stdout, /^a\tinterview.mp4\t/)
        assert.match(some.stderr, /Cannot read all unfinished uploads: .*record.json/)
        assert.match((yield* invoke(["uploads", "--forget", "a"])).stderr, /Forgot a/)
      }).pipe(Effect.provide(NodeContext.layer))
  )
})
