/** Where a path may lead, and which names a file system takes. */
import { constants } from "node:fs"
import * as NodeFs from "node:fs/promises"
import { sep } from "node:path"
import { identityOf } from "./heldFile.js"

/** The characters that no file name of Windows contains, separators included. */
export const forbidden = /[/\\:*?"<>|]/g

const device = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)$/i

/** Whether Windows takes a name for a device, whatever follows a dot. */
export const isDevice = (stem: string): boolean => device.test(stem)

/** What is expected below a folder. */
export interface Below {
  /** Below the folder, without links when it was found. */
  readonly path: string
  /** The real path of the folder. */
  readonly within: string
}

const isBelow = (within: string, path: string): boolean =>
  path === within || path.startsWith(within.endsWith(sep) ? within : `${within}${sep}`)

// The kernel's own name for what is open, which no later change of a link alters. Only Linux has it.
const nameOf = (handle: NodeFs.FileHandle): Promise<string | undefined> =>
  process.platform === "linux"
    ? NodeFs.readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
    : Promise.resolve(undefined)

const isSame = async (handle: NodeFs.FileHandle, path: string): Promise<boolean> =>
  identityOf(await handle.stat({ bigint: true })) === identityOf(await NodeFs.lstat(path, { bigint: true }))

const isWithin = async (handle: NodeFs.FileHandle, { path, within }: Below): Promise<boolean> => {
  const name = await nameOf(handle)
  if (name !== undefined) return isBelow(within, name)
  const real = await NodeFs.realpath(path)
  return isBelow(within, real) && await isSame(handle, real)
}

/**
 * Opens what is below a folder, whatever links appear on the way to it and whenever they do: what was opened is proven
 * to be below before a byte of it is read.
 */
export const open = async (below: Below, flags: number, escaped: () => Error): Promise<NodeFs.FileHandle> => {
  const handle = await NodeFs.open(below.path, flags | (constants.O_NOFOLLOW ?? 0))
  const isFine = await isWithin(handle, below).catch(() => false)
  if (isFine) return handle
  await handle.close().catch(() => undefined)
  throw escaped()
}

const canOpenDirectories = process.platform !== "win32"

/**
 * The entries of a folder below another, or that one itself. By the opened folder where the system can list that, and
 * otherwise by its path, which is looked at before and after.
 */
export const list = async (below: Below, escaped: () => Error) => {
  if (!canOpenDirectories) return listByPath(below, escaped)
  const handle = await open(below, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0), escaped)
  try {
    const name = await nameOf(handle)
    if (name !== undefined) return await NodeFs.readdir(`/proc/self/fd/${handle.fd}`, { withFileTypes: true })
    const entries = await NodeFs.readdir(below.path, { withFileTypes: true })
    if (!(await isWithin(handle, below))) throw escaped()
    return entries
  } finally {
    await handle.close().catch(() => undefined)
  }
}

const listByPath = async ({ path, within }: Below, escaped: () => Error) => {
  const check = async () => {
    if (!isBelow(within, await NodeFs.realpath(path))) throw escaped()
  }
  await check()
  const entries = await NodeFs.readdir(path, { withFileTypes: true })
  await check()
  return entries
}
