// Every way in which files come: chosen, dropped (folders too), pasted.
import type { UploadQueue } from "@stevedore/browser"

type Addition = UploadQueue.Addition

const withPath = (file: File): Addition =>
  file.webkitRelativePath === "" ? { file } : { file, name: file.webkitRelativePath }

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject))

const listed = (reader: FileSystemDirectoryReader): Promise<ReadonlyArray<FileSystemEntry>> =>
  new Promise((resolve, reject) => reader.readEntries(resolve, reject))

const isFile = (entry: FileSystemEntry): entry is FileSystemFileEntry => entry.isFile
const isFolder = (entry: FileSystemEntry): entry is FileSystemDirectoryEntry => entry.isDirectory

const within = async (entry: FileSystemEntry): Promise<ReadonlyArray<Addition>> => {
  if (isFile(entry)) return [{ file: await fileOf(entry), name: entry.fullPath.replace(/^\//, "") }]
  if (!isFolder(entry)) return []
  const reader = entry.createReader()
  const found: Array<ReadonlyArray<Addition>> = []
  // a browser lists a hundred at a time
  for (let batch = await listed(reader); batch.length > 0; batch = await listed(reader)) {
    for (const inner of batch) found.push(await within(inner))
  }
  return found.flat()
}

interface WithHandle {
  readonly getAsFileSystemHandle?: () => Promise<FileSystemHandle | null>
}

const isFileHandle = (handle: FileSystemHandle | null): handle is FileSystemFileHandle => handle?.kind === "file"

const dropped = async (item: DataTransferItem & WithHandle): Promise<ReadonlyArray<Addition>> => {
  // both have to be asked for before anything is waited for: afterwards the drop is over
  const entry = item.webkitGetAsEntry()
  const file = item.getAsFile()
  const asked = item.getAsFileSystemHandle?.().catch(() => null)
  if (entry !== null && isFolder(entry)) return within(entry)
  if (file === null) return []
  const handle = await asked ?? null
  return [isFileHandle(handle) ? { file, handle } : { file }]
}

const additionsOf = async (transfer: DataTransfer): Promise<ReadonlyArray<Addition>> =>
  (await Promise.all(Array.from(transfer.items).filter(({ kind }) => kind === "file").map(dropped))).flat()

export const listen = (
  drop: HTMLElement,
  inputs: ReadonlyArray<HTMLInputElement>,
  add: (additions: ReadonlyArray<Addition>) => void
): void => {
  for (const input of inputs) {
    input.addEventListener("change", () => {
      add(Array.from(input.files ?? [], withPath))
      // so that the same file can be chosen again
      input.value = ""
    })
  }
  addEventListener("paste", ({ clipboardData }) => {
    if (clipboardData !== null) void additionsOf(clipboardData).then(add)
  })
  // the whole page takes a drop: who misses the box does not lose the page
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
    if (event.dataTransfer !== null) void additionsOf(event.dataTransfer).then(add)
  })
}
