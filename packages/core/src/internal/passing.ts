import type { UploadError } from "../UploadError.js"

/**
 * Neither the service nor storage redirects an upload, unless storage says why: something in between does, such as a
 * network's sign-in page.
 *
 * @internal
 */
export const isRedirected = (error: UploadError): boolean =>
  (error._tag === "RequestRejected" || (error._tag === "StorageRejected" && error.code === undefined)) &&
  error.status < 400

/**
 * Whether the same session may still end well when the upload is run again.
 *
 * @internal
 */
export const isPassing = (error: UploadError): boolean =>
  error.recovery === "retry" || error.recovery === "retryOnce" || error.recovery === "slowDown" ||
  error._tag === "Unauthorized" || error._tag === "Forbidden" || error._tag === "SourceUnreadable" ||
  error._tag === "CompletionUnknown" || isRedirected(error)

/** @internal */
export const isReadOnce = (error: UploadError): boolean =>
  error._tag === "SourceUnreadable" && error.reason === "ReadOnce"

/**
 * How a once valid session is refused when it is gone, because the service collected it or somebody ended it.
 *
 * @internal
 */
export const endsEarlierSession = (error: UploadError): boolean =>
  (error._tag === "StorageRejected" && !isRedirected(error)) || error._tag === "StorageForbidden" ||
  error._tag === "NotFound"

/**
 * If the key was rotated, the next session has a new one. If storage does not know that one either, it never will.
 *
 * @internal
 */
export const isOtherKey = (error: UploadError): boolean => error._tag === "UrlExpired" && error.reason === "UnknownKey"
