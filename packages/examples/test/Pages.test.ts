import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  DownloadError,
  ErrorKind,
  ListError,
  Recovery,
  ServiceConfig,
  ServiceProfile,
  UploadError,
  UploadPlan
} from "@stevedore/core"
import { DownloadTargetError, HttpSource, SpoolError } from "@stevedore/node"
import { Effect, Predicate, type Schema } from "effect"
import { fileURLToPath } from "node:url"

const read = (path: string) =>
  Effect.flatMap(
    FileSystem.FileSystem,
    (fs) => fs.readFileString(fileURLToPath(new URL(path, import.meta.url)))
  ).pipe(Effect.provide(NodeContext.layer))

const page = (path: string) => read(`../../../${path}`)

const errorsPage = page("packages/docs/reference/errors.md")
const protocolPage = page("packages/docs/guide/protocol.md")

interface Failure {
  readonly tag: string
  /** Whether it is refused before any request is made. */
  readonly isRefusal: boolean
}

const failuresOf = (schema: Schema.Schema.All): ReadonlyArray<Failure> =>
  "members" in schema && Array.isArray(schema.members)
    ? schema.members.flatMap(failuresOf)
    : "_tag" in schema && typeof schema._tag === "string"
    ? [{
      tag: schema._tag,
      isRefusal: Predicate.hasProperty(schema, "fields") && Predicate.hasProperty(schema.fields, "attempts") &&
        schema.fields.attempts === Recovery.noAttempts
    }]
    : []

const failures = [
  ServiceConfig.InvalidConfiguration,
  UploadError.UploadError,
  DownloadError.DownloadError,
  DownloadTargetError.DownloadTargetError,
  SpoolError.SpoolUnwritable,
  HttpSource.UrlRefused,
  ListError.ListError
].flatMap(failuresOf)

const tagsIn = (table: string): ReadonlyArray<string> =>
  table.split("\n").filter((line) => line.startsWith("| `")).flatMap((line) =>
    [...(line.split("|")[1] ?? "").matchAll(/`([A-Z]\w+)`/g)].map(([, tag]) => tag ?? "")
  )

describe("the page of errors", () => {
  it.effect("every error that a user can meet is in its table, and no other", () =>
    Effect.gen(function*() {
      const section = (yield* errorsPage).split("## Error codes")[1] ?? ""
      const tags = failures.map(({ tag }) => tag)
      assert.isAbove(tags.length, 30)
      assert.deepStrictEqual([...tagsIn(section)].sort(), [...new Set(tags)].sort())
    }))

  it.effect("its table says of what kind each error is", () =>
    Effect.gen(function*() {
      const section = (yield* errorsPage).split("## Error codes")[1] ?? ""
      const kinds = new Map(Object.entries(ErrorKind.table).map(([tag, [kind]]) => [tag, kind]))
      const rows = section.split("\n").filter((line) => line.startsWith("| `") && !line.includes("`_tag`"))
      assert.isAbove(rows.length, 40)
      for (const row of rows) {
        for (const tag of tagsIn(row)) {
          if (kinds.has(tag)) assert.strictEqual(row.split("|")[2]?.trim(), `\`${kinds.get(tag)}\``, tag)
        }
      }
    }))

  it.effect("what its table has before any request is refused before any request", () =>
    Effect.gen(function*() {
      const section = (yield* errorsPage).split("| **Before any request** | | | |")[1]?.split("| **")[0] ?? ""
      const refused = tagsIn(section)
      assert.isAbove(refused.length, 4)
      assert.deepStrictEqual(
        refused.filter((tag) => !failures.some((failure) => failure.tag === tag && failure.isRefusal)),
        []
      )
    }))
})

describe("the page of the interface", () => {
  it.effect("its table of assumptions has every entry of a profile, and no other", () =>
    Effect.gen(function*() {
      const table = (yield* protocolPage).split("## Assumed, and where")[1]?.split("\n## ")[0] ?? ""
      const listed = table.split("\n").filter((line) => line.startsWith("| ")).flatMap((line) =>
        [...(line.split("|").at(-2) ?? "").matchAll(/`([\w.]+)(?::[^`]*)?`/g)].map(([, entry]) => entry ?? "")
      )
      const { Fields, ServiceProfile: Profile } = ServiceProfile
      const entries = [
        ...Object.keys(Profile.fields).filter((name) => name !== "fields"),
        ...Object.keys(Fields.fields).map((name) => `fields.${name}`)
      ]
      const paths = Object.keys(ServiceProfile.Paths.fields).map((name) => `paths.${name}`)
      assert.isAbove(entries.length, 20)
      assert.deepStrictEqual(entries.filter((entry) => !listed.includes(entry)), [])
      assert.deepStrictEqual(listed.filter((entry) => ![...entries, ...paths].includes(entry)), [])
    }))
})

describe("the page of limits", () => {
  it.effect("its limits are those of the standard profile", () =>
    Effect.gen(function*() {
      const text = yield* page("packages/docs/guide/retry-and-limits.md")
      const { limits } = ServiceProfile.standard
      assert.deepStrictEqual(
        [limits.singleSize, limits.multipartSize, limits.parts, limits.minimumPartSize, UploadPlan.defaultThreshold],
        [5e9, 10e9, 10_000, 5 * 1024 ** 2, 64 * 1024 ** 2]
      )
      assert.include(text, `10 GB take ${UploadPlan.mostParts(limits.multipartSize, limits)} parts at the most`)
    }))
})

describe("README", () => {
  it.effect("is read in a few minutes", () =>
    Effect.map(page("README.md"), (text) => assert.isBelow(new TextEncoder().encode(text).byteLength, 10_000)))

  it.effect("shows a test as it is compiled and run", () =>
    Effect.gen(function*() {
      const program = yield* read("./SavingNotes.test.ts")
      assert.include(yield* page("README.md"), `\`\`\`ts\n${program}\`\`\`\n`)
      assert.isAtMost(program.trimEnd().split("\n").length, 20)
    }))
})

describe("Getting started", () => {
  it.effect("shows a service of your own as it is compiled and run", () =>
    Effect.gen(function*() {
      const program = (yield* read("../src/Minutes.ts")).replaceAll(/^export /gm, "")
      const [service = ""] = program.split("\nconst Live")
      assert.match(service, /^import [^]*class Minutes /)
      assert.include(yield* page("packages/docs/getting-started.md"), service)
    }))
})
