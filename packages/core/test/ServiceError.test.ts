import { assert, describe, it } from "@effect/vitest"
import { type Recovery, ServiceError } from "@stevedore/core"
import { Duration } from "effect"
import { assertSurvivesJson } from "./fixtures/encoding.js"

const answer = { operation: "completeUpload", status: 500, issues: [], attempts: 2 }

describe("ServiceError", () => {
  it.prop("every error decodes from its encoded form", { error: ServiceError.ServiceError }, ({ error }) => {
    assertSurvivesJson(ServiceError.ServiceError, error)
  })

  it.each<[Recovery.Recovery, ServiceError.ServiceError]>([
    ["none", new ServiceError.Unauthorized(answer)],
    ["none", new ServiceError.Forbidden(answer)],
    ["none", new ServiceError.NotFound(answer)],
    ["newSession", new ServiceError.UploadConflict(answer)],
    ["none", new ServiceError.RequestRejected(answer)],
    ["slowDown", new ServiceError.RateLimited(answer)],
    ["retry", new ServiceError.ServiceUnavailable(answer)],
    ["retryOnce", new ServiceError.InvalidResponse({ ...answer, path: "", problem: ServiceError.notJson })],
    ["none", new ServiceError.InvalidResponse({ ...answer, path: "data.id", problem: "a field is missing" })]
  ])("what helps is %s: %o", (recovery, error) => {
    assert.strictEqual(error.recovery, recovery)
  })

  it("a message contains the service's code, path and words, the request id and the attempts", () => {
    const error = new ServiceError.RequestRejected({
      ...answer,
      status: 422,
      requestId: "req-7",
      issues: [
        { code: "ValidationError", title: "Invalid", message: "too long", path: ["body", "name", 0] },
        { code: "InvalidOperation", title: "Not now", path: "body.parts" },
        { code: "Unknown", path: null, message: null },
        { code: "Whole", path: [] },
        { code: "Body", path: "", message: "too long" }
      ]
    })
    assert.include(error.message, "completeUpload with 422")
    assert.include(error.message, "ValidationError at body.name.0: too long")
    assert.include(error.message, "InvalidOperation at body.parts: Not now")
    assert.include(error.message, "; Unknown; Whole; Body: too long; ")
    assert.include(error.message, "after 2 attempts, request req-7")
  })

  it("what the service wrote cannot control a terminal through a message, and the fields keep it unchanged", () => {
    const told = "\u001b[2Jgone\u009b1m\r\n\u202egnp.exe"
    const issues = [{ code: told, title: told, message: told, path: [told] }]
    const page = { path: "/v1/projects", index: 1, cursor: told }
    const fields = { ...answer, status: 422, issues, requestId: told, page }
    const errors = [new ServiceError.RequestRejected(fields), new ServiceError.NotFound({ ...fields, status: 404 })]
    for (const error of errors) {
      assert.notMatch(error.message, /[\p{Cc}\p{Bidi_C}]/u)
      assert.include(error.message, "gone")
      assert.deepStrictEqual({ issues: error.issues, requestId: error.requestId }, { issues, requestId: told })
    }
  })

  it("a refusal speaks of a redirect only if it is one", () => {
    const isRedirect = (status: number) =>
      new ServiceError.RequestRejected({ ...answer, status }).message.includes("It redirects")
    assert.deepStrictEqual([204, 299, 300, 302, 399, 400, 422].filter(isRedirect), [300, 302, 399])
  })

  it("a network that wants a sign-in is not taken for a service that is unavailable", () => {
    const message = (status: number) => new ServiceError.ServiceUnavailable({ ...answer, status }).message
    assert.include(message(511), "sign in to the network")
    assert.include(message(503), "Try again later")
    assert.include(message(507), "There is no room left")
  })

  it("a rate limit says how long to wait", () => {
    const error = new ServiceError.RateLimited({ ...answer, status: 429, retryAfter: Duration.seconds(30) })
    assert.include(error.message, "asks to wait 30s")
    assert.include(error.message, "Wait that long")
    const far = new ServiceError.RateLimited({ ...answer, status: 429, retryAfter: Duration.seconds(1_000_000_000) })
    assert.include(
      far.message,
      "asks to wait 31 years). Wait that long, or make fewer calls at once; one call looks again after a minute"
    )
  })

  it("a response of the wrong shape names the place in it", () => {
    const invalid = (path: string) =>
      new ServiceError.InvalidResponse({ ...answer, path, problem: "a field is missing" })
    assert.include(invalid("data.urls[2]").message, "a field is missing at data.urls[2]")
    assert.include(invalid("").message, "at the whole body")
  })

  it("whoever is not authorized is told to sign in again, or to make a new token", () => {
    // a page has no token: its user is told to sign in to the server before the service
    assert.include(new ServiceError.Unauthorized(answer).message, "Sign in again, or create a new token")
  })
})
