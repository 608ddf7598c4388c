import { type PlatformError, systemError as failed } from "effect/PlatformError"

export const isReason = (reason: Reason) => (error: PlatformError): boolean => error.reason._tag === reason

export const messageOf = ({ cause, message }: PlatformError): string =>
  cause instanceof Error ? `${message}: ${cause.message}` : message

export const systemError = (
  reason: Reason,
  { description, method, path }: { readonly description: string; readonly method: string; readonly path: string }
): PlatformError => failed({ _tag: reason, module: "FileSystem", method, pathOrDescriptor: path, description })
