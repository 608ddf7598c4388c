import type { Plugin } from "esbuild"
import { byEsbuild } from "../../bench/src/BundleSize.js"

/** Programs of the benchmarks that need no more than the core, and what a page loads of each at most, in bytes. */
const budgets: Readonly<Record<string, number>> = {
  // without the core: what an application with Effect 4 has anyway
  effectAlone: 45_100,
  core: 102_000,
  bothCore: 104_000
}

/** The same programs over what was written: of `@effect/platform`, they use only what is `effect/http` on 4. */
const onLine = (line: string): Plugin => ({
  name: "effect4",
  setup: ({ onResolve, resolve }) => {
    onResolve({ filter: /^@stevedore\/core\// }, ({ path }) => ({
      path: `${line}/packages/core/src/${path.slice("@stevedore/core/".length)}.ts`
    }))
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
})

export interface Weight {
  readonly program: string
  /** Minified and gzipped. */
  readonly bytes: number
  readonly budget: number
}

/** What a page loads on Effect 4, measured as in the benchmarks. */
export const weights = (line: string): Promise<ReadonlyArray<Weight>> =>
  Promise.all(
    Object.entries(budgets).map(async ([program, budget]) => ({
      program,
      bytes: await byEsbuild(program, [onLine(line)]),
      budget
    }))
  )
