import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConnectionError, ServiceError, SourceError } from "@stevedore/core"
import { DownloadTargetError, LastingFailure } from "@stevedore/node"
import { Duration, Effect, Option } from "effect"

const answer = { operation: "any", issues: [] }

const failed = (code: string) =>
  new ConnectionError.ConnectionFailed({ peer: "storage", origin: "https://b.test", arrived: "no", code })

const notFound = new SourceError.SourceUnreadable({ fileName: "a", reason: "NotFound" })

describe("LastingFailure", () => {
  it.each<readonly [what: string, error: LastingFailure.AnyError, reason: LastingFailure.Reason | null]>([
    ["a rejected token", new ServiceError.Unauthorized({ ...answer, status: 401 }), "token"],
    ["a proxy that wants a password", failed("PROXY_ANSWERED_407"), "connection"],
    ["a proxy that forbids the address", failed("PROXY_ANSWERED_403"), "connection"],
    ["a certificate of another name", failed("ERR_TLS_CERT_ALTNAME_INVALID"), "connection"],
    ["a scheme that does not fit the port", failed("EPROTO"), "connection"],
    ["a network that is down for now", failed("ECONNREFUSED"), null],
    ["no room at the service", new ServiceError.ServiceUnavailable({ ...answer, status: 507 }), "room"],
    [
      "a quota",
      new ServiceError.Forbidden({ ...answer, status: 403, issues: [{ code: "QuotaExceeded" }] }),
      "room"
    ],
    ["a file that is forbidden", new ServiceError.Forbidden({ ...answer, status: 403 }), null],
    ["a service that fails once", new ServiceError.ServiceUnavailable({ ...answer, status: 503 }), null],
    ["a disk that is read-only", new DownloadTargetError.TargetUnwritable({ path: "a", code: "EROFS" }), "directory"],
    ["a file that is in the way", new DownloadTargetError.TargetExists({ path: "a" }), null],
    ["a file that is not there", notFound, null]
  ])("%s", (_, error, reason) => {
    assert.strictEqual(Option.getOrNull(LastingFailure.of(error)), reason)
  })

  it.scoped("a file that is not there counts if its directory is not there either, or has nothing left in it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      assert.deepStrictEqual(yield* LastingFailure.ofFileIn(notFound, folder), Option.some("directory"))
      yield* fs.writeFileString(`${folder}/another.bin`, "hello")
      assert.isTrue(Option.isNone(yield* LastingFailure.ofFileIn(notFound, folder)))
      assert.deepStrictEqual(yield* LastingFailure.ofFileIn(notFound, `${folder}/gone`), Option.some("directory"))
      assert.isTrue(Option.isNone(yield* LastingFailure.ofFileIn(notFound, undefined)))
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.each<readonly [error: LastingFailure.AnyError, isOutage: boolean]>([
    [failed("ECONNREFUSED"), true],
    [new ConnectionError.TimedOut({ peer: "service", phase: "call", after: Duration.seconds(1) }), true],
    [new ServiceError.ServiceUnavailable({ ...answer, status: 503 }), true],
    [new ServiceError.ServiceUnavailable({ ...answer, status: 500 }), false],
    [notFound, false]
  ])("may be an outage, or not", (error, isOutage) => {
    assert.strictEqual(LastingFailure.isOutage(error), isOutage)
  })
})
