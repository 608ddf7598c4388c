import { byEsbuild } from "../../bench/src/BundleSize.js"
import { plugin } from "../../bench/src/Effect4.js"

/** Programs of the benchmarks that need no more than the line has, and what a page loads of each at most, in bytes. */
const budgets = {
  // without the core: what an application with Effect 4 has anyway
  effectAlone: 45_100,
  core: 99_100,
  bothCore: 101_500,
  stevedore: 102_100,
  both: 103_900,
  queue: 107_900
}

const kB = (bytes: number): string => `${Math.round(bytes / 1000)} kB`

/** What the README of the package for pages says of it, by the budgets. */
export const said = `Minified by esbuild and gzipped, one upload is ${
  kB(budgets.stevedore)
} by itself, Effect included, and adds
${kB(budgets.both - budgets.effectAlone)} to an application with Effect, Schema and HttpClient. The queue adds
${kB(budgets.queue - budgets.stevedore)} to an upload.`

export interface Weight {
  readonly program: string
  /** Minified and gzipped. */
  readonly bytes: number
  readonly budget: number
}

/** What a page loads on Effect 4, measured as in the benchmarks. */
export const weights = (): Promise<ReadonlyArray<Weight>> =>
  Promise.all(
    Object.entries(budgets).map(async ([program, budget]) => ({
      program,
      bytes: await byEsbuild(program, [plugin]),
      budget
    }))
  )
