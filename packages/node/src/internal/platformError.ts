import { type PlatformError, SystemError } from "@effect/platform/Error"

type Reason = "NotFound" | "AlreadyExists" | "PermissionDenied"

/** @internal */
export const isReason = (reason: Reason) => (error: PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === reason

/** @internal */
export const isMissing = /* #__PURE__ */ isReason("NotFound")

/**
 * What went wrong, as the system says it.
 *
 * @internal
 */
export const messageOf = (error: PlatformError): string => error.message

/** @internal */
export const systemError = (
  reason: Reason,
  { description, method, path }: { readonly description: string; readonly method: string; readonly path: string }
): PlatformError => new SystemError({ reason, module: "FileSystem", method, pathOrDescriptor: path, description })
