import * as FileSystem from "@effect/platform/FileSystem"
import { SourceFingerprint } from "@stevedore/core/UploadSource"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import { resolve } from "node:path"
import type * as Manifest from "./manifest.js"
import * as Remembered from "./remembered.js"

// What the command recorded before it had a manifest: the uploaded files of each stopped command, in one file.
const Line = Schema.parseJson(Schema.Struct({
  path: Schema.String,
  fingerprint: SourceFingerprint,
  report: Schema.Struct({
    file: Schema.Struct({
      id: Schema.String,
      name: Schema.optional(Schema.NullOr(Schema.String)),
      type: Schema.optional(Schema.NullOr(Schema.String))
    }),
    checksum: Schema.NullOr(Schema.Struct({ algorithm: Schema.String, value: Schema.String }))
  })
}))
const decodeLine = Schema.decodeOption(Line)

const folder = "finished"

const uploadedOf = (line: typeof Line.Type, path: string, service: string, date: string): Manifest.UploadedFile => ({
  path,
  name: line.report.file.name ?? "",
  mediaType: line.report.file.type ?? "",
  size: line.fingerprint.size,
  modified: Remembered.isoOf(line.fingerprint.modified),
  fingerprint: line.fingerprint,
  service,
  fileId: line.report.file.id,
  checksum: line.report.checksum,
  uploadedAt: date,
  // the service is asked for it the next time
  checkedAt: "1970-01-01T00:00:00.000Z"
})

/**
 * Moves what an earlier version has recorded of this command into the manifest. What it recorded of commands that have
 * not run for 30 days is removed.
 */
export const adopt = (
  manifest: Manifest.Manifest,
  command: {
    readonly service: string
    readonly paths: ReadonlyArray<string>
    readonly mediaType: Option.Option<string>
  }
): Effect.Effect<void, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const found = yield* DiskLedger.privateDirectory
    if (Option.isNone(found)) return
    const directory = found.value
    yield* directory.checked
    const { mediaType, paths, service } = command
    const identity = JSON.stringify([
      service,
      Option.getOrNull(mediaType),
      ...paths.map((path) => resolve(path)).sort()
    ])
    const id = createHash("sha256").update(identity).digest("hex").slice(0, 32)
    const file = directory.pathOf(`${folder}/${id}.jsonl`)
    if (yield* fs.exists(file)) {
      const text = yield* DiskLedger.untilReadable(fs.readFileString(file))
      const date = yield* Remembered.now
      for (const line of text.split("\n").flatMap((line) => Option.toArray(decodeLine(line)))) {
        const path = yield* Effect.orElseSucceed(fs.realPath(line.path), () => line.path)
        yield* manifest.add(uploadedOf(line, path, service, date))
      }
      yield* fs.remove(file)
    }
    const before = (yield* Clock.currentTimeMillis) - DiskLedger.longestKept
    for (const name of yield* directory.untouchedSince(folder, before)) {
      yield* Effect.ignore(fs.remove(directory.pathOf(`${folder}/${name}`), { force: true }))
    }
  }).pipe(Effect.ignore)
