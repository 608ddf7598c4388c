/** What a failure of the disk, or of a database on it, means to whoever stores or reads. The cause is kept for the log. */
import * as StorageRefused from "../StorageRefused.js"
import { errorCode } from "./errorCode.js"

const meanings: Readonly<Record<string, StorageRefused.RefusalCode>> = {
  ENOSPC: "InsufficientStorage",
  EDQUOT: "InsufficientStorage",
  SQLITE_FULL: "InsufficientStorage",
  EMFILE: "SlowDown",
  ENFILE: "SlowDown",
  SQLITE_BUSY: "SlowDown"
}

const meaning = (cause: unknown): StorageRefused.RefusalCode | undefined => meanings[errorCode(cause)]

/** Whether something was not written because there is no room for it. @internal */
export const isFull = (cause: unknown): boolean => meaning(cause) === "InsufficientStorage"

/** What was to be written, or looked up, was not. @internal */
export const failed = (cause: unknown): StorageRefused.StorageRefused =>
  StorageRefused.make(meaning(cause) ?? "InternalError", { failure: cause })

/** What is stored of one object is gone or broken, unless the failure is one of the moment. @internal */
export const unreadable = (cause: unknown): StorageRefused.StorageRefused =>
  StorageRefused.make(meaning(cause) ?? "ObjectUnreadable", { failure: cause })
