/** Programs as one script each: so they start as an application does that is shipped, and not by a compiler. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { build, type Plugin } from "esbuild"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const cache = fileURLToPath(new URL("../../../.cache", import.meta.url))

/** A folder of its own, which goes with the scope. It is within the project: what cannot be bundled is found from there. */
export const folder: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(async () => {
    await mkdir(cache, { recursive: true })
    return mkdtemp(join(cache, "bench-"))
  }),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** Bundles programs into a folder: there they are `.mjs`, below the folder that they have in common. */
export const scripts = (
  entryPoints: ReadonlyArray<string>,
  outdir: string,
  outbase?: string,
  plugins: ReadonlyArray<Plugin> = []
): Effect.Effect<void> =>
  Effect.promise(async () => {
    await build({
      entryPoints: [...entryPoints],
      ...(outbase === undefined ? {} : { outbase }),
      tsconfig: fileURLToPath(new URL("../../../tsconfig.json", import.meta.url)),
      outdir,
      plugins: [...plugins],
      outExtension: { ".js": ".mjs" },
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      target: "node20",
      // the driver of PostgreSQL asks for the first, and goes on without it; that of SQLite has a binary
      external: ["pg-native", "libsql"],
      logLevel: "error",
      // what is CommonJS in it asks for it
      banner: {
        js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"
      }
    })
  })

/** The same for modules of this package, by their paths under `src` without ending. */
export const programs = (
  modules: ReadonlyArray<string>,
  outdir: string,
  plugins: ReadonlyArray<Plugin> = []
): Effect.Effect<void> =>
  scripts(
    modules.map((module) => fileURLToPath(new URL(`./${module}.ts`, import.meta.url))),
    outdir,
    fileURLToPath(new URL(".", import.meta.url)),
    plugins
  )
