import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { PresignedUrl } from "@stevedore/core"
import type { UploadRecord } from "@stevedore/core/UploadLedger"
import { DiskLedger } from "@stevedore/node"
import { Effect, Logger, LogLevel, Option } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import * as Fs from "node:fs/promises"
import { join } from "node:path"
import * as FileLock from "../../src/ledger/fileLock.js"
import * as PrivateDirectory from "../../src/ledger/privateDirectory.js"
import * as Temporary from "./temporary.js"

export const url = Option.getOrThrow(PresignedUrl.fromString("https://storage.test/key?X-Amz-Signature=s3cret"))

export const recordOf = (id: string, parts = 3): UploadRecord => ({
  version: 1,
  id,
  service: "https://api.test",
  name: "interview.mp4",
  mediaType: "video/mp4",
  fingerprint: { kind: "file", size: 100, modified: 1000.123456, identity: "1:2" },
  checksumAlgorithm: "crc32",
  session: { fileId: "AbC", uploadId: "u", clockOffset: 0, openedAt: 0, parts, urls: [url] },
  phase: "uploading",
  startedAt: 0
})

export const receiptOf = (partNumber: number) => ({ partNumber, etag: "\"e\"", size: 10, attempts: 1 })

/** A path in a directory that goes with the scope; nothing is there yet. */
export const fresh = Effect.map(Temporary.directory, (path) => join(path, "state", "stevedore"))

export const ledgerAt = (directory: string, options: Omit<DiskLedger.Options, "directory"> = {}) =>
  Effect.provide(DiskLedger.make({ ...options, directory }), NodeContext.layer)

/** As if the ledger had found old uploads for days, by a clock that went on as time does. */
export const agedFor = (directory: string, days: number) =>
  Effect.promise(() => {
    const at = Date.now()
    return Fs.writeFile(join(directory, "clock.json"), JSON.stringify({ since: at - days * 86_400_000, at }))
  })

export const list = (directory: string) =>
  Effect.promise(async () => {
    // one file keeps the others out of a repository
    const names = (await Fs.readdir(directory, { recursive: true })).filter((name) =>
      ![".gitignore", ".format"].includes(name)
    )
    return await Promise.all(names.sort().map(async (name) => ({ name, stats: await Fs.stat(join(directory, name)) })))
  })

export const contents = (directory: string) =>
  Effect.flatMap(list(directory), (entries) =>
    Effect.promise(async () =>
      (await Promise.all(
        entries.filter(({ stats }) => stats.isFile()).map(({ name }) => Fs.readFile(join(directory, name), "utf8"))
      )).join("\n")
    ))

export const listening = () => {
  const messages: Array<string> = []
  const layer = Logger.replace(
    Logger.defaultLogger,
    Logger.make(({ logLevel, message }) => {
      messages.push(`${logLevel.label} ${String(message)}`)
    })
  )
  return { messages, layer }
}

export const quietly = Logger.withMinimumLogLevel(LogLevel.None)

export const lockOf = (...options: Parameters<typeof FileLock.make>) =>
  Effect.map(FileLock.make(...options), ({ lock }) => lock)

export const locksAt = (directory: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    return yield* lockOf(fs, yield* PrivateDirectory.make(fs, directory))
  }).pipe(Effect.provide(NodeContext.layer))

export const plant = (directory: string, id: string, content: string) =>
  Effect.promise(async () => {
    await Fs.mkdir(join(directory, "locks"), { recursive: true, mode: 0o700 })
    await Fs.writeFile(join(directory, "locks", id), content, { mode: 0o600 })
  })

export const deadProcess = Effect.promise(async () => {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" })
  await once(child, "exit")
  return child.pid ?? 0
})
