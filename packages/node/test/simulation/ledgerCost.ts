import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { PresignedUrl, type UploadLedger } from "@stevedore/core"
import type { UploadRecord } from "@stevedore/core/UploadLedger"
import { DiskLedger } from "@stevedore/node"
import { Effect, Option } from "effect"
import { join } from "node:path"

/* npm run bench:ledger -- [DIRECTORY]: what it costs that the ledger waits for the disk */

const url = Option.getOrThrow(PresignedUrl.fromString("https://storage.test/key?X-Amz-Signature=s3cret"))

const recordOf = (id: string, parts: number): UploadRecord => ({
  version: 1,
  id,
  service: "https://api.test",
  name: "interview.mp4",
  mediaType: "video/mp4",
  fingerprint: { kind: "file", size: 100, modified: 1000.5, identity: "1:2" },
  checksumAlgorithm: "crc32",
  session: { fileId: id, uploadId: "u", clockOffset: 0, openedAt: 0, parts, urls: [url] },
  phase: "uploading",
  startedAt: 0
})

const upload = (ledger: UploadLedger.Service, id: string, parts: number, concurrency: number) =>
  Effect.scoped(Effect.gen(function*() {
    const record = recordOf(id, parts)
    yield* ledger.lock(id)
    yield* ledger.begin(record)
    yield* Effect.forEach(
      Array.from({ length: parts }, (_, index) => ({ partNumber: index + 1, etag: "\"e\"", size: 10, attempts: 1 })),
      (receipt) => ledger.receive(record, receipt),
      { concurrency, discard: true }
    )
    yield* ledger.completing(record)
    yield* ledger.forget(record)
  }))

const workloads = {
  "1 upload of 1,000 parts, 8 at once": (ledger: UploadLedger.Service) => upload(ledger, "large", 1000, 8),
  "500 uploads of 1 part, 16 at once": (ledger: UploadLedger.Service) =>
    Effect.forEach(
      Array.from({ length: 500 }, (_, index) => `small-${index}`),
      (id) => upload(ledger, id, 1, 1),
      { concurrency: 16, discard: true }
    )
}

/** As if the disk were always done at once. */
const notSyncing = (fs: FileSystem.FileSystem): FileSystem.FileSystem => ({
  ...fs,
  open: (path, options) =>
    Effect.map(
      fs.open(path, options),
      (file) => new Proxy(file, { get: (own, name) => name === "sync" ? Effect.void : Reflect.get(own, name, own) })
    )
})

const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const base = yield* fs.makeTempDirectoryScoped({ directory: process.argv[2] ?? process.cwd(), prefix: "ledger-" })
  let number = 0
  for (const [what, work] of Object.entries(workloads)) {
    for (const round of [1, 2, 3]) {
      for (const [how, disk] of [["synced", fs], ["not synced", notSyncing(fs)]] as const) {
        const ledger = yield* Effect.provideService(
          DiskLedger.make({ directory: join(base, `${number++}`) }),
          FileSystem.FileSystem,
          disk
        )
        const before = process.cpuUsage()
        const begun = performance.now()
        yield* work(ledger)
        const { system, user } = process.cpuUsage(before)
        const line = `${what}, ${how}, round ${round}: ${Math.round(performance.now() - begun)} ms, CPU ${
          Math.round((system + user) / 1000)
        } ms\n`
        yield* Effect.sync(() => process.stdout.write(line))
      }
    }
  }
}).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer))

await Effect.runPromise(program)
