import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as SandboxServer from "@stevedore/cli/SandboxServer"
import { FaultScript, type SandboxOptions } from "@stevedore/testing"
import { ConfigProvider, Deferred, Effect, Exit, Option, Redacted, Schema } from "effect"
import * as Program from "../../src/line/program.js"
import * as Schemas from "../../src/print/serviceSchemas.js"
import { type Environment, invoke, jsonLines, sinkOf } from "./invoke.js"

const decode = Schema.decodeUnknownSync(Schema.Array(Schemas.DoctorReport), { onExcessProperty: "error" })

const origin = "https://app.example"

const sandboxOf = (behaviour: Partial<SandboxOptions.Options>) =>
  SandboxServer.start(
    { port: 0, storagePort: 0, directory: Option.none(), token: Option.none(), projects: 0 },
    behaviour
  )

const examine = (env: Environment, words: ReadonlyArray<string> = ["--origin", origin]) =>
  Effect.map(invoke(["doctor", "--json", ...words], env), (ended) => {
    const reports = decode(jsonLines(ended.stdout))
    const checks = reports.flatMap((report) => report.type === "check" ? [report] : [])
    const diagnosis = reports.find((report) => report.type === "diagnosis")
    const named = (outcome: Schemas.CheckReport["outcome"]) =>
      checks.filter((one) => one.outcome === outcome).map(({ check }) => check)
    return { ...ended, checks, named, diagnosis }
  })

