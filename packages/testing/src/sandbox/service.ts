import type * as HttpApp from "@effect/platform/HttpApp"
import type { Principal } from "@stevedore/server/Authorize"
import { Authorize } from "@stevedore/server/Authorize"
import * as FileStore from "@stevedore/server/FileStore"
import type { FileRow } from "@stevedore/server/FileTable"
import { FileTable } from "@stevedore/server/FileTable"
import * as FileTableMemory from "@stevedore/server/FileTableMemory"
import { ListSource } from "@stevedore/server/ListSource"
import type * as ObjectStore from "@stevedore/server/ObjectStore"
import * as Observer from "@stevedore/server/Observer"
import type { ObserverService } from "@stevedore/server/Observer"
import type { FileRecord } from "@stevedore/server/parts/files"
import * as ListResources from "@stevedore/server/parts/listResources"
import * as RateLimit from "@stevedore/server/RateLimit"
import * as ServerApp from "@stevedore/server/ServerApp"
import * as ServiceRefused from "@stevedore/server/ServiceRefused"
import * as StorageApp from "@stevedore/server/StorageApp"
import * as Uploads from "@stevedore/server/Uploads"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as PageFaults from "../faults/pageFaults.js"
import type { Settings } from "../SandboxOptions.js"
import { withOffset } from "./exchangeRunner.js"
import { keyOf } from "./files.js"
import type { Recording } from "./recorder.js"

const everybody: Principal = {
  tenant: "sandbox",
  id: "0SandboxAuthor00000000",
  name: "Sandbox",
  scopes: ["read", "write"]
}

/** The service of a sandbox: that of `@stevedore/server`, over a table in memory. @internal */
export interface Service {
  readonly api: HttpApp.Default
  readonly storage: HttpApp.Default
  readonly isFinalized: (fileId: string) => Effect.Effect<boolean>
  /** Every finalized file, in the order in which the uploads were initiated. */
  readonly files: Effect.Effect<ReadonlyArray<FileRecord>>
  /** Records what clients of the service do. */
  readonly observer: (recording: Recording) => ObserverService
}

const authorize = (settings: Settings): Authorize["Type"] => {
  const authorization = `Bearer ${Redacted.value(settings.token)}`
  return (headers) =>
    headers["authorization"] === authorization
      ? Effect.succeed(everybody)
      : ServiceRefused.make(401, "Unauthorized")
}

const lists = ({ lists, projects }: Settings) => [
  ["projects", typeof projects === "number" ? ListResources.seedProjects(projects) : projects] as const,
  ...Object.entries(lists)
]

const isAscending = (parts: ReadonlyArray<{ readonly partNumber: number }>): boolean =>
  parts.every(({ partNumber }, index) => partNumber > (parts[index - 1]?.partNumber ?? 0))

