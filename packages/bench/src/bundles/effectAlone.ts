/** What an application with Effect has anyway. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Item = Schema.Struct({ id: Schema.String })

export const load = (url: string) =>
  Stream.fromEffect(HttpClient.get(url)).pipe(
    Stream.mapEffect(HttpClientResponse.schemaBodyJson(Item)),
    Stream.runCollect,
    Effect.retry(Schedule.recurs(3)),
    Effect.provide(Layer.mergeAll(FetchHttpClient.layer)),
    Effect.runPromise
  )
