/** What a drop or paste brings, as far as it must be asked for at once: afterwards it is over. */
export interface Arrival {
  readonly entry: FileSystemEntry | null
  readonly file: File | null
  readonly handle: Promise<FileSystemHandle | null> | undefined
}

interface WithHandle {
  readonly getAsFileSystemHandle?: () => Promise<FileSystemHandle | null>
}

const arrivalOf = (item: DataTransferItem & WithHandle): Arrival => ({
  entry: item.webkitGetAsEntry(),
  file: item.getAsFile(),
  handle: item.getAsFileSystemHandle?.().catch(() => null)
})

export const arrivalsOf = (transfer: DataTransfer): ReadonlyArray<Arrival> =>
  Array.from(transfer.items).filter(({ kind }) => kind === "file").map(arrivalOf)

export const ofFiles = (files: Iterable<File>): ReadonlyArray<Arrival> =>
  Array.from(files, (file) => ({ entry: null, file, handle: undefined }))
