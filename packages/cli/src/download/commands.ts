/** `stevedore download`: what it accepts, and the help about it. */
import * as Effect from "effect/Effect"
import { make, runs } from "../options/command.js"
import { argumentsOf, flag, option, optionOr } from "../options/parameter.js"
import { fileId, filesElsewhere, limitRate, listed, ofService } from "../options/shared.js"
import { path, wholeNumber } from "../options/values.js"

const downloading = {
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

const download = make({
  name: "download",
  elsewhere: ["cat", "get"],
  summary: "download files",
  help: "Download a file, or several into a directory. What an earlier command has saved there is skipped",
  examples: [
    "stevedore download 1kf00nQk9yfWKfsTDni8aO",
    "stevedore download 1kf00nQk9yfWKfsTDni8aO -o interview.mp4 --overwrite",
    "stevedore download --files-from ids.txt --directory recordings"
  ],
  accepts: downloading,
  run: runs(Effect.all(downloading), () => import("./download.js"), ({ runAny }) => runAny)
})

export const commands = { download }
