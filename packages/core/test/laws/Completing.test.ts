import { assert, describe, it } from "@effect/vitest"
import { ObjectStorage, RetryPolicy, ServiceProfile, StorageError, TransferGate, UploadSources } from "@stevedore/core"
import { Effect, Either, Layer, Option, Stream } from "effect"
import { initial } from "../../src/upload/decide.js"
import { goOn } from "../../src/upload/run.js"
import { fakeService, type Handler, json, refusal } from "../fixtures/fakeService.js"
import { parse } from "../fixtures/presignedUrls.js"
import { running, unchecked } from "../fixtures/running.js"
import { bytes, inTime } from "../fixtures/uploads.js"

const record = (status: string, size = 100) => ({
  id: "f1",
  name: "a.bin",
  size,
  status,
  created_at: "2030-01-01T00:00:00Z"
})

const there = () => json({ data: record("completed") })
const failed = () => json({ data: record("failed") })
const lost = () => Effect.fail("reset" as const)
const answers = (status: number, code: string) => () => refusal(status, code)
const page = () => new Response("<html>Sign in</html>")
const errorIn200 = () => json({ errors: [{ code: "InternalError", title: "Something went wrong" }] })
const refusedIn200 = () => json({ errors: [{ code: "InvalidPart", title: "An etag does not match" }] })
const content = () => new Response(new Uint8Array([1]), { status: 206, headers: { "content-range": "bytes 0-0/100" } })

const missing = answers(404, "NotFound")

type Answer = () => ReturnType<Handler>

/**
 * Completes a session: the answers about Complete in their order, the last one again and again, those about the file, and
 * those about its content.
 */
const completing = (
  completions: ReadonlyArray<Answer>,
  file: Answer,
  download: Answer = content,
  profile?: ServiceProfile.ServiceProfile,
  storage = ObjectStorage.layerNoop({})
) => {
  let told = 0
  const service = fakeService((request) => {
    if (request.method !== "GET") return (completions[Math.min(told++, completions.length - 1)] ?? there)()
    return request.path.endsWith("/download") ? download() : file()
  }, { profile })
  return Effect.scoped(Effect.gen(function*() {
    const one = yield* running(UploadSources.fromBytes("a.bin", bytes(100)), { ...unchecked, maxSessions: 1 })
    return yield* goOn(one, {
      ...initial,
      _tag: "Completing",
      session: {
        fileId: "f1",
        uploadId: "u1",
        clockOffset: 0,
        openedAt: 0,
        count: 1,
        parts: [{
          partNumber: 1,
          range: { offset: 0, length: 100 },
          url: parse("https://storage.test/key?X-Amz-Signature=a")
        }],
        inherited: false
      },
      receipts: [{ partNumber: 1, etag: "\"e\"", size: 100, attempts: 1, checksum: undefined }],
      repaired: false
    })
  })).pipe(
    Effect.either,
    Effect.map((end) => ({
      end: Either.match(end, { onLeft: (error) => error._tag, onRight: ({ file }) => file.status }),
      told: service.received.filter(({ method }) => method === "POST").length,
      asked: service.received.filter(({ method }) => method === "GET").length > 0
    })),
    Effect.provide(
      Layer.mergeAll(
        service.layer,
        RetryPolicy.layer({ attempts: 3 }),
        storage,
        TransferGate.layerNoop({})
      )
    ),
    inTime
  )
}

