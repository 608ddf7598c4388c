import type { UploadError } from "../UploadError.js"

/**
 * Whether the service says that storage rejected the etags, because a part is not the one that its etag names.
 *
 * @internal
 */
export const namesInvalidPart = (error: UploadError): boolean =>
  "issues" in error && error.issues.some(({ code }) => code === "InvalidPart")
