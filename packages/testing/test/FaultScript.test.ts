import { HttpBody } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { UrlSigner } from "@stevedore/server"
import { Duration, Effect, Either, Exit, FastCheck, Fiber, Layer, Option, Schema, Stream, TestClock } from "effect"
import { runInNewContext } from "node:vm"
import { Fault, FaultRule, FaultScript, Sandbox, SandboxHttp, SandboxOptions } from "../src/index.js"
import type { Exchange } from "../src/index.js"
import * as Calls from "./Calls.js"

const isTarget = Schema.is(FaultRule.Target)

const targets: Record<FaultRule.Target, true> = {
  initiate: true,
  initiateSingle: true,
  initiateLarge: true,
  put: true,
  putSingle: true,
  putPart: true,
  complete: true,
  completeSingle: true,
  completeLarge: true,
  file: true,
  download: true,
  list: true,
  get: true,
  tokenInfo: true,
  importFile: true
}

const sandbox = (faults: FaultScript.FaultScript, options?: SandboxOptions.Options) =>
  Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory({ minimumPartSize: 4, ...options, faults }))

const hello = Calls.bytesOf("hello")

const exchange = (
  operation: Exchange.Operation,
  options?: { readonly part?: number; readonly continued?: boolean }
): Exchange.Exchange => ({
  operation,
  fileId: undefined,
  part: options?.part,
  attempt: 1,
  continued: options?.continued ?? false,
  contentLength: undefined
})

const play = (script: FaultScript.FaultScript, exchanges: ReadonlyArray<Exchange.Exchange>) =>
  Effect.gen(function*() {
    const interceptor = yield* FaultScript.toInterceptor(script)
    const faults = yield* Effect.forEach(exchanges, interceptor)
    return faults.map(Option.match({ onNone: () => "-", onSome: ({ _tag }) => _tag }))
  })

const putting = Effect.flatMap(
  Calls.initiate(5),
  ({ id, url }) => Effect.map(Calls.put(url, hello), (answer) => ({ ...answer, id, url }))
)

const isStored = (id: string) => Effect.map(Effect.exit(Sandbox.stored(id)), Exit.isSuccess)

