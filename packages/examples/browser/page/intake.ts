// Every way for files to arrive: chosen, dropped (including folders), pasted.
import type { UploadQueue } from "@stevedore/browser"

type Addition = UploadQueue.Addition

/** The files that arrived, and what cannot be added. */
export interface Intake {
  readonly additions: ReadonlyArray<Addition>
  readonly refused: ReadonlyArray<Pick<UploadQueue.Refusal, "name" | "message">>
}

const taken = (additions: ReadonlyArray<Addition>): Intake => ({ additions, refused: [] })

const refused = (name: string, message: string): Intake => ({ additions: [], refused: [{ name, message }] })

const together = (intakes: ReadonlyArray<Intake>): Intake => ({
  additions: intakes.flatMap(({ additions }) => additions),
  refused: intakes.flatMap(({ refused }) => refused)
})

export const isEmpty = ({ additions, refused }: Intake): boolean => additions.length + refused.length === 0

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject))

const listed = (reader: FileSystemDirectoryReader): Promise<ReadonlyArray<FileSystemEntry>> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject))

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

const pathOf = (entry: FileSystemEntry): string => entry.fullPath.replace(/^\//, "")

// An entry that cannot be read does not keep the others from being added.
const within = async (entry: FileSystemEntry): Promise<Intake> => {
  const found: Array<Intake> = []
  try {
    if (isFile(entry)) found.push(taken([{ file: await fileOf(entry), name: pathOf(entry) }]))
    if (isFolder(entry)) {
      const reader = entry.createReader()
      // a browser lists a hundred entries at a time
      for (let batch = await listed(reader); batch.length > 0; batch = await listed(reader)) {
        for (const inner of batch) found.push(await within(inner))
      }
    }
  } catch {
    found.push(refused(pathOf(entry), "It cannot be read. It may have been moved or deleted."))
  }
  return together(found)
}

const withinFolder = async (folder: FileSystemDirectoryEntry): Promise<Intake> => {
  const found = await within(folder)
  return isEmpty(found) ? refused(pathOf(folder), "The folder is empty.") : found
}

interface WithHandle {
  readonly getAsFileSystemHandle?: () => Promise<FileSystemHandle | null>
}

const isFileHandle = (handle: FileSystemHandle | null): handle is FileSystemFileHandle => handle?.kind === "file"

const dropped = async (item: DataTransferItem & WithHandle): Promise<Intake> => {
  // both must be requested before the first await: afterwards the drop is over
  const entry = item.webkitGetAsEntry()
  const file = item.getAsFile()
  const asked = item.getAsFileSystemHandle?.().catch(() => null)
  if (entry !== null && isFolder(entry)) return withinFolder(entry)
  if (file === null) return taken([])
  const handle = await asked ?? null
  return taken([isFileHandle(handle) ? { file, handle } : { file }])
}

const intakeOf = async (transfer: DataTransfer): Promise<Intake> =>
  together(await Promise.all(Array.from(transfer.items).filter(({ kind }) => kind === "file").map(dropped)))

export const listen = (
  drop: HTMLElement,
  inputs: ReadonlyArray<HTMLInputElement>,
  take: (intake: Intake) => void
): void => {
  for (const input of inputs) {
    input.addEventListener("change", () => {
      take(taken(Array.from(input.files ?? [], (file) => ({ file }))))
      // so that the same file can be chosen again
      input.value = ""
    })
  }
  addEventListener("paste", ({ clipboardData }) => {
    if (clipboardData !== null) void intakeOf(clipboardData).then(take)
  })
  // the whole page accepts drops, so missing the box does not navigate away
  let inside = 0
  const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true
  const show = () => drop.classList.toggle("over", inside > 0)
  addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return
    inside++
    show()
  })
  addEventListener("dragleave", (event) => {
    if (!hasFiles(event)) return
    inside = Math.max(0, inside - 1)
    show()
  })
  addEventListener("dragover", (event) => event.preventDefault())
  addEventListener("drop", (event) => {
    event.preventDefault()
    inside = 0
    show()
    if (event.dataTransfer !== null) void intakeOf(event.dataTransfer).then(take)
  })
}