export const make = (settings: Settings, store: ObjectStore.ObjectStoreService): Effect.Effect<Service> =>
  Effect.gen(function*() {
    const table = FileTableMemory.make()
    // as at a plain store, a URL that is still valid replaces what was completed
    const fileStore = FileStore.signed({ ...store, seal: store.head }, {
      credential: settings.credential,
      origin: settings.storageOrigin,
      bucket: settings.bucket
    })
    // the number of its URLs, by each file that was ever declared
    const declared = new Map<string, number>()

    const record = (row: FileRow, now: number): FileRecord => ({
      ...Uploads.toRecord(row),
      ...(row.settledAt !== undefined && now < row.settledAt + settings.processingMillis
        ? { status: "pending" as const }
        : {})
    })

    const parts = yield* Layer.build(Layer.provideMerge(
      Uploads.layer({
        urlLifetime: settings.urlLifetimeMillis,
        singleUrlLifetime: settings.singleUrlLifetimeMillis,
        downloadLifetime: settings.downloadLifetimeMillis,
        orphanLifetime: settings.orphanLifetimeMillis,
        recommendedPartSize: settings.recommendedPartSize,
        minimumPartSize: settings.minimumPartSize,
        encryptionHeaders: settings.encryptionHeaders,
        partHeaders: settings.signPartEncryption ? settings.encryptionHeaders : {},
        signed: settings.signContentType ? ["content-type"] : [],
        keyOf: (_, fileId) => keyOf(fileId)
      }),
      Layer.mergeAll(
        Layer.succeed(FileTable, table),
        Layer.succeed(FileStore.FileStore, fileStore),
        Layer.succeed(Authorize, authorize(settings)),
        Layer.succeed(ListSource, PageFaults.source(lists(settings), settings.largestPage)),
        settings.rateLimit === undefined
          ? Layer.empty
          : RateLimit.layerMemory({ limit: settings.rateLimit.limit, window: settings.rateLimit.windowMillis })
      )
    )).pipe(
      // what is in memory needs no end
      Scope.extend(yield* Scope.make())
    )

    const app = yield* Effect.provide(
      ServerApp.make({
        basePath: settings.apiBasePath,
        download: settings.download,
        overwrites: true,
        partUrls: settings.partUrls,
        profile: settings,
        record
      }),
      parts
    )
    const storage = yield* Effect.provide(
      StorageApp.make(settings, { cors: settings.cors, putHeaders: settings.encryptionHeaders, overwrites: true }),
      parts
    )

    const find = (fileId: string) => Effect.map(Effect.option(table.find(everybody.tenant, fileId)), Option.flatten)

    const isFinal = ({ state }: FileRow): boolean => state === "finalized"

    const stored = (fileId: string) =>
      Effect.gen(function*() {
        const row = Option.getOrUndefined(yield* find(fileId))
        if (row === undefined || (row.state !== "waiting" && row.state !== "completing")) return undefined
        return row.uploadId === undefined
          ? Number(yield* Effect.isSuccess(store.head(row.key)))
          : (yield* Effect.orElseSucceed(store.parts(row.key, row.uploadId), () => [])).length
      })

    const observer = (recording: Recording): ObserverService => ({
      ...Observer.none,
      declared: ({ file, fileId, unknownFields, urls }) =>
        Effect.sync(() => {
          declared.set(fileId, urls)
          recording.declared(fileId, file.type)
          if (unknownFields.length > 0) {
            recording.breach("UnknownInitiateFields", `Unknown fields: ${unknownFields.join(", ")}`)
          }
        }),
      asked: ({ fileId, parts }) =>
        Effect.map(stored(fileId), (stored) => {
          const expected = declared.get(fileId) ?? 0
          if (stored !== undefined && stored < expected) {
            recording.breach(
              "CompleteBeforeAllParts",
              expected === 1 ? "No bytes are stored" : `${stored} of ${expected} parts are stored`
            )
          }
          if (parts === undefined) return
          if (stored === expected && parts.length < expected) {
            recording.breach("PartsLeftOut", `${parts.length} of ${expected} parts are listed`)
          }
          if (!isAscending(parts)) {
            recording.breach("PartsOutOfOrder", "The parts are not in ascending order, each once")
          }
          // a store that serves its own URLs responds to the client directly, so the sandbox does not know the etags
          if (store.presign === undefined) recording.listed(parts)
        }),
      completed: () => Effect.sync(recording.finalized)
    })

    const { sweep } = Context.get(parts, Uploads.Uploads)

    return {
      // nobody else sweeps: what has expired is removed when somebody asks for it
      api: Effect.tap(app, ({ status }) => status === 404 ? Effect.ignore(sweep) : Effect.void),
      storage,
      observer,
      isFinalized: (fileId) => Effect.map(find(fileId), Option.exists(isFinal)),
      files: withOffset(
        Effect.gen(function*() {
          const rows = yield* Effect.forEach(declared.keys(), find)
          const now = yield* Clock.currentTimeMillis
          return rows.flatMap(Option.toArray).filter(isFinal).map((row) => record(row, now))
        }),
        settings.clockOffsetMillis
      )
    }
  })
