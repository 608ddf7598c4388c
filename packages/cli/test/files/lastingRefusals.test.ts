import { assert, describe, it } from "@effect/vitest"
import { ConnectionError, PresignedUrl, ServiceApi, ServiceError } from "@stevedore/core"
import { Duration, Effect, Either, Option, TestClock } from "effect"
import * as LastingRefusals from "../../src/files/lastingRefusals.js"

const answer = { operation: "any", issues: [] }
const unauthorized = () => new ServiceError.Unauthorized({ ...answer, status: 401 })
const forbidden = (...issues: ReadonlyArray<ServiceError.Issue>) =>
  new ServiceError.Forbidden({ ...answer, status: 403, issues })
const ofToken = () => forbidden({ code: "Forbidden" })
const nobodyThere = () =>
  new ConnectionError.ConnectionFailed({ peer: "service", origin: "http://127.0.0.1:1", arrived: "no" })

const record = { id: "f1", name: "a", status: "pending", created_at: "2026-01-01" } as const
const opened = { fileId: "f1", clockOffset: 0, openedAt: 0, extra: {} }
const url = Option.getOrThrow(PresignedUrl.fromString("https://storage.test/key?X-Amz-Signature=s3cret"))
const single = { _tag: "SingleSession", ...opened, url } as const
const inParts = { _tag: "MultipartSession", ...opened, uploadId: "u1", urls: [url] } as const
const description = { name: "a", mediaType: "text/plain", size: 1 }

type Call =
  | "initiateUpload"
  | "initiateLargeUpload"
  | "completeUpload"
  | "completeLargeUpload"
  | "file"
  | "importFile"

type Refusal = () => ServiceError.ServiceError

/**
 * What comes of calls that are made in turn, each of which the service refuses so, or grants: what it was asked, and the
 * errors.
 */
const after = (...calls: ReadonlyArray<readonly [Call, refusal?: Refusal]>) =>
  Effect.gen(function*() {
    const asked: Array<Call> = []
    let refusal: Refusal | undefined
    const answering = <A>(call: Call, granted: A) => () =>
      Effect.suspend(() => {
        asked.push(call)
        return refusal === undefined ? Effect.succeed(granted) : Effect.fail(refusal())
      })
    const { ofAll, service } = LastingRefusals.make(
      yield* Effect.provide(
        ServiceApi.ServiceApi,
        ServiceApi.layerNoop({
          initiateUpload: answering("initiateUpload", single),
          initiateLargeUpload: answering("initiateLargeUpload", inParts),
          completeUpload: answering("completeUpload", record),
          completeLargeUpload: answering("completeLargeUpload", record),
          file: answering("file", record),
          importFile: answering("importFile", {})
        })
      )
    )
    const effects: Record<Call, Effect.Effect<unknown, ServiceError.ServiceError>> = {
      initiateUpload: service.initiateUpload(description),
      initiateLargeUpload: service.initiateLargeUpload({ ...description, parts: Option.none() }),
      completeUpload: service.completeUpload({ fileId: "f1" }),
      completeLargeUpload: service.completeLargeUpload({ fileId: "f1", uploadId: "u1", parts: [] }),
      file: service.file("f1"),
      importFile: service.importFile({ fileId: "f1", projectId: "p1", title: "a" })
    }
    const errors: Array<ServiceError.ServiceError> = []
    for (const [call, next] of calls) {
      refusal = next
      const answer = yield* Effect.either(effects[call])
      if (Either.isLeft(answer)) errors.push(answer.left)
    }
    return { asked, errors: new Set(errors).size, failed: errors.length, ofAll: yield* ofAll, service }
  })

