import type { ListError } from "@stevedore/core/ListError"
import type { UploadError } from "@stevedore/core/UploadError"
import type { SpoolUnwritable } from "@stevedore/node/SpoolError"
import type { UrlRefused } from "../UrlSource.js"

/**
 * Why a file was not uploaded.
 *
 * @internal
 */
export type FileError = UploadError | ListError | SpoolUnwritable | UrlRefused
