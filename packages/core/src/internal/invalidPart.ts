import type { Issue } from "../ServiceError.js"

/**
 * Whether the service says that storage refused the etags: a part is another one than they name.
 *
 * @internal
 */
export const namesInvalidPart = ({ issues }: { readonly issues: ReadonlyArray<Issue> }): boolean =>
  issues.some(({ code }) => code === "InvalidPart")
