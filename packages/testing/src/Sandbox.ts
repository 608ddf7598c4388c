/**
 * The sandbox: a whole service and its storage, made for tests and for trying things out. It is a real implementation, not a
 * recording: it signs its URLs and verifies them, keeps the bytes, and refuses what the real ones refuse.
 *
 * @since 0.1.0
 */
import type * as HttpApp from "@effect/platform/HttpApp"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as ApiApp from "./ApiApp.js"
import type * as Connection from "./Connection.js"
import type * as Exchange from "./Exchange.js"
import * as FaultScript from "./FaultScript.js"
import * as ObjectStore from "./ObjectStore.js"
import * as ObjectStoreMemory from "./ObjectStoreMemory.js"
import { keyOf } from "./SandboxFiles.js"
import * as SandboxOptions from "./SandboxOptions.js"
import * as SandboxRecorder from "./SandboxRecorder.js"
import type * as SandboxReport from "./SandboxReport.js"
import * as SandboxUploads from "./SandboxUploads.js"
import * as StorageApp from "./StorageApp.js"
import type * as StorageRefused from "./StorageRefused.js"

/**
 * A sandbox: its two servers, and what it knows that no client of it could.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxService {
  /** What a client of the service needs: where it is, and the token that it lets in. */
  readonly baseUrl: string
  readonly token: Redacted.Redacted
  readonly apiOrigin: string
  readonly storageOrigin: string
  /** The two servers. They break connections by failing: `SandboxHttp` makes them fit for sockets, or for a client. */
  readonly api: HttpApp.Default<Connection.ConnectionBroken>
  readonly storage: HttpApp.Default<Connection.ConnectionBroken>
  /** The bytes that storage holds for a file, finalized or not. */
  readonly stored: (fileId: string) => Effect.Effect<Uint8Array, StorageRefused.StorageRefused>
  /** What the sandbox saw until now. */
  readonly report: Effect.Effect<SandboxReport.SandboxReport>
}

/**
 * The tag of the sandbox: tests ask it what was stored and what it saw.
 *
 * @since 0.1.0
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

const concat = (chunks: Chunk.Chunk<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(Chunk.reduce(chunks, 0, (size, chunk) => size + chunk.byteLength))
  Chunk.reduce(chunks, 0, (position, chunk) => {
    bytes.set(chunk, position)
    return position + chunk.byteLength
  })
  return bytes
}

/**
 * A sandbox over an object store.
 *
 * @since 0.1.0
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
    const recorder = SandboxRecorder.make()
    const uploads = SandboxUploads.make(settings, store)
    return {
      baseUrl: `${settings.apiOrigin}${settings.apiBasePath}`,
      token: settings.token,
      apiOrigin: settings.apiOrigin,
      storageOrigin: settings.storageOrigin,
      api: yield* ApiApp.make({ settings, uploads, store, recorder }),
      storage: StorageApp.make(settings, store, recorder),
      stored: (fileId) => Effect.map(Stream.runCollect(store.get(keyOf(fileId))), concat),
      report: Effect.sync(recorder.report)
    }
  })

/**
 * {@link make} as a layer.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: SandboxOptions.Options): Layer.Layer<Sandbox, never, ObjectStore.ObjectStore> =>
  Layer.effect(Sandbox, make(options))

/**
 * A sandbox that keeps everything in memory.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (options?: SandboxOptions.Options): Layer.Layer<Sandbox> =>
  Layer.provide(layer(options), ObjectStoreMemory.layer({ minimumPartSize: options?.minimumPartSize }))

/**
 * The bytes that storage holds for a file, finalized or not. Fails with `NoSuchKey` when there are none.
 *
 * @since 0.1.0
 * @category accessors
 */
export const stored = (fileId: string): Effect.Effect<Uint8Array, StorageRefused.StorageRefused, Sandbox> =>
  Effect.flatMap(Sandbox, (sandbox) => sandbox.stored(fileId))

/**
 * Everything that the sandbox saw until now, and the breaches of the contract that it noticed.
 *
 * @since 0.1.0
 * @category accessors
 */
export const report: Effect.Effect<SandboxReport.SandboxReport, never, Sandbox> = Effect.flatMap(
  Sandbox,
  (sandbox) => sandbox.report
)
