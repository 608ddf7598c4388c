import type { KeyValueStore } from "@effect/platform"
import type { Details, StevedoreUpload } from "@stevedore/browser/element"
import "@stevedore/browser/preact"
import "@stevedore/browser/react"
import "@stevedore/browser/solid"
import "@stevedore/browser/svelte"
import "@stevedore/browser/vue"
import { describe, expectTypeOf, it } from "@effect/vitest"
import {
  BlobSource,
  BrowserLedger,
  BrowserStevedore,
  FileHandles,
  IndexedDbKeyValueStore,
  ScreenWakeLock,
  UnloadWarning,
  UploadQueue,
  UploadQueueStream,
  XhrObjectStorage
} from "@stevedore/browser"
import type { ObjectStorage, ServiceApi, ServiceConfig, SourceError, TransferGate, Uploads } from "@stevedore/core"
import type { UploadedFile } from "@stevedore/core/Uploads"
import type { RepeatableSource } from "@stevedore/core/UploadSource"
import { type Effect, Layer, type Scope, type Stream } from "effect"
import type { JSX as Preact } from "preact"
import type { JSX as React, Ref } from "react"
import type { JSX as Solid } from "solid-js"
import type { SvelteHTMLElements } from "svelte/elements"
import type { GlobalComponents } from "vue"

type Services = ServiceApi.ServiceApi | ObjectStorage.ObjectStorage | TransferGate.TransferGate

declare const file: File

describe("the types of the layers", () => {
  it("name what each layer provides, and reject a missing base URL and a token in clear text", () => {
    expectTypeOf(BrowserStevedore.layer({ baseUrl: "/api" })).toEqualTypeOf<
      Layer.Layer<Services, ServiceConfig.InvalidConfiguration>
    >()
    expectTypeOf(BrowserLedger.layer()).toEqualTypeOf<Layer.Layer<never>>()
    expectTypeOf(FileHandles.layer()).toEqualTypeOf<Layer.Layer<FileHandles.FileHandles>>()
    expectTypeOf(IndexedDbKeyValueStore.layer()).toEqualTypeOf<Layer.Layer<KeyValueStore.KeyValueStore>>()
    expectTypeOf(XhrObjectStorage.layer).toEqualTypeOf<Layer.Layer<ObjectStorage.ObjectStorage>>()
    expectTypeOf<Uploads.Requirements>().toEqualTypeOf<Services>()
    const refused = () => [
      // @ts-expect-error where to, of a page that has no token
      BrowserStevedore.layer({}),
      // @ts-expect-error a token in clear text
      BrowserStevedore.layer({ baseUrl: "/api", token: "api.secret" })
    ]
    expectTypeOf(refused).toBeFunction()
  })

  it("say that the wake lock and the unload warning cannot fail", () => {
    expectTypeOf(ScreenWakeLock.scoped).toEqualTypeOf<Effect.Effect<void, never, Scope.Scope>>()
    expectTypeOf(UnloadWarning.scoped).toEqualTypeOf<Effect.Effect<void, never, Scope.Scope>>()
    const during = (upload: Effect.Effect<1, 2, 3>) => UnloadWarning.during(upload)
    expectTypeOf(during).returns.toEqualTypeOf<Effect.Effect<1, 2, 3>>()
  })
})

describe("the types of sources", () => {
  it("let `fromFile` fail only with `SourceError`, and require a name in `fromBlob`", () => {
    expectTypeOf(() => BlobSource.fromFile(file)).returns.toEqualTypeOf<
      Effect.Effect<RepeatableSource, SourceError.SourceError>
    >()
    // @ts-expect-error a Blob has no name of its own
    const refused = () => BlobSource.fromBlob(file, {})
    expectTypeOf(refused).toBeFunction()
  })
})

