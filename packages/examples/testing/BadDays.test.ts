import { KeyValueStore } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { RetryPolicy, UploadSources } from "@stevedore/core"
import {
  Arbitraries,
  FaultScript,
  Recorder,
  Sandbox,
  SandboxLayer,
  VirtualTime
} from "@stevedore/testing"
import { Duration, Effect, Either, Exit, Layer, Stream } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import { Recordings } from "./Recordings.js"

// Everything that can go wrong for a while, and what must hold regardless.
// `minimumPartSize` lets files of a few bytes upload in parts; with `backOff`
// the client waits as it would in production, and `VirtualTime` lets these
// hours pass at once.

const on = FaultScript.on

const film = UploadSources.fromBytes(
  "film.mp4",
  new TextEncoder().encode(
    "a film of sixty bytes, which go up in six parts of ten each."
  ),
  {
    mediaType: "video/mp4"
  }
)

const inParts = { strategy: "multipart", parts: 6 } as const

const failing = (
  faults: FaultScript.FaultScript,
  options?: SandboxLayer.Options
) =>
  Recordings.Default.pipe(
    Layer.provideMerge(
      SandboxLayer.memory({
        faults,
        projects: 25,
        minimumPartSize: 10,
        ...options
      })
    ),
    Layer.provide([
      KeyValueStore.layerMemory,
      RetryPolicy.layer({ attempts: 12 })
    ])
  )

const save = Effect.flatMap(
  Recordings,
  (recordings) => recordings.save("project-1", film, inParts)
)

const rows = Effect.flatMap(
  Recordings,
  (recordings) => recordings.of("project-1")
)

const isSaved = Effect.gen(function*() {
  assert.deepStrictEqual((yield* rows).map(({ name }) => name), ["film.mp4"])
  yield* Sandbox.expectStored(film)
  yield* Sandbox.expectNoBreach
})

describe("a recording is saved once, whole, and by the rules", () => {
  const days = {
    "a URL that has expired": on("putPart").part(3).expire(),
    "a storm of SlowDown over every part": on("putPart").slowDown("10 seconds"),
    "an answer to Complete that is lost twice": on("complete").times(2)
      .loseAnswer(),
    "a line that breaks in the middle of parts": on("putPart").times(4)
      .resetAfter(5),
    "a connection on which nothing moves any more": on("putPart").part(2).stall(
      "body",
      { afterBytes: 5 }
    ),
    "an attempt that storage takes in after its repeat": on("putPart").part(1)
      .landLate("30 seconds"),
    "a gateway that answers with its own page": on("complete").html(502),
    "a service that asks for patience": on("initiate").retryAfter(45),
    "a clock that is an hour wrong": FaultScript.clockSkew("1 hour", "ahead")
  }

  for (const [day, faults] of Object.entries(days)) {
    it.effect(`on a day with ${day}`, () =>
      VirtualTime.run(Effect.zipRight(save, isSaved)).pipe(
        Effect.provide(failing(faults, { backOff: true }))
      ))
  }

  it.effect("and takes as long as the storm, not longer than it has to", () =>
    Effect.gen(function*() {
      const [took] = yield* VirtualTime.run(Effect.timed(save))
      assert.isAtLeast(Duration.toSeconds(took), 10)
      assert.isBelow(Duration.toSeconds(took), 300)
    }).pipe(
      Effect.provide(
        failing(days["a storm of SlowDown over every part"], { backOff: true })
      )
    ))
})

describe("a caller", () => {
  it.effect("that wants no repeat gets none, though its layer repeats", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(Effect.provide(save, RetryPolicy.none))
      assert.strictEqual(error._tag, "StorageUnavailable")
      assert.deepStrictEqual(yield* rows, [])
    }).pipe(Effect.provide(failing(on("putPart").answer(503)))))
})

describe("whatever happens", () => {
  it.effect.prop(
    "the database has a row if storage has the file, and none if saving failed",
    { faults: Arbitraries.faultScript({ parts: 6, bytes: 10 }) },
    ({ faults }) =>
      Effect.gen(function*() {
        const outcome = yield* VirtualTime.run(Effect.either(save))
        if (Either.isRight(outcome)) {
          yield* isSaved
        } else {
          assert.deepStrictEqual(yield* rows, [], outcome.left.message)
        }
      }).pipe(Effect.provide(failing(faults, { backOff: true }))),
    { fastCheck: { numRuns: runs(20) } }
  )

  it.effect("no token and no signed URL is in a log, a span or an error", () =>
    Effect.gen(function*() {
      const { token } = yield* Sandbox.Sandbox
      const exit = yield* Effect.exit(save)
      yield* Recorder.record(exit)
      yield* Recorder.expectNoSecret(token)
      assert.isTrue(Exit.isFailure(exit))
    }).pipe(
      Effect.provide(
        Layer.merge(
          Recorder.layer,
          failing(on("putPart").always().answer(403, "AccessDenied"))
        )
      )
    ))
})

describe("the overview", () => {
  const titles = Effect.flatMap(
    Recordings,
    ({ overview }) => Effect.either(Stream.runCollect(overview))
  ).pipe(
    Effect.map(Either.map((projects) => projects.length))
  )

  const pages = {
    "is whole over pages that are empty, short, or late": [
      on("list").emptyPage().and(on("list").shortPage(7)).and(
        on("list").answer(503)
      ),
      25
    ],
    "tells of a cursor that leads in a circle instead of turning for ever": [
      on("list").repeatCursor(),
      "PaginationBroken"
    ],
    "tells of a list that ends too early": [
      on("list").dropCursor(),
      "PaginationBroken"
    ],
    "tells of a project that is none": [on("list").corruptPage(), "ItemInvalid"]
  } as const

  for (const [law, [faults, outcome]] of Object.entries(pages)) {
    it.effect(law, () =>
      Effect.gen(function*() {
        const found = yield* titles
        assert.strictEqual(
          Either.isRight(found) ? found.right : found.left._tag,
          outcome
        )
      }).pipe(Effect.provide(failing(faults, { largestPage: 10 }))))
  }
})
