import { assert, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import ts from "typescript"
import { root } from "../../../../.ci/packages.mjs"

/** A file that nobody has written, with what a user would hover over. */
const user = join(root, "packages/examples/src/Hovered.ts")

const text = `
import { Downloads, Files, Lists, Uploads, UploadSources } from "@stevedore/core"
import { Effect, Stream } from "effect"
const upload = Uploads.upload
const program = Effect.gen(function*() {
  const file = yield* Uploads.upload(UploadSources.fromBytes("a.txt", new Uint8Array(1)))
  const record = yield* Files.inspect(file.id)
  const { file: downloaded } = yield* Effect.scoped(Downloads.open(file.id))
  const projects = yield* Stream.runCollect(Lists.projects())
  const page = yield* Lists.contacts.page()
  return { downloaded, page, projects, record }
})
`

const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path))
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
const doors = ["core", "node", "browser", "testing", "server", "bulk"].map((name) => join(root, `packages/${name}/src`))
  .flatMap((folder) => readdirSync(folder).filter((name) => name.endsWith(".ts")).map((name) => join(folder, name)))

const read = (path: string): string | undefined => path === user ? text : ts.sys.readFile(path)

const service = ts.createLanguageService({
  ...ts.sys,
  useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
  readFile: read,
  fileExists: (path) => path === user || ts.sys.fileExists(path),
  getScriptFileNames: () => [user, ...doors],
  getScriptVersion: () => "1",
  getScriptSnapshot: (path) => {
    const content = read(path)
    return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
  },
  getCurrentDirectory: () => root,
  getCompilationSettings: () => options,
  getDefaultLibFileName: ts.getDefaultLibFilePath
})

const hover = (name: string): string => {
  const at = text.indexOf(`const ${name}`) + "const ".length
  return ts.displayPartsToString(service.getQuickInfoAtPosition(user, at)?.displayParts)
}

describe("what an editor shows", () => {
  it.each([
    ["file ", "const file: UploadedFile"],
    ["record ", "const record: FileRecord"],
    ["projects ", "const projects: Chunk<Project>"],
    ["page ", "const page: Lists.Page<Contact>"],
    [
      "upload ",
      "const upload: (source: UploadSource, options?: UploadOptions) => Effect.Effect<UploadedFile, UploadError, " +
      "Requirements>"
    ]
  ])("of %sis a name", (name, shown) => {
    assert.strictEqual(hover(name), shown)
    assert.isAtMost(shown.length, 120)
  })

  it("of a model of any door is its name, and not its fields", () => {
    const program = service.getProgram()
    const checker = program?.getTypeChecker()
    const nameless = doors.flatMap((door) => {
      const file = program?.getSourceFile(door)
      return (file?.statements ?? []).flatMap((one) => {
        if (checker === undefined || !ts.isTypeAliasDeclaration(one) || !ts.isTypeQueryNode(one.type)) return []
        const type = checker.getTypeAtLocation(one.name)
        return type.isUnion() || (type.flags & ts.TypeFlags.Object) === 0 ? [] : [`${door}: ${one.name.text}`]
      })
    })
    assert.isDefined(program?.getSourceFile(doors[0] ?? ""))
    assert.deepStrictEqual(nameless, [])
  }, 60_000)
})
