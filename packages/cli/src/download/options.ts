/** What `stevedore download` accepts. */
import type { FileRecord } from "@stevedore/core/FileRecord"
import type { DownloadTarget } from "@stevedore/node/NodeDownloads"
import type { Accepted } from "../options/parameter.js"
import { argumentsOf, flag, option, optionOr } from "../options/parameter.js"
import { fileId, filesElsewhere, limitRate, listed, ofService } from "../options/shared.js"
import { path, wholeNumber } from "../options/values.js"

export const downloading = {
  fileIds: argumentsOf(fileId),
  ...listed,
  directory: option({
    name: "directory",
    takes: path("PATH"),
    help: "Directory for several files, each under its own name. Default: the current directory"
  }),
  files: optionOr({
    name: "files",
    takes: wholeNumber(1, 64),
    default: 3,
    elsewhere: filesElsewhere,
    help: "Maximum number of files to download at once"
  }),
  limitRate,
  output: option({
    name: "output",
    alias: "o",
    takes: path("PATH"),
    help: "File to write, or a directory for it. Default: the current directory"
  }),
  overwrite: flag({ name: "overwrite", alias: "force", help: "Replace an existing file" }),
  anySize: flag({
    name: "any-size",
    elsewhere: ["ignore-size"],
    help: "Accept a file whose size differs from the one in its record"
  }),
  keep: flag({
    name: "keep",
    help: "Keep a partial download if it fails or is stopped: the same command resumes it"
  }),
  ...ofService
}

/** What the command is given. */
export type Options = Accepted<typeof downloading>

/** What a file has to be by its record, unless any size is accepted. */
export const expectedBy = (
  anySize: boolean,
  record?: Pick<FileRecord, "checksum" | "size">
): Pick<DownloadTarget, "size" | "reported"> => anySize ? {} : { size: record?.size, reported: record?.checksum }
