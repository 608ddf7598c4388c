/** An upload with the core alone: over `fetch`, of bytes in memory. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpObjectStorage from "@stevedore/core/HttpObjectStorage"
import * as ServiceApi from "@stevedore/core/ServiceApi"
import * as ServiceConfig from "@stevedore/core/ServiceConfig"
import * as TransferGate from "@stevedore/core/TransferGate"
import * as Uploads from "@stevedore/core/Uploads"
import * as UploadSources from "@stevedore/core/UploadSources"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const layer = Layer.merge(ServiceApi.layer, HttpObjectStorage.layer).pipe(
  Layer.provide(ServiceConfig.layer({ baseUrl: "/api", token: Redacted.make("token") })),
  Layer.merge(TransferGate.layer()),
  Layer.provide(FetchHttpClient.layer)
)

export const upload = (name: string, bytes: Uint8Array) =>
  Uploads.upload(UploadSources.fromBytes(name, bytes)).pipe(Effect.provide(layer), Effect.runPromise)
