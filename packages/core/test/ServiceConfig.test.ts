import { assert, describe, it } from "@effect/vitest"
import { ServiceConfig, ServiceProfile } from "@stevedore/core"
import { Arbitrary, Config, ConfigProvider, Effect, Either, FastCheck as fc, Layer, Redacted, Schema } from "effect"
import { assertSurvivesJson } from "./fixtures/encoding.js"

const secret = "api.5ecre770ken"

const token = Redacted.make(secret)

const from = (variables: Record<string, string>, options?: ServiceConfig.ConfigOptions) =>
  Effect.withConfigProvider(
    Effect.either(ServiceConfig.fromConfig(options)),
    ConfigProvider.fromMap(new Map(Object.entries(variables)))
  )

const problem = (checked: Either.Either<unknown, ServiceConfig.InvalidConfiguration>): string =>
  Either.isLeft(checked) ? String(checked.left) : "no problem"

describe("ServiceConfig", () => {
  describe("the base URL", () => {
    it.each([
      ["https://files.test", "https://files.test"],
      ["https://files.test/", "https://files.test"],
      ["https://files.test/api", "https://files.test/api"],
      ["https://files.test/api/v3///", "https://files.test/api/v3"],
      ["HTTPS://Files.Test:443/API", "https://files.test/API"],
      ["http://localhost:8080", "http://localhost:8080"],
      ["http://127.0.0.1:8080/api/", "http://127.0.0.1:8080/api"],
      ["http://127.8.9.1", "http://127.8.9.1"],
      ["http://[::1]:9000", "http://[::1]:9000"],
      ["http://files.localhost", "http://files.localhost"]
    ])("%s is taken as %s", (text, expected) => {
      assert.deepStrictEqual(ServiceConfig.parseBaseUrl(text), Either.right(expected))
    })

    it.each([
      ["http://files.test", "token in clear text"],
      ["http://127.0.0.1.files.test", "token in clear text"],
      ["http://localhost.files.test", "token in clear text"],
      ["http://notlocalhost", "token in clear text"],
      ["http://10.0.0.1", "token in clear text"],
      ["files.test", "expected a URL"],
      ["", "expected a URL"],
      ["ftp://files.test", "expected an https URL"],
      ["https://user:word@files.test", "without a user"],
      ["https://files.test?a=1", "without a query"],
      ["https://files.test#a", "without a query or fragment"],
      ["https://files.test?", "without a query or fragment"],
      ["https:files.test", "expected a URL"],
      ["https:/files.test", "expected a URL"],
      ["https:\\\\files.test", "expected a URL"],
      ["https:/\\files.test", "expected a URL"],
      ["https://\\files.test", "expected a URL"],
      ["https://files.test\\@good.test", "expected a URL"],
      ["https:///files.test", "the host as it is looked up, which is files.test"],
      ["https://good\tho\nst", "expected a URL"],
      [" https://files.test", "expected a URL"],
      ["https://files.test\n", "expected a URL"],
      ["https://files.test/a b", "expected a URL"],
      ["https://files.test/\u202eipa", "expected a URL"],
      ["https://files.test/\u0000", "expected a URL"],
      ["https://@files.test", "without a user"],
      ["https://:@files.test", "without a user"],
      ["https://good.test:443@files.test", "without a user"],
      ["https://%66iles.test", "which is files.test"],
      ["https://\uff46iles.test", "which is files.test"],
      ["https://files\u3002test", "which is files.test"],
      ["http://0x7f.1", "which is 127.0.0.1"],
      ["http://2130706433", "which is 127.0.0.1"],
      ["https://files.test:", "which is files.test"],
      ["https://files.test:00443", "which is files.test"]
    ])("%s is refused: %s", (text, words) => {
      const checked = ServiceConfig.parseBaseUrl(text)
      assert.include(Either.isLeft(checked) ? checked.left : "", words)
    })

    it("http to another machine is accepted only if it is allowed explicitly", () => {
      assert.deepStrictEqual(
        ServiceConfig.parseBaseUrl("http://files.test/a", true),
        Either.right("http://files.test/a")
      )
      const service = ServiceConfig.make({ baseUrl: "http://files.test", token, allowInsecureHttp: true })
      assert.isTrue(Either.isRight(service))
    })

    it.prop(
      "an accepted URL is accepted again, unchanged",
      { url: fc.webUrl({ validSchemes: ["https"] }) },
      ({ url }) => {
        const once = ServiceConfig.parseBaseUrl(url)
        assert.deepStrictEqual(Either.flatMap(once, (text) => ServiceConfig.parseBaseUrl(text)), once)
        assert.isTrue(Either.isLeft(once) || !once.right.endsWith("/"))
      }
    )
  })

  describe("the token", () => {
    it("is read without the space around it", () => {
      const parsed = Either.getOrThrow(ServiceConfig.parseToken(Redacted.make(` ${secret}\n`)))
      assert.strictEqual(Redacted.value(parsed), secret)
    })

    it.each(["", "  ", "two words", "tok\u00e9n", "a\nb", "a\u0000"])(
      "%j is refused without being quoted",
      (text) => {
        const checked = ServiceConfig.parseToken(Redacted.make(text))
        assert.include(Either.isLeft(checked) ? checked.left : "", "expected a token")
      }
    )

    it.each([
      [`Bearer ${secret}`, "without Bearer"],
      [`bearer: ${secret}`, "without Bearer"],
      [`"BEARER ${secret}"`, "without Bearer"],
      [`Authorization: Bearer ${secret}\r\n`, "without Bearer"],
      [`"${secret}"`, "without quotes"],
      [`'${secret}'`, "without quotes"],
      [`\u201c${secret}\u201d`, "without quotes"],
      [`STEVEDORE_TOKEN=${secret}`, "without a name and an equals sign"],
      [`export TOKEN = ${secret}`, "without a name and an equals sign"],
      [`$env:TOKEN="${secret}"`, "without a name and an equals sign"],
      [`{"token":"${secret}"}`, "found JSON"],
      [`${secret}\r\n${secret}\r\n`, "on one line"],
      [[...secret].join("\0"), "UTF-16"],
      [`\u00ff\u00fe${secret}`, "UTF-16"],
      [`\ufffd\ufffd${secret}`, "UTF-16"]
    ])("%j is refused with what is wrong with it, and is not quoted", (text, words) => {
      const checked = ServiceConfig.parseToken(Redacted.make(text))
      assert.include(Either.isLeft(checked) ? checked.left : "", words)
      assert.notInclude(JSON.stringify(checked), secret)
    })

    it.each(["abc==", "eyJh.eyJz.c2ln-_~+/=", "bearertoken", "\ufeffapi.x\r\n"])("%j is a token", (text) => {
      assert.isTrue(Either.isRight(ServiceConfig.parseToken(Redacted.make(text))))
    })

    it.prop("whatever it is, no error quotes it", { text: fc.string({ minLength: 12 }) }, ({ text }) => {
      const made = ServiceConfig.make({ baseUrl: "https://files.test", token: Redacted.make(text) })
      assert.notInclude(Either.isLeft(made) ? String(made.left) : "", text)
    })
  })

  describe("from options", () => {
    it("is one checked value with the standard profile", () => {
      const service = Either.getOrThrow(ServiceConfig.make({ baseUrl: "https://files.test/api/", token }))
      assert.strictEqual(service.baseUrl, "https://files.test/api")
      assert.strictEqual(Redacted.value(service.token), secret)
      assert.strictEqual(service.profile, ServiceProfile.standard)
    })

    it("without a token it is for a server in between, which is told of a file what the service may want to know", () => {
      const { profile, token: _, ...rest } = Either.getOrThrow(
        ServiceConfig.make({ baseUrl: "https://files.test/api/", token })
      )
      assert.deepStrictEqual(
        Either.getOrThrow(ServiceConfig.makeWithoutToken({ baseUrl: "https://files.test/api/" })),
        {
          ...rest,
          profile: ServiceProfile.extend(profile, {
            fields: { partSize: "part_size", metadata: "metadata" },
            completeUploadBody: {
              file_id: "{file_id}",
              etag: "{etag}",
              size: "{size}",
              name: "{name}",
              type: "{type}"
            }
          }),
          token: undefined
        }
      )
      assert.isTrue(Either.isLeft(ServiceConfig.makeWithoutToken({ baseUrl: "nowhere" })))
    })

    it("uses the profile's base URL if the options have none, and theirs if they have one", () => {
      const { dovetail } = ServiceProfile
      assert.strictEqual(
        Either.getOrThrow(ServiceConfig.make({ token, profile: dovetail })).baseUrl,
        "https://dovetail.com/api"
      )
      assert.strictEqual(
        Either.getOrThrow(ServiceConfig.make({ token, profile: dovetail, baseUrl: "https://files.test" })).baseUrl,
        "https://files.test"
      )
    })

    it("an error names the field", () => {
      assert.include(problem(ServiceConfig.make({ token })), "baseUrl")
      assert.include(problem(ServiceConfig.make({ token, baseUrl: "nowhere" })), "baseUrl")
      assert.include(
        problem(ServiceConfig.make({ token: Redacted.make(""), baseUrl: "https://files.test" })),
        "token"
      )
    })

    it.each([
      ["file", { file: "/files" }],
      ["file", { file: "v1/files/{file_id}" }],
      ["download", { download: "/files/{id}/content" }],
      ["completeUpload", { completeUpload: "/files/done" }],
      ["completeLargeUpload", { completeLargeUpload: "/files/:file_id/done" }],
      ["initiateUpload", { initiateUpload: "files" }],
      ["initiateLargeUpload", { initiateLargeUpload: "" }],
      ["tokenInfo", { tokenInfo: "https://elsewhere.test/" }]
    ])("a path that is none is refused as in a profile's file, and named: %s %j", (name, paths) => {
      const profile = ServiceProfile.extend(ServiceProfile.standard, { paths })
      const refused = `profile.paths.${name}`
      assert.include(problem(ServiceConfig.make({ token, baseUrl: "https://files.test", profile })), refused)
      assert.include(problem(ServiceConfig.makeWithoutToken({ baseUrl: "https://files.test", profile })), refused)
      assert.isTrue(Either.isLeft(Schema.encodeEither(ServiceProfile.ServiceProfile)(profile)))
    })

    it.effect.prop("a profile that its Schema accepts is accepted", {
      profile: Arbitrary.make(ServiceProfile.ServiceProfile)
    }, ({ profile }) =>
      Effect.gen(function*() {
        const baseUrl = "https://files.test"
        assert.deepInclude(Either.getOrThrow(ServiceConfig.make({ token, baseUrl, profile })), { profile })
        const options = { profile: Config.succeed(profile) }
        const read = yield* from({ STEVEDORE_BASE_URL: baseUrl, STEVEDORE_TOKEN: secret }, options)
        assert.deepInclude(Either.getOrThrow(read), { profile })
      }))

    it.effect("a layer fails with the same error", () =>
      Effect.gen(function*() {
        const built = yield* Effect.either(
          Effect.provide(ServiceConfig.ServiceConfig, ServiceConfig.layer({ token, baseUrl: "http://files.test" }))
        )
        assert.include(problem(built), "baseUrl")
      }))
  })

  describe("from configuration", () => {
    it.effect("reads the two variables", () =>
      Effect.gen(function*() {
        const service = Either.getOrThrow(
          yield* from({ STEVEDORE_BASE_URL: "https://files.test/api/", STEVEDORE_TOKEN: secret })
        )
        assert.strictEqual(service.baseUrl, "https://files.test/api")
        assert.strictEqual(Redacted.value(service.token), secret)
        assert.strictEqual(service.profile, ServiceProfile.standard)
      }))

    const url = { STEVEDORE_BASE_URL: "https://files.test" }
    const word = { STEVEDORE_TOKEN: secret }
    const elsewhere = { baseUrl: Config.string("ARCHIVE_URL"), token: Config.redacted("ARCHIVE_TOKEN") }
    const profileWith = (fields: Parameters<typeof ServiceProfile.extend>[1]) => ({
      profile: Config.succeed(ServiceProfile.extend(ServiceProfile.standard, fields))
    })

    it.effect.each<
      readonly [
        field: string,
        problem: ServiceConfig.InvalidConfiguration["problem"],
        where: string | undefined,
        expected: string,
        variables: Record<string, string>,
        options?: ServiceConfig.ConfigOptions
      ]
    >([
      ["baseUrl", "missing", "STEVEDORE_BASE_URL", "a URL such as https://host/api", word],
      ["baseUrl", "missing", "STEVEDORE_BASE_URL", "a URL such as", { ...word, STEVEDORE_BASE_URL: "" }],
      ["baseUrl", "malformed", "STEVEDORE_BASE_URL", "a URL such as", { ...word, STEVEDORE_BASE_URL: secret }],
      ["baseUrl", "malformed", "STEVEDORE_BASE_URL", "https:", { ...word, STEVEDORE_BASE_URL: "http://files.test" }],
      ["baseUrl", "malformed", "STEVEDORE_BASE_URL", "a URL such as", { ...word, STEVEDORE_BASE_URL: secret }, {
        profile: Config.succeed(ServiceProfile.dovetail)
      }],
      ["baseUrl", "missing", "ARCHIVE_URL", "a URL such as", { ARCHIVE_TOKEN: secret }, elsewhere],
      [
        "baseUrl",
        "malformed",
        "ARCHIVE_URL",
        "a URL such as",
        { ARCHIVE_URL: secret, ARCHIVE_TOKEN: secret },
        elsewhere
      ],
      ["token", "missing", "STEVEDORE_TOKEN", "a token", url],
      ["token", "missing", "STEVEDORE_TOKEN", "a token", { ...url, STEVEDORE_TOKEN: "" }],
      ["token", "malformed", "STEVEDORE_TOKEN", "a token, found nothing", { ...url, STEVEDORE_TOKEN: " " }],
      ["token", "malformed", "STEVEDORE_TOKEN", "a token of", { ...url, STEVEDORE_TOKEN: ` ${secret} ${secret}` }],
      ["token", "missing", "ARCHIVE_TOKEN", "a token", url, { token: elsewhere.token }],
      ["token", "malformed", "ARCHIVE_TOKEN", "a token of", { ...url, ARCHIVE_TOKEN: `${secret} ${secret}` }, {
        token: elsewhere.token
      }],
      // what the Config itself says quotes the value
      ["allowInsecureHttp", "malformed", "INSECURE", "true or false", { ...url, ...word, INSECURE: secret }, {
        allowInsecureHttp: Config.boolean("INSECURE")
      }],
      ["profile.baseUrl", "malformed", undefined, "a URL such as", word, profileWith({ baseUrl: secret })],
      [
        "profile.paths.file",
        "malformed",
        undefined,
        "a path that starts with /",
        { ...url, ...word },
        profileWith({
          paths: { file: secret }
        })
      ]
    ])("%s is %s: the error names where it is set, %s, and what is expected, %s", (
      [field, problem, where, expected, variables, options]
    ) =>
      Effect.gen(function*() {
        const refused = yield* from(variables, options)
        const error = Either.isLeft(refused) ? refused.left : assert.fail("it is accepted")
        assert.strictEqual(error._tag, "InvalidConfiguration")
        assert.strictEqual(error.kind, "configuration")
        assert.strictEqual(error.attempts, 0)
        assert.deepStrictEqual([error.field, error.problem, error.where], [field, problem, where])
        assert.isTrue(error.expected.startsWith(expected), error.expected)
        assert.include(error.message, `Set ${where ?? field}.`)
        assert.notInclude(`${error}${JSON.stringify(error)}`, secret)
        assertSurvivesJson(ServiceConfig.InvalidConfiguration, error)
      }))

    it.effect("the profile's base URL applies if the variable is missing", () =>
      Effect.gen(function*() {
        const profile = Config.succeed(ServiceProfile.dovetail)
        const missing = yield* from({ STEVEDORE_TOKEN: secret }, { profile })
        assert.strictEqual(Either.getOrThrow(missing).baseUrl, "https://dovetail.com/api")
        const given = yield* from({ STEVEDORE_TOKEN: secret, STEVEDORE_BASE_URL: "https://files.test" }, { profile })
        assert.strictEqual(Either.getOrThrow(given).baseUrl, "https://files.test")
      }))

    it.effect("each option can be read from elsewhere", () =>
      Effect.gen(function*() {
        const service = yield* from({ ARCHIVE_TOKEN: secret, URL: "http://files.test" }, {
          token: Config.redacted("ARCHIVE_TOKEN"),
          baseUrl: Config.string("URL"),
          allowInsecureHttp: Config.succeed(true)
        })
        assert.strictEqual(Either.getOrThrow(service).baseUrl, "http://files.test")
      }))

    it.effect("a layer provides the same value", () =>
      Effect.gen(function*() {
        const service = yield* Effect.provide(
          ServiceConfig.ServiceConfig,
          Layer.provide(
            ServiceConfig.layerConfig(),
            Layer.setConfigProvider(
              ConfigProvider.fromMap(
                new Map([["STEVEDORE_TOKEN", secret], ["STEVEDORE_BASE_URL", "https://files.test"]])
              )
            )
          )
        )
        assert.strictEqual(service.baseUrl, "https://files.test")
        assert.deepStrictEqual(service.token, Redacted.make(secret))
      }))
  })
})
