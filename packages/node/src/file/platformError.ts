import { type PlatformError, SystemError } from "@effect/platform/Error"

type Reason = "NotFound" | "AlreadyExists" | "PermissionDenied"

export const isReason = (reason: Reason) => (error: PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === reason

export const isMissing = /* #__PURE__ */ isReason("NotFound")

/** What went wrong, as the system says it. */
export const messageOf = (error: PlatformError): string => error.message

export const systemError = (
  reason: Reason,
  { description, method, path }: { readonly description: string; readonly method: string; readonly path: string }
): PlatformError => new SystemError({ reason, module: "FileSystem", method, pathOrDescriptor: path, description })
