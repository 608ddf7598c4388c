/** Everything the programs need on Node, as one layer. */
import * as HttpClient from "@effect/platform/HttpClient"
import * as BandwidthLimit from "@stevedore/core/BandwidthLimit"
import * as HttpObjectStorage from "@stevedore/core/HttpObjectStorage"
import type { ObjectStorage } from "@stevedore/core/ObjectStorage"
import * as RetryPolicy from "@stevedore/core/RetryPolicy"
import * as ServiceApi from "@stevedore/core/ServiceApi"
import * as ServiceConfig from "@stevedore/core/ServiceConfig"
import * as Timeouts from "@stevedore/core/Timeouts"
import * as TransferGate from "@stevedore/core/TransferGate"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as DiskLedger from "./DiskLedger.js"
import * as ConnectionPool from "./http/connectionPool.js"
import * as SocketClient from "./http/socketClient.js"
import * as SocketSend from "./http/socketSend.js"
import type { HttpProxy } from "./HttpProxy.js"
import * as NodeChecksum from "./NodeChecksum.js"
import * as NodeObjectStorage from "./NodeObjectStorage.js"

/**
 * The services that the layers provide.
 *
 * @category models
 */
export type NodeStevedore = ServiceApi.ServiceApi | ObjectStorage | TransferGate.TransferGate

/**
 * How uploads are recorded, so that running them again resumes them.
 *
 * @category models
 */
export interface LedgerOptions {
  /** `false` records nothing. Defaults to the disk, as in `DiskLedger.layer`. */
  readonly ledger?: DiskLedger.Options | false | undefined
}

/**
 * How object storage is reached.
 *
 * @category models
 */
export interface StorageOptions {
  /** By default, certificates are checked against those that Node trusts. */
  readonly storage?: NodeObjectStorage.Options | undefined
}

/**
 * How the service is called; storage is not affected.
 *
 * @category models
 */
export interface ClientOptions extends Pick<ServiceApi.Options, "transformClient"> {}

/**
 * The proxy, for both the service and storage.
 *
 * @category models
 */
export interface ProxyOptions {
  /** Defaults to none. `HTTPS_PROXY` and the like are not read. */
  readonly proxy?: HttpProxy | undefined
}

/**
 * How requests are retried, and how long they may go without progress. In the options of the layer, they count wherever
 * the layer is merged.
 *
 * @category models
 */
export interface PatienceOptions {
  /** A layer of `RetryPolicy`. Defaults to the policy that is provided to the layer. */
  readonly retry?: Layer.Layer<never> | undefined
  /** A layer of `Timeouts`. Defaults to those that are provided to the layer. */
  readonly timeouts?: Layer.Layer<never> | undefined
}

/**
 * Where the service is, and its token. The profile defaults to `ServiceProfile.standard`, and the base URL to the
 * profile's own.
 *
 * @category models
 */
export interface Options
  extends
    ServiceConfig.Options,
    ClientOptions,
    ProxyOptions,
    TransferGate.Options,
    LedgerOptions,
    StorageOptions,
    PatienceOptions
{}

/**
 * Each option as a `Config`. By default, the base URL is read from `STEVEDORE_BASE_URL` and the token from
 * `STEVEDORE_TOKEN`.
 *
 * @category models
 */
export interface ConfigOptions
  extends
    ServiceConfig.ConfigOptions,
    ClientOptions,
    ProxyOptions,
    TransferGate.Options,
    LedgerOptions,
    StorageOptions,
    PatienceOptions
{}

type Transport<R> = Layer.Layer<ServiceApi.ServiceApi | ObjectStorage, never, ServiceConfig.ServiceConfig | R>

/**
 * An HTTP client over Node's sockets, the one of {@link layer}: for requests with bodies in memory, a redirect is a
 * response like any other, and nothing is sent that the request does not specify.
 *
 * @category layers
 */
export const layerClient = ({ proxy }: ProxyOptions = {}): Layer.Layer<HttpClient.HttpClient> =>
  Layer.scoped(HttpClient.HttpClient, Effect.map(ConnectionPool.make({ proxy }), SocketClient.make))

const ownSockets = (
  { proxy, storage, transformClient }: StorageOptions & ClientOptions & ProxyOptions
): Transport<never> =>
  Layer.merge(
    Layer.scoped(
      ServiceApi.ServiceApi,
      Effect.flatMap(ConnectionPool.make({ proxy }), (pool) =>
        Effect.provideService(
          ServiceApi.make({ send: SocketSend.make(pool), pull: SocketClient.pull, transformClient }),
          HttpClient.HttpClient,
          SocketClient.make(pool)
        ))
    ),
    NodeObjectStorage.layer({ proxy, ...storage })
  )

