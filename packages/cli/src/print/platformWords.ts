import type { PlatformError } from "@effect/platform/Error"
import * as Predicate from "effect/Predicate"

const reasons: Readonly<Record<string, string | undefined>> = {
  AlreadyExists: "it exists already",
  BadResource: "something on the way there is no directory, or it is not what it should be",
  Busy: "it is in use by another program",
  NotFound: "it does not exist, or its directory does not",
  PermissionDenied: "you have no permission",
  TimedOut: "its file system does not answer",
  WouldBlock: "it is in use by another program"
}

const codes: Readonly<Record<string, string | undefined>> = {
  EACCES: "you have no permission",
  EDQUOT: "your quota on its disk is used up",
  EISDIR: "it is a directory",
  ELOOP: "its links lead in a circle",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "its name is too long",
  ENFILE: "too many files are open",
  ENOENT: "it does not exist",
  ENOSPC: "its disk is full",
  ENOTDIR: "something on the way there is no directory",
  EPERM: "you have no permission",
  EROFS: "its disk is read-only"
}

const codeOf = (error: PlatformError): string | undefined =>
  error._tag === "SystemError"
    ? Predicate.hasProperty(error.cause, "code") && Predicate.isString(error.cause.code)
      ? error.cause.code
      : /\b(E[A-Z]{2,})\b/.exec(error.description ?? "")?.[1]
    : undefined

/** Why something could not be done with a path, in words of this command. */
export const reasonOf = (error: PlatformError): string => {
  const code = codeOf(error)
  const known = codes[code ?? ""] ?? (error._tag === "SystemError" ? reasons[error.reason] : undefined)
  return known ?? (code === undefined ? "it is not possible there" : `the system says ${code}`)
}

/** The same with what was to be done, and with which path. */
export const describe = (what: "read" | "write" | "create", path: string) => (error: PlatformError): string =>
  `cannot ${what} ${path}: ${reasonOf(error)}`
