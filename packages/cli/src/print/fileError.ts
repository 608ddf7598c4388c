import type { ListError } from "@stevedore/core/ListError"
import type { UploadError } from "@stevedore/core/UploadError"
import type { UrlRefused } from "@stevedore/node/HttpSource"
import type { SpoolUnwritable } from "@stevedore/node/SpoolError"

/** Why a file was not uploaded. */
export type FileError = UploadError | ListError | SpoolUnwritable | UrlRefused
