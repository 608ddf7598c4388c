import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { execFileSync } from "node:child_process"
import * as CommandLine from "../../src/CommandLine.js"
import { summaries } from "../../src/internal/commands.js"
import { paths } from "../../src/internal/optionKinds.js"
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
        assert.match(script, /^complete -F \w+ .*-o default stevedore$/m)
      })
  )

  it.live("for zsh says of each option whether it has a value, and whether that is a path", () =>
    Effect.gen(function*() {
      const script = yield* scriptFor("zsh")
      const pages = CommandLine.pages().filter(({ name }) => name in summaries)
      assert.lengthOf(pages, Object.keys(summaries).length)
      assert.isAbove(pages.flatMap(({ options }) => options).length, 100)
      for (const { name, options } of pages) {
        const ours = new RegExp(`\\(${name}\\)\\n *_arguments ([^]*?)&& ret=0`).exec(script)?.[1] ?? ""
        for (const { names, value } of options) {
          for (const option of names) {
            const given = ours.slice(ours.indexOf(`'${option}[`)).split("\n")[0] ?? ""
            const expected = Option.isNone(value)
              ? /\]'/
              : paths.has(option)
              ? /\]:PATH:_files'/
              : /\]:(?:CHOICE:\(.+\)|VALUE: )'/
            assert.match(given, expected, `${name} ${option}`)
          }
        }
      }
    }))

  it.live("for zsh and fish completes what upload takes with files, and an id with nothing", () =>
    Effect.gen(function*() {
      const zsh = yield* scriptFor("zsh")
      assert.match(zsh, /\(upload\)\n *_arguments (?:.*\n)+? +'\*:PATH:_files' \\\n +&& ret=0/)
      assert.match(zsh, /\(download\)\n *_arguments (?:.*\n)+? +':FILE_ID: ' \\\n +&& ret=0/)
      const fish = yield* scriptFor("fish")
      assert.match(fish, /_from upload" -r -F -d 'A file/)
      assert.match(fish, /_from download" -r -f -d 'Id of a file/)
      const found = [...fish.matchAll(/ -l ([\w-]+) -r -([fF])(?= -d)/g)]
      assert.isAtLeast(found.length, paths.size)
      for (const [, option, way] of found) {
        assert.strictEqual(way, paths.has(`--${option}`) ? "F" : "f", option)
      }
    }))

  it("takes each option whose value the help calls a file or a path for one", () => {
    const all = CommandLine.pages().flatMap(({ options }) => options)
    const found = all.filter(({ names, value }) =>
      names.includes("--directory") || Option.exists(value, (text) => /(?:FILE|PATH)\b/.test(text))
    )
    assert.deepStrictEqual([...paths].sort(), [...new Set(found.flatMap(({ names }) => names))].sort())
  })
})