describe("the types of the queue", () => {
  it("accept a `FileList` or an array of files, and give read-only snapshots", () => {
    const queue = () => UploadQueue.make({ layer: BrowserStevedore.layer({ baseUrl: "/api" }), files: 3 })
    expectTypeOf(queue).returns.toEqualTypeOf<UploadQueue.OwnedUploadQueue>()
    type Queue = ReturnType<typeof queue>
    expectTypeOf<FileList | null>().toExtend<Parameters<Queue["add"]>[0]>()
    expectTypeOf<ReadonlyArray<File>>().toExtend<Parameters<Queue["add"]>[0]>()
    expectTypeOf<ReturnType<Queue["getSnapshot"]>>().toEqualTypeOf<UploadQueue.Snapshot>()
    expectTypeOf<Queue["subscribe"]>().toEqualTypeOf<(listener: () => void) => () => void>()
    expectTypeOf<UploadQueue.Snapshot["items"]>().toEqualTypeOf<ReadonlyArray<UploadQueue.Item>>()
    expectTypeOf<UploadQueue.Item>().toEqualTypeOf<Readonly<UploadQueue.Item>>()
    expectTypeOf<UploadQueue.Item["result"]>().toEqualTypeOf<UploadedFile | undefined>()
    expectTypeOf(UploadQueueStream.changes).returns.toEqualTypeOf<Stream.Stream<UploadQueue.Snapshot>>()
  })

  it("require the services and a scope for `scoped`", () => {
    expectTypeOf(UploadQueue.scoped()).toEqualTypeOf<
      Effect.Effect<UploadQueue.UploadQueue, never, Services | Scope.Scope>
    >()
  })

  it("reject unknown options and a layer that lacks a service", () => {
    const layer = BrowserStevedore.layer({ baseUrl: "/api" })
    const refused = () => [
      // @ts-expect-error misspelt
      UploadQueue.make({ layer, limits: { sizes: 3 } }),
      // @ts-expect-error which of them is continued, the queue knows
      UploadQueue.make({ layer, upload: { unfinished: "id" } }),
      // @ts-expect-error no service, no gate
      UploadQueue.make({ layer: XhrObjectStorage.layer }),
      // @ts-expect-error nothing at all
      UploadQueue.make({ layer: Layer.empty })
    ]
    expectTypeOf(refused).toBeFunction()
  })
})

describe("the types of the element in frameworks", () => {
  type Completed = ((event: CustomEvent<Details["completed"]>) => void) | undefined
  type InReact = React.IntrinsicElements["stevedore-upload"]
  type InPreact = Preact.IntrinsicElements["stevedore-upload"]
  type InSolid = Solid.IntrinsicElements["stevedore-upload"]
  type InSvelte = SvelteHTMLElements["stevedore-upload"]
  type InVue = InstanceType<GlobalComponents["stevedore-upload"]>["$props"]

  it("have its attributes, properties and events, and nothing that it has not", () => {
    expectTypeOf<
      InReact["limits"] | InPreact["limits"] | InSolid["prop:limits"] | InSvelte["limits"] | InVue["limits"]
    >()
      .toEqualTypeOf<UploadQueue.Limits | undefined>()
    expectTypeOf<
      | InReact["max-files"]
      | InPreact["max-files"]
      | InSolid["attr:max-files"]
      | InSvelte["max-files"]
      | InVue["max-files"]
    >()
      .toEqualTypeOf<number | string | undefined>()
    expectTypeOf<InReact["oncompleted"]>().toEqualTypeOf<Completed>()
    expectTypeOf<InPreact["oncompleted"]>().toEqualTypeOf<Completed>()
    expectTypeOf<InSolid["on:completed"]>().toEqualTypeOf<Completed>()
    expectTypeOf<InSvelte["oncompleted"]>().toEqualTypeOf<Completed>()
    expectTypeOf<InVue["oncompleted"]>().toEqualTypeOf<Completed>()
    expectTypeOf<InReact["ref"]>().toEqualTypeOf<Ref<StevedoreUpload> | undefined>()
    expectTypeOf<"max-count" extends keyof InReact ? true : false>().toEqualTypeOf<false>()
  })
})
