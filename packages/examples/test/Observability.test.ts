import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { InMemorySpanExporter, type ReadableSpan } from "@opentelemetry/sdk-trace-base"
import { Downloads, Files, Lists, Uploads, UploadSources } from "@stevedore/core"
import { NodeDownloads } from "@stevedore/node"
import { FaultScript, SandboxLayer, VirtualTime } from "@stevedore/testing"
import { Effect, Layer, Metric, Stream } from "effect"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { telemetry } from "../src/Tracing.js"

const guide = (page: string) =>
  Effect.flatMap(
    FileSystem.FileSystem,
    (fs) => fs.readFileString(fileURLToPath(new URL(`../../docs/guide/${page}.md`, import.meta.url)))
  ).pipe(Effect.provide(NodeContext.layer))

const section = (heading: string) =>
  guide("observability").pipe(
    Effect.map((page) => page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "")
  )

const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text.split("\n").filter((line) => line.startsWith("| `")).map((line) => line.split("|").slice(1, -1))

const inBackticks = (cell: string): ReadonlyArray<string> =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "")

const bytes = Uint8Array.from({ length: 40 }, (_, index) => index)
const source = UploadSources.fromBytes("interview.bin", bytes)
const stream = UploadSources.fromStream("tape.bin", Stream.make(bytes), { size: bytes.length })

const onceAgain = FaultScript.on("putPart").part(2).answer(503)
  .and(FaultScript.on("get").answer(503))
  .and(FaultScript.on("list").corruptPage())

/**
 * Operations that report telemetry and wait only for time: both kinds of upload, a download, a record, a list with an
 * invalid item that is skipped.
 */
const waiting = Effect.gen(function*() {
  const file = yield* Uploads.upload(source, { strategy: "multipart", parts: 4 })
  yield* Uploads.upload(source, { strategy: "single" })
  yield* Uploads.upload(stream)
  yield* Stream.runDrain(Downloads.stream(file.id))
  yield* Files.inspect(file.id)
  yield* Stream.runDrain(Lists.projects({ onInvalid: "skip" }))
}).pipe(Effect.provide(SandboxLayer.memory({
  minimumPartSize: 10,
  // fewer than there are parts: one of them waits for its turn
  limit: 3,
  faults: onceAgain,
  projects: 150,
  download: "link",
  rateLimit: { limit: 3, window: "1 minute" }
})))

/** Operations that also wait for a disk, which virtual time does not cover. */
const onDisk = Effect.gen(function*() {
  const directory = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
  const file = yield* Uploads.upload(source)
  yield* NodeDownloads.toFile(file.id, join(directory, "copy.bin"))
}).pipe(Effect.scoped, Effect.provide(Layer.merge(NodeContext.layer, SandboxLayer.memory())))

const spans = Effect.suspend(() => {
  const exporter = new InMemorySpanExporter()
  return VirtualTime.run(waiting).pipe(
    Effect.zipRight(onDisk),
    // the exporter forgets its spans when it is shut down with its layer
    Effect.zipRight(Effect.sync(() => exporter.getFinishedSpans())),
    Effect.provide(telemetry(exporter))
  )
})

/** Every span name, with every attribute that any span of that name had. */
const attributesByName = (all: ReadonlyArray<ReadableSpan>): Readonly<Record<string, ReadonlyArray<string>>> => {
  const byName = new Map<string, Set<string>>()
  for (const { attributes, name } of all) {
    const kind = name.replace(/^ServiceApi\..*/, "ServiceApi.<operation>")
    const known = byName.get(kind) ?? new Set()
    byName.set(kind, known)
    for (const key of Object.keys(attributes)) known.add(key)
    // set by the router of the sandbox, which runs in the same process
    known.delete("http.route")
  }
  return Object.fromEntries([...byName].map(([name, keys]) => [name, [...keys].sort()]))
}

describe("the page about spans, metrics and logs", () => {
  it.live("has every span that is made, with every attribute, and no other", () =>
    Effect.gen(function*() {
      const documented = rowsOf(yield* section("Spans")).flatMap(([names = "", attributes = ""]) =>
        inBackticks(names).map((name) =>
          // only spans of a part have `part`
          [name, inBackticks(attributes).filter((key) => key !== "part" || name.endsWith("Part")).sort()] as const
        )
      )
      assert.deepStrictEqual(Object.fromEntries(documented), attributesByName(yield* spans))
    }))

  it.live("has every metric that is measured, with its tag, and no other", () =>
    Effect.gen(function*() {
      yield* spans
      // the service of the sandbox runs in the same process, and perhaps other tests did: they have pages of their own
      const ofService = rowsOf(yield* guide("../reference/service-metrics")).flatMap(([name = ""]) => inBackticks(name))
      const measured = new Map<string, ReadonlyArray<string>>()
      for (const { metricKey: { name, tags } } of yield* Metric.snapshot) {
        // tests of metrics in this process may have tagged them once more
        const keys = tags.map(({ key }) => key).filter((key) => key !== "time_unit" && key !== "tenant")
        const elsewhere = ofService.includes(name) || name.startsWith("stevedore_bulk_")
        // a tag may be of some outcomes only
        if (name.startsWith("stevedore_") && !elsewhere) {
          measured.set(name, [...new Set([...measured.get(name) ?? [], ...keys])])
        }
      }
      const documented = rowsOf(yield* section("Metrics")).map(([name = "", kind = ""]) =>
        [inBackticks(name).join(), inBackticks(kind).join()] as const
      )
      assert.isAbove(documented.length, 10)
      assert.deepStrictEqual(
        [...documented].sort(),
        [...measured].map(([name, keys]) => [name, keys.join()] as const).sort()
      )
    }))
})
