import { FileSystem, Path } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Effect, Layer, Option } from "effect"
import { commands } from "../../src/line/commands.js"
import * as Settings from "../../src/line/settings.js"
import * as Shared from "../../src/options/apply.js"
import * as Output from "../../src/print/output.js"

const files: Readonly<Record<string, string>> = {
  "/settings/stevedore.json":
    `{ "baseUrl": "https://file.example/api", "tokenFile": "token", "profile": "profiles/archive.json" }`,
  "/settings/token.json": `{ "token": "api.file", "profile": "dovetail" }`,
  "/settings/standard.json": `{ "profile": "standard" }`,
  "/settings/empty.json": `{ "baseUrl": "" }`,
  "/settings/secret.json": `api.very-secret`
}

const services = Layer.mergeAll(
  Path.layer,
  FileSystem.layerNoop({ readFile: (path) => Effect.sync(() => Buffer.from(files[path] ?? "")) }),
  Output.layer({
    out: { write: () => true, on: () => {}, off: () => {} },
    error: { write: () => true, on: () => {}, off: () => {} }
  })
)

const names = ["STEVEDORE_BASE_URL", "STEVEDORE_TOKEN", "STEVEDORE_TOKEN_FILE", "STEVEDORE_PROFILE"]

const read = Effect.map(
  Effect.forEach(names, (name) => Config.option(Config.string(name))),
  (values) => values.map(Option.getOrUndefined)
)

const run = (file: string, environment: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(
    Settings.read({ path: file, named: true }, commands),
    ({ variables }) =>
      Shared.apply({ quiet: false, verbose: false }, read).pipe(
        Effect.provideService(Shared.FileVariables, variables)
      )
  ).pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment)))),
    Effect.provide(services)
  )

describe("Settings", () => {
  it.effect("a configuration file provides the variables, and its paths are relative to its folder", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* run("/settings/stevedore.json"), [
        "https://file.example/api",
        undefined,
        "/settings/token",
        "/settings/profiles/archive.json"
      ])
      assert.deepStrictEqual((yield* run("/settings/token.json")).slice(1), ["api.file", undefined, "dovetail"])
      assert.strictEqual((yield* run("/settings/standard.json")).at(-1), "standard")
    }))

  it.effect("the environment takes precedence over the file, and its token file replaces the file's token", () =>
    Effect.gen(function*() {
      const [baseUrl] = yield* run("/settings/stevedore.json", { STEVEDORE_BASE_URL: "https://env.example" })
      assert.strictEqual(baseUrl, "https://env.example")
      const [, token, tokenFile] = yield* run("/settings/token.json", { STEVEDORE_TOKEN_FILE: "mine" })
      assert.deepStrictEqual([token, tokenFile], [undefined, "mine"])
    }))

  it.effect("an empty variable counts as not set", () =>
    Effect.gen(function*() {
      const empty = Object.fromEntries(names.map((name) => [name, ""]))
      assert.deepStrictEqual(
        (yield* run("/settings/stevedore.json", empty)).map((value) => value ?? ""),
        (yield* run("/settings/stevedore.json")).map((value) => value ?? "")
      )
      const [, token] = yield* run("/settings/token.json", { STEVEDORE_TOKEN_FILE: "" })
      assert.strictEqual(token, "api.file")
    }))

  it.effect("rejects an invalid configuration file with the field names, and does not show its content", () =>
    Effect.gen(function*() {
      const empty = yield* Effect.flip(run("/settings/empty.json"))
      assert.match(String(empty), /empty\.json: baseUrl: expected a non-empty string$/)
      const secret = yield* Effect.flip(run("/settings/secret.json"))
      assert.match(
        String(secret),
        /secret\.json: not a JSON object$/
      )
      assert.notInclude(String(secret), "very-secret")
    }))
})
