/** `stevedore download`: the help about it. */
import * as Effect from "effect/Effect"
import { make, remembering, runs } from "../options/command.js"
import { downloading } from "./options.js"

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
  run: runs(Effect.all(downloading), () => import("./download.js"), ({ runAny }) => remembering(runAny))
})

export const commands = { download }
