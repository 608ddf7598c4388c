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
