import type * as Esbuild from "esbuild"
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { beside } from "../../scripts/beside.mjs"

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const { resolve } = createRequire(import.meta.url)

/**
 * The words that start the command. For tests that start it often it is made into one script, which is up in a third
 * of a second; with TEST_DIST=1 it is what `npm run build` made.
 */
export const command = async (directory: string): Promise<ReadonlyArray<string>> =>
  process.env.TEST_DIST === "1" ? [path("../../bin/stevedore.cjs")] : bundled(directory)

/** The same from source, whatever was built, with what is to be changed in it. */
export const bundled = async (
  directory: string,
  plugins: ReadonlyArray<Esbuild.Plugin> = []
): Promise<ReadonlyArray<string>> => {
  const { build }: typeof Esbuild = createRequire(resolve("tsx"))("esbuild")
  await build({
    entryPoints: [path("../../src/bin.ts")],
    tsconfig: path("../../../../tsconfig.json"),
    outdir: directory,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
    external: beside,
    plugins: [...plugins],
    // what is CommonJS in it asks for it
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" }
  })
  return [join(directory, "bin.mjs")]
}
