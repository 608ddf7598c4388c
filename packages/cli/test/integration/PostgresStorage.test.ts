import { FetchHttpClient, FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import * as Reports from "@stevedore/cli/Reports"
import { S3Bucket } from "@stevedore/server"
import { Effect, Schema, Stream } from "effect"
import { environment } from "../../../server/test/support/cluster.js"
import { postgres } from "../../../server/test/support/postgres.js"
import * as RealStore from "../../../server/test/support/realStore.js"
import { invoke } from "./invoke.js"
import { start } from "./stevedore.js"

const Token = Schema.parseJson(Schema.Struct({ id: Schema.String, token: Schema.String }))

const Check = Schema.parseJson(Schema.Struct({ outcome: Schema.String }))

const origin = "https://app.example"

const lines = (text: string) => text.split("\n").filter((line) => line !== "")

describe("stevedore serve over PostgreSQL and a bucket", () => {
  it.scopedLive(
    "passes its own doctor, with tokens and a bucket that the command has made ready",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const { url } = yield* postgres
        const bucket = `stevedore-cli-${process.pid}-${Date.now()}`
        yield* Effect.provide(S3Bucket.create(RealStore.options(bucket)), FetchHttpClient.layer)
        yield* fs.writeFileString(`${folder}/database`, `${url}\n`)
        const { STEVEDORE_SERVE_DATABASE_URL: _, ...rest } = environment(url, bucket)
        const production = {
          ...rest,
          STEVEDORE_SERVE_DATABASE_URL_FILE: `${folder}/database`,
          STEVEDORE_SERVE_ORIGINS: origin
        }

        const before = yield* invoke(["bucket", "check"], production)
        assert.strictEqual(before.code, 1, before.stdout)
        const printed = yield* invoke(["bucket", "setup", "--print"], production)
        assert.include(printed.stdout, `<AllowedOrigin>${origin}</AllowedOrigin>`)
        const setUp = yield* invoke(["bucket", "setup"], production)
        assert.strictEqual(setUp.code, 0, setUp.stdout + setUp.stderr)

        const running = yield* start(["serve", "--port", "0", "--base-path", "/api", "--json"], {
          cwd: folder,
          env: production
        })
        const first = yield* Effect.flatten(Stream.runHead(running.lines))
        const { api, profile, token } = yield* Schema.decode(Schema.parseJson(Reports.Serving))(first)
        assert.isTrue(api.endsWith("/api") && token === undefined)
        yield* fs.writeFileString(`${folder}/profile.json`, JSON.stringify(profile))

        const create = ["token", "create", "--tenant", "acme", "--owner", "ann", "--json"]
        const made = yield* Schema.decode(Token)((yield* invoke(create, production)).stdout)
        const env = {
          STEVEDORE_BASE_URL: api,
          STEVEDORE_TOKEN: made.token,
          STEVEDORE_PROFILE: `${folder}/profile.json`
        }
        const doctor = yield* invoke(["doctor", "--origin", origin, "--json"], env)
        assert.strictEqual(doctor.code, 0, doctor.stdout)
        const checks = yield* Effect.forEach(lines(doctor.stdout), (line) =>
          Effect.orElseSucceed(Schema.decode(Check)(line), () => ({ outcome: "none" })))
        assert.isAbove(
          checks.filter(({ outcome }) =>
            outcome === "passed"
          ).length,
          10,
          doctor.stdout
        )
        assert.deepStrictEqual(checks.filter(({ outcome }) => outcome === "failed" || outcome === "skipped"), [])

        assert.include((yield* invoke(["token", "list"], production)).stdout, made.id)
        assert.notInclude((yield* invoke(["token", "list", "--json"], production)).stdout, made.token)
        assert.strictEqual((yield* invoke(["token", "revoke", made.id], production)).code, 0)
        assert.strictEqual((yield* invoke(["whoami"], env)).code, 3)
        assert.strictEqual((yield* invoke(["token", "revoke", made.id], production)).code, 2)
      }).pipe(Effect.provide(NodeContext.layer)),
    300_000
  )

  it.scopedLive.each(
    [
      ["STEVEDORE_SERVE_DATABASE_URL", "mysql://user:hidden@host/name", "expected a URL of PostgreSQL"],
      ["STEVEDORE_SERVE_DATABASE_URL", "postgres://user:hidden@127.0.0.1:9/name", "ECONNREFUSED"],
      ["STEVEDORE_SERVE_BUCKET", "No Bucket", "expected the name of a bucket"],
      ["STEVEDORE_SERVE_BUCKET", "stevedore-no-such-bucket", "NoSuchBucket"],
      ["STEVEDORE_SERVE_BUCKET", "", "not set"],
      ["STEVEDORE_SERVE_S3_ENDPOINT", "ftp://host", "expected a URL"],
      ["STEVEDORE_SERVE_ENCRYPTION", "rot13", "expected aws:kms"],
      ["STEVEDORE_SERVE_RATE_LIMIT", "many", "expected a number of requests"],
      ["STEVEDORE_SERVE_QUOTA_BYTES", "much", "expected a size in bytes"],
      ["STEVEDORE_SERVE_QUOTA_FILES", "0", "expected a number of files"],
      ["STEVEDORE_SERVE_ORIGINS", "app.example", "expected origins"]
    ] as const
  )("says before it listens what is wrong with %s=%s", ([variable, value, problem]) =>
    Effect.gen(function*() {
      yield* Effect.provide(S3Bucket.create(RealStore.options("stevedore-cli")), FetchHttpClient.layer)
      const { code, stderr, stdout } = yield* invoke(["serve", "--port", "0"], {
        ...environment("postgres://user:hidden@127.0.0.1:9/name", "stevedore-cli"),
        [variable]: value
      })
      assert.strictEqual(code, 2, stdout + stderr)
      assert.include(stderr, variable)
      assert.include(stderr, problem)
      assert.notInclude(stdout + stderr, "hidden")
    }).pipe(Effect.provide(NodeContext.layer)), 60_000)
})
