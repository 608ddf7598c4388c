/** The commands about uploads: the help about them. */
import * as Effect from "effect/Effect"
import { make, remembering, runs } from "../options/command.js"
import { finished, limiting, unfinished, uploading } from "./options.js"

const upload = make({
  name: "upload",
  elsewhere: ["copy", "cp", "sync", "pipe"],
  summary: "upload files and directories",
  help: "Upload files, and directories with everything in them. Ctrl-C stops; the same command resumes",
  examples: [
    "stevedore upload interview.mp4",
    "stevedore upload interviews/ --limit-rate \"08:00,5M 18:00,off\"",
    "stevedore upload ./*.mp4 --verify download --checksum sha256",
    "stevedore upload interview.mp4 --json | jq 'select(.type == \"completed\").file.id'"
  ],
  accepts: uploading,
  unneeded: {
    "--recursive": "a directory is uploaded with everything in it",
    "-r": "a directory is uploaded with everything in it",
    "--progress": "a terminal shows the progress",
    "-P": "a terminal shows the progress",
    "--update": "what has not changed is not uploaded again",
    "--ignore-existing": "what has not changed is not uploaded again"
  },
  run: runs(Effect.all(uploading), () => import("./upload.js"), ({ run }) => remembering(run))
})

const uploads = make({
  name: "uploads",
  summary: "list unfinished uploads",
  help:
    "List unfinished uploads, one per line: id, name, size, stored parts, phase, age, running or interrupted. Upload the " +
    "file of an interrupted one again to resume it",
  examples: ["stevedore uploads", "stevedore uploads --forget 5f0c2a9be1d04477"],
  accepts: unfinished,
  run: runs(Effect.all(unfinished), () => import("./unfinished.js"), ({ run }) => remembering(run))
})

const uploaded = make({
  name: "uploaded",
  summary: "list what was uploaded",
  help:
    "List the files that were uploaded from this machine, one per line: id, path, size, date. An upload skips them as long " +
    "as they have not changed",
  examples: ["stevedore uploaded recordings/", "stevedore uploaded --forget recordings/one.wav"],
  accepts: finished,
  run: runs(Effect.all(finished), () => import("./uploaded.js"), ({ run }) => remembering(run))
})

const limit = make({
  name: "limit",
  summary: "show or change the bandwidth limit of what runs",
  help:
    "Show the bandwidth limit of each upload and download that runs, after setting it if a rate is given. It lasts until " +
    "the command ends",
  examples: ["stevedore limit", "stevedore limit 5M", "stevedore limit off"],
  accepts: limiting,
  run: runs(Effect.all(limiting), () => import("./limit.js"), ({ run }) => remembering(run))
})

export const commands = { upload, uploads, uploaded, limit }
