import { assert, describe, it } from "@effect/vitest"
import {
  ConnectionError,
  DownloadError,
  ListError,
  ServiceConfig,
  ServiceError,
  SourceError,
  UploadError
} from "@stevedore/core"
import { SizeExceeded } from "@stevedore/core/UploadError"
import { DownloadTargetError } from "@stevedore/node"
import { Duration, Either } from "effect"
import { InvalidInput } from "../../src/options/invalidInput.js"
import { messageOf } from "../../src/print/message.js"

const page = { path: "/v1/projects", index: 0 }

const errors: ReadonlyArray<readonly [ours: string, error: Error]> = [
  ["--resume", new ListError.CursorRejected({ page, age: Duration.zero, issues: [] })],
  [
    "--on-impossible continue",
    new UploadError.DeadlineUnreachable({ fileName: "a.mp4", size: 10, needs: 2, has: 1, deadline: new Date(0) })
  ],
  [
    "--allow-insecure-http",
    new InvalidInput({
      input: "--base-url",
      problem: Either.getOrThrow(Either.flip(ServiceConfig.parseBaseUrl("http://far.example")))
    })
  ],
  ["--skip-invalid", new ListError.ItemInvalid({ page, index: 0, field: "title", problem: "a field is missing" })],
  ["walk again later", new ListError.PaginationBroken({ page, problem: "tooManyEmptyPages" })],
  ["--strategy multipart", new SizeExceeded({ fileName: "a", size: 2, limit: 1, path: "single" })],
  [
    "--media-type",
    new SourceError.InvalidSource({ fileName: "a", field: "mediaType", expected: "1 to 255 characters" })
  ],
  ["copy its content into one.", new SourceError.SourceUnreadable({ fileName: "a", reason: "NotAFile" })],
  ["--any-size", new DownloadError.DownloadIncomplete({ fileId: "f1", expected: 10, received: 5 })],
  ["--overwrite", new DownloadTargetError.TargetExists({ path: "a.mp4" })],
  ["--concurrency", new ConnectionError.TimedOut({ peer: "storage", phase: "body", after: Duration.minutes(1) })],
  ["--no-resume", new UploadError.UploadLocked({ fileName: "a.mp4" })]
]

describe("message", () => {
  it.each(errors)("names %s, and nothing of the library's API", (ours, error) => {
    assert.include(messageOf(error), ours)
    assert.notMatch(messageOf(error), /[a-z][A-Z]|[a-z]: (?:"|false|true)|Timeouts|stream|your own Schema|overwriting/)
  })

  it("names the option that allows a pre-signed http URL in a response of the service", () => {
    const problem = "expected https: http sends the file in clear text; allowInsecureHttp allows it"
    const error = new ServiceError.InvalidResponse({
      operation: "initiateUpload",
      status: 201,
      issues: [],
      path: "data.upload_url",
      problem
    })
    assert.include(error.message, problem)
    assert.include(messageOf(error), "; --allow-insecure-http allows it at data.upload_url")
  })

  it("is the error's own message if there is nothing to replace", () => {
    const error = new SizeExceeded({ fileName: "onImpossible", size: 2, limit: 1, path: "multipart" })
    assert.strictEqual(messageOf(error), error.message)
    assert.strictEqual(messageOf("toString"), "toString")
    assert.strictEqual(messageOf({ _tag: "toString", message: "m" }), "m")
  })
})
