import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { DownloadError, ListError, ServiceProfile, UploadError, UploadPlan } from "@stevedore/core"
import { DownloadTargetError } from "@stevedore/node"
import { Effect, type Schema } from "effect"
import { fileURLToPath } from "node:url"

const read = (path: string) =>
  Effect.flatMap(
    FileSystem.FileSystem,
    (fs) => fs.readFileString(fileURLToPath(new URL(path, import.meta.url)))
  ).pipe(Effect.provide(NodeContext.layer))

const readme = read("../../../README.md")

const tagsOf = (schema: Schema.Schema.All): ReadonlyArray<string> =>
  "members" in schema && Array.isArray(schema.members)
    ? schema.members.flatMap(tagsOf)
    : "_tag" in schema && typeof schema._tag === "string"
    ? [schema._tag]
    : []

describe("README", () => {
  it.effect("every error that a user can meet is in its table, and no other", () =>
    Effect.gen(function*() {
      const section = (yield* readme).split("## When it fails")[1]?.split("\n## ")[0] ?? ""
      const rows = section.split("\n").filter((line) => line.startsWith("| `"))
      const named = rows.flatMap((line) =>
        [...(line.split("|")[1] ?? "").matchAll(/`([A-Z]\w+)`/g)].map(([, tag]) => tag ?? "")
      )
      const tags = [
        UploadError.UploadError,
        DownloadError.DownloadError,
        DownloadTargetError.DownloadTargetError,
        ListError.ListError
      ].flatMap(tagsOf)
      assert.isAbove(tags.length, 30)
      assert.deepStrictEqual(named.sort(), ["ConfigError", ...new Set(tags)].sort())
    }))

  it.effect("its limits are those of the standard profile", () =>
    Effect.gen(function*() {
      const text = yield* readme
      const { limits } = ServiceProfile.standard
      assert.deepStrictEqual(
        [limits.singleSize, limits.multipartSize, limits.parts, limits.minimumPartSize, UploadPlan.defaultThreshold],
        [5e9, 10e9, 10_000, 5 * 1024 ** 2, 64 * 1024 ** 2]
      )
      assert.include(text, `10 GB take ${UploadPlan.mostParts(limits.multipartSize, limits)} parts at the most`)
    }))

  it.effect.each(["Recordings.ts", "Recordings.test.ts"])(
    "shows %s as it is compiled and run",
    (name) =>
      Effect.gen(function*() {
        const program = yield* read(`../testing/${name}`)
        assert.include(yield* readme, `\`\`\`ts\n// ${name}\n${program}\`\`\`\n`)
      })
  )

  it.effect.each(["README.md", "packages/docs/getting-started.md"])(
    "shows a service of your own as it is compiled and run: %s",
    (page) =>
      Effect.gen(function*() {
        const program = (yield* read("../src/Minutes.ts")).replaceAll(/^export /gm, "")
        const [service = ""] = program.split("\nconst Live")
        assert.match(service, /^import [^]*class Minutes /)
        assert.include(yield* read(`../../../${page}`), service)
      })
  )
})
