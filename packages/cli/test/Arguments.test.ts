import { Args, CliConfig, Options, ValidationError } from "@effect/cli"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck } from "effect"
import * as Arguments from "../src/Arguments.js"
import * as CommandLine from "../src/CommandLine.js"

const option = (...words: ReadonlyArray<string>) =>
  Options.processCommandLine(Arguments.wholeNumber("parts", { from: 1, to: 10_000 }), words, CliConfig.defaultConfig)
    .pipe(
      Effect.map(([, , value]) => value),
      Effect.provide(NodeContext.layer)
    )

const argument = (word: string) =>
  Args.validate(Arguments.text("PATH", "A file"), [word], CliConfig.defaultConfig).pipe(
    Effect.map(([, value]) => value),
    Effect.provide(NodeContext.layer)
  )

describe("Arguments", () => {
  it.prop("marks words after -- so that none looks like an option, and keeps the words before it", [
    FastCheck.array(FastCheck.string().filter((word) => word !== "--")),
    FastCheck.array(FastCheck.string().filter((word) => !word.includes("\0")))
  ], ([before, after]) => {
    const words = Arguments.afterDashes([...before, "--", ...after])
    assert.deepStrictEqual(words.slice(0, before.length), before)
    assert.deepStrictEqual(words.slice(before.length).map(Arguments.asWritten), after)
    assert.isTrue(words.slice(before.length).every((word) => !word.startsWith("-")))
    assert.deepStrictEqual(Arguments.afterDashes(before), before)
  })

  const pages = new Map(CommandLine.pages().map((page) => [page.name, page]))

  it.each<readonly [line: string, mistake: string | undefined]>([
    ["upload a --strategy multi", "--strategy: expected one of auto, single, multipart, not \"multi\""],
    ["upload a --verify=some", "--verify: expected one of sample, all, download, not \"some\""],
    ["upload a --on-impossible", "--on-impossible: expected one of fail, continue, not \"\""],
    ["--checksum md5 upload a", "--checksum: expected one of crc32, sha256, crc64nvme, not \"md5\""],
    ["upload a --checksum sha256 --profile anything", undefined],
    ["file", "FILE_ID: is missing: Id of a file at the service. See --help"],
    ["file --json --base-url https://a.example", "FILE_ID: is missing: Id of a file at the service. See --help"],
    ["file -- -a", undefined],
    ["file a --profile b", undefined],
    ["upload", undefined],
    ["download --files 3", undefined],
    ["list --limit 3", "RESOURCE: is missing: projects, data, docs, insights"]
  ])("what is wrong with %j is said with the name of the option or argument", (line, mistake) => {
    const words = line.split(" ")
    const page = pages.get(words.find((word) => pages.has(word)) ?? "")
    const found = page === undefined ? undefined : Arguments.wrongIn(words, page)
    const said = found === undefined ? undefined : `${found.input}: ${found.problem}`
    assert.strictEqual(mistake === undefined ? said : said?.slice(0, mistake.length), mistake)
  })

  it("moves the log level before the command, options after it and flags to the end, and keeps only it for help", () => {
    const arranged: ReadonlyArray<readonly [string, string]> = [
      ["whoami --token-file t --help", "whoami --help"],
      ["-h", "--help"],
      ["upload debug --log-level debug x", "--log-level debug upload debug x"],
      ["whoami --log-level=all --json", "--log-level=all whoami --json"],
      ["upload a -- --help --log-level b", "upload a \0--help \0--log-level b"],
      ["--config c -- whoami -x", "whoami --config c \0-x"],
      ["-q upload -- whoami", "upload whoami -q"],
      ["--log-level debug whoami --help", "whoami --help"],
      ["--config c.json whoami -h", "whoami --help"],
      ["projects --limit 3", "projects --limit 3"],
      ["--config c.json -q projects --limit 3", "projects --config c.json --limit 3 -q"],
      ["--quiet --log-level all whoami", "--log-level all whoami --quiet"],
      ["nothing whoami", "nothing whoami"],
      ["--token-file whoami upload x", "upload --token-file whoami x"],
      ["--config projects whoami --help", "whoami --help"],
      ["--completions bash", "--completions bash"],
      ["upload --json -q 1 --files 2 -- no", "upload 1 --files 2 no --json -q"],
      ["upload --name --json 1", "upload --name --json 1"]
    ]
    for (const [written, expected] of arranged) {
      assert.strictEqual(Arguments.arrange(written.split(" "), ["whoami", "upload", "projects"]).join(" "), expected)
    }
  })

  it.each<readonly [string, string | undefined]>([
    ["--completions fsh", "--completions: expected one of sh, bash, fish, zsh"],
    ["--completions", "--completions: expected one of sh, bash, fish, zsh"],
    ["--completions=zsh", undefined],
    ["whoami --log-level loud", "--log-level: expected one of all, trace, "],
    ["upload a --log-level=all", undefined],
    ["--versoin", "--versoin: no such option"],
    ["--quiet", "--quiet: needs a command: see stevedore help"],
    ["--profile whoami", "--profile: needs a command"],
    ["--quiet whoami", undefined],
    ["--version", undefined],
    ["-h", undefined],
    ["--log-level debug --version", undefined],
    ["whoami --token api.secret", "--token: a token is never an argument"],
    ["upload --token=api.secret a", "--token: a token is never an argument"],
    ["upload --token-file t a", undefined],
    ["upload a -- --token", undefined],
    ["sandbox --token api.mine", undefined],
    ["whoami --token api.secret --help", undefined],
    ["nothing", "nothing: no such command. See stevedore help"],
    ["uplaod whoami", "uplaod: no such command: did you mean upload?"],
    ["--quiet sandbxo", "sandbxo: no such command: did you mean sandbox?"],
    ["--config upload whoam", "whoam: no such command: did you mean whoami?"],
    ["--port 1 sandbox", undefined],
    ["", undefined]
  ])("finds what is wrong with the words \"%s\", and never repeats a token", (line, words) => {
    const found = Arguments.mistake(line.split(" ").filter((word) => word !== ""), ["whoami", "upload", "sandbox"])
    if (words === undefined) return assert.isUndefined(found)
    assert.include(`${found?.input}: ${found?.problem}`, words)
    assert.notInclude(JSON.stringify(found), "secret")
  })

  it.each([
    ["upload --wizard", true],
    ["--wizard upload", true],
    ["upload --wizard --help", false],
    ["upload -- --wizard", false],
    ["upload a", false]
  ])("stevedore %s starts the wizard: %s", (words, expected) => {
    assert.strictEqual(Arguments.asks(words.split(" ")), expected)
  })

  it.effect("accepts a whole number within its bounds", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* option("--parts", "1"), 1)
      assert.strictEqual(yield* option("--parts=10000"), 10_000)
    }))

  it.effect.each(["0", "10001", "1.5", "1e3", "-1", "x", " 1", ""])(
    "rejects --parts %j with a validation error",
    (given) =>
      Effect.gen(function*() {
        assert.isTrue(ValidationError.isValidationError(yield* Effect.flip(option("--parts", given))))
      })
  )

  it.effect("rejects an argument that is empty or looks like an option", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* argument("a b"), "a b")
      assert.strictEqual(yield* argument(Arguments.afterDashes(["--", "-id"])[0] ?? ""), "-id")
      assert.isTrue(ValidationError.isValidationError(yield* Effect.flip(argument("--no-such-option"))))
      assert.isTrue(ValidationError.isValidationError(yield* Effect.flip(argument(""))))
    }))
})
