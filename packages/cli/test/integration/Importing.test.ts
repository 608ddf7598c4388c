import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { invoke, jsonLines, Sandbox, sandbox } from "./invoke.js"

const faults = join(mkdtempSync(join(tmpdir(), "stevedore-")), "one.faults")
// carried out, but the command does not hear of it: as if it was killed in that moment
writeFileSync(faults, "on(\"importFile\").after(1).loseAnswer()\n")

layer(Layer.merge(sandbox("--faults", faults), NodeContext.layer), { excludeTestServices: true })("--into", (it) => {
  const rows = Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    for (const name of ["a.wav", "b.wav"]) yield* fs.writeFileString(`${folder}/${name}`, name)
    yield* fs.writeFileString(
      `${folder}/rows.csv`,
      `path,title,Speaker\n${folder}/a.wav,First,Ada\n${folder}/b.wav,Second,Grace\n`
    )
    return { folder, fs }
  })

  const run = (...words: ReadonlyArray<string>) =>
    Effect.flatMap(Sandbox, ({ env }) => invoke(["upload", "--files", "1", "--json", ...words], env))

  const entries = Effect.flatMap(
    Sandbox,
    ({ env }) => Effect.map(invoke(["list", "data", "--json"], env), ({ stdout }) => jsonLines(stdout).map(Object))
  )

  it.scoped("makes each file an entry once, with the fields of its row, also if stopped in between", () =>
    Effect.gen(function*() {
      const { folder } = yield* rows
      const words = ["--files-from", `${folder}/rows.csv`, "--into", "project1"]
      const first = yield* run(...words)
      assert.strictEqual(first.code, 1)
      const again = yield* run(...words)
      assert.strictEqual(again.code, 0, again.stderr)
      const last = yield* run(...words)
      const made = yield* entries
      // each run tells the entries, also of what was there
      for (const { stdout } of [again, last]) {
        const told = jsonLines(stdout).flatMap((line) => Object(line).entryId ?? [])
        assert.sameMembers(told, made.map(({ id }) => id))
      }
      assert.deepStrictEqual(
        made.map(({ fields, project, title }) => [title, project.id, fields]).sort(),
        [
          ["First", "project1", [{ label: "Speaker", value: "Ada" }]],
          ["Second", "project1", [{ label: "Speaker", value: "Grace" }]]
        ]
      )
    }))

  it.scoped("imports what was uploaded before, by its name, and again into another project", () =>
    Effect.gen(function*() {
      const { folder } = yield* rows
      const before = (yield* entries).length
      yield* run(`${folder}/a.wav`)
      yield* run(`${folder}/a.wav`, "--into", "project2")
      yield* run(`${folder}/a.wav`, "--into", "project3")
      const made = (yield* entries).map(({ project, title }) => [title, project.id])
      assert.lengthOf(made, before + 2)
      assert.deepInclude(made, ["a.wav", "project2"])
      assert.deepInclude(made, ["a.wav", "project3"])
    }))

  it.scoped("counts as a call of each file in --dry-run", () =>
    Effect.gen(function*() {
      const { folder } = yield* rows
      const plan = yield* run(folder, "--exclude", "*.csv", "--dry-run", "--into", "project4")
      assert.deepInclude(Object(jsonLines(plan.stdout).at(-1)), { type: "plan", files: 2, calls: 6 })
    }))
})
