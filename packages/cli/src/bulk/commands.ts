/** `stevedore bulk`: what it accepts, and the help about it. */
import * as Effect from "effect/Effect"
import { make, runs } from "../options/command.js"
import { jobs } from "./options.js"

const bulk = make({
  name: "bulk",
  elsewhere: ["jobs"],
  summary: "upload a job of many files, on one machine or on several",
  help:
    "Upload a job of many files that survives the end of any process, on one machine or on several. start submits a job " +
    "and uploads it, again after an interruption; run is a runner for the jobs of a database; the others watch and steer. " +
    "Needs @stevedore/bulk beside this package, and says how to install it",
  examples: [
    "stevedore bulk start archive-2026 interviews/ --recursive",
    "stevedore bulk start archive-2026 interviews/ --mount archive --submit-only --database-env DATABASE_URL",
    "stevedore bulk run --root archive=/mnt/archive --database-env DATABASE_URL",
    "stevedore bulk status archive-2026 --watch",
    "stevedore bulk failures archive-2026 --json | jq .path"
  ],
  accepts: jobs,
  run: runs(Effect.all(jobs), () => import("./bulk.js"), ({ run }) => run)
})

export const commands = { bulk }
