import { assert, describe, it } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import { Cause, Effect, FiberId, Option, Schema } from "effect"
import { reportOf } from "../../src/line/failureReport.js"
import { type Environment, invoke, jsonLines } from "./invoke.js"
import { listening } from "./listening.js"

const decode = Schema.decodeUnknownSync(Schema.parseJson(Reports.CommandFailed))

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? ""

const nowhere = { STEVEDORE_BASE_URL: "http://127.0.0.1:1", STEVEDORE_TOKEN: "api.nothing" }

/** Runs a command in words and in JSON: the same exit code, and JSON as the last line of standard error. */
const failing = (line: string, env: Environment) =>
  Effect.gen(function*() {
    const words = line.split(" ")
    const spoken = yield* invoke(words, env)
    const { code, stderr, stdout } = yield* invoke([...words, "--json"], env)
    assert.strictEqual(code, spoken.code, line)
    assert.isTrue(jsonLines(stdout).every((value) => typeof value === "object"), line)
    const report = decode(lastLine(stderr))
    assert.notStrictEqual(report.error.message, "")
    assert.notInclude(stderr, "\u001b")
    return { code, report, stderr, stdout }
  })

const answering = (status: number) =>
  Effect.map(
    listening((_, response) => response.writeHead(status).end("{}")),
    (origin) => ({ STEVEDORE_BASE_URL: origin, STEVEDORE_TOKEN: "api.nothing" })
  )

const file = import.meta.filename

describe("with --json, the last line of standard error is the failure", () => {
  it.live.each<readonly [string, string]>([
    ["nothing", "InvalidInput"],
    ["--versoin", "InvalidInput"],
    ["upload", "InvalidInput"],
    ["upload -xyz a", "InvalidInput"],
    ["upload a --concurrency 33", "InvalidInput"],
    ["upload a b --name c", "InvalidInput"],
    ["upload a --token api.secret", "InvalidInput"],
    ["uploads --forget nothing", "InvalidInput"],
    ["uploads too many", "InvalidInput"],
    ["download", "InvalidInput"],
    ["download a -o -", "InvalidInput"],
    ["file", "InvalidInput"],
    ["upload a --verify some", "InvalidInput"],
    ["file a b", "InvalidInput"],
    ["projects --limit 0", "InvalidInput"],
    ["projects --profile /no/such/file", "InvalidInput"],
    ["list nothing", "InvalidInput"],
    ["list projects --sort title", "InvalidInput"],
    ["list projects --sort nothing:asc", "InvalidListOption"],
    ["whoami --config /no/such/file", "InvalidInput"],
    ["whoami --base-url https:host", "InvalidInput"],
    ["doctor --file /no/such/file", "InvalidInput"],
    ["doctor --base-url host", "ChecksFailed"],
    ["sandbox --port 65536", "InvalidInput"],
    ["sandbox --faults /no/such/file", "InvalidInput"],
    ["sandbox --port 0 --storage-port 0 --directory /dev/null", "InvalidInput"]
  ])("wrong usage: %s", ([line, tag]) =>
    Effect.gen(function*() {
      const { code, report, stderr, stdout } = yield* failing(line, nowhere)
      assert.deepStrictEqual([code, report.error._tag], [2, tag])
      if (tag === "ChecksFailed") return
      assert.deepStrictEqual([stdout, report.error.kind], ["", "input"])
      assert.strictEqual(stderr, `${lastLine(stderr)}\n`, "the library's own words are in it")
    }))

  it.live.each<readonly [string, string, string]>([
    [`upload ${file}`, "FilesFailed", "tryLater"],
    [`upload ${file} /no/such/file`, "FilesFailed", "tryLater"],
    ["download a b", "FilesFailed", "tryLater"],
    ["download a --output /no/such/place", "TargetUnwritable", ""],
    ["file a", "ConnectionFailed", "tryLater"],
    ["download a", "ConnectionFailed", "tryLater"],
    ["list tags", "ConnectionFailed", "tryLater"],
    ["projects", "ConnectionFailed", "tryLater"],
    ["whoami", "ConnectionFailed", "tryLater"],
    ["doctor", "ChecksFailed", "configuration"]
  ])("no service: %s", ([line, tag, kind]) =>
    Effect.gen(function*() {
      const { code, report } = yield* failing(line, nowhere)
      assert.strictEqual(code, 1)
      if (kind !== "") assert.deepStrictEqual([report.error._tag, report.error.kind], [tag, kind])
    }), 60_000)

  it.scopedLive.each<readonly [string, number, number, string]>([
    ["file a", 401, 3, "Unauthorized"],
    ["whoami", 401, 3, "Unauthorized"],
    ["projects", 401, 3, "Unauthorized"],
    ["download a", 404, 1, "NotFound"],
    ["file a", 403, 1, "Forbidden"],
    ["list data", 400, 1, "RequestRejected"],
    ["list /v1/things", 200, 1, "InvalidResponse"],
    [`upload ${file}`, 401, 3, "FilesFailed"],
    ["download a b", 401, 3, "FilesFailed"],
    ["doctor", 401, 3, "ChecksFailed"]
  ])("%s, answered with %d", ([line, status, exit, tag]) =>
    Effect.gen(function*() {
      const { code, report } = yield* failing(line, yield* answering(status))
      assert.deepStrictEqual([code, report.error._tag], [exit, tag])
    }), 60_000)

  it("is also that of a signal, and of a bug", () => {
    const report = (cause: Cause.Cause<unknown>) =>
      Option.map(reportOf(cause, Option.some("words")), ({ error }) => [error._tag, error.kind, error.message])
    assert.deepStrictEqual(report(Cause.interrupt(FiberId.none)), Option.some(["Interrupted", "tryLater", "words"]))
    assert.deepStrictEqual(report(Cause.die(new Error("oh"))), Option.some(["Defect", "refused", "words"]))
  })
})