describe("LastingRefusals", () => {
  it.effect.each<readonly [string, () => ServiceError.ServiceError]>([
    ["the token is rejected", unauthorized],
    ["the first request cannot reach the service", nobodyThere]
  ])(
    "once %s, sends no further request but a completion, and fails every call with the same error",
    ([, refusal]) =>
      Effect.gen(function*() {
        const { asked, errors, ofAll } = yield* after(
          ["file", refusal],
          ["initiateUpload", refusal],
          ["initiateLargeUpload", refusal],
          ["completeUpload", refusal]
        )
        assert.deepStrictEqual([asked, errors], [["file", "completeUpload"], 1])
        assert.isTrue(Option.isSome(ofAll))
      })
  )

  it.effect("takes no timeout for an answer: nobody is there if the next request cannot reach the service", () =>
    Effect.gen(function*() {
      const timedOut = () =>
        new ConnectionError.TimedOut({ peer: "service", phase: "answer", after: Duration.seconds(30) })
      const { asked, errors, ofAll } = yield* after(["file", timedOut], ["file", nobodyThere], ["file", nobodyThere])
      assert.deepStrictEqual([asked.length, errors, Option.isSome(ofAll)], [2, 2, true])
    }))

  it.effect.each<readonly [string, first: () => ServiceError.ServiceError]>([
    ["a service that has already responded cannot be reached", ofToken],
    [
      "a request that may have arrived breaks off",
      () => new ConnectionError.ConnectionFailed({ peer: "service", origin: "http://127.0.0.1:1", arrived: "unknown" })
    ]
  ])("requests again if %s", ([, first]) =>
    Effect.gen(function*() {
      const then = first === ofToken ? nobodyThere : first
      const { asked, errors, ofAll } = yield* after(["file", first], ["file", then], ["file", then])
      assert.deepStrictEqual([asked.length, errors, ofAll], [3, 3, Option.none()])
    }))

  it.effect.each<readonly [string, Call, Call, () => ServiceError.ServiceError]>([
    ["initiating an upload is forbidden", "initiateUpload", "initiateLargeUpload", ofToken],
    ["initiating a multipart upload is forbidden", "initiateLargeUpload", "initiateUpload", ofToken],
    [
      "initiating an upload fails with 404",
      "initiateUpload",
      "initiateLargeUpload",
      () => new ServiceError.NotFound({ ...answer, status: 404 })
    ]
  ])(
    "once %s, does not request it again, but still requests the other kind of upload",
    ([, call, other, refusal]) =>
      Effect.gen(function*() {
        const { asked, errors, ofAll } = yield* after([call, refusal], [call, refusal], [other, refusal], [
          other,
          refusal
        ])
        assert.deepStrictEqual([asked, errors, ofAll], [[call, other], 2, Option.none()])
      })
  )

  it.effect.each<readonly [Call, Call]>([
    ["completeUpload", "initiateUpload"],
    ["completeLargeUpload", "initiateLargeUpload"]
  ])(
    "once %s is forbidden, initiates no such upload, but still tries to complete an upload already sent",
    ([complete, open]) =>
      Effect.gen(function*() {
        const { asked, errors } = yield* after([open], [complete, ofToken], [open, ofToken], [complete, ofToken])
        assert.deepStrictEqual([asked, errors], [[open, complete, complete], 1])
      })
  )

  it.effect.each<readonly [Call, Call]>([
    ["completeUpload", "initiateUpload"],
    ["completeLargeUpload", "initiateLargeUpload"]
  ])(
    "initiates and completes other uploads if %s is forbidden for a session of an earlier command",
    ([complete, open]) =>
      Effect.gen(function*() {
        const { asked, failed } = yield* after([complete, ofToken], [open], [complete])
        assert.deepStrictEqual([asked, failed], [[complete, open, complete], 1])
      })
  )

  it.effect.each<readonly [string, ReadonlyArray<Call>, Refusal]>([
    ["initiation", ["initiateUpload"], ofToken],
    ["multipart initiation", ["initiateLargeUpload"], () => new ServiceError.NotFound({ ...answer, status: 404 })],
    ["completion", ["initiateUpload", "completeUpload"], ofToken]
  ])(
    "does not apply a refused %s to other files if one has succeeded before",
    ([, calls, refusal]) =>
      Effect.gen(function*() {
        const granted = calls.map((call) => [call] as const)
        const refused = calls.map((call, index) =>
          index === calls.length - 1 ? [call, refusal] as const : [call] as const
        )
        const { asked, failed } = yield* after(...granted, ...refused, ...granted)
        assert.deepStrictEqual([asked, failed], [[...calls, ...calls, ...calls], 1])
      })
  )

  it.effect("requests again if one request does not reach the service but a concurrent request succeeds", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const { ofAll, service } = LastingRefusals.make(
        yield* Effect.provide(
          ServiceApi.ServiceApi,
          ServiceApi.layerNoop({
            file: (id) =>
              Effect.zipRight(
                Effect.sync(() => asked.push(id)),
                id === "lost" ? Effect.fail(nobodyThere()) : Effect.delay(Effect.succeed(record), "1 second")
              )
          })
        )
      )
      const [slow, lost] = yield* Effect.all([service.file("slow"), service.file("lost")].map(Effect.either), {
        concurrency: "unbounded"
      }).pipe(Effect.zipLeft(TestClock.adjust("1 second"), { concurrent: true }))
      assert.deepStrictEqual([lost?._tag, slow?._tag, yield* ofAll], ["Left", "Right", Option.none()])
      yield* Effect.zip(service.file("next"), TestClock.adjust("1 second"), { concurrent: true })
      assert.deepStrictEqual(asked, ["slow", "lost", "next"])
    }))

  it.effect.each<readonly [string, () => ServiceError.ServiceError]>([
    ["a 403 without issues, as a gateway sends it", () => forbidden()],
    ["a 403 for one of its fields", () => forbidden({ code: "Forbidden", path: ["size"] })],
    ["a 422", () => new ServiceError.RequestRejected({ ...answer, status: 422 })]
  ])("still initiates the next upload after %s", ([, refusal]) =>
    Effect.gen(function*() {
      const { asked, errors } = yield* after(["initiateUpload", refusal], ["initiateUpload", refusal])
      assert.deepStrictEqual([asked.length, errors], [2, 2])
    }))

  it.effect.each<readonly [string, () => ServiceError.ServiceError, boolean]>([
    ["a project that is not there", () => new ServiceError.NotFound({ ...answer, status: 404 }), true],
    ["a project of somebody else", () => forbidden({ code: "Forbidden", path: ["project_id"] }), true],
    ["a token without the permission", ofToken, true],
    [
      "a project that is none",
      () => new ServiceError.RequestRejected({ ...answer, status: 422, issues: [{ code: "x", path: "project_id" }] }),
      true
    ],
    [
      "a field of one entry",
      () => new ServiceError.RequestRejected({ ...answer, status: 422, issues: [{ code: "x", path: "fields.0" }] }),
      false
    ],
    [
      "a file that is not there",
      () => new ServiceError.NotFound({ ...answer, status: 404, issues: [{ code: "NotFound", path: "file_id" }] }),
      false
    ]
  ])(
    "what an import was refused for, %s, stops the uploads if it is true of every file",
    ([_, refusal, isLasting]) =>
      Effect.gen(function*() {
        const { asked, errors } = yield* after(
          ["initiateUpload"],
          ["importFile", refusal],
          ["importFile", refusal],
          ["initiateUpload", refusal]
        )
        assert.deepStrictEqual([asked.length, errors], isLasting ? [2, 1] : [4, 3])
        // once an entry was made, a refusal is about another
        const granted = yield* after(["importFile"], ["importFile", refusal], ["importFile", refusal])
        assert.strictEqual(granted.asked.length, 3)
      })
  )

  it.effect.each<readonly [string, ReadonlyArray<"lost" | "missing" | "done">, boolean]>([
    ["three files in a row", ["lost", "lost", "lost"], true],
    ["three with a file between that says nothing of it", ["lost", "lost", "missing", "lost"], true],
    ["two", ["lost", "lost"], false],
    ["three with one between that was done", ["lost", "lost", "done", "lost"], false]
  ])("an outage that %s meet is no failure of the files", ([_, ends, isLasting]) =>
    Effect.gen(function*() {
      const { heard, ofAll } = LastingRefusals.make<{ readonly _tag: string }>(
        yield* Effect.provide(ServiceApi.ServiceApi, ServiceApi.layerNoop({}))
      )
      for (const end of ends) {
        yield* heard(
          end === "done" ? Option.none() : Option.some(end === "lost" ? nobodyThere() : { _tag: "EmptySource" })
        )
      }
      assert.strictEqual(Option.isSome(yield* ofAll), isLasting)
    }))

  it.effect("returns a successful result of the service unchanged", () =>
    Effect.gen(function*() {
      const { service } = yield* after()
      assert.deepStrictEqual(yield* service.file("f1"), record)
    }))
})
