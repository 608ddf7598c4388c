import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Either } from "effect"
import * as ServeSettings from "../src/ServeSettings.js"

const check = (form: "directory" | "bucket", variables: Readonly<Record<string, string>>) =>
  ServeSettings.checkVariables(form).pipe(
    Effect.either,
    // as the environment is read
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)), { pathDelim: "_" }))
  )

describe("a variable of the service", () => {
  it.effect.each<readonly [string, "directory" | "bucket", RegExp | undefined]>([
    ["QUOTA_BYTES", "directory", undefined],
    ["ORIGINS", "bucket", undefined],
    ["LOG_FORMAT", "directory", undefined],
    ["LOG_LEVEL", "bucket", undefined],
    ["METRICS_PORT", "bucket", undefined],
    ["S3_SESSION_TOKEN_FILE", "bucket", undefined],
    ["DATABASE_URL", "bucket", undefined],
    ["QOUTA_BYTES", "directory", /there is no such variable/],
    ["QOUTA_BYTES", "bucket", /there is no such variable/],
    ["S3", "bucket", /there is no such variable/],
    ["RATE_LIMIT", "directory", /has no effect without a database and a bucket/],
    ["KMS_KEY_ID", "directory", /has no effect/]
  ])("%s in the form of a %s has its effect, or is refused", ([name, form, problem]) =>
    Effect.gen(function*() {
      const variable = `STEVEDORE_SERVE_${name}`
      const found = yield* check(form, { [variable]: "1", STEVEDORE_TOKEN: "x", STEVEDORE_SERVER: "y" })
      if (problem === undefined) return assert.deepStrictEqual(found, Either.void)
      assert.isTrue(Either.isLeft(found))
      const { message } = yield* Either.flip(found)
      assert.match(message, problem)
      assert.include(message, variable)
      // empty is as if it were not set
      assert.deepStrictEqual(yield* check(form, { [variable]: "" }), Either.void)
    }))
})
