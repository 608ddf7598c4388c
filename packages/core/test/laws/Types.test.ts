import { KeyValueStore } from "@effect/platform"
import { describe, expectTypeOf, it } from "@effect/vitest"
import {
  Checkpoints,
  type DownloadError,
  Downloads,
  Files,
  type ListError,
  type ListRecords,
  Lists,
  type ObjectStorage,
  type Recovery,
  RetryPolicy,
  type ServiceApi,
  type ServiceError,
  ServiceProfile,
  type SourceError,
  type StorageError,
  Timeouts,
  type TransferGate,
  type UploadError,
  type UploadEvent,
  UploadLedger,
  type UploadOptions,
  type UploadPlan,
  type UploadProgress,
  Uploads,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import * as DeepUploads from "@stevedore/core/Uploads"
import type { Duration, Layer, Option, Scope, Subscribable } from "effect"
import { Effect, Match, pipe, Schema, Stream } from "effect"
import type * as List from "../../src/list/list.js"
import * as Pages from "../../src/list/pages.js"
import type * as Page from "../../src/service/page.js"
import type * as UploadOutcome from "../../src/upload/outcome.js"
import type * as UploadedFile from "../../src/UploadedFile.js"

const source = UploadSources.fromBytes("notes.txt", new Uint8Array([1]))

class NoFolder {
  readonly _tag = "NoFolder"
}
interface Folder {
  readonly open: true
}
declare const needy: Schema.Schema<string, string, Folder>
declare const folder: Stream.Stream<UploadSource, NoFolder, Folder>

declare const sink: (chunk: Uint8Array) => Effect.Effect<void, NoFolder, Folder>

describe("the types of uploads", () => {
  it("an upload gives the file, may fail with any upload error, and needs three services", () => {
    type ExpectedOf<A> = Effect.Effect<
      A,
      UploadError.UploadError,
      ServiceApi.ServiceApi | ObjectStorage.ObjectStorage | TransferGate.TransferGate
    >
    type Expected = ExpectedOf<UploadedFile.UploadedFile>
    expectTypeOf(Uploads.upload(source)).toEqualTypeOf<Expected>()
    expectTypeOf(Uploads.upload(source, { concurrency: 2 })).toEqualTypeOf<Expected>()
    expectTypeOf(Uploads.resume("id", source, { verify: "all" })).toEqualTypeOf<Expected>()
    expectTypeOf(pipe(source, Uploads.upload)).toEqualTypeOf<Expected>()
    expectTypeOf(Effect.gen(function*() {
      const { id } = yield* Uploads.upload(source)
      return id
    })).toEqualTypeOf<ExpectedOf<string>>()
    expectTypeOf<Uploads.UploadedFile>().toEqualTypeOf<UploadedFile.UploadedFile>()
  })

  it("a handle ends with its scope, and only its result may fail", () => {
    expectTypeOf(Uploads.start(source)).toEqualTypeOf<
      Effect.Effect<Uploads.UploadHandle, never, Uploads.Requirements | Scope.Scope>
    >()
    expectTypeOf<Uploads.UploadHandle["await"]>().toEqualTypeOf<
      Effect.Effect<UploadedFile.UploadedFile, UploadError.UploadError>
    >()
    expectTypeOf<Uploads.UploadHandle["progress"]>().toEqualTypeOf<
      Subscribable.Subscribable<UploadProgress.UploadProgress, never, never>
    >()
    expectTypeOf<Uploads.UploadHandle["events"]>().toEqualTypeOf<Stream.Stream<UploadEvent.UploadEvent>>()
    expectTypeOf<Uploads.UploadHandle["pause"]>().toEqualTypeOf<Effect.Effect<void>>()
    expectTypeOf<Uploads.UploadHandle["resume"]>().toEqualTypeOf<Effect.Effect<void>>()
    expectTypeOf<Uploads.UploadHandle["cancel"]>().toEqualTypeOf<Effect.Effect<void>>()
    expectTypeOf<UploadProgress.UploadProgress["timeLeft"]>().toEqualTypeOf<Option.Option<Duration.Duration>>()
    const awaited = Effect.scoped(Effect.flatMap(Uploads.start(source), (handle) => handle.await))
    expectTypeOf(awaited).toEqualTypeOf<ReturnType<typeof Uploads.upload>>()
  })

  it("many uploads add nothing to what their sources fail with, in either form", () => {
    type Expected = Stream.Stream<Uploads.UploadOutcome, NoFolder, Folder | Uploads.Requirements>
    const dataFirst = () => Uploads.uploadAll(folder, { files: 2 })
    const inPipe = () => folder.pipe(Uploads.uploadAll({ files: 2 }))
    expectTypeOf(dataFirst).returns.toEqualTypeOf<Expected>()
    expectTypeOf(inPipe).returns.toEqualTypeOf<Expected>()
  })

  it("an outcome is the file or the error, by its tag, and can be written down", () => {
    type Failed = Extract<Uploads.UploadOutcome, { readonly _tag: "Failed" }>
    type Uploaded = Extract<Uploads.UploadOutcome, { readonly _tag: "Uploaded" }>
    expectTypeOf<Uploads.UploadOutcome>().toEqualTypeOf<Failed | Uploaded>()
    expectTypeOf<Failed["error"]>().toEqualTypeOf<UploadError.UploadError>()
    expectTypeOf<Uploaded["file"]>().toEqualTypeOf<UploadedFile.UploadedFile>()
    expectTypeOf<Uploads.UploadOutcome>().toExtend<UploadOutcome.UploadOutcome>()
  })

  it("options that do not exist are refused", () => {
    const refused = () => [
      // @ts-expect-error of many files, not of one
      Uploads.upload(source, { files: 3 }),
      // @ts-expect-error misspelt
      Uploads.start(source, { concurency: 3 }),
      // @ts-expect-error misspelt
      Uploads.uploadAll(folder, { concurency: 3 }),
      // @ts-expect-error said by the first argument
      Uploads.resume("id", source, { unfinished: "other" }),
      // @ts-expect-error no duration
      Uploads.upload(source, { threshold: "64 MiB" }),
      // @ts-expect-error the size is that of the bytes
      UploadSources.fromBytes("notes.txt", new Uint8Array(), { size: 3 }),
      // @ts-expect-error a stream does not tell its size
      UploadSources.fromStream("notes.txt", Stream.empty)
    ]
    expectTypeOf(refused).toBeFunction()
  })

  it("the deep import is the same module", () => {
    expectTypeOf(DeepUploads).toEqualTypeOf<typeof Uploads>()
  })
})

type Tagged = { readonly _tag: string }

/** The tags of a union that more than one of its members has. */
type Shared<E extends Tagged> = {
  [Tag in E["_tag"]]: Extract<E, { readonly _tag: Tag }> extends infer One ? [One] extends [never] ? Tag :
    One extends unknown ? [Extract<E, { readonly _tag: Tag }>] extends [One] ? never : Tag
    : never
    : never
}[E["_tag"]]

describe("the types of errors", () => {
  it("every tag is one error's own", () => {
    expectTypeOf<Shared<{ _tag: "A"; a: 1 } | { _tag: "A"; b: 2 } | { _tag: "B" }>>().toEqualTypeOf<"A">()
    expectTypeOf<Shared<UploadError.UploadError>>().toBeNever()
    expectTypeOf<Shared<DownloadError.DownloadError>>().toBeNever()
    expectTypeOf<Shared<ListError.ListError>>().toBeNever()
    expectTypeOf<string>().not.toExtend<UploadError.UploadError["_tag"] | ListError.ListError["_tag"]>()
    expectTypeOf<string>().not.toExtend<DownloadError.DownloadError["_tag"]>()
  })

  it("every error says what can help, and after how many attempts it failed", () => {
    type Any = UploadError.UploadError | DownloadError.DownloadError | ListError.ListError
    expectTypeOf<Any>().toExtend<Recovery.Recoverable>()
    expectTypeOf<Any["recovery"]>().toEqualTypeOf<Recovery.Recovery>()
    expectTypeOf<Any["attempts"]>().toEqualTypeOf<number>()
  })

  it("a handled tag is gone, and its handler is given that error", () => {
    const one = Effect.catchTag(Uploads.upload(source), "SizeExceeded", (error) => {
      expectTypeOf(error.limit).toEqualTypeOf<number>()
      expectTypeOf(error.path).toEqualTypeOf<"single" | "multipart">()
      return Effect.void
    })
    expectTypeOf(one).not.toBeAny()
    expectTypeOf<Effect.Effect.Error<typeof one>["_tag"]>().toEqualTypeOf<
      Exclude<UploadError.UploadError["_tag"], "SizeExceeded">
    >()
    const two = Effect.catchTags(Uploads.upload(source), {
      UrlExpired: (error) => Effect.succeed(error.deadline),
      RateLimited: (error) => Effect.succeed(error.retryAfter)
    })
    expectTypeOf(two).not.toBeAny()
    expectTypeOf<Effect.Effect.Success<typeof two>>().toEqualTypeOf<
      UploadedFile.UploadedFile | Date | Duration.Duration | undefined
    >()
    expectTypeOf<Effect.Effect.Error<typeof two>["_tag"]>().toEqualTypeOf<
      Exclude<UploadError.UploadError["_tag"], "UrlExpired" | "RateLimited">
    >()
    // @ts-expect-error no upload fails with it
    Effect.catchTag(Uploads.upload(source), "CursorRejected", () => Effect.void)
  })

  it("a match over the errors of a source is exhaustive with four cases", () => {
    const word = Match.type<SourceError.SourceError>().pipe(Match.tagsExhaustive({
      EmptySource: ({ name }) => name,
      InvalidSource: ({ field }) => field,
      SourceChanged: ({ what }) => what,
      SourceUnreadable: ({ reason }) => reason
    }))
    expectTypeOf(word).returns.toExtend<string>()
  })

  it("a smaller union is part of the larger one", () => {
    type Larger = UploadError.UploadError
    expectTypeOf<SourceError.SourceError>().toExtend<Larger>()
    expectTypeOf<StorageError.StorageError | ServiceError.ServiceError>().toExtend<Larger>()
    expectTypeOf<ServiceError.ServiceError>().toExtend<ListError.ListError & DownloadError.DownloadError>()
  })
})

describe("the types of Schemas", () => {
  it("they decode to the types of the same name", () => {
    expectTypeOf<typeof UploadEvent.UploadEvent.Type>().toEqualTypeOf<UploadEvent.UploadEvent>()
    expectTypeOf<typeof UploadProgress.UploadProgress.Type>().toEqualTypeOf<UploadProgress.UploadProgress>()
    expectTypeOf<typeof UploadPlan.UploadPlan.Type>().toEqualTypeOf<UploadPlan.UploadPlan>()
    expectTypeOf<typeof UploadOptions.UploadOptions.Type>().toEqualTypeOf<UploadOptions.UploadOptions>()
    expectTypeOf<typeof UploadError.UploadError.Type>().toEqualTypeOf<UploadError.UploadError>()
    expectTypeOf<typeof DownloadError.DownloadError.Type>().toEqualTypeOf<DownloadError.DownloadError>()
    expectTypeOf<typeof ListError.ListError.Type>().toEqualTypeOf<ListError.ListError>()
  })

  it("what they decode is readonly, and needs no service", () => {
    expectTypeOf<UploadedFile.UploadedFile>().toEqualTypeOf<Readonly<UploadedFile.UploadedFile>>()
    expectTypeOf<UploadedFile.UploadedFile["sent"]>().toEqualTypeOf<Readonly<UploadedFile.UploadedFile["sent"]>>()
    expectTypeOf<ListRecords.Project>().toEqualTypeOf<Readonly<ListRecords.Project>>()
    expectTypeOf<Checkpoints.Checkpoint>().toEqualTypeOf<Readonly<Checkpoints.Checkpoint>>()
    expectTypeOf<ServiceProfile.ServiceProfile["limits"]>().toEqualTypeOf<
      Readonly<ServiceProfile.ServiceProfile["limits"]>
    >()
    expectTypeOf<
      Schema.Schema.Context<
        | typeof UploadOutcome.UploadOutcome
        | typeof UploadEvent.UploadEvent
        | typeof Checkpoints.Checkpoint
        | typeof ServiceProfile.ServiceProfile
      >
    >().toBeNever()
  })
})

describe("the types of lists", () => {
  type Walked<A> = Stream.Stream<A, ListError.ListError, ServiceApi.ServiceApi>
  type Asked<A> = Effect.Effect<A, ListError.ListError, ServiceApi.ServiceApi>
  type Project = ListRecords.Project

  it("every way to walk tells its items, fails with a list error, and needs only the service", () => {
    expectTypeOf(Lists.projects()).toEqualTypeOf<Walked<Project>>()
    expectTypeOf(Lists.projects({ sort: "title:asc" })).toEqualTypeOf<Walked<Project>>()
    expectTypeOf(Lists.projects.pages()).toEqualTypeOf<Walked<Page.Page<Project>>>()
    expectTypeOf(Lists.projects.page()).toEqualTypeOf<Asked<Page.Page<Project>>>()
    expectTypeOf(Lists.projects.count()).toEqualTypeOf<Asked<number>>()
    expectTypeOf(Lists.projects.marked()).toEqualTypeOf<Walked<Checkpoints.Marked<Project>>>()
    expectTypeOf(Lists.projects.untyped({ sort: "title:asc" })).toEqualTypeOf<Walked<Project>>()
    expectTypeOf(Lists.folderContents("id")()).toEqualTypeOf<Walked<ListRecords.FolderContent>>()
    expectTypeOf(Files.inspect("id")).toExtend<
      Effect.Effect<unknown, ServiceError.ServiceError, ServiceApi.ServiceApi>
    >()
  })

  it("a walk of undecoded pages cannot fail with what only a list does", () => {
    const pages = Pages.walk({ path: "/v1/things", limit: 10, query: [] })
    expectTypeOf(pages).toEqualTypeOf<
      Stream.Stream<
        Page.Page<unknown>,
        ServiceError.ServiceError | ListError.PaginationBroken | ListError.CursorRejected,
        ServiceApi.ServiceApi
      >
    >()
  })

  it("a checkpoint goes to a store and back into the walk", () => {
    const resumed = Effect.gen(function*() {
      const store = (yield* KeyValueStore.KeyValueStore).forSchema(Checkpoints.Checkpoint)
      const from = yield* store.get("projects")
      return from._tag === "Some" ? Lists.projects.marked({ from: from.value }) : Lists.projects.marked()
    })
    expectTypeOf(resumed).not.toBeAny()
    expectTypeOf<Effect.Effect.Success<typeof resumed>>().toEqualTypeOf<Walked<Checkpoints.Marked<Project>>>()
  })

  it("a list of one's own has the items, filters and sorts of its definition", () => {
    const Thing = Schema.Struct({ id: Schema.String, madeAt: Schema.Date })
    const things = Lists.make({
      path: "/v1/things",
      item: Thing,
      filters: Schema.Struct({ kind: Schema.optional(Schema.Literal("a", "b")) }),
      sorts: ["id", "madeAt"]
    })
    expectTypeOf(things({ kind: "a", sort: ["id:asc", "madeAt:desc"] })).toEqualTypeOf<Walked<typeof Thing.Type>>()
    const refused = () => [
      // @ts-expect-error no such kind
      things({ kind: "c" }),
      // @ts-expect-error no such sort
      things({ sort: "kind:asc" }),
      // @ts-expect-error decoding it would need a service
      Lists.make({ path: "/v1/things", item: needy })
    ]
    expectTypeOf(refused).toBeFunction()
    expectTypeOf<List.List<typeof Thing.Type, object, "id">>().toExtend<
      List.List<{ readonly id: string }, object, "id">
    >()
  })

  it("options that a walk cannot honour are refused", () => {
    const refused = () => [
      // @ts-expect-error a date, not its text
      Lists.data({ created_at: { gt: "2026-01-01" } }),
      // @ts-expect-error no filters
      Lists.folderContents("id")({ title: { contains: "a" } })
    ]
    expectTypeOf(refused).toBeFunction()
  })
})

describe("the types of downloads", () => {
  it("bytes come, fail with a download error, and need the service and storage", () => {
    type Bytes = Stream.Stream<Uint8Array, DownloadError.DownloadError>
    expectTypeOf(Downloads.stream("id")).toEqualTypeOf<
      Stream.Stream<
        Uint8Array,
        DownloadError.DownloadError,
        ServiceApi.ServiceApi | ObjectStorage.ObjectStorage
      >
    >()
    expectTypeOf(Downloads.open("id")).toEqualTypeOf<
      Effect.Effect<Downloads.OpenDownload, never, Downloads.Requirements>
    >()
    expectTypeOf<ReturnType<Downloads.OpenDownload["section"]>>().toEqualTypeOf<
      Effect.Effect<Downloads.Section, DownloadError.DownloadError, Scope.Scope>
    >()
    expectTypeOf<Downloads.Section["bytes"]>().toEqualTypeOf<Bytes>()
    const drained = (section: Downloads.Section) => section.drain(sink)
    expectTypeOf(drained).returns.toEqualTypeOf<Effect.Effect<void, DownloadError.DownloadError | NoFolder, Folder>>()
    const refused = () => [
      // @ts-expect-error an offset and a length, not a start and an end
      Downloads.stream("id", { range: { start: 0, end: 3 } })
    ]
    expectTypeOf(refused).toBeFunction()
  })
})

describe("the types of configuration", () => {
  it("a profile is extended in either form, and only with what it has", () => {
    const { standard } = ServiceProfile
    expectTypeOf(ServiceProfile.extend(standard, { download: "link" })).toEqualTypeOf<ServiceProfile.ServiceProfile>()
    expectTypeOf(pipe(standard, ServiceProfile.extend({ limits: { parts: 100 } }))).toEqualTypeOf<
      ServiceProfile.ServiceProfile
    >()
    const refused = () => [
      // @ts-expect-error misspelt
      ServiceProfile.extend(standard, { limits: { singelSize: 1 } }),
      // @ts-expect-error misspelt
      pipe(standard, ServiceProfile.extend({ limits: { singelSize: 1 } })),
      // @ts-expect-error no such way
      ServiceProfile.extend(standard, { download: "redirect" }),
      // @ts-expect-error seconds are in its name
      ServiceProfile.extend(standard, { urlLifetimeSeconds: "3 hours" })
    ]
    expectTypeOf(refused).toBeFunction()
  })

  it("policies and ledgers need nothing, fail with nothing, and add no requirement", () => {
    type Free = Layer.Layer<never, never, never>
    expectTypeOf(RetryPolicy.layer({ base: "250 millis" })).toEqualTypeOf<Free>()
    expectTypeOf(RetryPolicy.none).toEqualTypeOf<Free>()
    expectTypeOf(Timeouts.layer({ stall: "10 seconds" })).toEqualTypeOf<Free>()
    expectTypeOf(UploadLedger.layerMemory).toEqualTypeOf<Free>()
    expectTypeOf(UploadLedger.none).toEqualTypeOf<Free>()
    expectTypeOf(Uploads.upload(source).pipe(Effect.provide(RetryPolicy.none), Timeouts.with({ call: "1 minute" })))
      .toEqualTypeOf<ReturnType<typeof Uploads.upload>>()
    const refused = () => [
      // @ts-expect-error misspelt
      RetryPolicy.layer({ attempt: 3 }),
      // @ts-expect-error no unit of a Duration
      RetryPolicy.layer({ base: "250 milliseconds" }),
      // @ts-expect-error misspelt
      Timeouts.with({ stal: "10 seconds" })
    ]
    expectTypeOf(refused).toBeFunction()
  })

  it("filters that exclude each other do not compile", () => {
    // @ts-expect-error one of contains and equal_to
    void Lists.projects({ title: { contains: "a", equal_to: "b" } })
    // @ts-expect-error one of gt and gte
    void Lists.data({ created_at: { gt: new Date(0), gte: new Date(0) } })
    // @ts-expect-error at least one end
    void Lists.data({ created_at: {} })
    // @ts-expect-error one of project_id, tag_id and highlight_id
    void Lists.highlights({ project_id: "p", tag_id: "t" })
    // @ts-expect-error a filter of other lists
    void Lists.tags({ title: { contains: "a" } })
    // @ts-expect-error a sort of other lists
    void Lists.tags({ sort: "title:asc" })
    // @ts-expect-error no such direction
    void Lists.projects({ sort: "title:up" })
    // @ts-expect-error a list without filters
    void Lists.make({ path: "/v1/things", item: Schema.Unknown })({ title: "a" })
  })
})
