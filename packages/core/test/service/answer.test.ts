import { assert, describe, it } from "@effect/vitest"
import { type Recovery, ServiceError } from "@stevedore/core"
import { Duration, Either, FastCheck as fc, Redacted, Schema } from "effect"
import * as ServiceAnswer from "../../src/service/answer.js"

const at = Date.UTC(2030, 0, 1)

const answer = (
  status: number,
  body = "",
  headers: Readonly<Record<string, string>> = {}
): ServiceAnswer.ServiceAnswer => ({
  operation: "file",
  status,
  headers,
  body,
  sentAt: at,
  receivedAt: at,
  attempts: 3
})

const envelope = JSON.stringify({
  errors: [{ code: "ValidationError", title: "Invalid", message: "too long", path: ["body", "name"] }]
})

const Thing = Schema.Struct({ id: Schema.String, tags: Schema.Array(Schema.Struct({ title: Schema.String })) })

const Enveloped = Schema.Struct({ data: Thing })

const problem = (read: Either.Either<unknown, ServiceError.ServiceError>) => {
  const error = Either.isLeft(read) ? read.left : assert.fail("expected an error")
  assert.instanceOf(error, ServiceError.InvalidResponse)
  return { path: error.path, problem: error.problem, recovery: error.recovery }
}

describe("ServiceAnswer", () => {
  describe("the table of statuses", () => {
    const table: ReadonlyArray<readonly [number, ServiceError.ServiceError["_tag"], Recovery.Recovery]> = [
      [301, "RequestRejected", "none"],
      [302, "RequestRejected", "none"],
      [400, "RequestRejected", "none"],
      [401, "Unauthorized", "none"],
      [403, "Forbidden", "none"],
      [404, "NotFound", "none"],
      [405, "RequestRejected", "none"],
      [408, "ServiceUnavailable", "retry"],
      [421, "ServiceUnavailable", "retry"],
      [423, "ServiceUnavailable", "retry"],
      [425, "ServiceUnavailable", "retry"],
      [409, "UploadConflict", "newSession"],
      [413, "RequestRejected", "none"],
      [422, "RequestRejected", "none"],
      [429, "RateLimited", "slowDown"],
      [500, "ServiceUnavailable", "retry"],
      [502, "ServiceUnavailable", "retry"],
      [503, "ServiceUnavailable", "retry"],
      [504, "ServiceUnavailable", "retry"],
      [507, "ServiceUnavailable", "none"]
    ]

    it.each(table)("%d is %s (%s), with the service's code, path and request id", (status, tag, recovery) => {
      const error = ServiceAnswer.errorOf(answer(status, envelope, { "x-request-id": "req-7" }))
      assert.strictEqual(error._tag, tag)
      assert.strictEqual(error.recovery, recovery)
      assert.deepInclude({ ...error }, {
        operation: "file",
        status,
        requestId: "req-7",
        attempts: 3,
        issues: status < 400
          ? []
          : [{ code: "ValidationError", title: "Invalid", message: "too long", path: ["body", "name"] }]
      })
    })

    it("names the request by a gateway's id if the service gave none", () => {
      const error = ServiceAnswer.errorOf(answer(503, "", { "x-amzn-requestid": "gate-7" }))
      assert.deepInclude({ ...error }, { requestId: "gate-7" })
    })

    it.each([
      "",
      "<html><body>Bad gateway</body></html>",
      "{",
      "[]",
      "null",
      "{\"errors\":\"x\"}",
      "{\"errors\":[{}]}"
    ])(
      "a body without an envelope changes nothing: %j",
      (body) => {
        for (const [status, tag] of table) {
          const error = ServiceAnswer.errorOf(answer(status, body))
          assert.strictEqual(error._tag, tag)
          assert.deepInclude({ ...error }, { issues: [] })
        }
      }
    )

    it.each([
      ["<!doctype html><title>Blocked</title><p>Denied by <b>ACME</b> Gateway", true],
      ["Access denied: no licence", true],
      ["{\"message\":\"no licence\"}", false],
      ["", undefined]
    ])("a 401 and a 403 with %s say whose words these may be", (body, isForeign) => {
      for (const status of [401, 403]) {
        const { message } = ServiceAnswer.errorOf({ ...answer(status, body) })
        const says = /ACME Gateway|no licence/
        assert.strictEqual(says.test(message), isForeign !== undefined, message)
        assert.strictEqual(message.includes("something in between"), isForeign === true, message)
      }
    })

    it("a malformed entry does not hide the others", () => {
      const refused = { code: "InvalidPart", title: null, message: "part 3" }
      const errors = [{ code: 7 }, refused, null, { code: "ValidationError", path: [{}] }]
      const error = ServiceAnswer.errorOf(answer(400, JSON.stringify({ errors })))
      assert.deepInclude({ ...error }, { issues: [refused] })
      assert.include(error.message, "InvalidPart: part 3")
      const titled = ServiceAnswer.errorOf(answer(400, JSON.stringify({ errors: [{ code: "A", title: null }] })))
      assert.include(titled.message, "(A; ")
    })

    it("an issue repeats neither the token nor a signed query, and keeps all other text", () => {
      const errors = [{
        code: "InvalidToken.api.key",
        message: "Is /v1/x?page=2 of api.key, https://a.test/b?X-Amz-Date=1&X-Amz-Signature=2&c=3 or (?sig=4)?",
        path: ["query", "api.key", 0]
      }]
      const told = {
        ...answer(400, JSON.stringify({ errors }), { "x-request-id": "of api.key" }),
        token: Redacted.make("api.key")
      }
      assert.deepInclude({ ...ServiceAnswer.errorOf(told) }, {
        requestId: "of <redacted>",
        issues: [{
          code: "InvalidToken.<redacted>",
          message: "Is /v1/x?page=2 of <redacted>, https://a.test/b?<redacted> or (?<redacted>",
          path: ["query", "<redacted>", 0]
        }]
      })
    })

    it("keeps the first hundred issues, and names ten", () => {
      const errors = Array.from({ length: 300_000 }, (_, index) => ({ code: `code-${index}` }))
      const error = ServiceAnswer.errorOf(answer(400, JSON.stringify({ errors })))
      assert.isTrue("issues" in error && error.issues.length === 100)
      assert.include(error.message, "code-9; and 90 more")
      assert.notInclude(error.message, "code-10")
    })

    it("keeps a bounded text of each issue, of all issues and of the request id", () => {
      const long = "long ".repeat(10_000)
      const errors = Array.from({ length: 100 }, () => ({ code: long, title: long, message: long, path: [long] }))
      const error = ServiceAnswer.errorOf(answer(400, JSON.stringify({ errors }), { "x-request-id": long }))
      assert.isTrue("issues" in error && error.issues.length > 10 && error.requestId?.length === 201)
      assert.isBelow(JSON.stringify(error).length, 40_000)
      assert.isBelow(error.message.length, 20_000)
    })

    it("reads no issue from a body that is nested without end, and fails in no other way", () => {
      const nested = `${"[".repeat(200_000)}${"]".repeat(200_000)}`
      for (const body of [nested, `{"errors":${nested}}`, `{"errors":[{"code":"a","path":${nested}},{"code":"b"}]}`]) {
        const error = ServiceAnswer.errorOf(answer(400, body))
        assert.strictEqual(error._tag, "RequestRejected")
        assert.isBelow(error.message.length, 500)
      }
    })

    it.each([429, 503, 408])("%d keeps the wait that the service asks for", (status) => {
      const error = ServiceAnswer.errorOf(answer(status, "", { "retry-after": "30" }))
      assert.deepInclude({ ...error }, { retryAfter: Duration.seconds(30) })
    })
  })

  describe("a success", () => {
    const thing = { id: "a", tags: [{ title: "x", colour: "red" }], unknown: { kept: true } }

    it("keeps unknown fields, at every depth", () => {
      assert.deepStrictEqual(
        ServiceAnswer.decode(answer(200, JSON.stringify(thing)), Thing),
        Either.right(thing)
      )
    })

    it.each([
      [{ data: { tags: [] } }, "data.id", "a field is missing"],
      [{ data: { id: 1, tags: [] } }, "data.id", "a value of the wrong type"],
      [{ data: { id: "a", tags: [{ title: "x" }, {}] } }, "data.tags[1].title", "a field is missing"],
      [{ data: { id: "a", tags: {} } }, "data.tags", "a value of the wrong type"],
      [{ data: null }, "data", "a value of the wrong type"],
      [{ data: [] }, "data", "a value of the wrong type"],
      [null, "", "a value of the wrong type"],
      ["text", "", "a value of the wrong type"]
    ])("of another shape names the place, not the value: %j", (body, path, words) => {
      const read = ServiceAnswer.decode(answer(200, JSON.stringify(body)), Enveloped)
      assert.deepStrictEqual(problem(read), { path, problem: words, recovery: "none" })
    })

    it("with a value that cannot be printed, however deep or odd, names its place like any other", () => {
      const unshowable = [
        `${"[".repeat(490)}${"]".repeat(490)}`,
        "{\"a\":".repeat(490) + "1" + "}".repeat(490),
        "{\"constructor\":{\"name\":{\"toString\":0,\"valueOf\":0}}}"
      ]
      for (const value of unshowable) {
        const read = ServiceAnswer.decode(answer(200, `{"data":{"id":${value},"tags":[]}}`), Enveloped)
        assert.deepStrictEqual(problem(read), {
          path: "data.id",
          problem: "a value of the wrong type",
          recovery: "none"
        })
      }
    })

    it.each([
      `${"[".repeat(50_000)}${"]".repeat(50_000)}`,
      "{\"a\":".repeat(501) + "1" + "}".repeat(501),
      `{"errors":[${"[".repeat(50_000)}${"]".repeat(50_000)}]}`
    ])("that is nested too deeply to be printed says so", (body) => {
      assert.deepStrictEqual(problem(ServiceAnswer.decode(answer(200, body), Thing)), {
        path: "",
        problem: "nested too deeply",
        recovery: "none"
      })
      assert.strictEqual(ServiceAnswer.errorOf(answer(500, body))._tag, "ServiceUnavailable")
    })

    it.each(["<html>Sign in</html>", "{\"data\":{\"id\":\"a\",", "not json"])(
      "that is not JSON may be requested again: %j",
      (
        body
      ) => {
        assert.deepStrictEqual(problem(ServiceAnswer.decode(answer(200, body), Thing)), {
          path: "",
          problem: "no JSON",
          recovery: "retryOnce"
        })
      }
    )

    it.each(["", " \r\n"])("with nothing in it says so: %j", (body) => {
      assert.deepStrictEqual(problem(ServiceAnswer.decode(answer(200, body), Thing)), {
        path: "",
        problem: "nothing",
        recovery: "none"
      })
    })

    it.each([envelope, JSON.stringify({ data: null, ...JSON.parse(envelope) })])(
      "with an error instead of the expected data is an unavailable service: %j",
      (body) => {
        const read = ServiceAnswer.decode(answer(200, body, { "retry-after": "3", "x-request-id": "req-7" }), Enveloped)
        const error = Either.isLeft(read) ? read.left : assert.fail("expected an error")
        assert.deepInclude({ ...error }, {
          _tag: "ServiceUnavailable",
          status: 200,
          requestId: "req-7",
          retryAfter: Duration.seconds(3),
          issues: [{ code: "ValidationError", title: "Invalid", message: "too long", path: ["body", "name"] }]
        })
      }
    )

    it("is a success, whatever else it contains beside the expected data", () => {
      const body = { data: thing, ...JSON.parse(envelope) }
      const read = ServiceAnswer.decode(answer(200, JSON.stringify(body)), Enveloped)
      assert.deepStrictEqual(Either.map(read, ({ data }) => data), Either.right(thing))
    })

    it.prop("any response is a value or one typed error that does not quote it", {
      status: fc.oneof(fc.constantFrom(200, 201), fc.integer({ min: 100, max: 599 })),
      body: fc.oneof(fc.string(), fc.json(), fc.json().map((data) => `{"data":${data}}`)),
      headers: fc.dictionary(fc.constantFrom("retry-after", "x-request-id", "date"), fc.string())
    }, ({ body, headers, status }) => {
      const read = ServiceAnswer.decode(answer(status, body, headers), Enveloped)
      if (Either.isRight(read)) return assert.isTrue(status >= 200 && status < 300)
      assert.isTrue(Schema.is(ServiceError.ServiceError)(read.left))
      if (read.left._tag === "InvalidResponse") assert.isTrue(status >= 200 && status < 300)
    })

    it("that is wrong does not show a signed URL of the response", () => {
      const read = ServiceAnswer.decode(
        answer(201, JSON.stringify({ data: { id: { url: "https://b.test/?X-Amz-Signature=5ecre7" }, tags: [] } })),
        Enveloped
      )
      assert.notInclude(JSON.stringify(read), "5ecre7")
    })
  })

  describe("the clock", () => {
    it.prop("is the server's minus ours, to half a second", {
      error: fc.integer({ min: -86_400_000, max: 86_400_000 }),
      fraction: fc.integer({ min: 0, max: 999 })
    }, ({ error, fraction }) => {
      const server = at + fraction
      const offset = ServiceAnswer.clockOffset({
        ...answer(200, "", { date: new Date(server).toUTCString() }),
        sentAt: server + error,
        receivedAt: server + error
      })
      assert.isAtMost(Math.abs(offset + error), 500)
    })

    it.prop("is never taken to be further behind, whenever the server looked at it between request and response", {
      error: fc.integer({ min: -86_400_000, max: 86_400_000 }),
      before: fc.integer({ min: 0, max: 120_000 }),
      after: fc.integer({ min: 0, max: 120_000 })
    }, ({ after, before, error }) => {
      const offset = ServiceAnswer.clockOffset({
        ...answer(200, "", { date: new Date(at).toUTCString() }),
        sentAt: at - before + error,
        receivedAt: at + after + error
      })
      assert.isAtLeast(offset + error, 0)
      assert.isAtMost(offset + error, before + 500)
    })

    it("is read from each form of a date as GMT, whatever the computer's time zone", () => {
      const zone = process.env["TZ"]
      try {
        process.env["TZ"] = "America/New_York"
        assert.notStrictEqual(new Date(at).getTimezoneOffset(), 0)
        for (
          const date of ["Tue, 01 Jan 2030 00:00:07 GMT", "Tuesday, 01-Jan-30 00:00:07 GMT", "Tue Jan  1 00:00:07 2030"]
        ) {
          assert.strictEqual(ServiceAnswer.clockOffset(answer(200, "", { date })), 7500)
        }
      } finally {
        if (zone === undefined) delete process.env["TZ"]
        else process.env["TZ"] = zone
      }
    })

    it.each([{}, { date: "" }, { date: "yesterday" }])("is ours if the response does not say: %j", (headers) => {
      assert.strictEqual(ServiceAnswer.clockOffset(answer(200, "", headers)), 0)
    })
  })
})
