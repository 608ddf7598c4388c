/**
 * Everything that the programs need, in a page, as one layer.
 *
 * @since 0.1.0
 */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Checksum from "@stevedore/core/Checksum"
import type { ObjectStorage } from "@stevedore/core/ObjectStorage"
import * as RetryPolicy from "@stevedore/core/RetryPolicy"
import * as ServiceApi from "@stevedore/core/ServiceApi"
import * as ServiceConfig from "@stevedore/core/ServiceConfig"
import * as Timeouts from "@stevedore/core/Timeouts"
import * as TransferGate from "@stevedore/core/TransferGate"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as BrowserLedger from "./BrowserLedger.js"
import { patientApi, patientGate } from "./internal/offline.js"
import * as XhrObjectStorage from "./XhrObjectStorage.js"

/**
 * What the layer gives.
 *
 * @since 0.1.0
 * @category models
 */
export type BrowserStevedore = ServiceApi.ServiceApi | ObjectStorage | TransferGate.TransferGate

/**
 * Where the service is, or a server of your own before it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Omit<ServiceConfig.Options, "token">, ServiceApi.Options, TransferGate.Options {
  /** An http or https URL, or a path of the page's own origin such as `/api`. */
  readonly baseUrl: string
  /**
   * Whatever is in a page can be read by whoever uses it: the service's own token does not belong here. Give one only
   * where each user has one. Omitted: no Authorization header is sent, and a server of your own (`StevedoreHttpApp` of
   * the Node package) knows its users by their cookies.
   */
  readonly token?: Redacted.Redacted | undefined
  /** Whether cookies go along. Omitted: to the page's own origin only. */
  readonly credentials?: RequestCredentials | undefined
  /** `false` writes nothing down. Omitted: in IndexedDB, as `BrowserLedger.layer` does. */
  readonly ledger?: BrowserLedger.Options | false | undefined
}

// A browser hides where a redirect leads. As an answer of status 0 it would be taken for none of the service's.
const withRedirectsAsAnswers = HttpClient.transformResponse(
  Effect.map((response) =>
    response.status === 0
      ? HttpClientResponse.fromWeb(response.request, new Response(null, { status: 302 }))
      : response
  )
)

const isOfThisPage = (url: string): boolean => new URL(url, location.href).origin === location.origin

// A browser does not say why there is no answer. A request that fails where it was offline before it began cannot have
// left it; and where no answer of another origin was ever let through, CORS may be the reason.
const withFailuresExplained = (client: HttpClient.HttpClient): HttpClient.HttpClient => {
  let answered = false
  const causeOf = (wasOnline: boolean, { url }: HttpClientRequest.HttpClientRequest) => {
    if (!wasOnline) return { code: "ENETUNREACH" }
    return answered || isOfThisPage(url) ? undefined : { hint: "cors" }
  }
  return HttpClient.transform(
    client,
    (send, request) =>
      Effect.suspend(() => {
        const wasOnline = navigator.onLine
        return Effect.mapBoth(send, {
          onFailure: (error) => {
            const cause = error._tag === "RequestError" ? causeOf(wasOnline, request) : undefined
            return cause === undefined
              ? error
              : new HttpClientError.RequestError({ request, reason: "Transport", cause })
          },
          onSuccess: (response) => {
            answered = true
            return response
          }
        })
      })
  )
}

const client = (options: Options): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) => withFailuresExplained(withRedirectsAsAnswers(client)))
  ).pipe(
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(
      Layer.succeed(FetchHttpClient.RequestInit, {
        redirect: "manual",
        credentials: options.credentials ?? "same-origin"
      })
    )
  )

const config = (options: Options): Layer.Layer<ServiceConfig.ServiceConfig, ConfigError.ConfigError> =>
  Layer.suspend(() => {
    const { baseUrl, token } = options
    const absolute = URL.canParse(baseUrl, location.href) ? new URL(baseUrl, location.href).href : baseUrl
    return token === undefined
      // no token travels in clear
      ? ServiceConfig.layerWithoutToken({
        ...options,
        baseUrl: absolute,
        allowInsecureHttp: options.allowInsecureHttp || absolute.startsWith("http:")
      })
      : ServiceConfig.layer({ ...options, baseUrl: absolute, token })
  })

// What a browser opens to a host: more would wait for a connection while their files are read already.
const mostConnections = 6

/**
 * The service over fetch, the storage over XMLHttpRequest, unfinished uploads in IndexedDB. A `RetryPolicy.layer`,
 * `Timeouts.layer` or `Checksum.layer` that is provided to this layer holds for whatever runs with it. No redirect of the
 * service is followed.
 *
 * What fails because the browser is offline waits until it is online again, and is then done once more without counting
 * as an attempt.
 *
 * Browsers open six connections to a host at the most, so the gate's `limit` is six where the options give none.
 *
 * @example
 * import { Uploads } from "@stevedore/core"
 * import { BlobSource, BrowserStevedore } from "@stevedore/browser"
 * import { Effect } from "effect"
 *
 * const upload = (file: File) =>
 *   Effect.flatMap(BlobSource.fromFile(file), (source) => Uploads.upload(source)).pipe(
 *     Effect.provide(BrowserStevedore.layer({ baseUrl: "/api" }))
 *   )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<BrowserStevedore, ConfigError.ConfigError> =>
  Layer.mergeAll(
    Layer.effect(ServiceApi.ServiceApi, Effect.map(ServiceApi.makeWith(options), patientApi)).pipe(
      Layer.provide(Layer.merge(config(options), client(options)))
    ),
    XhrObjectStorage.layer,
    Layer.scoped(
      TransferGate.TransferGate,
      Effect.map(TransferGate.make({ limit: mostConnections, ...options }), patientGate)
    ),
    options.ledger === false ? Layer.empty : BrowserLedger.layer(options.ledger),
    Checksum.layerInForce,
    RetryPolicy.layerInForce,
    Timeouts.layerInForce
  )