const givenClient = ({ transformClient }: ClientOptions): Transport<HttpClient.HttpClient> =>
  Layer.merge(ServiceApi.layerWith({ transformClient }), HttpObjectStorage.layer)

// One layer: each further one would be a fiber and some three hundred steps of every start
const inForce: Layer.Layer<never> = Layer.effectContext(
  Effect.map(
    Effect.all([NodeChecksum.inForce, BandwidthLimit.BandwidthLimit, RetryPolicy.RetryPolicy, Timeouts.Timeouts]),
    ([checksums, bandwidth, policy, timeouts]) =>
      checksums.pipe(
        Context.add(BandwidthLimit.BandwidthLimit, bandwidth),
        Context.add(RetryPolicy.RetryPolicy, policy),
        Context.add(Timeouts.Timeouts, timeouts)
      )
  )
)

const patient = ({ retry, timeouts }: PatienceOptions): Layer.Layer<never> =>
  retry === undefined && timeouts === undefined
    ? inForce
    : Layer.provide(inForce, Layer.merge(retry ?? Layer.empty, timeouts ?? Layer.empty))

const over = <R>(
  transport: Transport<R>,
  config: Layer.Layer<ServiceConfig.ServiceConfig, ServiceConfig.InvalidConfiguration>,
  options: TransferGate.Options & LedgerOptions & PatienceOptions
): Layer.Layer<NodeStevedore, ServiceConfig.InvalidConfiguration, R> =>
  Layer.mergeAll(
    Layer.provide(transport, config),
    TransferGate.layer(options),
    options.ledger === false ? Layer.empty : DiskLedger.layer(options.ledger),
    patient(options)
  )

/**
 * The service and storage over Node's sockets, with their own connections, which are closed with the layer. Unfinished
 * uploads are recorded on disk, and Node computes the checksums. A `BandwidthLimit.layer`,
 * `RetryPolicy.layer`, `Timeouts.layer` or `Checksum.layer` provided to this layer applies to everything that runs with it.
 *
 * @example
 * import { Uploads } from "@stevedore/core"
 * import { FileSource, NodeStevedore } from "@stevedore/node"
 * import { Effect, Redacted } from "effect"
 *
 * const program = Effect.flatMap(FileSource.fromPath("interview.mp4"), (source) => Uploads.upload(source)).pipe(
 *   Effect.provide(NodeStevedore.layer({
 *     baseUrl: "https://files.example/api",
 *     token: Redacted.make("api.abc"),
 *     proxy: { origin: "http://proxy.example:3128" }
 *   }))
 * )
 *
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<NodeStevedore, ServiceConfig.InvalidConfiguration> =>
  over(ownSockets(options), ServiceConfig.layer(options), options)

/**
 * Like {@link layer}, from configuration: by default from the environment.
 *
 * @example
 * import { RetryPolicy } from "@stevedore/core"
 * import { NodeStevedore } from "@stevedore/node"
 * import { Config, Layer } from "effect"
 *
 * const fromEnvironment = NodeStevedore.layerConfig()
 * const archive = NodeStevedore.layerConfig({
 *   baseUrl: Config.string("ARCHIVE_URL"),
 *   token: Config.redacted("ARCHIVE_TOKEN")
 * }).pipe(Layer.provide(RetryPolicy.layer({ attempts: 8, base: "250 millis", cap: "20 seconds" })))
 *
 * @category layers
 */
export const layerConfig = (
  options: ConfigOptions = {}
): Layer.Layer<NodeStevedore, ServiceConfig.InvalidConfiguration> =>
  over(ownSockets(options), ServiceConfig.layerConfig(options), options)

/**
 * Like {@link layer}, with your own HTTP client for both the service and storage. The client must accept raw bodies and
 * not follow redirects, like undici's. It needs no proxy of its own: {@link layer} has an option for that.
 *
 * @example
 * import { NodeHttpClient } from "@effect/platform-node"
 * import { NodeStevedore } from "@stevedore/node"
 * import { Layer, Redacted } from "effect"
 *
 * const overUndici = NodeStevedore.layerWithoutHttpClient({
 *   baseUrl: "https://files.example/api",
 *   token: Redacted.make("api.abc")
 * }).pipe(
 *   Layer.provide(NodeHttpClient.layerUndici)
 * )
 *
 * @category layers
 */
export const layerWithoutHttpClient = (
  options: Omit<Options, keyof StorageOptions | keyof ProxyOptions>
): Layer.Layer<NodeStevedore, ServiceConfig.InvalidConfiguration, HttpClient.HttpClient> =>
  over(givenClient(options), ServiceConfig.layer(options), options)
