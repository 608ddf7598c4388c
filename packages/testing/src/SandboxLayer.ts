/**
 * Everything the programs of `@stevedore/core` need, over an in-process sandbox: an application that uses Stevedore is
 * tested without a network, without waiting, and against everything that can go wrong in production.
 */
import * as Checksum from "@stevedore/core/Checksum"
import * as HttpObjectStorage from "@stevedore/core/HttpObjectStorage"
import type { ObjectStorage } from "@stevedore/core/ObjectStorage"
import * as RetryPolicy from "@stevedore/core/RetryPolicy"
import * as ServiceApi from "@stevedore/core/ServiceApi"
import * as ServiceConfig from "@stevedore/core/ServiceConfig"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as Timeouts from "@stevedore/core/Timeouts"
import * as TransferGate from "@stevedore/core/TransferGate"
import type * as ObjectStore from "@stevedore/server/ObjectStore"
import * as ObjectStoreMemory from "@stevedore/server/parts/objectStoreMemory"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Sandbox from "./Sandbox.js"
import * as SandboxHttp from "./SandboxHttp.js"
import * as SandboxOptions from "./SandboxOptions.js"

/**
 * The services that the layers provide: those of core, and the sandbox behind them.
 *
 * @category models
 */
export type SandboxLayer = Sandbox.Sandbox | ServiceApi.ServiceApi | ObjectStorage | TransferGate.TransferGate

/**
 * How the sandbox behaves, and the client that talks to it. What both must agree on (the encryption headers, the form
 * of a download, the paths, the names of fields, the minimum part size) is taken from the sandbox, unless you give a
 * whole profile.
 *
 * @category models
 */
export interface Options extends SandboxOptions.Options, TransferGate.Options {
  /** The client's profile, for testing a client that disagrees with its service. */
  readonly profile?: ServiceProfile.ServiceProfile | undefined
  /**
   * Whether a failed request waits before it is retried, as the retry policy in force says. By default it does not, so
   * no test has to advance the clock. A `Retry-After` of the sandbox is always followed, and so is a policy that an
   * effect is given for itself, with its waits: `VirtualTime.run` lets them pass.
   */
  readonly backOff?: boolean | undefined
}

/**
 * The profile of a client that agrees with a sandbox of these options.
 *
 * @category constructors
 */
export const profileOf = (options?: SandboxOptions.Options): ServiceProfile.ServiceProfile => {
  const settings = SandboxOptions.resolve(options)
  return ServiceProfile.extend(ServiceProfile.standard, {
    encryptionHeaders: settings.encryptionHeaders,
    download: settings.download === "link" ? "link" : "content",
    paths: settings.paths,
    fields: settings.fields,
    envelope: settings.envelope,
    completeUploadBody: settings.completeUploadBody,
    limits: { minimumPartSize: settings.minimumPartSize }
  })
}

const config = (options: Options | undefined) =>
  Layer.unwrapEffect(Effect.map(Sandbox.Sandbox, (sandbox) =>
    ServiceConfig.layer({
      baseUrl: sandbox.baseUrl,
      token: sandbox.token,
      profile: options?.profile ?? profileOf(options),
      // nothing leaves the process
      allowInsecureHttp: true
    })))

const clients = (options: Options | undefined) =>
  Layer.merge(ServiceApi.layer, HttpObjectStorage.layer).pipe(
    Layer.provide(Layer.merge(config(options), SandboxHttp.layerClient))
  )

const retryPolicy = (options: Options | undefined): Layer.Layer<never> =>
  options?.backOff === true
    ? Layer.effect(RetryPolicy.RetryPolicy, RetryPolicy.RetryPolicy)
    : Layer.effectContext(Effect.map(RetryPolicy.RetryPolicy, (policy) =>
      Context.make(RetryPolicy.RetryPolicy, { ...policy, base: Duration.zero, cap: Duration.zero })))

/**
 * The services of core over a sandbox on any object store.
 *
 * @category layers
 */
export const layer = (
  options?: Options
): Layer.Layer<SandboxLayer, ServiceConfig.InvalidConfiguration, ObjectStore.ObjectStore> =>
  Layer.mergeAll(
    clients(options),
    TransferGate.layer({
      ...options,
      shortestPause: options?.shortestPause ?? (options?.backOff === true ? undefined : 0)
    }),
    Layer.effect(Checksum.Algorithm, Checksum.Algorithm),
    retryPolicy(options),
    Layer.effect(Timeouts.Timeouts, Timeouts.Timeouts)
  ).pipe(Layer.provideMerge(Sandbox.layer({
    ...options,
    // the gate's own limit: transfers that bypass the gate are noticed
    inFlightLimit: options?.inFlightLimit ?? options?.limit ?? 32
  })))

/**
 * The services of core over a sandbox that keeps everything in memory. Time is Effect's `Clock`, so `TestClock` drives
 * expiry, back-off and stalls. Every layer is its own sandbox.
 *
 * @example
 * import { Uploads, UploadSources } from "@stevedore/core"
 * import { FaultScript, Sandbox, SandboxLayer } from "@stevedore/testing"
 * import { Effect } from "effect"
 *
 * const notes = UploadSources.fromBytes("notes.txt", new TextEncoder().encode("hello"))
 *
 * export const survivesALostAnswer = Effect.gen(function*() {
 *   const file = yield* Uploads.upload(notes)
 *   return yield* Sandbox.stored(file.id)
 * }).pipe(Effect.provide(SandboxLayer.memory({ faults: FaultScript.on("complete").loseAnswer() })))
 *
 * @category layers
 */
export const memory = (options?: Options): Layer.Layer<SandboxLayer, ServiceConfig.InvalidConfiguration> =>
  Layer.provide(layer(options), ObjectStoreMemory.layer({ minimumPartSize: options?.minimumPartSize }))
