import { NodeContext } from "@effect/platform-node"
import { PresignedUrl } from "@stevedore/core"
import type { UploadRecord } from "@stevedore/core/UploadLedger"
import { DiskLedger } from "@stevedore/node"
import { Effect, Option } from "effect"
import * as Fs from "node:fs/promises"
import { join } from "node:path"

export const urlOf = (length: number) =>
  Option.getOrThrow(PresignedUrl.fromString(`https://storage.test/key?X-Amz-Signature=${"s".repeat(length)}`))

export const recordOf = (id: string, length = 10): UploadRecord => ({
  version: 1,
  id,
  service: "https://api.test",
  name: "interview.mp4",
  mediaType: "video/mp4",
  fingerprint: { kind: "file", size: 100, modified: 1000.5, identity: "1:2" },
  checksumAlgorithm: "crc32",
  session: { fileId: `file-of-${id}`, uploadId: "u", clockOffset: 0, openedAt: 0, parts: 3, urls: [urlOf(length)] },
  phase: "uploading",
  startedAt: 0
})

export const ledgerAt = (directory: string) => Effect.provide(DiskLedger.make({ directory }), NodeContext.layer)

export const filesOf = (directory: string, folder: string) =>
  Effect.promise(async () => {
    const names = await Fs.readdir(join(directory, folder)).catch(() => [])
    return await Promise.all(names.map((name) => Fs.readFile(join(directory, folder, name), "utf8")))
  })
