import { Error as PlatformError, FileSystem } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
import * as Configuration from "../../src/connection/configuration.js"

const nothing: Configuration.ConnectionOptions = {
  baseUrl: Option.none(),
  tokenFile: Option.none(),
  profile: Option.none(),
  allowInsecureHttp: false
}

const files = new Map(Object.entries({
  "token": "api.file\n",
  "two-tokens": "api.one api.two",
  "profile.json": `{ "encryptionHeaders": { "X-Enc": "on" }, "download": "link" }`,
  "typo.json": `{ "encryptionHeader": {} }`,
  "wrong.json": `{ "download": "stream" }`,
  "key.json": `{ "encryptionHeaders": { "x-key": ["secret"] } }`,
  "cut.json": `{ "download": `
}))

const environment: ReadonlyArray<readonly [string, string]> = [
  ["STEVEDORE_BASE_URL", "https://host.example/api"],
  ["STEVEDORE_TOKEN", "api.variable"]
]

const resolve = (given: Partial<Configuration.ConnectionOptions>, variables = environment) =>
  Configuration.resolve({ ...nothing, ...given }).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(variables))),
    Effect.provide(FileSystem.layerNoop({
      readFile: (path) =>
        Effect.mapBoth(
          Effect.fromNullable(files.get(path)),
          {
            onFailure: () =>
              new PlatformError.SystemError({
                reason: "NotFound",
                module: "FileSystem",
                method: "readFile",
                pathOrDescriptor: path
              }),
            onSuccess: (text) => Buffer.from(text)
          }
        )
    }))
  )

const refusal = (given: Partial<Configuration.ConnectionOptions>, variables = environment) =>
  Effect.map(Effect.flip(resolve(given, variables)), ({ message }) => message)

describe("Configuration", () => {
  it.effect("comes from the environment, with the standard profile by default", () =>
    Effect.gen(function*() {
      const service = yield* resolve({})
      assert.strictEqual(service.baseUrl, "https://host.example/api")
      assert.strictEqual(Redacted.value(service.token), "api.variable")
      assert.deepStrictEqual(service.profile, ServiceProfile.standard)
    }))

  it.effect("prefers options to the environment", () =>
    Effect.gen(function*() {
      const service = yield* resolve(
        {
          baseUrl: Option.some("https://other.example/"),
          tokenFile: Option.some("token"),
          profile: Option.some("dovetail")
        },
        [...environment, ["STEVEDORE_PROFILE", "no-such-file"]]
      )
      assert.strictEqual(service.baseUrl, "https://other.example")
      assert.strictEqual(Redacted.value(service.token), "api.file")
      assert.deepStrictEqual(service.profile, ServiceProfile.dovetail)
    }))

  it.effect("prefers STEVEDORE_TOKEN to STEVEDORE_TOKEN_FILE unless it is empty", () =>
    Effect.gen(function*() {
      const file = ["STEVEDORE_TOKEN_FILE", "token"] as const
      const { token } = yield* resolve({}, [...environment.slice(0, 1), ["STEVEDORE_TOKEN", ""], file])
      assert.strictEqual(Redacted.value(token), "api.file")
      assert.strictEqual(Redacted.value((yield* resolve({}, [...environment, file])).token), "api.variable")
    }))

  it.effect("takes the base URL of the profile if no other is given", () =>
    Effect.gen(function*() {
      const variables = [["STEVEDORE_TOKEN", "api.x"], ["STEVEDORE_PROFILE", "dovetail"]] as const
      assert.strictEqual((yield* resolve({}, variables)).baseUrl, "https://dovetail.com/api")
      const empty = yield* resolve({}, [...variables, ["STEVEDORE_BASE_URL", ""]])
      assert.strictEqual(empty.baseUrl, "https://dovetail.com/api")
    }))

  it.effect("takes what a profile file omits from the standard profile", () =>
    Effect.gen(function*() {
      const { profile } = yield* resolve({ profile: Option.some("profile.json") })
      assert.deepStrictEqual(profile, {
        ...ServiceProfile.standard,
        encryptionHeaders: { "x-enc": "on" },
        download: "link"
      })
    }))

  it.effect("reports a missing value with the variable and the option that set it", () =>
    Effect.gen(function*() {
      assert.match(yield* refusal({}, []), /^STEVEDORE_BASE_URL: not set.*--base-url/)
      assert.match(yield* refusal({}, environment.slice(0, 1)), /^STEVEDORE_TOKEN: not set.*--token-file/)
    }))

  it.effect("reports an invalid value by its option or variable, without showing a token", () =>
    Effect.gen(function*() {
      assert.match(yield* refusal({ baseUrl: Option.some("host") }), /^--base-url: expected a URL/)
      assert.match(yield* refusal({}, [["STEVEDORE_BASE_URL", "host"], ["STEVEDORE_TOKEN", "t"]]), /STEVEDORE_BASE_URL/)
      assert.match(yield* refusal({ tokenFile: Option.some("two-tokens") }), /^--token-file: two-tokens: expected/)
      assert.notInclude(yield* refusal({ tokenFile: Option.some("two-tokens") }), "api.one")
      assert.match(
        yield* refusal({ tokenFile: Option.some("none") }),
        /^--token-file: cannot read none: it does not exist/
      )
    }))

  it.effect("rejects http to a remote host unless it is allowed", () =>
    Effect.gen(function*() {
      const baseUrl = Option.some("http://host.example")
      assert.match(yield* refusal({ baseUrl }), /^--base-url: expected https/)
      assert.strictEqual((yield* resolve({ baseUrl, allowInsecureHttp: true })).baseUrl, "http://host.example")
      assert.strictEqual((yield* resolve({ baseUrl: Option.some("http://127.0.0.1:1") })).baseUrl, "http://127.0.0.1:1")
    }))

  it.effect("rejects an invalid or unreadable profile file, and names the invalid field if there is one", () =>
    Effect.gen(function*() {
      assert.match(
        yield* refusal({ profile: Option.some("typo.json") }),
        /typo\.json is not a profile: encryptionHeader:/
      )
      assert.match(yield* refusal({ profile: Option.some("wrong.json") }), /wrong\.json is not a profile: download:/)
      assert.match(yield* refusal({ profile: Option.some("cut.json") }), /cut\.json is not a profile:/)
      assert.strictEqual(
        yield* refusal({ profile: Option.some("constructor") }),
        "profile: cannot read constructor: it does not exist, or its directory does not: expected standard, dovetail or a JSON file"
      )
    }))

  it.effect("does not show the contents of an invalid profile file, which may be secret", () =>
    Effect.gen(function*() {
      const key = yield* refusal({ profile: Option.some("key.json") })
      assert.strictEqual(key, "profile: key.json is not a profile: encryptionHeaders.x-key: Expected string")
      assert.strictEqual(
        yield* refusal({ profile: Option.some("token") }),
        "profile: token is not a profile: not a JSON object"
      )
    }))
})
