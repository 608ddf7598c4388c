import { assert, describe, it } from "@effect/vitest"
import { Downloads, ObjectStorage, RetryPolicy, StorageError } from "@stevedore/core"
import { Effect, Layer, Logger, LogLevel, Stream, TestClock } from "effect"
import * as FakeContent from "../fixtures/fakeContent.js"

const bytes = Uint8Array.from({ length: 100 }, (_, index) => index)

const serverNow = Date.UTC(2030, 0, 1)

const signed = (name: string) => `X-Amz-Date=20300101T000000Z&X-Amz-Expires=3600&X-Amz-Signature=${name}`

const expired = {
  status: 403,
  body: "<Error><Code>AccessDenied</Code><Expires>2029-12-31T22:01:00Z</Expires></Error>"
}

/** Reads sections one after the other, each so long after the one before. */
const sections = (
  options: Omit<FakeContent.Options, "bytes">,
  pauses: ReadonlyArray<`${number} minutes`>,
  policy: Layer.Layer<never> = Layer.empty
) => {
  const { got, layer } = FakeContent.make({ bytes, mode: "link", ...options })
  return Effect.gen(function*() {
    const download = yield* Downloads.open("f1")
    for (const pause of pauses) {
      yield* TestClock.adjust(pause)
      const section = yield* download.section({ range: { offset: 0, length: 5 } })
      yield* Stream.runDrain(section.bytes)
    }
    return got.map(({ peer }) => peer)
  }).pipe(Effect.scoped, Effect.provide(policy), Effect.provide(layer))
}

describe("the link of a download", () => {
  for (const hours of [-2, 0, 2]) {
    it.effect(`is asked for once as long as it lives, with a clock that is ${hours} hours ahead`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(serverNow + hours * 3_600_000)
        const peers = yield* sections({ links: [signed("a")] }, ["0 minutes", "0 minutes", "30 minutes", "29 minutes"])
        assert.deepStrictEqual(peers, ["service", "storage", "storage", "storage", "storage"])
      }))

    it.effect(`is not sent when it has ended, with a clock that is ${hours} hours ahead`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(serverNow + hours * 3_600_000)
        const peers = yield* sections({ links: [signed("a"), signed("b")] }, ["0 minutes", "60 minutes"])
        assert.deepStrictEqual(peers, ["service", "storage", "service", "storage"])
      }))
  }

  it.effect("is kept when storage fails for another reason: only storage is asked again", () =>
    Effect.gen(function*() {
      const peers = yield* sections({ links: [signed("a")], mishaps: [{ status: 503 }] }, ["0 minutes"])
      assert.deepStrictEqual(peers, ["service", "storage", "storage"])
    }))

  it.effect("is asked for again when storage says that it has ended, or it does not say when it ends", () =>
    Effect.gen(function*() {
      for (const link of [signed("a"), "X-Amz-Signature=a"]) {
        const peers = yield* sections({ links: [link], mishaps: [{}, expired] }, ["0 minutes", "1 minutes"])
        assert.deepStrictEqual(peers, ["service", "storage", "storage", "service", "storage"])
      }
    }))
})

describe("a link that storage finds to have ended", () => {
  it.effect("is replaced even if no attempt is left, unless it was new", () =>
    Effect.gen(function*() {
      const peers = yield* sections(
        { links: [signed("a")], mishaps: [{}, expired] },
        ["0 minutes", "1 minutes"],
        RetryPolicy.none
      )
      assert.deepStrictEqual(peers, ["service", "storage", "storage", "service", "storage"])
      const error = yield* Effect.flip(
        sections({ links: [signed("a")], mishaps: [expired] }, ["0 minutes"], RetryPolicy.none)
      )
      assert.strictEqual(error._tag, "UrlExpired")
    }))
})

describe("an attempt that storage has refused", () => {
  it.effect("holds nothing while the next one is made", () => {
    const { layer } = FakeContent.make({ bytes, mode: "link" })
    const held: Array<number> = []
    let open = 0
    const storage = Layer.succeed(ObjectStorage.ObjectStorage, {
      put: () => Effect.die("not asked for"),
      get: ({ attempt }) => {
        held.push(open)
        const connection = Effect.acquireRelease(Effect.sync(() => open++), () => Effect.sync(() => open--))
        return Effect.zipRight(connection, new StorageError.StorageUnavailable({ status: 503, attempts: attempt }))
      }
    })
    return Effect.gen(function*() {
      yield* Effect.flip(Stream.runDrain(Downloads.stream("f1")))
      assert.deepStrictEqual(held, [0, 0, 0])
    }).pipe(Effect.provide(Layer.merge(layer, storage)))
  })
})

describe("what a download asks the service for", () => {
  it.effect("is whatever the file is, where the service sends it, and else JSON with a link", () =>
    Effect.gen(function*() {
      for (const [mode, accept] of [["content", "*/*"], ["redirect", "*/*"], ["link", "application/json"]] as const) {
        const { got, layer } = FakeContent.make({ bytes, mode })
        yield* Effect.provide(Stream.runDrain(Downloads.stream("f1")), layer)
        const asked = got.filter(({ peer }) => peer === "service")
        assert.deepStrictEqual(asked.map(({ headers }) => headers["accept"]), [accept])
      }
    }))
})

describe("what storage refuses a download with", () => {
  it.effect.each([403, 404, 503])("%i is told as of no upload", (status) => {
    const { layer } = FakeContent.make({ bytes, mode: "link", mishaps: Array(3).fill({ status }) })
    return Effect.gen(function*() {
      const { message } = yield* Effect.flip(Stream.runDrain(Downloads.stream("f1")))
      assert.include(message, "the request")
      assert.notInclude(message, "PUT")
    }).pipe(Effect.provide(layer))
  })
})

describe("a download that storage forbids", () => {
  it.effect("is not taken for one whose link has expired, with a clock that is ahead", () => {
    const forbidden = {
      status: 403,
      body: "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>",
      date: new Date(serverNow + 1000)
    }
    const { got, layer } = FakeContent.make({ bytes, mode: "link", links: [signed("a")], mishaps: [forbidden] })
    return Effect.gen(function*() {
      yield* TestClock.setTime(serverNow + 7_200_000)
      const error = yield* Effect.flip(Stream.runDrain(Downloads.stream("f1")))
      assert.strictEqual(error._tag, "StorageForbidden")
      assert.deepStrictEqual(got.map(({ peer }) => peer), ["service", "storage"])
    }).pipe(Effect.provide(layer))
  })
})

describe("a download that is made again", () => {
  it.effect("says so at debug level: an attempt without an answer, and one that broke", () => {
    const logged: Array<string> = []
    const { layer } = FakeContent.make({ bytes, mode: "link", mishaps: [{ status: 503 }, { cutAfter: 10 }] })
    return Effect.gen(function*() {
      yield* Stream.runDrain(Downloads.stream("f1"))
      // Effect itself tells of a fiber that failed
      assert.deepStrictEqual(logged.filter((line) => !line.includes("Fiber terminated")), [
        "Debug: Attempt 1 to download f1 failed; retrying in 0",
        "Debug: Attempt 1 to download f1 failed; retrying in 0"
      ])
    }).pipe(
      Effect.provide(Layer.merge(
        layer,
        Logger.replace(
          Logger.defaultLogger,
          Logger.make(({ logLevel, message }) => logged.push(`${logLevel._tag}: ${[message].flat()[0]}`))
        )
      )),
      Logger.withMinimumLogLevel(LogLevel.Debug)
    )
  })
})
