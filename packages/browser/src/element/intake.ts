import type { Addition } from "../queue/model.js"
import type { Arrival } from "./arrivals.js"

/** The files that arrived, and what of a folder cannot be added. */
export interface Intake {
  readonly additions: ReadonlyArray<Addition>
  readonly refused: ReadonlyArray<{ readonly name: string; readonly reason: "emptyFolder" | "cannotBeRead" }>
}

const taken = (additions: ReadonlyArray<Addition>): Intake => ({ additions, refused: [] })

const refused = (name: string, reason: Intake["refused"][number]["reason"]): Intake => ({
  additions: [],
  refused: [{ name, reason }]
})

const together = (intakes: ReadonlyArray<Intake>): Intake => ({
  additions: intakes.flatMap(({ additions }) => additions),
  refused: intakes.flatMap(({ refused }) => refused)
})

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject))

const listed = (reader: FileSystemDirectoryReader): Promise<ReadonlyArray<FileSystemEntry>> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject))

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

/** What systems leave in folders, and no visitor means. */
const isLitter = (name: string): boolean =>
  /\/(\.DS_Store|\.localized|Thumbs\.db|desktop\.ini|\.git(keep|ignore)|\._[^/]*)$/i.test(name)

const pathOf = (entry: FileSystemEntry): string => entry.fullPath.replace(/^\//, "")

// An entry that cannot be read does not keep the others from being added.
const within = async (entry: FileSystemEntry): Promise<Intake> => {
  const found: Array<Intake> = []
  try {
    if (isFile(entry) && !isLitter(pathOf(entry))) {
      found.push(taken([{ file: await fileOf(entry), name: pathOf(entry) }]))
    }
    if (isFolder(entry)) {
      const reader = entry.createReader()
      // a browser lists a hundred entries at a time
      for (let batch = await listed(reader); batch.length > 0; batch = await listed(reader)) {
        for (const inner of batch) found.push(await within(inner))
      }
    }
  } catch {
    found.push(refused(pathOf(entry), "cannotBeRead"))
  }
  return together(found)
}

const isFileHandle = (handle: FileSystemHandle | null): handle is FileSystemFileHandle => handle?.kind === "file"

const intakeOfOne = async ({ entry, file, handle }: Arrival): Promise<Intake> => {
  if (entry !== null && isFolder(entry)) {
    const found = await within(entry)
    return found.additions.length + found.refused.length === 0 ? refused(pathOf(entry), "emptyFolder") : found
  }
  if (file === null || isLitter(file.webkitRelativePath)) return taken([])
  const given = await handle ?? null
  return taken([isFileHandle(given) ? { file, handle: given } : { file }])
}

export const intakeOf = async (arrivals: ReadonlyArray<Arrival>): Promise<Intake> =>
  together(await Promise.all(arrivals.map(intakeOfOne)))
