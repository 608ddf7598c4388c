import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Encoding, Option, Redacted } from "effect"
import * as Proxy from "../../src/connection/proxy.js"
import * as ExitCode from "../../src/print/exitCode.js"

type Environment = Readonly<Record<string, string>>

const resolve = (environment: Environment, baseUrl = "https://files.example/api") =>
  Proxy.resolve(baseUrl).pipe(
    // as the process gives it, commas and underscores included
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(environment)), { pathDelim: "_" }))
  )

const originOf = (environment: Environment, baseUrl?: string) =>
  Effect.map(resolve(environment, baseUrl), (proxy) => Option.getOrUndefined(proxy)?.origin)

const byItsName = (names: ReadonlyArray<string>): Environment =>
  Object.fromEntries(names.map((name, index) => [name, `http://proxy-${index}.example:3128`]))

const refusalOf = (value: string) => Effect.flip(resolve({ https_proxy: value }))

describe("Proxy.resolve", () => {
  it.effect.each<readonly [string, ReadonlyArray<string>]>([
    ["https://files.example", ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]],
    ["http://files.example", ["http_proxy", "all_proxy", "ALL_PROXY"]]
  ])("for %s uses the first variable that is set and not empty", ([baseUrl, names]) =>
    Effect.gen(function*() {
      const environment = byItsName(names)
      for (let first = 0; first < names.length; first++) {
        const empty = Object.fromEntries(names.slice(0, first).map((name) => [name, ""]))
        assert.strictEqual(
          yield* originOf({ ...environment, ...empty }, baseUrl),
          environment[names[first] ?? ""],
          `${names[first]} where those before it are empty`
        )
      }
      assert.isUndefined(yield* originOf(Object.fromEntries(names.map((name) => [name, ""])), baseUrl))
      assert.isUndefined(yield* originOf({}, baseUrl))
    }))

  it.effect("ignores the variables of the other scheme, and HTTP_PROXY, which a CGI client can set", () =>
    Effect.gen(function*() {
      const value = "http://proxy.example:3128"
      assert.isUndefined(yield* originOf({ http_proxy: value, HTTP_PROXY: value }, "https://files.example"))
      assert.isUndefined(
        yield* originOf({ https_proxy: value, HTTPS_PROXY: value, HTTP_PROXY: value }, "http://files.example")
      )
    }))

  it.effect.each<readonly [string, string]>([
    ["proxy.example:3128", "http://proxy.example:3128"],
    ["anna:word@proxy.example:3128", "http://proxy.example:3128"],
    ["localhost:3128", "http://localhost:3128"],
    ["http://proxy.example", "http://proxy.example"],
    ["https://proxy.example:8443/", "https://proxy.example:8443"],
    [" http://[fd00::1]:3128 ", "http://[fd00::1]:3128"]
  ])("resolves %s to the origin %s", ([value, origin]) =>
    Effect.gen(function*() {
      assert.strictEqual(yield* originOf({ https_proxy: value }), origin)
    }))

  it.effect.each<readonly [string, string]>([
    ["http://anna:s%2Fecret%25@proxy.example", "anna:s/ecret%"],
    ["http://anna@proxy.example", "anna:"],
    ["http://:word@proxy.example", ":word"]
  ])(
    "decodes the user and password of %s, and does not show them in JSON",
    ([value, expected]) =>
      Effect.gen(function*() {
        const proxy = Option.getOrThrow(yield* resolve({ https_proxy: value }))
        assert.strictEqual(
          Option.getOrThrow(Option.map(Option.fromNullable(proxy.authorization), Redacted.value)),
          `Basic ${Encoding.encodeBase64(expected)}`
        )
        assert.notInclude(JSON.stringify(proxy), Encoding.encodeBase64(expected))
      })
  )

  it.effect("returns no authorization if the URL has no user", () =>
    Effect.gen(function*() {
      const proxy = Option.getOrThrow(yield* resolve({ https_proxy: "http://proxy.example" }))
      assert.isUndefined(proxy.authorization)
    }))

  it.effect.each([
    "socks5://anna:hidden-word@proxy.example:1080",
    "file:///hidden-word",
    "http://",
    "anna:hidden-word@",
    "http://anna:hidden-word@proxy.example:port",
    "http://anna:hidden-word%@proxy.example",
    "http://anna:hidden-word#@proxy.example",
    // what stands before the slash would be a host and its port
    "http://anna:12345/hidden-word@proxy.example:3128",
    "anna:12345?hidden-word@proxy.example:3128"
  ])("rejects %s by the variable's name, without repeating the value", (value) =>
    Effect.gen(function*() {
      const error = yield* refusalOf(value)
      assert.deepStrictEqual([error.input, error.exitCode], ["https_proxy", ExitCode.usage])
      assert.match(
        error.message,
        /^https_proxy: expected (the URL of an http or https proxy|a percent-encoded user and password)/
      )
      for (const part of ["anna", "hidden-word", "12345", "file:"]) assert.notInclude(error.message, part)
    }))

  it.effect("names the variable whose value it rejects", () =>
    Effect.gen(function*() {
      const { input } = yield* Effect.flip(resolve({ https_proxy: "", ALL_PROXY: "socks5://proxy.example" }))
      assert.strictEqual(input, "ALL_PROXY")
    }))

  it.effect.each([
    "http://localhost:4600",
    "https://LOCALHOST/api",
    "http://127.0.0.1:4600",
    "http://127.8.7.6",
    "https://[::1]:8443/api",
    "http://sandbox.localhost"
  ])(
    "returns no proxy for the loopback URL %s, even if the variable is invalid",
    (baseUrl) =>
      Effect.gen(function*() {
        const value = "socks5://proxy.example"
        assert.isUndefined(yield* originOf({ http_proxy: value, https_proxy: value, all_proxy: value }, baseUrl))
      })
  )

  it.effect("returns no proxy if no_proxy is *, and otherwise excludes the hosts of no_proxy or else NO_PROXY", () =>
    Effect.gen(function*() {
      const https_proxy = "http://proxy.example:3128"
      const exceptOf = (environment: Environment) =>
        Effect.map(resolve({ https_proxy, ...environment }), (proxy) => Option.getOrUndefined(proxy)?.except)
      assert.isUndefined(yield* exceptOf({ no_proxy: "*" }))
      assert.isUndefined(yield* exceptOf({ NO_PROXY: " * " }))
      assert.strictEqual(yield* exceptOf({}), "")
      assert.strictEqual(
        yield* exceptOf({ no_proxy: "one.example, .two.example:8443" }),
        "one.example, .two.example:8443"
      )
      assert.strictEqual(yield* exceptOf({ no_proxy: "", NO_PROXY: "two.example" }), "two.example")
      assert.strictEqual(yield* exceptOf({ no_proxy: "one.example", NO_PROXY: "*" }), "one.example")
    }))
})
