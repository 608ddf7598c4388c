/**
 * The sandbox: a whole service and its storage, for tests and experiments. It is a real implementation, not a
 * recording: it signs and verifies its URLs, keeps the bytes, and refuses what the real ones refuse.
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import type { SourceError } from "@stevedore/core/SourceError"
import type { UploadSource } from "@stevedore/core/UploadSource"
import * as ObjectStore from "@stevedore/server/ObjectStore"
import type { FileRecord } from "@stevedore/server/parts/files"
import * as ObjectStoreMemory from "@stevedore/server/parts/objectStoreMemory"
import type * as StorageRefused from "@stevedore/server/StorageRefused"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Connection from "./Connection.js"
import type * as Exchange from "./Exchange.js"
import * as Expectation from "./Expectation.js"
import * as FaultScript from "./FaultScript.js"
import * as ApiApp from "./sandbox/apiApp.js"
import { keyOf } from "./sandbox/files.js"
import * as InProcess from "./sandbox/inProcess.js"
import * as SandboxRecorder from "./sandbox/recorder.js"
import * as Service from "./sandbox/service.js"
import * as StorageApp from "./sandbox/storageApp.js"
import * as SandboxOptions from "./SandboxOptions.js"
import type * as SandboxReport from "./SandboxReport.js"

/**
 * A sandbox: its two servers, and what it knows that none of its clients could.
 *
 * @category models
 */
export interface SandboxService {
  /** What a client of the service needs: its address, and the token that it accepts. */
  readonly baseUrl: string
  readonly token: Redacted.Redacted
  readonly apiOrigin: string
  readonly storageOrigin: string
  /** The two servers. They break connections by failing: `SandboxHttp` adapts them for sockets or for a client. */
  readonly api: HttpApp.Default<Connection.ConnectionBroken>
  readonly storage: HttpApp.Default<Connection.ConnectionBroken>
  /** The bytes that storage holds for a file, finalized or not. */
  readonly stored: (fileId: string) => Effect.Effect<Uint8Array, StorageRefused.StorageRefused>
  /** Every finalized file, in the order in which the uploads were initiated. */
  readonly files: Effect.Effect<ReadonlyArray<FileRecord>>
  /** {@link expectStored} for this sandbox. */
  readonly expectStored: (
    source: UploadSource
  ) => Effect.Effect<
    void,
    Expectation.NothingStored | Expectation.StoredDiffers | SourceError | StorageRefused.StorageRefused
  >
  /** What the sandbox has seen so far. */
  readonly report: Effect.Effect<SandboxReport.SandboxReport>
}

/**
 * The service tag of the sandbox: tests ask it what was stored and what it saw.
 *
 * @category tags
 */
export class Sandbox extends Context.Tag("@stevedore/testing/Sandbox")<Sandbox, SandboxService>() {}

const orElse = (first: Exchange.Interceptor, second: Exchange.Interceptor): Exchange.Interceptor => (exchange) =>
  Effect.flatMap(
    first(exchange),
    Option.match({
      onNone: () => second(exchange),
      onSome: (fault) => Effect.succeed(Option.some(fault))
    })
  )

const expectStoredIn = (
  finalized: SandboxService["files"],
  store: ObjectStore.ObjectStoreService
): SandboxService["expectStored"] =>
(source) =>
  Effect.gen(function*() {
    const files = yield* finalized
    const [last, ...earlier] = files
      .filter(({ name }) => name === source.name)
      .reverse()
      .map(({ id }) =>
        Effect.flatMap(store.head(keyOf(id)), ({ key, size }) =>
          Expectation.isStoredAs(source, { fileId: id, size, read: (range) => store.get(key, range) }))
      )
    if (last === undefined) {
      return yield* new Expectation.NothingStored({
        fileName: source.name,
        finalized: files.map(({ name }) =>
          name
        )
      })
    }
    // of several files with that name, one must match; if none does, the last one's difference says most
    return yield* Effect.catchTag(last, "StoredDiffers", (difference) =>
      Effect.firstSuccessOf([...earlier, Effect.fail(difference)]))
  })

/**
 * A sandbox over an object store.
 *
 * @category constructors
 */