const withSandbox = (behaviour: Partial<SandboxOptions.Options>, words?: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const sandbox = yield* sandboxOf(behaviour)
    const env = { STEVEDORE_BASE_URL: sandbox.baseUrl, STEVEDORE_TOKEN: Redacted.value(sandbox.token) }
    const ended = yield* examine(env, words)
    return { ...ended, env, breaches: (yield* sandbox.report).breaches }
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

const failing: ReadonlyArray<
  readonly [
    typeof Schemas.CheckId.Type,
    Partial<SandboxOptions.Options>,
    RegExp,
    ReadonlyArray<typeof Schemas.CheckId.Type>
  ]
> = [
  ["token", { faults: FaultScript.on("tokenInfo").answer(500) }, /ServiceUnavailable/, []],
  ["clock", { faults: FaultScript.clockSkew("20 minutes", "ahead") }, /20m behind the service's/, []],
  [
    "initiate",
    { faults: FaultScript.on("initiateSingle").answer(422) },
    /RequestRejected/,
    ["single-put", "encryption", "part-put", "etag", "cors", "complete", "inspect", "download", "throughput"]
  ],
  [
    "single-put",
    { encryptionHeaders: { "x-amz-server-side-encryption": "AES256" } },
    /SignatureMismatch403/,
    ["etag", "encryption", "complete", "inspect", "download"]
  ],
  [
    "part-put",
    { faults: FaultScript.on("putPart").part(2).reset() },
    /ConnectionFailed/,
    ["complete", "inspect", "download", "throughput"]
  ],
  [
    "single-put",
    { faults: FaultScript.on("putSingle").omitEtag() },
    /EtagMissing/,
    ["etag", "encryption", "complete", "inspect", "download"]
  ],
  ["cors", { cors: false }, /the preflight request was answered/, []],
  ["cors", { cors: { exposeEtag: false } }, /pages cannot read ETag/, []],
  ["complete", { faults: FaultScript.on("completeSingle").answer(409) }, /UploadConflict/, ["inspect", "download"]],
  ["complete", { faults: FaultScript.on("completeLarge").answer(502) }, /ServiceUnavailable/, []],
  ["inspect", { faults: FaultScript.on("file").always().answer(404) }, /NotFound/, []],
  ["download", { faults: FaultScript.on("download").always().answer(500) }, /ServiceUnavailable/, []]
]

describe("stevedore doctor", () => {
  it.scopedLive("passes all checks on a sandbox, breaks only its `RefusalRetried` rule, and lists the files left", () =>
    Effect.gen(function*() {
      const { breaches, checks, code, diagnosis, named, stderr } = yield* withSandbox({})
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.deepStrictEqual(checks.map(({ check }) => check), [...Schemas.CheckId.literals])
      assert.deepStrictEqual([named("failed"), named("skipped")], [[], []])
      assert.deepStrictEqual(
        diagnosis?.type === "diagnosis" ? diagnosis.left.map(({ kind }) => kind) : [],
        ["file", "file"]
      )
      // it asks on purpose what has to be refused
      assert.deepStrictEqual([...new Set(breaches.map(({ rule }) => rule))], ["RefusalRetried"])
    }))

  it.scopedLive("lists what it has left at the service also if it is stopped", () =>
    Effect.gen(function*() {
      const { baseUrl, token } = yield* sandboxOf({ faults: FaultScript.on("putPart").delay("1 hour") })
      const env = { STEVEDORE_BASE_URL: baseUrl, STEVEDORE_TOKEN: Redacted.value(token) }
      const putting = yield* Deferred.make<void>()
      let stderr = ""
      const running = Program.run({
        words: ["doctor", "--json"],
        out: sinkOf((text) => {
          if (text.includes("\"encryption\"")) Deferred.unsafeDone(putting, Exit.void)
        }),
        error: sinkOf((text) => {
          stderr += text
        })
      }).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))))
      yield* Effect.raceFirst(running, Deferred.await(putting))
      assert.match(
        stderr,
        /^Left at the service, whose API cannot delete:\n(?: {2}session \w+: never completed\n){2}\{"type":"failed","error":\{"_tag":"Interrupted",.*\}\n$/
      )
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive.each(failing)(
    "reports only %s as failed, and skips only the checks that depend on it",
    ([check, behaviour, words, skipped]) =>
      Effect.gen(function*() {
        const { checks, code, env, named, stderr, stdout } = yield* withSandbox(behaviour)
        assert.strictEqual(code, 1)
        assert.deepStrictEqual([named("failed"), new Set(named("skipped"))], [[check], new Set(skipped)])
        const report = checks.find((one) => one.check === check)
        assert.match(report?.found ?? "", words)
        assert.notStrictEqual(report?.remedy, "")
        assert.notInclude(stdout + stderr, env.STEVEDORE_TOKEN)
        assert.notInclude(stdout + stderr, "X-Amz-Signature")
      })
  )

  it.scopedLive("fails the encryption check if storage accepts a PUT without encryption", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const profile = yield* fs.makeTempFileScoped()
      yield* fs.writeFileString(profile, "{ \"encryptionHeaders\": {} }")
      const { checks, named } = yield* withSandbox({ encryptionHeaders: {} }, ["--profile", profile])
      assert.deepStrictEqual([named("failed"), named("skipped")], [["encryption"], ["cors"]])
      assert.strictEqual(checks.find(({ check }) => check === "encryption")?.found, "storage accepted it")
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("fails the throughput check for an unsuitable file, and estimates the time for a suitable file", () =>
    Effect.gen(function*() {
      const empty = yield* withSandbox({}, ["--file", "/dev/null"])
      assert.deepStrictEqual(empty.named("failed"), ["throughput"])
      const fits = yield* withSandbox({}, ["--file", process.execPath])
      assert.match(fits.checks.at(-1)?.found ?? "", /takes about/)
    }))

  it.live("exits with 2 and skips all other checks if there is no configuration", () =>
    Effect.gen(function*() {
      const { code, named } = yield* examine({})
      assert.deepStrictEqual([code, named("failed"), named("skipped").length], [2, ["configuration"], 14])
    }))

  it.live("reports a host that does not resolve and a port that refuses the connection", () =>
    Effect.gen(function*() {
      const token = "api.nothing"
      const nobody = yield* examine({ STEVEDORE_BASE_URL: "https://stevedore.invalid", STEVEDORE_TOKEN: token })
      assert.match(nobody.checks[1]?.found ?? "", /stevedore\.invalid does not resolve/)
      for (const base of ["https://127.0.0.1:1", "http://127.0.0.1:1"]) {
        const closed = yield* examine({ STEVEDORE_BASE_URL: base, STEVEDORE_TOKEN: token })
        assert.match(closed.checks[1]?.found ?? "", /no connection to 127\.0\.0\.1:1 \(ECONNREFUSED\)/)
        assert.strictEqual(closed.code, 1)
        // neither the token nor the clock is at fault, and nothing is known of a rate limit
        assert.deepStrictEqual([closed.named("failed"), closed.named("skipped").length], [["connection"], 13])
      }
    }))

  it.scopedLive("suggests a remedy for the cause of a failure rather than for the check that failed", () =>
    Effect.gen(function*() {
      const sandbox = yield* sandboxOf({})
      const { checks } = yield* examine({ STEVEDORE_BASE_URL: sandbox.baseUrl, STEVEDORE_TOKEN: "api.wrong" })
      for (const check of ["token", "initiate"]) {
        assert.match(checks.find((one) => one.check === check)?.remedy ?? "", /STEVEDORE_TOKEN/, check)
      }
      const busy = yield* withSandbox({ faults: FaultScript.on("tokenInfo").answer(500) })
      assert.match(busy.checks.find(({ check }) => check === "token")?.remedy ?? "", /Run it again later/)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("skips the cors check if no origin is given", () =>
    Effect.gen(function*() {
      const { code, diagnosis, named } = yield* withSandbox({}, [])
      assert.deepStrictEqual([code, named("failed"), named("skipped")], [0, [], ["cors"]])
      assert.isTrue(diagnosis?.type === "diagnosis" && diagnosis.skipped === 1)
    }))

  it.scopedLive("exits with 3 if the token is not accepted, and with 2 if the origin or the file is invalid", () =>
    Effect.gen(function*() {
      const sandbox = yield* sandboxOf({})
      const env = { STEVEDORE_BASE_URL: sandbox.baseUrl, STEVEDORE_TOKEN: "api.wrong" }
      const { code, named, stdout } = yield* examine(env)
      assert.deepStrictEqual([code, named("failed")], [3, ["token", "initiate"]])
      assert.notInclude(stdout, "api.wrong")
      assert.strictEqual((yield* invoke(["doctor", "--origin", "app.example"], env)).code, 2)
      // the size of a directory is not that of the files in it
      assert.strictEqual((yield* invoke(["doctor", "--file", "."], env)).code, 2)
    }).pipe(Effect.provide(NodeContext.layer)))

  it.scopedLive("prints one readable line per check without --json", () =>
    Effect.gen(function*() {
      const sandbox = yield* sandboxOf({})
      const env = { STEVEDORE_BASE_URL: sandbox.baseUrl, STEVEDORE_TOKEN: Redacted.value(sandbox.token) }
      const { code, stdout } = yield* invoke(["doctor"], env)
      assert.strictEqual(code, 0)
      assert.match(stdout, /^ok {4}configuration {13}http:\/\/127\.0\.0\.1:\d+, token set/)
      assert.match(stdout, /\nok {4}download and compare {6}5\.2 MB, byte for byte identical\n/)
      assert.match(stdout, /file \w{22}, 1024 bytes: delete it by hand\n/)
    }).pipe(Effect.provide(NodeContext.layer)))
})
