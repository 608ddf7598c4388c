/** What a page has to load: programs under `bundles/`, minified and gzipped, in bytes. */
import { nodeResolve } from "@rollup/plugin-node-resolve"
import { build, type Plugin as EsbuildPlugin, transform } from "esbuild"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import type { Plugin } from "rollup"
import { rollup } from "rollup"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const root = path("../../..").replace(/\/$/, "")

const entryOf = (module: string) => path(`./bundles/${module}.ts`)

const gzipped = (code: string | Uint8Array): number => gzipSync(code, { level: 9 }).byteLength

const forPages = {
  tsconfig: `${root}/tsconfig.json`,
  bundle: true,
  minify: true,
  platform: "browser",
  format: "esm",
  target: "es2022",
  write: false,
  logLevel: "silent"
} as const

/** Leaves out what a page loads only once it is needed. */
const atOnce: EsbuildPlugin = {
  name: "at once",
  setup: ({ onResolve }) => {
    onResolve({ filter: /.*/ }, ({ kind, path }) => kind === "dynamic-import" ? { path, external: true } : undefined)
  }
}

/** What is loaded at once. */
export const byEsbuild = async (module: string, plugins: ReadonlyArray<EsbuildPlugin> = []): Promise<number> => {
  const { outputFiles } = await build({ ...forPages, plugins: [atOnce, ...plugins], entryPoints: [entryOf(module)] })
  return outputFiles.reduce((bytes, { contents }) => bytes + gzipped(contents), 0)
}

/** What is loaded at once, and what in all once it is needed: of several languages, one. */
export interface Weight {
  readonly first: number
  readonly all: number
}

const isOtherLanguage = (entryPoint: string | undefined): boolean => /\/words\/(?!english)/.test(entryPoint ?? "")

/** The same in pieces, as a page loads them: each gzipped by itself. */
export const inPieces = async (module: string): Promise<Weight> => {
  const { metafile, outputFiles } = await build({
    ...forPages,
    entryPoints: [entryOf(module)],
    absWorkingDir: root,
    outdir: `${root}/.cache/pieces`,
    splitting: true,
    metafile: true
  })
  const bytes = new Map(outputFiles.map(({ contents, path }) => [path, gzipped(contents)]))
  const loaded = (from: string, kinds: ReadonlyArray<string>, seen = new Set<string>()): ReadonlySet<string> => {
    if (seen.has(from)) return seen
    seen.add(from)
    for (const { kind, path } of metafile.outputs[from]?.imports ?? []) {
      if (kinds.includes(kind) && !isOtherLanguage(metafile.outputs[path]?.entryPoint)) loaded(path, kinds, seen)
    }
    return seen
  }
  const weighed = (paths: ReadonlySet<string>) =>
    Array.from(paths).reduce((sum, path) => sum + (bytes.get(`${root}/${path}`) ?? NaN), 0)
  const [entry = ""] = Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint?.endsWith(`bundles/${module}.ts`) === true ? [path] : []
  )
  return {
    first: weighed(loaded(entry, ["import-statement"])),
    all: weighed(loaded(entry, ["import-statement", "dynamic-import"]))
  }
}

// Our packages are read from their sources, as they are published to be: module by module
const typescript: Plugin = {
  name: "typescript",
  resolveId: (source, importer) => {
    const [, directory, module = "index"] = /^@stevedore\/([^/]+)(?:\/(.+))?$/.exec(source) ?? []
    if (directory !== undefined) return `${root}/packages/${directory}/src/${module}.ts`
    if (importer?.endsWith(".ts") !== true || !source.startsWith(".")) return null
    const file = fileURLToPath(new URL(source.replace(/\.js$/, ".ts"), `file://${importer}`))
    return existsSync(file) ? file : null
  },
  transform: async (code, id) => {
    if (!id.endsWith(".ts")) return null
    const transformed = await transform(code, { loader: "ts", target: "es2022" })
    return { code: transformed.code, moduleSideEffects: id.includes("/bundles/") }
  }
}

/** What is loaded at once. None for what rollup does not take as it is: it reads ES modules only. */
export const byRollup = async (module: string): Promise<number | undefined> => {
  try {
    const bundled = await rollup({
      input: entryOf(module),
      plugins: [typescript, nodeResolve({ browser: true, preferBuiltins: false })],
      onwarn: (warning) => {
        if (warning.code === "UNRESOLVED_IMPORT" || warning.code === "MISSING_EXPORT") throw new Error(warning.message)
      }
    })
    const { output } = await bundled.generate({ format: "es" })
    await bundled.close()
    const chunks = output.flatMap((file) => file.type === "chunk" ? [file] : [])
    const first = chunks.find(({ isEntry }) => isEntry)
    const code = chunks.filter((one) => one === first || first?.imports.includes(one.fileName) === true)
      .map(({ code }) => code).join("\n")
    return gzipped((await transform(code, { minify: true, format: "esm", target: "es2022" })).code)
  } catch {
    return undefined
  }
}