export const make = (
  options?: SandboxOptions.Options
): Effect.Effect<SandboxService, never, ObjectStore.ObjectStore> =>
  Effect.gen(function*() {
    const store = yield* ObjectStore.ObjectStore
    const resolved = SandboxOptions.resolve(options)
    const scripted = yield* FaultScript.toInterceptor(resolved.faults)
    const settings: SandboxOptions.Settings = {
      ...resolved,
      clockOffsetMillis: resolved.clockOffsetMillis + resolved.faults.clockSkewMillis,
      interceptor: orElse(scripted, resolved.interceptor)
    }
    const recorder = SandboxRecorder.make(settings)
    const service = yield* Service.make(settings, store)
    const servers = {
      api: ApiApp.make(settings, recorder, service.api, service.observer),
      storage: StorageApp.make(settings, recorder, service.storage)
    }
    const apps = options?.around?.({ ...servers, settings, isFinalized: service.isFinalized }) ??
      { ...servers, inside: identity }
    return {
      baseUrl: `${settings.apiOrigin}${settings.apiBasePath}`,
      token: settings.token,
      apiOrigin: settings.apiOrigin,
      storageOrigin: settings.storageOrigin,
      api: apps.api,
      storage: apps.storage,
      stored: (fileId) => InProcess.collect(store.get(keyOf(apps.inside(fileId)))),
      files: service.files,
      expectStored: expectStoredIn(service.files, store),
      report: Effect.sync(recorder.report)
    }
  })

/**
 * {@link make} as a layer.
 *
 * @category layers
 */
export const layer = (options?: SandboxOptions.Options): Layer.Layer<Sandbox, never, ObjectStore.ObjectStore> =>
  Layer.effect(Sandbox, make(options))

/**
 * A sandbox that keeps everything in memory.
 *
 * @category layers
 */
export const layerMemory = (options?: SandboxOptions.Options): Layer.Layer<Sandbox> =>
  Layer.provide(layer(options), ObjectStoreMemory.layer({ minimumPartSize: options?.minimumPartSize }))

/**
 * The bytes that storage holds for a file, finalized or not. Fails with `NoSuchKey` if there are none.
 *
 * @category accessors
 */
export const stored = (fileId: string): Effect.Effect<Uint8Array, StorageRefused.StorageRefused, Sandbox> =>
  Effect.flatMap(Sandbox, (sandbox) => sandbox.stored(fileId))

/**
 * Everything that the sandbox has seen so far, and the breaches of the contract that it noticed.
 *
 * @category accessors
 */
export const report: Effect.Effect<SandboxReport.SandboxReport, never, Sandbox> = Effect.flatMap(
  Sandbox,
  (sandbox) => sandbox.report
)

/**
 * Every finalized file, in the order in which the uploads were initiated, as the service would report it.
 *
 * @category accessors
 */
export const files: Effect.Effect<ReadonlyArray<FileRecord>, never, Sandbox> = Effect.flatMap(
  Sandbox,
  (sandbox) => sandbox.files
)

/**
 * Fails unless a finalized file has the source's name and its bytes: with `NothingStored`, or with `StoredDiffers`,
 * which shows the first difference. This reads the source, so it does not work for one that can be read only once and
 * that its upload has used up.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 * import { Sandbox, SandboxLayer } from "@stevedore/testing"
 * import { Effect } from "effect"
 *
 * const notes = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"))
 *
 * export const test = Effect.gen(function*() {
 *   yield* Uploads.upload(notes)
 *   yield* Sandbox.expectStored(notes)
 *   yield* Sandbox.expectNoBreach
 * }).pipe(Effect.provide(SandboxLayer.memory()))
 *
 * @category assertions
 */
export const expectStored = (
  source: UploadSource
): Effect.Effect<
  void,
  Expectation.NothingStored | Expectation.StoredDiffers | SourceError | StorageRefused.StorageRefused,
  Sandbox
> => Effect.flatMap(Sandbox, (sandbox) => sandbox.expectStored(source))

/**
 * Fails with `ContractBroken` if the client broke the contract in any way that the sandbox noticed. The message names
 * each breach and the request that caused it.
 *
 * @category assertions
 */
export const expectNoBreach: Effect.Effect<void, Expectation.ContractBroken, Sandbox> = Effect.flatMap(
  report,
  Expectation.isWithoutBreach
)
