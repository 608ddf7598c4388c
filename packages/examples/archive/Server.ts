import {
  Cookies,
  HttpApi,
  HttpApiBuilder,
  HttpApiEndpoint,
  HttpApiError,
  HttpApiGroup,
  type HttpServerRequest
} from "@effect/platform"
import type { ServiceApi } from "@stevedore/core"
import { StevedoreHttpApp } from "@stevedore/node"
import { Effect, Layer, Schema } from "effect"
import { Archive, Recording } from "./Archive.js"

export const Api = HttpApi.make("archive").add(
  HttpApiGroup.make("recordings").add(
    HttpApiEndpoint.get("list", "/recordings")
      .addSuccess(Schema.Array(Recording))
      .addError(HttpApiError.Unauthorized)
      .addError(HttpApiError.ServiceUnavailable)
  )
)

// the name of whoever has signed in: replace it by your sessions
const userOf = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.mapError(
    Effect.fromNullable(Cookies.parseHeader(request.headers.cookie ?? "").user),
    () => new HttpApiError.Unauthorized()
  )

const Recordings = HttpApiBuilder.group(
  Api,
  "recordings",
  (handlers) =>
    handlers.handle("list", ({ request }) =>
      Effect.gen(function*() {
        const user = yield* userOf(request)
        return yield* Effect.mapError(
          (yield* Archive).of(user),
          () => new HttpApiError.ServiceUnavailable()
        )
      }).pipe(Effect.tapErrorCause(Effect.logDebug)))
)

// opens and completes uploads; the bytes go from the page to storage
const Uploading = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function*() {
    const archive = yield* Archive
    const services = yield* Effect.context<ServiceApi.ServiceApi>()
    const app = StevedoreHttpApp.make({
      authorize: userOf,
      opened: (user, { file, fileId }) =>
        archive.opened(
          user,
          new Recording({
            id: fileId,
            title: file.name,
            bytes: file.size,
            complete: false
          })
        ),
      permit: (user, call) =>
        "fileId" in call
          ? Effect.orElseSucceed(archive.owns(user, call.fileId), () => false)
          : Effect.succeed(call.operation !== "list")
    })
    yield* router.mountApp("/uploads", Effect.provide(app, services))
  })
)

export const ArchiveLive = HttpApiBuilder.api(Api).pipe(
  Layer.provide([Recordings, Uploading]),
  Layer.provide(Archive.Default)
)