describe("FaultScript", () => {
  describe("rules", () => {
    it.effect("for the same target apply one after another", () =>
      Effect.gen(function*() {
        const script = FaultScript.on("put").times(2).answer(503)
          .and(FaultScript.on("put").loseAnswer())
          .and(FaultScript.on("complete").reset())
        const seen = yield* play(script, [
          exchange("put"),
          exchange("completeLarge"),
          exchange("putPart"),
          exchange("put"),
          exchange("put"),
          exchange("complete")
        ])
        assert.deepStrictEqual(seen, ["Answer", "Reset", "Answer", "LoseAnswer", "-", "-"])
      }))

    it.effect("can be limited to a part, start after some requests, and apply always or never", () =>
      Effect.gen(function*() {
        const parts = [1, 3, 3].map((part) => exchange("putPart", { part }))
        assert.deepStrictEqual(yield* play(FaultScript.on("putPart").part(3).reset(), parts), ["-", "Reset", "-"])
        assert.deepStrictEqual(yield* play(FaultScript.on("put").after(2).reset(), parts), ["-", "-", "Reset"])
        assert.deepStrictEqual(yield* play(FaultScript.on("put").always().reset(), parts), ["Reset", "Reset", "Reset"])
        assert.deepStrictEqual(yield* play(FaultScript.on("put").times(0).reset(), parts), ["-", "-", "-"])
      }))

    it.effect("that repeat a cursor wait for a request with a cursor", () =>
      Effect.gen(function*() {
        const seen = yield* play(FaultScript.on("list").repeatCursor(), [
          exchange("list"),
          exchange("list", { continued: true })
        ])
        assert.deepStrictEqual(seen, ["-", "RepeatCursor"])
      }))

    it.effect.prop(
      "for a common target match single and multipart requests, and for a specific target only its own",
      {
        family: FastCheck.constantFrom(
          { both: "initiate", single: "initiateSingle", large: "initiateLarge" } as const,
          { both: "put", single: "putSingle", large: "putPart" } as const,
          { both: "complete", single: "completeSingle", large: "completeLarge" } as const
        ),
        isLarge: FastCheck.boolean()
      },
      ({ family: { both, large, single }, isLarge }) =>
        Effect.gen(function*() {
          const meets = (target: FaultRule.Target) =>
            play(FaultScript.on(target).reset(), [exchange(isLarge ? large : both)])
          assert.deepStrictEqual(yield* meets(both), ["Reset"])
          assert.deepStrictEqual(yield* meets(single), [isLarge ? "-" : "Reset"])
          assert.deepStrictEqual(yield* meets(large), [isLarge ? "Reset" : "-"])
        })
    )
  })

  describe("as data", () => {
    it.effect("can be encoded as JSON and decoded again", () =>
      Effect.gen(function*() {
        const script = FaultScript.all([
          FaultScript.on("put").times(2).answer(503, "SlowDown", { retryAfter: 2 }),
          FaultScript.on("putPart").part(3).resetAfter(10),
          FaultScript.on("get").always().stall("body", { afterBytes: 4 }),
          FaultScript.on("file").delay("2 seconds"),
          FaultScript.on("list").repeatCursor(),
          FaultScript.on("put").omitEtag(),
          FaultScript.on("put").expire(),
          FaultScript.on("tokenInfo").html(502)
        ])
        const format = Schema.parseJson(FaultScript.FaultScript)
        const read = yield* Schema.decode(format)(yield* Schema.encode(format)(script))
        assert.deepStrictEqual(read, script)
      }))

    it.effect.prop(
      "prints as code that evaluates to the same script",
      { script: FaultScript.arbitrary({ targets: Object.keys(targets).filter(isTarget) }), skew: FastCheck.integer() },
      ({ script, skew }) =>
        Effect.sync(() => {
          const skewed = script.and(new FaultScript.FaultScript({ rules: [], clockSkewMillis: skew }))
          const read: unknown = runInNewContext(String(skewed), { FaultScript })
          assert.deepStrictEqual(read, skewed)
        })
    )

    it("prints the calls that it was written with", () => {
      const script = FaultScript.clockSkew("90 seconds", "behind")
        .and(FaultScript.on("putPart").part(3).after(1).times(2).answer(503, "SlowDown"))
        .and(FaultScript.on("put").always().slowDown("30 seconds"))
      assert.strictEqual(
        String(script),
        [
          "FaultScript.clockSkew(\"90 seconds\", \"behind\")",
          "  .and(FaultScript.on(\"putPart\").part(3).after(1).times(2).answer(503, \"SlowDown\"))",
          "  .and(FaultScript.on(\"put\").always().slowDown(\"30 seconds\"))"
        ].join("\n")
      )
      assert.strictEqual(String(FaultScript.empty), "FaultScript.empty")
    })

    it.effect.prop(
      "a random script is the same for the same seed, keeps to its options, and has no endless rule",
      { seed: FastCheck.integer(), longest: FastCheck.oneof(FastCheck.nat(1100), FastCheck.nat(60_000)) },
      ({ longest, seed }) =>
        Effect.sync(() => {
          const options = { rules: 6, targets: ["put", "list"], bytes: 9, longest } as const
          const script = FaultScript.random(seed, options)
          assert.deepStrictEqual(FaultScript.random(seed, options), script)
          assert.isAtMost(script.rules.length, 6)
          assert.isTrue(script.rules.every(({ target, times }) => times !== null && /^(?:put|list)$/.test(target)))
          for (const { fault } of script.rules) {
            if ("duration" in fault) assert.isAtMost(Duration.toMillis(fault.duration), longest)
            if ("afterBytes" in fault && fault.afterBytes !== undefined) assert.isAtMost(fault.afterBytes, 9)
          }
        })
    )

    it("random scripts differ between seeds", () => {
      const sentences = Array.from({ length: 50 }, (_, seed) => String(FaultScript.random(seed)))
      assert.isAbove(new Set(sentences).size, 25)
    })

    it("a rule decoded without `times` and `skip` has the defaults 1 and 0", () => {
      const { rules } = Schema.decodeUnknownSync(FaultScript.FaultScript)({
        rules: [{ target: "put", fault: { _tag: "Answer", status: 503 } }]
      })
      assert.deepStrictEqual([rules[0]?.times, rules[0]?.skip], [1, 0])
    })

    it("decoding rejects a fault or a part number that does not fit the target", () => {
      const decode = (target: string, fault: string) =>
        Either.isRight(
          Schema.decodeUnknownEither(FaultScript.FaultScript)({ rules: [{ target, fault: { _tag: fault } }] })
        )
      assert.isTrue(decode("list", "EmptyPage"))
      assert.isFalse(decode("put", "EmptyPage"))
      assert.isTrue(decode("get", "Expire"))
      assert.isFalse(decode("complete", "Expire"))
      assert.isFalse(decode("list", "OmitEtag"))
      assert.isFalse(decode("get", "LandLate"))
      const part = (target: string) =>
        Schema.decodeUnknownEither(FaultScript.FaultScript)({
          rules: [{ target, part: 1, fault: { _tag: "Reset" } }]
        })
      assert.isTrue(Either.isRight(part("put")))
      assert.isTrue(Either.isLeft(part("putSingle")))
    })
  })

  describe("faults", () => {
    it.effect("answer: the client gets the given error response, and nothing is stored", () =>
      Effect.gen(function*() {
        const { body, headers, id, status } = yield* putting
        assert.strictEqual(status, 503)
        assert.strictEqual(Calls.codeOf(body), "SlowDown")
        assert.strictEqual(headers["retry-after"], "2")
        assert.isFalse(yield* isStored(id))
        const { body: json, status: refused } = yield* Calls.json("GET", "/v1/token/info")
        assert.strictEqual(refused, 500)
        assert.deepStrictEqual(json, { errors: [{ code: "InternalError", title: "Something went wrong" }] })
      }).pipe(Effect.provide(sandbox(
        FaultScript.on("put").answer(503, "SlowDown", { retryAfter: 2 }).and(FaultScript.on("tokenInfo").answer(500))
      ))))

    it.effect("retryAfter: the service responds with 429 and the storage with 503, with the given header", () =>
      Effect.gen(function*() {
        const service = yield* Calls.json("GET", "/v1/token/info")
        assert.deepStrictEqual([service.status, service.headers["retry-after"]], [429, "soon"])
        const { headers, status } = yield* putting
        assert.deepStrictEqual([status, headers["retry-after"]], [503, "3"])
      }).pipe(Effect.provide(sandbox(
        FaultScript.on("tokenInfo").retryAfter("soon").and(FaultScript.on("put").retryAfter(3))
      ))))

    it.effect("html: the response is an HTML page with the given status", () =>
      Effect.gen(function*() {
        const { body, headers, status } = yield* putting
        assert.strictEqual(status, 502)
        assert.strictEqual(headers["content-type"], "text/html")
        assert.match(body, /^<html>/)
      }).pipe(Effect.provide(sandbox(FaultScript.on("put").html(502)))))

    it.effect("loseAnswer: the file is stored, but the client sees a broken connection", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        const error = yield* Effect.flip(Calls.put(url, hello))
        assert.strictEqual(error._tag, "RequestError")
        assert.strictEqual(error.reason, "Transport")
        assert.isTrue(yield* isStored(id))
        assert.strictEqual((yield* Sandbox.report).requests.at(-1)?.outcome, "broken")
      }).pipe(Effect.provide(sandbox(FaultScript.on("put").loseAnswer()))))

    it.effect("reset: the connection breaks before any byte is received, and nothing is stored", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        const error = yield* Effect.flip(Calls.put(url, hello))
        assert.strictEqual(error._tag, "RequestError")
        assert.isFalse(yield* isStored(id))
        assert.strictEqual((yield* Sandbox.report).requests.at(-1)?.bytesReceived, 0)
      }).pipe(Effect.provide(sandbox(FaultScript.on("put").reset()))))

    it.effect("resetAfter: an upload breaks after the given number of bytes, and nothing is stored", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        yield* Effect.flip(Calls.put(url, hello))
        assert.isFalse(yield* isStored(id))
        assert.strictEqual((yield* Sandbox.report).requests.at(-1)?.bytesReceived, 3)
      }).pipe(Effect.provide(sandbox(FaultScript.on("put").resetAfter(3)))))

    const read = (fileId: string) =>
      Effect.gen(function*() {
        const response = yield* Calls.api("GET", `/v1/files/${fileId}/download`)
        const seen: Array<string> = []
        const exit = yield* response.stream.pipe(
          Stream.decodeText(),
          Stream.runForEach((text) => Effect.sync(() => seen.push(text))),
          Effect.exit
        )
        return { status: response.status, text: seen.join(""), isWhole: Exit.isSuccess(exit) }
      })

    it.effect("resetAfter: a download breaks after the given number of bytes", () =>
      Effect.gen(function*() {
        const id = yield* Calls.uploaded("hello")
        assert.deepStrictEqual(yield* read(id), { status: 200, text: "hel", isWhole: false })
        assert.deepStrictEqual(yield* read(id), { status: 200, text: "hello", isWhole: true })
      }).pipe(Effect.provide(sandbox(FaultScript.on("download").resetAfter(3)))))

    const isSilent = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.gen(function*() {
        const fiber = yield* Effect.fork(effect)
        yield* TestClock.adjust("1 day")
        const done = yield* Fiber.poll(fiber)
        yield* Fiber.interrupt(fiber)
        return Option.isNone(done)
      })

    for (const phase of Fault.StallPhase.literals) {
      it.effect(`stall ${phase}: the PUT never completes and counts as aborted when the client is interrupted`, () =>
        Effect.gen(function*() {
          const { id, url } = yield* Calls.initiate(5)
          assert.isTrue(yield* isSilent(Calls.put(url, hello)))
          const seen = (yield* Sandbox.report).requests.at(-1)
          assert.strictEqual(seen?.outcome, "aborted")
          assert.strictEqual(seen?.bytesReceived, { connect: 0, body: 2, answer: 5 }[phase])
          assert.strictEqual(yield* isStored(id), phase === "answer")
        }).pipe(Effect.provide(sandbox(FaultScript.on("put").stall(phase, { afterBytes: 2 })))))
    }

    it.effect("stall body: a download stops after the given number of bytes and never completes", () =>
      Effect.gen(function*() {
        const id = yield* Calls.uploaded("hello")
        assert.isTrue(yield* isSilent(read(id)))
        assert.strictEqual((yield* Sandbox.report).requests.at(-1)?.bytesSent, 2)
      }).pipe(Effect.provide(sandbox(FaultScript.on("download").stall("body", { afterBytes: 2 })))))

    it.effect("delay: the request succeeds after the given delay", () =>
      Effect.gen(function*() {
        const fiber = yield* Effect.fork(Effect.timed(putting))
        yield* TestClock.adjust("5 seconds")
        const [duration, { status }] = yield* Fiber.join(fiber)
        assert.strictEqual(status, 200)
        assert.strictEqual(Duration.toMillis(duration), 5000)
      }).pipe(Effect.provide(sandbox(FaultScript.on("put").delay("5 seconds")))))

    it.effect("omitEtag: the file is stored, but the response has no etag", () =>
      Effect.gen(function*() {
        const { headers, id, status } = yield* putting
        assert.strictEqual(status, 200)
        assert.isUndefined(headers["etag"])
        assert.isTrue(yield* isStored(id))
      }).pipe(Effect.provide(sandbox(FaultScript.on("put").omitEtag()))))

    it.effect("expire: the storage reports the URL as expired, even if it is not", () =>
      Effect.gen(function*() {
        const { body, status } = yield* putting
        assert.strictEqual(status, 403)
        assert.strictEqual(Calls.elementOf(body, "Message"), "Request has expired")
        assert.strictEqual(Calls.elementOf(body, "ServerTime"), "1970-01-01T00:00:00.000Z")
      }).pipe(Effect.provide(sandbox(FaultScript.on("put").expire()))))

    it.effect("slowDown: PUTs to all URLs get 503 for the given time after the first one", () =>
      Effect.gen(function*() {
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* putting).status, 503)
        yield* TestClock.adjust("29 seconds")
        const { body, status } = yield* putting
        assert.deepStrictEqual([status, Calls.codeOf(body)], [503, "SlowDown"])
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* putting).status, 200)
      }).pipe(Effect.provide(sandbox(FaultScript.on("put").slowDown("30 seconds")))))

    it.effect("landLate: the bytes of the broken attempt arrive later and overwrite those of the retry", () =>
      Effect.gen(function*() {
        const { id, url } = yield* Calls.initiate(5)
        yield* Effect.flip(Calls.put(url, hello))
        assert.isFalse(yield* isStored(id))
        yield* Calls.put(url, Calls.bytesOf("again"))
        yield* TestClock.adjust("9 seconds")
        assert.strictEqual(Calls.textOf(yield* Sandbox.stored(id)), "again")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(Calls.textOf(yield* Sandbox.stored(id)), "hello")
      }).pipe(Effect.provide(sandbox(FaultScript.on("put").landLate("10 seconds")))))

    it.effect.each([["ahead", 600_000], ["behind", -600_000]] as const)(
      "clockSkew: the servers' clock is %s of the client's",
      ([direction, millis]) =>
        Effect.gen(function*() {
          yield* TestClock.adjust("1 hour")
          const { headers } = yield* Calls.json("GET", "/v1/token/info")
          assert.strictEqual(Date.parse(headers["date"] ?? ""), 3_600_000 + millis)
          const { url } = yield* Calls.initiate(5)
          const signedAt = new Date(3_600_000 + millis).toISOString().replaceAll(/[-:]|\.000/g, "")
          assert.strictEqual(new URL(url).searchParams.get("X-Amz-Date"), signedAt)
        }).pipe(Effect.provide(sandbox(FaultScript.clockSkew("10 minutes", direction))))
    )

    it.effect("html and omitEtag also apply to a GET from the storage", () =>
      Effect.gen(function*() {
        const id = yield* Calls.uploaded("hello")
        const url = yield* UrlSigner.sign(SandboxOptions.resolve().credential, {
          method: "GET",
          origin: "https://storage.sandbox.test",
          path: `/stevedore-sandbox/files/${id}`,
          at: 0,
          expiresIn: 60
        })
        assert.strictEqual((yield* Calls.storage("GET", url)).status, 504)
        const bare = yield* Calls.storage("GET", url)
        assert.deepStrictEqual([bare.body, bare.headers["etag"], bare.headers["content-length"]], [
          "hello",
          undefined,
          "5"
        ])
      }).pipe(Effect.provide(sandbox(FaultScript.on("get").html(504).and(FaultScript.on("get").omitEtag())))))
  })

  describe("pages", () => {
    const Page = Schema.Struct({
      data: Schema.Array(Schema.NullOr(Schema.Struct({ id: Schema.optional(Schema.String) }))),
      page: Schema.Struct({
        has_more: Schema.Boolean,
        next_cursor: Schema.optional(Schema.NullOr(Schema.String))
      })
    })

    const page = (cursor?: string | null) =>
      Effect.flatMap(
        Calls.json(
          "GET",
          `/v1/projects?page[limit]=2${typeof cursor === "string" ? `&page[start_cursor]=${cursor}` : ""}`
        ),
        ({ body }) => Schema.decodeUnknown(Page)(body)
      )

    it.effect("repeatCursor: the next cursor is the one that was sent", () =>
      Effect.gen(function*() {
        const first = yield* page()
        const second = yield* page(first.page.next_cursor)
        assert.strictEqual(second.page.next_cursor, first.page.next_cursor)
        assert.isTrue(second.page.has_more)
      }).pipe(Effect.provide(sandbox(FaultScript.on("list").repeatCursor(), { projects: 5 }))))

    it.effect("emptyPage: no record is lost after an empty page, and no cursor is repeated", () =>
      Effect.gen(function*() {
        const pages = [yield* page()]
        while (typeof pages.at(-1)?.page.next_cursor === "string" && pages.length < 20) {
          pages.push(yield* page(pages.at(-1)?.page.next_cursor))
        }
        const cursors = pages.map(({ page }) => page.next_cursor)
        assert.deepStrictEqual(pages.map(({ data }) => data.length), [0, 0, 2, 0, 2, 1])
        assert.strictEqual(new Set(cursors).size, cursors.length)
      }).pipe(Effect.provide(sandbox(
        FaultScript.on("list").times(2).emptyPage().and(FaultScript.on("list").after(1).emptyPage()),
        { projects: 5 }
      ))))

    it.effect("dropCursor: has_more is true, but the page has no next cursor", () =>
      Effect.gen(function*() {
        const { data, page: { has_more, next_cursor } } = yield* page()
        assert.deepStrictEqual([data.length, has_more, next_cursor], [2, true, undefined])
      }).pipe(Effect.provide(sandbox(FaultScript.on("list").dropCursor(), { projects: 5 }))))

    it.effect("corruptPage: the first item is no record", () =>
      Effect.gen(function*() {
        const { data } = yield* page()
        assert.deepStrictEqual(data.map((item) => item !== null), [false, true])
      }).pipe(Effect.provide(sandbox(FaultScript.on("list").corruptPage(), { projects: 5 }))))
  })

  describe("a list that changes", () => {
    const Ids = Schema.Struct({
      data: Schema.Array(Schema.Struct({ id: Schema.String })),
      page: Schema.Struct({ has_more: Schema.Boolean, next_cursor: Schema.optional(Schema.NullOr(Schema.String)) })
    })

    const page = (cursor: string | null | undefined, sort = "created_at:asc") =>
      Calls.json(
        "GET",
        `/v1/projects?page[limit]=2&sort=${sort}${typeof cursor === "string" ? `&page[start_cursor]=${cursor}` : ""}`
      )

    const walk = (sort?: string) =>
      Effect.gen(function*() {
        const pages: Array<typeof Ids.Type> = []
        do {
          const { body } = yield* page(pages.at(-1)?.page.next_cursor, sort)
          pages.push(yield* Schema.decodeUnknown(Ids)(body))
        } while (typeof pages.at(-1)?.page.next_cursor === "string" && pages.length < 20)
        return { pages, ids: pages.flatMap(({ data }) => data.map(({ id }) => id.replace(/^(\w)\D+0*/, "$1"))) }
      })

    it.effect("shortPage: the page has fewer records than requested, and no record is lost", () =>
      Effect.gen(function*() {
        const { ids, pages } = yield* walk()
        assert.deepStrictEqual(pages.map(({ data }) => data.length), [1, 2, 2])
        assert.deepStrictEqual(ids, ["P1", "P2", "P3", "P4", "P5"])
      }).pipe(Effect.provide(sandbox(FaultScript.on("list").shortPage(1), { projects: 5 }))))

    it.effect("denyMore: has_more is false, although the cursor leads to more records", () =>
      Effect.gen(function*() {
        const { ids, pages } = yield* walk()
        assert.deepStrictEqual(pages.map(({ page }) => page.has_more), [false, true, false])
        assert.lengthOf(ids, 5)
      }).pipe(Effect.provide(sandbox(FaultScript.on("list").denyMore(), { projects: 5 }))))

    it.effect("denyMore: applied to every page, the walk lists every record and ends with an empty page", () =>
      Effect.gen(function*() {
        const { ids, pages } = yield* walk()
        assert.deepStrictEqual(pages.map(({ data }) => data.length), [2, 2, 1, 0])
        assert.deepStrictEqual(pages.map(({ page }) => page.has_more), [false, false, false, false])
        assert.lengthOf(ids, 5)
      }).pipe(Effect.provide(sandbox(FaultScript.on("list").always().denyMore(), { projects: 5 }))))

    it.effect("itemAppears: a new record appears at its place by creation time, and no record is repeated", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* walk()).ids, ["P1", "P2", "P3", "P4", "P5", "A1"])
        assert.deepStrictEqual((yield* walk("created_at:desc")).ids, ["A1", "P5", "P4", "P3", "P2", "P1"])
      }).pipe(Effect.provide(sandbox(FaultScript.on("list").after(1).itemAppears(), { projects: 5 }))))

    it.effect("itemVanishes: the record that the cursor points to vanishes, and the walk skips no other record", () =>
      Effect.gen(function*() {
        assert.deepStrictEqual((yield* walk()).ids, ["P1", "P2", "P3", "P4", "P5"])
        assert.deepStrictEqual((yield* walk()).ids, ["P1", "P3", "P4", "P5"])
      }).pipe(Effect.provide(sandbox(FaultScript.on("list").itemVanishes(), { projects: 5 }))))

    it.effect("rejectCursor: the request gets 400 with the name of the cursor parameter", () =>
      Effect.gen(function*() {
        const first = yield* Schema.decodeUnknown(Ids)((yield* page(null)).body)
        const { body, status } = yield* page(first.page.next_cursor)
        assert.strictEqual(status, 400)
        assert.include(JSON.stringify(body), "\"path\":\"page.start_cursor\"")
      }).pipe(Effect.provide(sandbox(FaultScript.on("list").rejectCursor(), { projects: 5 }))))
  })

  it.effect("passes the requests to which no fault applies to the interceptor", () =>
    Effect.gen(function*() {
      const asked: Array<string> = []
      const options: SandboxOptions.Options = {
        faults: FaultScript.on("put").answer(500),
        interceptor: (exchange) =>
          Effect.sync(() => {
            asked.push(`${exchange.operation} ${exchange.attempt} ${exchange.contentLength}`)
            return Option.none()
          })
      }
      yield* Effect.gen(function*() {
        const { url } = yield* Calls.initiate(5)
        yield* Calls.put(url, hello)
        yield* Calls.storage("PUT", url, { body: HttpBody.uint8Array(hello), headers: Calls.ENCRYPTION })
      }).pipe(Effect.provide(Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory(options))))
      assert.deepStrictEqual(asked, ["initiate 1 49", "put 2 5"])
    }))
})
