import { NodeContext } from "@effect/platform-node"
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
    ["WEBHOOK_URL", "directory", undefined],
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

  it.each<readonly [string, readonly [all: unknown, acme: unknown] | RegExp]>([
    ["30d", ["30 days", "30 days"]],
    ["acme=12h", [undefined, "12 hours"]],
    ["30d, acme=never", ["30 days", undefined]],
    ["never,acme=7d", [undefined, "7 days"]],
    ["", /and not $/],
    ["30", /and not 30$/],
    ["0d", /and not 0d$/],
    ["-acme=7d", /and not -acme=7d$/],
    ["1d,2d", /more than one time for all/],
    ["acme=1d,acme=2d", /more than one time for acme/]
  ])("how long files are kept: %s", (text, expected) => {
    const found = ServeSettings.readKeep(text)
    if (expected instanceof RegExp) return assert.match(Either.getOrThrow(Either.flip(found)), expected)
    const keep = Either.getOrThrow(found)
    assert.deepStrictEqual([keep("other"), keep("acme")], expected)
  })

  it.effect.each<readonly [Readonly<Record<string, string>>, RegExp | undefined]>([
    [{}, undefined],
    [{ URL: "https://app.example", SECRET: "sixteen letters!" }, undefined],
    [{ SECRET: "sixteen letters!" }, /WEBHOOK_URL: not set/],
    [{ PRIVATE: "true" }, /WEBHOOK_URL: not set/],
    [{ URL: "ftp://hidden", SECRET: "sixteen letters!" }, /WEBHOOK_URL: expected a URL/],
    [{ URL: "https://hidden:x@app.example", SECRET: "sixteen letters!" }, /WEBHOOK_URL: expected a URL/],
    [{ URL: "https://app.example" }, /WEBHOOK_SECRET: expected 16 characters/],
    [{ URL: "https://app.example", SECRET: "hidden" }, /WEBHOOK_SECRET: expected 16 characters/],
    [{ URL: "https://app.example", SECRET: "sixteen letters!", PRIVATE: "yes" }, /WEBHOOK_PRIVATE: expected one of/]
  ])("of a webhook is right, or named without its value: %j", ([variables, problem]) =>
    Effect.gen(function*() {
      const named = Object.entries(variables).map(([name, value]) =>
        [`STEVEDORE_SERVE_WEBHOOK_${name}`, value] as const
      )
      const found = yield* ServeSettings.webhook.pipe(
        Effect.either,
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map(named))),
        Effect.provide(NodeContext.layer)
      )
      if (problem === undefined) {
        return assert.strictEqual(Either.getOrThrow(found) === undefined, named.length === 0)
      }
      const { message } = yield* Either.flip(found)
      assert.match(message, problem)
      assert.notInclude(message, "hidden")
    }))
})