describe("completing", () => {
  it.effect.each(
    [
      ["an answer", [there], missing, "completed", 1],
      ["an answer that was lost", [lost, there], missing, "completed", 2],
      ["a 502", [answers(502, "BadGateway"), there], missing, "completed", 2],
      ["an error in a 200", [errorIn200, there], missing, "completed", 2],
      ["a page", [page, there], missing, undefined, 1],
      ["another shape", [() => json({ data: { done: true } })], missing, undefined, 1],
      ["a status of its own", [() => json({ data: record("quarantined") })], missing, "quarantined", 1]
    ] as const
  )(
    "after %s a Complete that succeeded is enough, whatever its body",
    ([_, completions, file, end, told]) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* completing(completions, file), { end, told, asked: false })
      })
  )

  it.effect.each(
    [
      ["answers that are all lost", [lost], 3],
      ["502 for ever", [answers(502, "BadGateway")], 3],
      ["an error in each 200", [errorIn200], 3],
      ["a file that has failed", [failed], 1],
      ["409 after a lost answer", [lost, answers(409, "Conflict")], 2],
      ["404 after a lost answer", [lost, missing], 2],
      ["401 after a lost answer", [lost, answers(401, "Unauthorized")], 2],
      ["403 after a lost answer", [lost, answers(403, "Forbidden")], 2],
      ["429 for ever after a lost answer", [lost, answers(429, "TooManyRequests")], 3],
      ["400 after a lost answer", [lost, answers(400, "InvalidOperation")], 2]
    ] as const
  )(
    "with %s the file itself is asked for, and ends the upload well",
    ([_, completions, told]) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* completing(completions, there), { end: "completed", told, asked: true })
      })
  )

  it.effect.each(
    [
      ["answers that are all lost", [lost], "CompletionUnknown"],
      ["502 for ever", [answers(502, "BadGateway")], "ServiceUnavailable"],
      ["an error in each 200", [errorIn200], "ServiceUnavailable"],
      ["a refusal in each 200", [refusedIn200], "ServiceUnavailable"],
      ["409 after a lost answer", [lost, answers(409, "Conflict")], "UploadConflict"],
      ["404 after a lost answer", [lost, missing], "NotFound"],
      ["400 after a lost answer", [lost, answers(400, "InvalidOperation")], "RequestRejected"]
    ] as const
  )("where there is no file, %s end as what they are", ([_, completions, end]) =>
    Effect.gen(function*() {
      assert.deepInclude(yield* completing(completions, missing), { end, asked: true })
    }))

  it.effect.each(
    [
      ["502 for ever", [answers(502, "BadGateway")], "ServiceUnavailable"],
      ["409 after a lost answer", [lost, answers(409, "Conflict")], "UploadConflict"],
      ["a success with that very file", [failed], "UploadConflict"],
      ["answers that are all lost", [lost], "ConnectionFailed"]
    ] as const
  )("a file that has failed is no success after %s", ([_, completions, end]) =>
    Effect.gen(function*() {
      assert.deepInclude(yield* completing(completions, failed), { end })
    }))

  it.effect.each(
    [
      ["401", [answers(401, "Unauthorized")], "Unauthorized"],
      ["403", [answers(403, "Forbidden")], "Forbidden"],
      ["404", [missing], "NotFound"],
      ["409", [answers(409, "Conflict")], "UploadConflict"],
      ["400", [answers(400, "ValidationError")], "RequestRejected"],
      ["422", [answers(422, "UnprocessableContent")], "RequestRejected"]
    ] as const
  )(
    "a first answer of %s leaves nothing open: nobody is asked for the file",
    ([_, completions, end]) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* completing(completions, there), { end, told: 1, asked: false })
      })
  )

  it.effect("if storage refused the etags, nothing remains open, whatever came before: the parts are at fault", () =>
    Effect.gen(function*() {
      const end = yield* completing([answers(503, "Busy"), answers(400, "InvalidPart")], there)
      assert.deepStrictEqual(end, { end: "RequestRejected", told: 2, asked: false })
    }))

  it.effect("a record of another size is no success if it was asked for because Complete did not say", () =>
    Effect.gen(function*() {
      const other = () => json({ data: record("completed", 99) })
      assert.deepInclude(yield* completing([lost], other), { end: "StoredSizeDiffers" })
    }))

  it.effect("a success is one, whatever size Complete says", () =>
    Effect.gen(function*() {
      const other = () => json({ data: record("completed", 99) })
      assert.deepStrictEqual(yield* completing([other], missing), { end: "completed", told: 1, asked: false })
    }))

  it.effect.each([["null", null], ["nothing", undefined]] as const)(
    "a record that tells %s as its size is not one of another size",
    ([_, size]) =>
      Effect.gen(function*() {
        const { end } = yield* completing([() => json({ data: { ...record("completed"), size } })], missing)
        assert.strictEqual(end, "completed")
      })
  )

  const pending = () => json({ data: record("pending") })

  it.effect.each(["pending", "completed"])(
    "a file is there while it is %s and its content can be read",
    (status) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* completing([lost], () => json({ data: record(status) })), {
          end: status,
          told: 3,
          asked: true
        })
      })
  )

  it.effect.each(
    [
      ["401", answers(401, "Unauthorized")],
      ["409", answers(409, "Conflict")],
      ["500 for ever", answers(500, "InternalError")],
      ["nothing at all", () => new Response(null, { status: 200, headers: { "content-length": "0" } })],
      ["no answer", lost],
      ["404, and nothing was said about Complete", missing]
    ] as const
  )(
    "a record alone is no proof: while it is pending and its content is answered with %s, nobody knows",
    ([_, download]) =>
      Effect.gen(function*() {
        assert.deepInclude(yield* completing([lost], pending, download), { end: "CompletionUnknown" })
      })
  )

  it.effect("the byte that proves a file is asked for again where it does not arrive", () =>
    Effect.gen(function*() {
      const cut = () =>
        new Response(new ReadableStream({ start: (body) => body.error(new Error("reset")) }), {
          status: 206,
          headers: { "content-range": "bytes 0-0/100" }
        })
      const never = () =>
        new Response(new ReadableStream({ start: () => {} }), {
          status: 206,
          headers: { "content-range": "bytes 0-0/100" }
        })
      const nothing = () => new Response(null, { status: 200, headers: { "content-length": "0" } })
      const whole = () => new Response(new Uint8Array(100), { headers: { "content-length": "100" } })
      for (const first of [cut, never, nothing]) {
        for (const then of [content, whole]) {
          let asked = 0
          const end = yield* completing([lost], pending, () => asked++ === 0 ? first() : then())
          assert.deepInclude(end, { end: "pending" })
          assert.strictEqual(asked, 2)
        }
      }
    }))

  it.effect("the byte that proves a file is asked for as often as the policy says, however it fails to arrive", () =>
    Effect.gen(function*() {
      const noBody = () => new Response(null, { status: 200, headers: { "content-length": "0" } })
      const empty = () => new Response(new Uint8Array(0), { status: 200 })
      for (const answer of [noBody, empty]) {
        let asked = 0
        yield* completing([lost], pending, () => {
          asked += 1
          return answer()
        })
        assert.strictEqual(asked, 3)
      }
    }))

  it.effect("a pending record without content is no file if the service has answered about Complete", () =>
    Effect.gen(function*() {
      const end = yield* completing([answers(502, "BadGateway")], pending, missing)
      assert.deepInclude(end, { end: "ServiceUnavailable" })
    }))

  it.effect("a first 409 is a refusal, whatever record there is", () =>
    Effect.gen(function*() {
      for (const file of [pending, there]) {
        assert.deepStrictEqual(yield* completing([answers(409, "Conflict")], file), {
          end: "UploadConflict",
          told: 1,
          asked: false
        })
      }
    }))

  it.effect("the profile says which states are final", () =>
    Effect.gen(function*() {
      const profile = ServiceProfile.extend(ServiceProfile.standard, { finalStates: ["completed", "pending"] })
      assert.deepInclude(yield* completing([lost], pending, missing, profile), { end: "pending" })
      const none = ServiceProfile.extend(ServiceProfile.standard, { finalStates: [] })
      assert.deepInclude(yield* completing([lost], there, answers(500, "InternalError"), none), {
        end: "CompletionUnknown"
      })
    }))

  it.effect("where downloads are links, storage is what has to answer", () =>
    Effect.gen(function*() {
      const profile = ServiceProfile.extend(ServiceProfile.standard, { download: "link" })
      const link = () => json({ data: { url: "https://storage.test/key?X-Amz-Signature=a" } })
      const had: Array<string> = []
      const storage = (isThere: boolean) =>
        ObjectStorage.layerNoop({
          get: ({ range }) => {
            had.push(`${range?.start}-${range?.end}`)
            return isThere
              ? Effect.succeed({
                partial: true,
                start: 0,
                length: Option.some(1),
                totalLength: Option.some(100),
                etag: Option.none(),
                checksums: {},
                bytes: Stream.make(new Uint8Array([1]))
              })
              : Effect.fail(new StorageError.StorageRejected({ status: 404, code: "NoSuchKey" }))
          }
        })
      assert.deepInclude(yield* completing([lost], pending, link, profile, storage(true)), { end: "pending" })
      assert.deepInclude(yield* completing([lost], pending, link, profile, storage(false)), {
        end: "CompletionUnknown"
      })
      assert.deepStrictEqual(had, ["0-0", "0-0"])
    }))
})
