import type { HttpApp, HttpClient, HttpServerRequest } from "@effect/platform"
import { describe, expectTypeOf, it } from "@effect/vitest"
import {
  type DownloadError,
  type Downloads,
  type ObjectStorage,
  type ServiceApi,
  type ServiceConfig,
  type SourceError,
  type TransferGate,
  type UploadError,
  Uploads
} from "@stevedore/core"
import type { SizeExceeded } from "@stevedore/core/UploadError"
import type { RepeatableSource } from "@stevedore/core/UploadSource"
import type { DownloadTargetError, SpoolError } from "@stevedore/node"
import {
  DiskLedger,
  FileSource,
  NodeDownloads,
  NodeObjectStorage,
  NodeStevedore,
  StevedoreHttpApp
} from "@stevedore/node"
import { Config, Effect, type Layer, Redacted, type Scope, Stream } from "effect"

const token = Redacted.make("api.secret")

type Services = ServiceApi.ServiceApi | ObjectStorage.ObjectStorage | TransferGate.TransferGate

describe("the types of the layers", () => {
  it("the layers provide all services of uploads and downloads, and require at most an HTTP client", () => {
    type Ready = Layer.Layer<Services, ServiceConfig.InvalidConfiguration>
    expectTypeOf(NodeStevedore.layer({ token })).toEqualTypeOf<Ready>()
    expectTypeOf(NodeStevedore.layerConfig()).toEqualTypeOf<Ready>()
    expectTypeOf(NodeStevedore.layerConfig({ baseUrl: Config.string("ARCHIVE_URL") })).toEqualTypeOf<Ready>()
    expectTypeOf(NodeStevedore.layerWithoutHttpClient({ token })).toEqualTypeOf<
      Layer.Layer<Services, ServiceConfig.InvalidConfiguration, HttpClient.HttpClient>
    >()
    expectTypeOf<Uploads.Requirements | Downloads.Requirements>().toEqualTypeOf<Services>()
  })

  it("the storage layer provides `ObjectStorage`, and the ledger layer provides no service", () => {
    expectTypeOf(NodeObjectStorage.layer()).toEqualTypeOf<Layer.Layer<ObjectStorage.ObjectStorage>>()
    expectTypeOf(DiskLedger.layer()).toEqualTypeOf<Layer.Layer<never>>()
  })

  it("a whole program requires nothing and keeps only the errors that it does not handle", () => {
    const program = FileSource.fromPath("interview.mp4").pipe(
      Effect.flatMap((source) => Uploads.upload(source)),
      Effect.catchTags({ SizeExceeded: () => Effect.void, UrlExpired: () => Effect.void }),
      Effect.provide(NodeStevedore.layer({ token }))
    )
    expectTypeOf(program).not.toBeAny()
    expectTypeOf<Effect.Effect.Context<typeof program>>().toBeNever()
    expectTypeOf<Effect.Effect.Error<typeof program>>().toEqualTypeOf<
      | Exclude<UploadError.UploadError, { readonly _tag: "SizeExceeded" | "UrlExpired" }>
      | ServiceConfig.InvalidConfiguration
    >()
  })

  it("unknown, missing and mistyped options do not compile", () => {
    const refused = () => [
      // @ts-expect-error a token in clear text
      NodeStevedore.layer({ token: "api.secret" }),
      // @ts-expect-error there is a token, or a backend that has it
      NodeStevedore.layer({}),
      // @ts-expect-error no such option
      NodeStevedore.layer({ token, timeout: 3 }),
      // @ts-expect-error misspelt
      NodeStevedore.layer({ token, ledger: { dir: "x" } }),
      // @ts-expect-error a Config, not a value
      NodeStevedore.layerConfig({ token }),
      // @ts-expect-error the client brings its own storage
      NodeStevedore.layerWithoutHttpClient({ token, storage: {} })
    ]
    expectTypeOf(refused).toBeFunction()
  })
})

