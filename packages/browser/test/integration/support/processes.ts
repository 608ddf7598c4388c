/** The processes of a browser, as Linux shows them. */
import { readdir, readFile } from "node:fs/promises"

const textOf = (pid: string | number, file: string) => readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "")

/** The processes of this name in a process group. */
const named = async (group: number, name: RegExp): Promise<ReadonlyArray<string>> => {
  const pids = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry))
  const stats = await Promise.all(pids.map((pid) => textOf(pid, "stat")))
  return pids.filter((_, index) => {
    const [, own = "", of] = /\((.*)\) \S \d+ (\d+)/.exec(stats[index] ?? "") ?? []
    return Number(of) === group && name.test(own)
  })
}

const memoryOf = async (pid: string | number): Promise<number> =>
  Number(/^RssAnon:\s+(\d+) kB/m.exec(await textOf(pid, "status"))?.[1] ?? 0) * 1024

/** What the largest of some processes has in memory beside mapped files, in bytes. */
export const largest = async (pids: ReadonlyArray<string | number>): Promise<number> =>
  Math.max(0, ...await Promise.all(pids.map(memoryOf)))

/** The same, of those in a process group that have this name. */
export const largestNamed = async (group: number | undefined, name: RegExp): Promise<number> =>
  group === undefined ? 0 : largest(await named(group, name))
