/** Everything the programs need in a page, as one layer. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as BandwidthLimit from "@stevedore/core/BandwidthLimit"
import * as Checksum from "@stevedore/core/Checksum"
import type { ObjectStorage } from "@stevedore/core/ObjectStorage"
import * as RetryPolicy from "@stevedore/core/RetryPolicy"
import * as ServiceApi from "@stevedore/core/ServiceApi"
import * as ServiceConfig from "@stevedore/core/ServiceConfig"
import * as Timeouts from "@stevedore/core/Timeouts"
import * as TransferGate from "@stevedore/core/TransferGate"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import { patientApi, patientGate } from "./base/offline.js"
import { isOnline } from "./base/pageSignals.js"
import * as BrowserLedger from "./BrowserLedger.js"
import * as XhrObjectStorage from "./XhrObjectStorage.js"

/**
 * The services that the layer provides.
 *
 * @category models
 */
export type BrowserStevedore = ServiceApi.ServiceApi | ObjectStorage | TransferGate.TransferGate

/**
 * Where the service is, or your own server in front of it.
 *
 * @category models
 */
export interface Options extends Omit<ServiceConfig.Options, "token">, ServiceApi.Options, TransferGate.FixedOptions {
  /** An http or https URL, or a path of the page's own origin such as `/api`. */
  readonly baseUrl: string
  /**
   * Users can read everything in a page, so the service's own token does not belong here. Provide a token only if each
   * user has their own. If omitted, no Authorization header is sent, and your own server (`StevedoreHttpApp` of the
   * Node package) recognizes its users by their cookies.
   */
  readonly token?: Redacted.Redacted | undefined
  /** Whether to send cookies. By default they are sent only to the page's own origin. */
  readonly credentials?: RequestCredentials | undefined
  /** A layer of `RetryPolicy`. Defaults to the policy that is provided to this layer. */
  readonly retry?: Layer.Layer<never> | undefined
  /** A layer of `Timeouts`. Defaults to those that are provided to this layer. */
  readonly timeouts?: Layer.Layer<never> | undefined
  /**
   * `false` records nothing. Defaults to IndexedDB, as in `BrowserLedger.layer`; where there is none, to memory.
   */
  readonly ledger?: BrowserLedger.Options | false | undefined
}

// A browser hides where a redirect leads. A response with status 0 would be taken for one that is not the service's.
const redirectAsAnswer = (response: HttpClientResponse.HttpClientResponse): HttpClientResponse.HttpClientResponse =>
  response.status === 0
    ? HttpClientResponse.fromWeb(response.request, new Response(null, { status: 302 }))
    : response

// Around the client and not below it: fetch takes the RequestInit of whoever calls, and an application may have its own.
const withOwnRequestInit = (
  client: HttpClient.HttpClient,
  { credentials = "same-origin" }: Options
): HttpClient.HttpClient =>
  HttpClient.transformResponse(
    client,
    (sending) =>
      Effect.provideService(Effect.map(sending, redirectAsAnswer), FetchHttpClient.RequestInit, {
        redirect: "manual",
        credentials
      })
  )

// Not the location's: a sandboxed page has another origin than the server that it came from
const isOfThisPage = (url: string): boolean => new URL(url).origin === globalThis.origin

const isUnanswered = (error: HttpClientError.HttpClientError): boolean => error._tag === "RequestError"

// A browser does not say why there is no response. If it was offline before the request began, the request cannot have
// been sent. If no response from another origin has ever been readable, CORS may be the reason.
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
        const wasOnline = isOnline()
        return Effect.mapBoth(send, {
          onFailure: (error) => {
            const cause = isUnanswered(error) ? causeOf(wasOnline, request) : undefined
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
    Effect.map(HttpClient.HttpClient, (client) => withFailuresExplained(withOwnRequestInit(client, options)))
  ).pipe(Layer.provide(FetchHttpClient.layer))

const refused = (field: string, problem: string) => Layer.fail(ServiceConfig.invalid(field, problem))

const config = (options: Options): Layer.Layer<ServiceConfig.ServiceConfig, ServiceConfig.InvalidConfiguration> =>
  Layer.suspend(() => {
    const { baseUrl, token } = options
    if (!("fetch" in globalThis)) return refused("fetch", "expected a global fetch: there is none here")
    // a path of this page's origin; to a URL parser, //host and /\host are others
    const isPath = /^\/(?![/\\])/.test(baseUrl)
    if (isPath && !("location" in globalThis)) {
      return refused("baseUrl", "expected a whole URL: there is no page here whose origin has this path")
    }
    const absolute = isPath ? `${location.origin}${baseUrl}` : baseUrl
    return ServiceConfig.layer({
      ...options,
      baseUrl: absolute,
      token: token ?? "none",
      // where no token is sent, http is acceptable
      allowInsecureHttp: options.allowInsecureHttp || token === undefined && /^http:/i.test(absolute)
    })
  })

// Browsers open this many connections per host: further transfers would read their files while waiting for a
// connection.
const mostConnections = 6

/**
 * The service over fetch, storage over XMLHttpRequest, and unfinished uploads in IndexedDB; in a worker, Bun, Deno or
 * workerd, what there is of them: fetch and memory. A missing global is a typed failure of the layer. A `RetryPolicy.layer`,
 * `Timeouts.layer` or `Checksum.layer` provided to this layer applies to everything that runs with it. Redirects from
 * the service are not followed.
 *
 * An operation that fails because the browser is offline waits until it is online again, and is then repeated without
 * counting as an attempt.
 *
 * Browsers open at most six connections per host, so the gate's `limit` defaults to six. Each file has one of them while
 * there are fewer files than that, and more as storage confirms parts quickly enough.
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
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<BrowserStevedore, ServiceConfig.InvalidConfiguration> =>
  Layer.mergeAll(
    Layer.effect(ServiceApi.ServiceApi, Effect.map(ServiceApi.makeUngated(options), patientApi)).pipe(
      Layer.provide(Layer.merge(config(options), client(options)))
    ),
    XhrObjectStorage.layer,
    Layer.scoped(
      TransferGate.TransferGate,
      Effect.map(TransferGate.makeGradual({ ...options, limit: options.limit ?? mostConnections }), patientGate)
    ),
    options.ledger === false ? Layer.empty : BrowserLedger.layer(options.ledger),
    Layer.effect(BandwidthLimit.BandwidthLimit, BandwidthLimit.BandwidthLimit),
    Layer.effect(Checksum.Algorithm, Checksum.Algorithm),
    options.retry ?? Layer.effect(RetryPolicy.RetryPolicy, RetryPolicy.RetryPolicy),
    options.timeouts ?? Layer.effect(Timeouts.Timeouts, Timeouts.Timeouts)
  )
