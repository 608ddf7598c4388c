import { FileSystem, Path } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Lists, ServiceProfile, UploadLedger, Uploads, UploadSources } from "@stevedore/core"
import * as Measure from "@stevedore/core/parts/measure"
import { FileSource, NodeDownloads, NodeStevedore } from "@stevedore/node"
import * as NodeServe from "@stevedore/server/NodeServe"
import { Cause, Chunk, Console, Data, Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import * as SampleFiles from "./SampleFiles.js"

const samples = [
  { name: "notes.bin", size: 3_000_000 },
  { name: "interview.bin", size: 200_000_000 }
]

const notes = 12

const pageSize = 5

class DemoFailed extends Data.TaggedError("DemoFailed")<{ readonly message: string }> {}

const row = (what: string, name: string, amount: string, ...details: ReadonlyArray<string>) =>
  Console.log(`  ${what.padEnd(11)} ${name.padEnd(14)} ${amount.padStart(9)}   ${details.join("   ")}`.trimEnd())

const seconds = (took: Duration.Duration): string => `${Duration.toSeconds(took).toFixed(2).padStart(5)} s`

const pace = (size: number, took: Duration.Duration): string =>
  `${seconds(took)}   ${Measure.speed(size / Math.max(Duration.toSeconds(took), 0.001)).padStart(10)}`

const quarter = (confirmed: number, size: number): number => Math.floor((4 * confirmed) / size)

const showQuarters = (progress: Uploads.UploadHandle["progress"]) =>
  progress.changes.pipe(
    Stream.filter(({ confirmed, parts, phase }) => phase === "uploading" && parts.total > 1 && confirmed > 0),
    Stream.changesWith((before, now) => quarter(before.confirmed, now.size) === quarter(now.confirmed, now.size)),
    Stream.runForEach((now) =>
      row("", "", Measure.bytes(now.confirmed), `${now.parts.confirmed} of ${now.parts.total} parts are in storage`)
    )
  )

const upload = (path: string) =>
  Effect.scoped(Effect.gen(function*() {
    const source = yield* FileSource.fromPath(path)
    const running = yield* Uploads.start(source)
    const [took, file] = yield* Effect.timed(Effect.zipRight(showQuarters(running.progress), running.await))
    const way = file.sent.parts === 1 ? "in a single PUT" : `in ${file.sent.parts} parts`
    yield* row("uploaded", source.name, Measure.bytes(source.size), pace(source.size, took), way)
    return file.id
  }))

const download = (fileId: string, original: string, copy: string) =>
  Effect.gen(function*() {
    const path = yield* Path.Path
    const [took, file] = yield* Effect.timed(NodeDownloads.toFile(fileId, copy))
    const difference = yield* SampleFiles.firstDifference(original, copy)
    if (Option.isSome(difference)) {
      return yield* new DemoFailed({ message: `${copy} differs from ${original} at byte ${difference.value}` })
    }
    yield* row(
      "downloaded",
      path.basename(original),
      Measure.bytes(file.size),
      pace(file.size, took),
      "identical, byte for byte"
    )
  })

const uploadNotes = Effect.gen(function*() {
  const sources = Array.from(
    { length: notes },
    (_, index) =>
      UploadSources.fromBytes(`note-${index + 1}.txt`, new TextEncoder().encode(`Note ${index + 1}`), {
        mediaType: "text/plain"
      })
  )
  const [took] = yield* Effect.timed(Effect.forEach(sources, (source) => Uploads.upload(source), { concurrency: 6 }))
  yield* row("uploaded", `${notes} notes`, "", seconds(took))
})

const files = Lists.make({ path: "/v1/files", item: Schema.Struct({ id: Schema.String, name: Schema.String }) })

const walk = Effect.gen(function*() {
  const [took, pages] = yield* Effect.timed(Stream.runCollect(files.pages({ pageSize })))
  const ids = new Set(Chunk.toReadonlyArray(pages).flatMap(({ items }) => items.map(({ id }) => id)))
  const all = samples.length + notes
  if (ids.size !== all) {
    return yield* new DemoFailed({ message: `The service has ${all} files, but ${ids.size} arrived` })
  }
  yield* row("listed", "files", `${ids.size}`, seconds(took), `${pages.length} pages`)
})

const demo = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-demo-" })
  const { baseUrl, profile, token } = yield* NodeServe.serve({ directory: path.join(directory, "service") })
  yield* Console.log("Stevedore against the service of `stevedore serve`. Nothing leaves this machine.\n")
  yield* Console.log(`  the service at ${baseUrl}: its rows in SQLite, its files in a temporary folder\n`)

  const originals = samples.map((sample) => ({ ...sample, path: path.join(directory, sample.name) }))
  yield* Effect.forEach(originals, (file) =>
    Effect.zipRight(
      SampleFiles.write(file.path, { seed: file.name, size: file.size }),
      row("created", file.name, Measure.bytes(file.size))
    ))
  const program = Effect.gen(function*() {
    const ids = yield* Effect.forEach(originals, (file) => Effect.map(upload(file.path), (id) => [id, file] as const))
    yield* Effect.forEach(ids, ([id, file]) => download(id, file.path, `${file.path}.back`))
    yield* uploadNotes
    yield* walk
  })
  const stevedore = NodeStevedore.layer({
    baseUrl,
    token,
    profile: yield* Effect.flatMap(
      fs.readFileString(profile),
      Schema.decode(Schema.parseJson(ServiceProfile.ServiceProfile))
    )
  })
  // these uploads are deleted at the end, so nothing is recorded in a ledger
  yield* Effect.provide(program, Layer.merge(stevedore, UploadLedger.none))
})

const describe = (cause: Cause.Cause<{ readonly message: string }>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => Cause.pretty(cause),
    onSome: (error) => error.message
  })

Effect.timed(Effect.scoped(demo)).pipe(
  Effect.flatMap(([took]) =>
    Console.log(`\nBoth files came back unchanged. The demo took ${Duration.toSeconds(took).toFixed(1)} s.`)
  ),
  Effect.tapErrorCause((cause) => Console.error(`\nThe demo failed. ${describe(cause)}`)),
  Effect.provide(NodeContext.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
