import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { bundle, type Mutation } from "./Bundle.js"
import { empty, merge, type Report } from "./Report.js"

interface Range {
  readonly from: number
  readonly histories: number
  readonly until?: number | undefined
}

// Few enough that no worker waits long for the last one
const chunk = 250

const judged = async (worker: Worker, range: Range): Promise<Report> => {
  const answered: Promise<Array<Report>> = once(worker, "message")
  worker.postMessage(range)
  const [report = empty] = await answered
  return report
}

/** Runs the histories of some seeds, on several threads. */
export const campaign = async (options: {
  readonly seed: number
  readonly histories: number
  readonly workers?: number | undefined
  readonly against?: "src" | "dist" | undefined
  readonly mutation?: Mutation | undefined
  /** Ends with the first breach of this law. */
  readonly until?: number | undefined
  readonly onProgress?: ((report: Report) => void) | undefined
}): Promise<Report> => {
  const { against = "src", histories, mutation, onProgress, seed, until, workers = 2 } = options
  const directory = await mkdtemp(join(tmpdir(), "simulation-"))
  try {
    const file = join(directory, "worker.mjs")
    await bundle(file, { against, mutation })
    let report = empty
    let next = seed
    const work = async (): Promise<void> => {
      // One for all that it judges, since it is slow until its code is compiled; and little of what it makes grows old
      const worker = new Worker(file, { resourceLimits: { maxYoungGenerationSizeMb: 192 } })
      try {
        while (next < seed + histories && !report.findings.some(({ law }) => law === until)) {
          const from = next
          next = Math.min(seed + histories, from + chunk)
          // read after the wait: another worker may have reported meanwhile
          const more = await judged(worker, { from, histories: next - from, until })
          report = merge(report, more)
          onProgress?.(report)
        }
      } finally {
        // fibers of processes that were killed may hold a thread open for ever
        await worker.terminate()
      }
    }
    await Promise.all(Array.from({ length: workers }, work))
    return report
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
