import { NodeFileSystem } from "@effect/platform-node"
import { UploadLedger, Uploads } from "@stevedore/core"
import { DiskLedger, FileSource, NodeDownloads } from "@stevedore/node"
import { Sandbox, SandboxLayer } from "@stevedore/testing"
import { Chunk, Effect, Layer, Stream } from "effect"
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/* Run by a test, with a low limit on open files, in a directory of its own. */

const directory = process.argv[2] ?? ""
const folder = join(directory, "files")
const path = join(folder, "interview.mp4")
mkdirSync(folder)
writeFileSync(path, Buffer.alloc(300, 1))

/** Everything that this process may still open, for so long. */
const takeAllFor = (millis: number): number => {
  const taken: Array<number> = []
  for (;;) {
    try {
      taken.push(openSync("/dev/null", "r"))
    } catch {
      break
    }
  }
  setTimeout(() => taken.forEach((descriptor) => closeSync(descriptor)), millis)
  return taken.length
}

const outcomes: Record<string, string> = {}

/** Runs something that begins while no file can be opened. */
const shortOf = <A, E, R>(what: string, run: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const taken = takeAllFor(400)
    return Effect.tap(Effect.either(run), (outcome) =>
      Effect.sync(() => {
        outcomes[what] = taken === 0 ? "nothing was short" : outcome._tag === "Right" ? "done" : String(outcome.left)
      }))
  })

const program = Effect.gen(function*() {
  const ledger = yield* DiskLedger.make({ directory: join(directory, "ledger") })
  const options = { strategy: "multipart", parts: 3 } as const
  const source = yield* FileSource.fromPath(path)
  const { id } = yield* Uploads.upload(source, options)
  yield* shortOf("a source", Effect.scoped(Effect.flatMap(FileSource.fromPath(path), (one) => one.open)))
  yield* shortOf(
    "a folder",
    Stream.runCollect(FileSource.fromDirectory(folder)).pipe(
      Effect.flatMap((found) => Effect.scoped(Effect.forEach(Chunk.toReadonlyArray(found), (one) => one.open)))
    )
  )
  yield* shortOf(
    "a spooled stream",
    Effect.scoped(FileSource.spooled("a", Stream.make(Buffer.alloc(10)), { directory: folder }))
  )
  yield* shortOf("an upload", Effect.provideService(Uploads.upload(source, options), UploadLedger.UploadLedger, ledger))
  let unfinished = 0
  yield* shortOf(
    "the ledger",
    Effect.gen(function*() {
      yield* Effect.fork(Effect.provideService(Uploads.upload(source, options), UploadLedger.UploadLedger, {
        ...ledger,
        completing: (record) => Effect.zipRight(ledger.completing(record), Effect.never)
      }))
      yield* Effect.sleep("1500 millis")
      unfinished = (yield* ledger.unfinished)[0]?.receipts.length ?? 0
      if (unfinished !== 3) return yield* Effect.fail(`${unfinished} receipts`)
    })
  )
  for (const keep of [false, true]) {
    yield* shortOf(
      `a download, keep: ${keep}`,
      NodeDownloads.toFile(id, join(folder, `to ${keep}`), { keep, partSize: 100 })
    )
  }
  yield* Sandbox.report
}).pipe(
  Effect.scoped,
  Effect.provide(Layer.provideMerge(SandboxLayer.memory({ minimumPartSize: 1 }), NodeFileSystem.layer))
)

await Effect.runPromise(program)
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
process.exit(0)
