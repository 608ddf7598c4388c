import { assert, beforeAll, describe, it } from "@effect/vitest"
import { define } from "@stevedore/browser/element"
import { build } from "esbuild"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

/** By name: what each script that a bundler makes of the element has in it, what it loads at once, and its size. */
const scripts = new Map<string, { inputs: string; now: ReadonlyArray<string>; gzipped: number }>()

/** A script and all that it loads at once. */
const withImports = (name: string): ReadonlyArray<string> => [
  name,
  ...(scripts.get(name)?.now ?? []).flatMap(withImports)
]

describe("the element", () => {
  beforeAll(async () => {
    const { metafile, outputFiles } = await build({
      stdin: { contents: "import \"@stevedore/browser/element\"", resolveDir: path("..") },
      tsconfig: path("../../../tsconfig.json"),
      absWorkingDir: path("../../.."),
      bundle: true,
      splitting: true,
      minify: true,
      format: "esm",
      target: "es2022",
      write: false,
      metafile: true,
      outdir: "assets",
      logLevel: "silent"
    })
    for (const [name, { imports, inputs }] of Object.entries(metafile.outputs)) {
      const contents = outputFiles.find((file) => file.path.endsWith(name))?.contents ?? new Uint8Array()
      scripts.set(name, {
        inputs: Object.keys(inputs).join(" "),
        now: imports.flatMap((one) => one.kind === "import-statement" ? [one.path] : []),
        gzipped: gzipSync(contents, { level: 9 }).byteLength
      })
    }
  })

  it("registers in at most 4 kB, without what uploads and without any language", () => {
    const first = withImports("assets/stdin.js").map((name) => scripts.get(name))
    const bytes = first.reduce((sum, script) => sum + (script?.gzipped ?? Infinity), 0)
    assert.isAbove(bytes, 500)
    assert.isBelow(bytes, 4000)
    for (const script of first) {
      assert.notMatch(script?.inputs ?? "", /effect|core\/src|UploadQueue|words/)
    }
  })

  it("has its place to drop and its words in at most 11 kB, as the guide says within 5 %", () => {
    const shell = Array.from(scripts.keys()).find((name) => name.includes("/shell-")) ?? ""
    const names = new Set([...withImports("assets/stdin.js"), ...withImports(shell)])
    const bytes = Array.from(names, (name) => scripts.get(name)?.gzipped ?? Infinity).reduce((sum, one) => sum + one)
    assert.isAbove(names.size, 2)
    assert.isBelow(bytes, 11_000)
    const guide = readFileSync(path("../../docs/guide/element.md"), "utf8")
    assert.approximately(1000 * Number(/a page loads ([\d.]+) kB/.exec(guide)?.[1]), bytes, bytes / 20)
  })

  it("loads what uploads, and each language, in scripts of their own", () => {
    const all = Array.from(scripts.values())
    for (const part of ["src/UploadQueue.ts", "words/german.ts", "words/arabic.ts"]) {
      assert.lengthOf(all.filter(({ inputs }) => inputs.includes(part)), 1)
    }
  })

  it("can be imported on a server, where there are no elements", () => {
    assert.doesNotThrow(() => define("other-upload"))
  })
})
