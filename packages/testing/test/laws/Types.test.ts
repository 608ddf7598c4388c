import type { FileSystem, HttpClient, Path } from "@effect/platform"
import { describe, expectTypeOf, it } from "@effect/vitest"
import {
  type ObjectStorage,
  type ServiceApi,
  type ServiceConfig,
  type SourceError,
  type TransferGate,
  Uploads,
  type UploadSession,
  UploadSources
} from "@stevedore/core"
import { type StorageRefused } from "@stevedore/server"
import type { FastCheck } from "effect"
import { Effect, type Layer } from "effect"
import {
  Arbitraries,
  type Expectation,
  FaultScript,
  type ObjectStore,
  ObjectStoreDirectory,
  ObjectStoreMemory,
  Recorder,
  Sandbox,
  SandboxHttp,
  SandboxLayer,
  type SandboxReport
} from "../../src/index.js"

const source = UploadSources.fromBytes("notes.txt", new Uint8Array([1]))

type Services = ServiceApi.ServiceApi | ObjectStorage.ObjectStorage | TransferGate.TransferGate

describe("the types of the layers", () => {
  it("provide the sandbox and the upload services, and require an object store unless they include it", () => {
    type Given = Sandbox.Sandbox | Services
    expectTypeOf(SandboxLayer.memory()).toEqualTypeOf<Layer.Layer<Given, ServiceConfig.InvalidConfiguration>>()
    expectTypeOf(SandboxLayer.layer()).toEqualTypeOf<
      Layer.Layer<Given, ServiceConfig.InvalidConfiguration, ObjectStore.ObjectStore>
    >()
    expectTypeOf(Sandbox.layer()).toEqualTypeOf<Layer.Layer<Sandbox.Sandbox, never, ObjectStore.ObjectStore>>()
    expectTypeOf(Sandbox.layerMemory()).toEqualTypeOf<Layer.Layer<Sandbox.Sandbox>>()
    expectTypeOf(SandboxHttp.layerClient).toEqualTypeOf<
      Layer.Layer<HttpClient.HttpClient, never, Sandbox.Sandbox>
    >()
    expectTypeOf(ObjectStoreMemory.layer()).toEqualTypeOf<Layer.Layer<ObjectStore.ObjectStore>>()
    expectTypeOf(ObjectStoreDirectory.layer({ directory: "a" })).toEqualTypeOf<
      Layer.Layer<
        ObjectStore.ObjectStore,
        StorageRefused.StorageRefused,
        FileSystem.FileSystem | Path.Path
      >
    >()
    expectTypeOf(Recorder.layer).toEqualTypeOf<Layer.Layer<Recorder.Recorder>>()
  })

  it("leave no requirements in the test of an upload", () => {
    const test = Effect.gen(function*() {
      const file = yield* Uploads.upload(source)
      const stored = yield* Sandbox.stored(file.id)
      expectTypeOf(stored).toEqualTypeOf<Uint8Array>()
      yield* Sandbox.expectStored(source)
      yield* Sandbox.expectNoBreach
      return yield* Sandbox.report
    }).pipe(Effect.provide(SandboxLayer.memory()))
    expectTypeOf(test).not.toBeAny()
    expectTypeOf<Effect.Effect.Context<typeof test>>().toBeNever()
    expectTypeOf<Effect.Effect.Success<typeof test>>().toEqualTypeOf<SandboxReport.SandboxReport>()
    expectTypeOf<Effect.Effect.Error<typeof test>>().toEqualTypeOf<
      | Effect.Effect.Error<ReturnType<typeof Uploads.upload>>
      | Expectation.ExpectationFailed
      | StorageRefused.StorageRefused
      | SourceError.SourceError
      | ServiceConfig.InvalidConfiguration
    >()
  })

  it("reject invalid options", () => {
    const refused = () => [
      // @ts-expect-error misspelt
      SandboxLayer.memory({ fault: FaultScript.empty }),
      // @ts-expect-error one script, not several
      SandboxLayer.memory({ faults: [FaultScript.empty] }),
      // @ts-expect-error no unit of a Duration
      SandboxLayer.memory({ urlLifetime: "3 hrs" })
    ]
    expectTypeOf(refused).toBeFunction()
  })
})

describe("the types of fault scripts", () => {
  it("accept only the faults that a request can have", () => {
    expectTypeOf(FaultScript.on("put").times(2).answer(503, "SlowDown")).toEqualTypeOf<FaultScript.FaultScript>()
    expectTypeOf(FaultScript.on("putPart").part(2).always().landLate("1 minute")).toEqualTypeOf<
      FaultScript.FaultScript
    >()
    expectTypeOf(FaultScript.on("list").after(1).repeatCursor()).toEqualTypeOf<FaultScript.FaultScript>()
    expectTypeOf(FaultScript.on("complete").loseAnswer().and(FaultScript.empty)).toEqualTypeOf<
      FaultScript.FaultScript
    >()
    const refused = () => [
      // @ts-expect-error the service's answer has no etag
      FaultScript.on("complete").omitEtag(),
      // @ts-expect-error storage has no cursor
      FaultScript.on("put").repeatCursor(),
      // @ts-expect-error a single PUT has no parts
      FaultScript.on("putSingle").part(1),
      // @ts-expect-error what is read does not land
      FaultScript.on("get").landLate("1 minute"),
      // @ts-expect-error no such request
      FaultScript.on("upload"),
      // @ts-expect-error it says which way too
      FaultScript.clockSkew("1 minute")
    ]
    expectTypeOf(refused).toBeFunction()
  })
})

describe("the types of arbitraries", () => {
  it("generate upload sessions and fault scripts", () => {
    expectTypeOf(Arbitraries.session()).toEqualTypeOf<FastCheck.Arbitrary<UploadSession.UploadSession>>()
    expectTypeOf(Arbitraries.faultScript()).toEqualTypeOf<FastCheck.Arbitrary<FaultScript.FaultScript>>()
  })
})
