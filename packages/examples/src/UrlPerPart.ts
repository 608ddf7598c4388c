/**
 * A service that opens an upload in parts without URLs, and gives the URL of
 * each part by a call. No profile can say that: the port `ServiceApi` can, for
 * the one call that is another; the client of the profile makes all others.
 */
import {
  HttpClient,
  HttpClientRequest,
  HttpClientResponse
} from "@effect/platform"
import {
  PresignedUrl,
  ServiceApi,
  type ServiceConfig,
  ServiceError
} from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { Clock, Effect, Layer, Option, Redacted, Schema } from "effect"

const Opened = Schema.Struct({
  id: Schema.NonEmptyString,
  upload_id: Schema.NonEmptyString
})

const PartUrl = Schema.Struct({ url: PresignedUrl.PresignedUrlFromString })

/** In bytes; the service wants the caller to choose. */
const partSize = 16_777_216

const operation = "initiateLargeUpload"

const withUrlPerPart = (
  { baseUrl, token }: Pick<ServiceConfig.ServiceWithToken, "baseUrl" | "token">
) =>
  Effect.gen(function*() {
    const service = yield* ServiceApi.ServiceApi
    const client = yield* HttpClient.HttpClient

    const answered = <A, I>(
      schema: Schema.Schema<A, I>,
      request: HttpClientRequest.HttpClientRequest
    ) =>
      client.execute(
        request.pipe(
          HttpClientRequest.prependUrl(baseUrl),
          HttpClientRequest.bearerToken(Redacted.value(token))
        )
      ).pipe(
        Effect.flatMap(HttpClientResponse.filterStatusOk),
        Effect.flatMap(HttpClientResponse.schemaBodyJson(schema)),
        Effect.scoped,
        Effect.catchTags({
          ParseError: () =>
            new ServiceError.InvalidResponse({
              operation,
              status: 200,
              issues: [],
              path: "url",
              problem: "no URL"
            }),
          RequestError: () =>
            new ServiceError.ServiceUnavailable({
              operation,
              status: 503,
              issues: []
            }),
          ResponseError: ({ response: { status } }) =>
            new ServiceError.ServiceUnavailable({
              operation,
              status,
              issues: []
            })
        })
      )

    const initiateLargeUpload: ServiceApi.Service["initiateLargeUpload"] = (
      { mediaType, name, parts, size }
    ) =>
      Effect.gen(function*() {
        const openedAt = yield* Clock.currentTimeMillis
        const { id, upload_id } = yield* answered(
          Opened,
          HttpClientRequest.post("/v2/files/large-upload").pipe(
            HttpClientRequest.bodyUnsafeJson({ name, type: mediaType, size })
          )
        )
        const urlOf = (part: number) =>
          Effect.map(
            answered(
              PartUrl,
              HttpClientRequest.get(
                `/v2/files/${id}/large-upload/parts/${part}/url`
              )
            ),
            ({ url }) =>
              PresignedUrl.endingBy(
                url,
                new Date(openedAt + service.profile.urlLifetimeSeconds * 1000)
              )
          )
        const count = Option.getOrElse(parts, () => Math.ceil(size / partSize))
        const first = yield* urlOf(1)
        const others = yield* Effect.forEach(
          Array.from({ length: count - 1 }, (_, index) => index + 2),
          urlOf,
          { concurrency: 4 }
        )
        return {
          _tag: "MultipartSession",
          fileId: id,
          uploadId: upload_id,
          urls: [first, ...others],
          clockOffset: 0,
          openedAt,
          extra: {}
        }
      })

    return { ...service, initiateLargeUpload }
  })

/** Everything that an upload to such a service needs. */
export const layer = (
  options: NodeStevedore.Options & { readonly baseUrl: string }
) =>
  Layer.effect(ServiceApi.ServiceApi, withUrlPerPart(options)).pipe(
    Layer.provide(NodeStevedore.layerClient()),
    Layer.provideMerge(NodeStevedore.layer(options))
  )