describe("the types of file sources", () => {
  it("each constructor fails only with its own errors, and an unknown option does not compile", () => {
    type Refusal = SourceError.SourceUnreadable | SourceError.InvalidSource
    expectTypeOf(FileSource.fromPath("a")).toEqualTypeOf<Effect.Effect<RepeatableSource, Refusal>>()
    expectTypeOf(FileSource.fromDirectory("a")).toEqualTypeOf<
      Stream.Stream<RepeatableSource, SourceError.SourceUnreadable>
    >()
    expectTypeOf(FileSource.spooled("a", Stream.empty)).toEqualTypeOf<
      Effect.Effect<RepeatableSource, Refusal | SizeExceeded | SpoolError.SpoolUnwritable, Scope.Scope>
    >()
    // @ts-expect-error misspelt
    const refused = () => FileSource.fromPath("a", { type: "video/mp4" })
    expectTypeOf(refused).toBeFunction()
  })

  it("the stream of a directory's uploads fails only with `SourceUnreadable`", () => {
    expectTypeOf(FileSource.fromDirectory("a").pipe(Uploads.uploadAll())).toEqualTypeOf<
      Stream.Stream<Uploads.UploadOutcome, SourceError.SourceUnreadable, Services>
    >()
  })
})

describe("the types of downloads", () => {
  type Failure = DownloadError.DownloadError | DownloadTargetError.DownloadTargetError

  it("`toFile` fails with a `DownloadError` or a `DownloadTargetError`", () => {
    expectTypeOf(NodeDownloads.toFile("id", "a.mp4")).toEqualTypeOf<
      Effect.Effect<NodeDownloads.DownloadedFile, Failure, ServiceApi.ServiceApi | ObjectStorage.ObjectStorage>
    >()
  })

  it("`downloadAll` adds no error to those of its targets in any form, and invalid options do not compile", () => {
    const targets = Stream.make({ fileId: "id", path: "a.mp4" })
    type Expected = Stream.Stream<NodeDownloads.DownloadOutcome, never, Downloads.Requirements>
    expectTypeOf(NodeDownloads.downloadAll(targets, { files: 2 })).toEqualTypeOf<Expected>()
    expectTypeOf(targets.pipe(NodeDownloads.downloadAll({ files: 2 }))).toEqualTypeOf<Expected>()
    expectTypeOf<Extract<NodeDownloads.DownloadOutcome, { readonly _tag: "Failed" }>["error"]>()
      .toEqualTypeOf<Failure>()
    const refused = () => [
      // @ts-expect-error each target has its own size
      NodeDownloads.downloadAll(targets, { size: 3 }),
      // @ts-expect-error a size of parts, not their number
      NodeDownloads.toFile("id", "a.mp4", { parts: 3 })
    ]
    expectTypeOf(refused).toBeFunction()
  })
})

interface User {
  readonly name: string
}
interface Sessions {
  readonly sessions: true
}
interface Rights {
  readonly rights: true
}
interface Journal {
  readonly journal: true
}
declare const authorize: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<User, "nobody", Sessions>
declare const isPermitted: (user: User, call: StevedoreHttpApp.Call) => Effect.Effect<boolean, never, Rights>
declare const failing: () => Effect.Effect<boolean, "unknown">
declare const written: (user: User, upload: StevedoreHttpApp.Opened) => Effect.Effect<void, "full", Journal>

describe("the types of StevedoreHttpApp", () => {
  it("the app never fails, and requires `ServiceApi` and the services of its hooks", () => {
    expectTypeOf(() => StevedoreHttpApp.make({ authorize })).returns.toEqualTypeOf<
      HttpApp.Default<never, ServiceApi.ServiceApi | Sessions>
    >()
    expectTypeOf(() => StevedoreHttpApp.make({ authorize, permit: isPermitted, opened: written })).returns
      .toEqualTypeOf<HttpApp.Default<never, ServiceApi.ServiceApi | Sessions | Rights | Journal>>()
  })

  it("the hooks receive the user that `authorize` returns, and invalid hooks do not compile", () => {
    const app = () =>
      StevedoreHttpApp.make({
        authorize,
        permit: (user, call) => {
          expectTypeOf(user).toEqualTypeOf<User>()
          expectTypeOf(call).toEqualTypeOf<StevedoreHttpApp.Call>()
          return Effect.succeed(true)
        },
        opened: (user) => {
          expectTypeOf(user).toEqualTypeOf<User>()
          return Effect.void
        }
      })
    const refused = () => [
      // @ts-expect-error misspelt
      StevedoreHttpApp.make({ authorize, permits: isPermitted }),
      // @ts-expect-error a permission that fails says neither yes nor no
      StevedoreHttpApp.make({ authorize, permit: failing })
    ]
    expectTypeOf([app, refused]).toBeArray()
  })
})
