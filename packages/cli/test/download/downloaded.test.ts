import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, FastCheck as fc } from "effect"
import * as DownloadIndex from "../../src/download/downloaded.js"

const entry = (name: string, fileId: string, wanted = name): readonly [string, DownloadIndex.Entry] => [
  name,
  { name, wanted, fileId, size: 1, modified: 0 }
]

const folded = (name: string): string => name.normalize("NFC").toLowerCase()

describe("the names of files in one directory", () => {
  it.prop(
    "are given once, in this run and in every later one, and a file keeps its own",
    {
      asked: fc.array(
        fc.tuple(
          fc.constantFrom("a.txt", "A.txt", "a-2.txt", "u\u0308.txt", "ü.txt"),
          fc.constantFrom("1", "2", "2-2", "3")
        ),
        {
          minLength: 1
        }
      ),
      there: fc.subarray(["a-2.txt", "a-3.txt", "a-2-2.txt", "ü-1.txt"])
    },
    ({ asked, there }) => {
      const each = [...new Map(asked.map((one) => [one.join("\0").normalize("NFC"), one])).values()]
      const first = DownloadIndex.makeNames({
        known: new Map(),
        isThere: (name) => there.includes(name),
        overwrite: false
      })
      const names = each.map(([name, id]) => first(name, id))
      assert.strictEqual(new Set(names.map(folded)).size, names.length)
      // a name that was made up is nobody's, whatever had it before
      assert.isTrue(names.every((name, index) => name === each[index]?.[0].normalize("NFC") || !there.includes(name)))

      const known = new Map(
        names.map((name, index) => entry(name, each[index]?.[1] ?? "", each[index]?.[0].normalize("NFC")))
      )
      const later = DownloadIndex.makeNames({ known, isThere: () => true, overwrite: false })
      const again = each.toReversed().map(([name, id]) => later(name, id))
      assert.deepStrictEqual(again.toReversed(), names)
    }
  )

  it.each<readonly [what: string, overwrite: boolean, name: string]>([
    ["another file of the service has gets another", false, "a-2.txt"],
    ["it is to replace is its own", true, "a.txt"]
  ])("a name that %s", (_, overwrite, name) => {
    const nameOf = DownloadIndex.makeNames({ known: new Map([entry("a.txt", "1")]), isThere: () => false, overwrite })
    assert.strictEqual(nameOf("a.txt", "2"), name)
  })

  it("keep the id, however long the name is", () => {
    const nameOf = DownloadIndex.makeNames({ known: new Map(), isThere: () => false, overwrite: false })
    const long = `${"é".repeat(200)}.txt`
    const names = ["1", "2", "x".repeat(5000)].map((id) => nameOf(long, id))
    assert.isTrue(names.every((name) => Buffer.byteLength(name) <= 255 && name.endsWith(".txt")))
    assert.match(names[1] ?? "", /-2\.txt$/)
    assert.strictEqual(new Set(names).size, 3)
  })
})

describe("what is in a directory", () => {
  const opened = (service: string, folder: string) =>
    DownloadIndex.open(service, `${folder}/to`).pipe(
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["XDG_STATE_HOME", `${folder}/state`]])))
    )

  it.scoped.each<readonly [what: string, change: string, isThere: boolean]>([
    ["as it was saved", "", true],
    ["and has been edited since", "echo", false],
    ["and is gone", "remove", false]
  ])("is the file of this id only if it is there %s", ([_, change, isThere]) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const path = `${folder}/to/a.txt`
      yield* fs.makeDirectory(`${folder}/to`)
      yield* fs.writeFileString(path, "right")
      yield* Effect.flatMap(
        opened("https://a.test", folder),
        (index) => index.add({ name: "a.txt", wanted: "a.txt", fileId: "1" })
      )
      if (change === "echo") {
        yield* fs.writeFileString(path, "wrong")
        yield* fs.utimes(path, 1, 1)
      }
      if (change === "remove") yield* fs.remove(path)
      const index = yield* opened("https://a.test", folder)
      assert.strictEqual(yield* index.has("a.txt", "1", 5), isThere)
      assert.strictEqual(yield* index.has("a.txt", "1", undefined), isThere)
      assert.isFalse(yield* index.has("a.txt", "2", 5))
      assert.isFalse(yield* index.has("a.txt", "1", 6))
      const elsewhere = yield* opened("https://b.test", folder)
      assert.isFalse(yield* elsewhere.has("a.txt", "1", 5))
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
