import type { Issue } from "../ServiceError.js"
import type { UploadError } from "../UploadError.js"

/**
 * Whether the service says that storage rejected the etags, because a part is not the one that its etag names.
 *
 * @internal
 */
export const namesInvalidPart = ({ issues }: { readonly issues: ReadonlyArray<Issue> }): boolean =>
  issues.some(({ code }) => code === "InvalidPart")

/**
 * The same for any error of an upload.
 *
 * @internal
 */
export const isOfInvalidPart = (error: UploadError): boolean => "issues" in error && namesInvalidPart(error)
