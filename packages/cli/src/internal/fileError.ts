import type { UploadError } from "@stevedore/core/UploadError"
import type { SpoolUnwritable } from "@stevedore/node/SpoolError"

/**
 * Why a file was not uploaded.
 *
 * @internal
 */
export type FileError = UploadError | SpoolUnwritable
