import { HttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import * as Checksum from "@stevedore/core/Checksum"
import * as ObjectStorage from "@stevedore/core/ObjectStorage"
import * as ServiceApi from "@stevedore/core/ServiceApi"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import { Effect, Either, Layer, Option, Redacted } from "effect"
import * as Checks from "../../src/diagnosis/checks.js"
import * as Cors from "../../src/diagnosis/cors.js"
import { type CheckId, checkIds, type Found } from "../../src/diagnosis/trial.js"

const found = (more: Partial<Found> = {}): Found => ({
  service: {
    baseUrl: "https://host.example",
    token: Redacted.make("api.secret"),
    profile: ServiceProfile.standard
  },
  singleContent: new Uint8Array(1),
  largeContent: new Uint8Array(2),
  left: [],
  ...more
})

const nothing: Checks.Extras = { file: Option.none(), origin: Option.none() }

const run = (
  id: CheckId,
  options: {
    readonly extras?: Partial<Checks.Extras>
    readonly service?: Partial<ServiceApi.Service>
    readonly found?: Partial<Found>
  }
) =>
  Effect.gen(function*() {
    const check = Checks.all({ ...nothing, ...options.extras }).find((one) => one.id === id)
    return check === undefined ? assert.fail(id) : yield* Effect.either(check.run(found(options.found)))
  }).pipe(Effect.provide(Layer.mergeAll(
    ServiceApi.layerNoop(options.service ?? {}),
    ObjectStorage.layerNoop({}),
    Layer.succeed(HttpClient.HttpClient, HttpClient.make(() => Effect.never))
  )))

const words = (result: Either.Either<{ readonly found: string }, { readonly found: string }>) =>
  Either.merge(result).found

describe("the checks of a diagnosis", () => {
  it.effect("report a rate limit that is fine, almost used up, used up or unknown", () =>
    Effect.gen(function*() {
      const limit = (remaining: number) => ({
        service: { rateLimit: Effect.succeedSome({ limit: 200, remaining, resetsAt: undefined }) }
      })
      const [full, little, none] = yield* Effect.forEach([180, 5, 0], (left) => run("rate-limit", limit(left)))
      assert.deepStrictEqual(full, Either.right({ found: "180 of 200 calls left in this window", note: undefined }))
      assert.match(little?._tag === "Right" ? little.right.note ?? "" : "", /Few calls are left/)
      assert.isTrue(none !== undefined && Either.isLeft(none))
      assert.match(words(yield* run("rate-limit", {})), /reports none/)
    }))

  it.effect("compare the checksum of a record, where it can be compared, with what was sent", () =>
    Effect.gen(function*() {
      const inspected = (algorithm: string, value: string) =>
        run("inspect", {
          service: {
            file: (id) => Effect.succeed({ id, size: 1, status: "completed", checksum: { algorithm, value } })
          },
          found: { fileId: "1" }
        })
      const { value } = Checksum.ofBytes(Checksum.crc32, new Uint8Array(1))
      assert.isTrue(Either.isRight(yield* inspected("crc32", value)))
      assert.strictEqual(
        words(yield* inspected("crc32", "AAAAAA==")),
        `its record says the crc32 AAAAAA==, but here it is ${value}`
      )
      assert.isTrue(Either.isRight(yield* inspected("crc32", "00000000")))
      assert.isTrue(Either.isRight(yield* inspected("other", "AAAAAA==")))
    }))

  it.effect("tell of a record without a status that nobody knows whether it is complete", () =>
    Effect.gen(function*() {
      const service = { file: (id: string) => Effect.succeed({ id, size: 1 }) }
      const found = yield* run("inspect", { service, found: { fileId: "1" } })
      assert.isTrue(Either.isLeft(found))
      assert.match(words(found), /^its record has no status/)
    }))

  it.effect("limit the file size by the throughput, the URL lifetime and the service's maximum", () =>
    Effect.gen(function*() {
      const slow = yield* run("throughput", { found: { speed: 100_000 } })
      assert.match(words(slow), /100\.0 kB\/s over one connection: up to 1\.1 GB in the 3h before the URLs expire$/)
      const fast = yield* run("throughput", { found: { speed: 50_000_000 } })
      assert.match(words(fast), /up to 10\.0 GB \(the service's limit\) in the 3h before/)
      const file = (size: number) => ({
        extras: { file: Option.some({ path: "a.mp4", size }) },
        found: { speed: 100_000 }
      })
      assert.isTrue(Either.isLeft(yield* run("throughput", file(2_000_000_000))))
      assert.match(words(yield* run("throughput", file(11_000_000_000))), /11\.0 GB, but the limit is 10\.0 GB/)
      assert.match(words(yield* run("throughput", file(100_000_000))), /a\.mp4 takes about 16m 40s/)
    }))

  it("are those that there are names of, each with a title of its own", () => {
    const checks = Checks.all(nothing)
    assert.deepStrictEqual(checks.map(({ id }) => id), [...checkIds])
    assert.lengthOf(new Set(checks.map(({ title }) => title).filter((title) => title !== "")), checks.length)
  })

  it("evaluate a preflight response as a browser does", () => {
    const asked = { origin: "https://app.example", method: "PUT", headers: ["content-type", "x-amz-a"] }
    const allowed = {
      "access-control-allow-origin": "https://app.example",
      "access-control-allow-methods": "GET, PUT",
      "access-control-allow-headers": "Content-Type, X-Amz-A"
    }
    const problem = (headers: Readonly<Record<string, string>>, status = 200) =>
      Cors.preflightProblem({ status, headers: { ...allowed, ...headers } }, asked)
    assert.strictEqual(problem({}), "")
    assert.strictEqual(problem({ "access-control-allow-origin": "*", "access-control-allow-headers": "*" }), "")
    assert.match(problem({}, 403), /answered with 403/)
    assert.match(
      problem({ "access-control-allow-origin": "https://other.example" }),
      /other\.example is allowed, https:\/\/app/
    )
    assert.match(problem({ "access-control-allow-methods": "GET" }), /PUT is not allowed/)
    assert.match(problem({ "access-control-allow-headers": "content-type" }), /headers x-amz-a are not allowed/)
    assert.deepStrictEqual(Cors.notExposed({ "access-control-expose-headers": "etag, Date" }, ["ETag", "x"]), ["x"])
    assert.deepStrictEqual(Cors.notExposed({}, ["ETag"]), ["ETag"])
  })
})
