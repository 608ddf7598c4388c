import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { commands } from "../../src/line/commands.js"
import type { Entry } from "../../src/options/parameter.js"
import { invoke } from "../integration/invoke.js"

const scriptFor = (shell: string) => Effect.map(invoke(["--completions", shell]), ({ stdout }) => stdout)

describe("a completion script", () => {
  it.live.skipIf(process.platform === "win32")(
    "for bash leaves the names of files to bash, spaces and all",
    () =>
      Effect.gen(function*() {
        const script = yield* scriptFor("bash")
        const completed = (...words: ReadonlyArray<string>) =>
          execFileSync("bash", [
            "-c",
            `${script}\nCOMP_WORDS=("$@") COMP_CWORD=$(($# - 1))\n_stevedore_bash_completions "$1"\necho "\${COMPREPLY[@]}"`,
            "bash",
            "stevedore",
            ...words
          ], { encoding: "utf8" }).trim()
        for (const line of ["upload ", "upload a ", "upload --json ", "upload --token-file ", "list a --resume "]) {
          assert.strictEqual(completed(...line.split(" ")), "", line)
        }
        assert.include(completed("upload", "--"), "--token-file")
        assert.strictEqual(completed("upload", "--verify", ""), "sample all download")
        assert.strictEqual(completed("whoa"), "whoami")
        assert.strictEqual(completed("--json", "uploade"), "uploaded")
        assert.strictEqual(completed("--completions", "f"), "fish")
        assert.strictEqual(completed("upload", "--verify", "--no"), "")
        assert.match(script, /^complete -F \w+ .*-o default stevedore$/m)
      })
  )

  const pathOf = ({ choices, isPath, placeholder }: Entry) =>
    placeholder === undefined ? "" : choices.length > 0 ? choices.join(" ") : isPath ? "PATH" : "VALUE"

  const all = commands.flatMap(({ name, options }) =>
    options.flatMap((entry) => entry.names.map((option) => [name, option, entry] as const))
  )

  it.live("for zsh says of each option whether it has a value, and whether that is a path", () =>
    Effect.gen(function*() {
      const script = yield* scriptFor("zsh")
      assert.isAbove(all.length, 100)
      for (const [name, option, entry] of all) {
        const ours = script.split(`\n    command:${name}) `)[1]?.split(";;")[0] ?? ""
        const [line = ""] = ours.split("\n").filter((line) =>
          line.includes(`'${option}[`) || line.includes(`'*${option}[`)
        )
        const [, after = ""] = line.split(/\](?=[:'])/)
        const expected = { "": "' \\", PATH: ":PATH:_files' \\", VALUE: ":VALUE: ' \\" }[pathOf(entry)]
        assert.strictEqual(after, expected ?? `:CHOICE:(${pathOf(entry)})' \\`, `${name} ${option}`)
      }
    }))

  it.live("for fish says the same", () =>
    Effect.gen(function*() {
      const lines = (yield* scriptFor("fish")).split("\n")
      for (const [name, option, entry] of all) {
        const typed = option.startsWith("--") ? `-l ${option.slice(2)} ` : `-s ${option.slice(1)} `
        const line = lines.find((line) => line.includes(`_from ${name}"`) && line.includes(` ${typed}`)) ?? ""
        const expected = { "": "", PATH: " -r -F", VALUE: " -r -f" }[pathOf(entry)] ?? ` -r -f -a '${pathOf(entry)}'`
        assert.include(line, `${expected} -d '`, `${name} ${option}`)
        if (expected === "") assert.notInclude(line, " -r -")
      }
    }))

  it.live("for zsh and fish completes what upload takes with files, what has choices with them, and an id with nothing", () =>
    Effect.gen(function*() {
      const zsh = yield* scriptFor("zsh")
      const [ofZsh, ofFish] = [
        (command: string) => zsh.split(`command:${command}) `)[1]?.split(";;")[0] ?? "",
        yield* scriptFor("fish")
      ]
      assert.include(ofZsh("upload"), "'*:PATH:_files'")
      assert.include(ofZsh("download"), "'*:FILE_ID: '")
      assert.include(ofZsh("token"), "':ACTION:(create list revoke)'")
      assert.match(ofFish, /_from upload" -F -d 'A file/)
      assert.match(ofFish, /_from download" -f -d 'Id of a file/)
      assert.match(ofFish, /_from token" -f -a 'create list revoke' -d /)
    }))
})
