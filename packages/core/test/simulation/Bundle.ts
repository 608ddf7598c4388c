import { build, type Plugin } from "esbuild"
import { readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../../", import.meta.url))

/** A text of a module of the core that is broken on purpose. */
export interface Mutation {
  readonly module: string
  readonly from: string
  readonly to: string
}

const mutating = ({ from, module, to }: Mutation): Plugin => ({
  name: "mutating",
  setup(plugins) {
    let isDone = false
    plugins.onLoad({ filter: /packages\/core\/src\/.*\.ts$/ }, async ({ path }) => {
      if (!path.endsWith(`/packages/core/src/${module}.ts`)) return undefined
      const text = await readFile(path, "utf8")
      if (!text.includes(from)) throw new Error(`${module} no longer holds: ${from}`)
      isDone = true
      return { contents: text.replace(from, () => to), loader: "ts" }
    })
    plugins.onEnd(() => {
      if (!isDone) throw new Error(`${module} is not part of the bundle`)
    })
  }
})

const loadsModules = "import { createRequire } from \"node:module\"; const require = createRequire(import.meta.url);"

/** The simulation as one module, over the sources of the core or over what was built of them. */
export const bundle = async (
  outfile: string,
  options: { readonly against: "src" | "dist"; readonly mutation?: Mutation | undefined }
): Promise<void> => {
  await build({
    entryPoints: [fileURLToPath(new URL("worker.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "silent",
    absWorkingDir: root,
    ...(options.against === "src" ? { tsconfig: `${root}tsconfig.json` } : { tsconfigRaw: {} }),
    banner: { js: loadsModules },
    plugins: options.mutation === undefined ? [] : [mutating(options.mutation)]
  })
}
