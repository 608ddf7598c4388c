/** `stevedore bulk`: its actions, and the help about them. */
import * as Effect from "effect/Effect"
import { ofActions, runs } from "../options/command.js"
import { database, ofJob, running, starting, watching } from "./options.js"

const load = () => import("./bulk.js")

const bulk = ofActions({
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
  actions: {
    start: { accepts: starting, run: runs(Effect.all(starting), load, ({ having }) => having(({ start }) => start)) },
    run: { accepts: running, run: runs(Effect.all(running), load, ({ having }) => having(({ run }) => run)) },
    status: {
      accepts: watching,
      run: runs(Effect.all(watching), load, ({ having }) => having(({ status }) => status))
    },
    runners: {
      accepts: database,
      run: runs(Effect.all(database), load, ({ having }) => having(({ runners }) => runners))
    },
    failures: {
      accepts: ofJob,
      run: runs(Effect.all(ofJob), load, ({ having }) => having(({ failures }) => failures))
    },
    files: { accepts: ofJob, run: runs(Effect.all(ofJob), load, ({ having }) => having(({ files }) => files)) },
    pause: { accepts: ofJob, run: runs(Effect.all(ofJob), load, ({ having }) => having(({ pause }) => pause)) },
    resume: { accepts: ofJob, run: runs(Effect.all(ofJob), load, ({ having }) => having(({ resume }) => resume)) },
    cancel: { accepts: ofJob, run: runs(Effect.all(ofJob), load, ({ having }) => having(({ cancel }) => cancel)) },
    retry: { accepts: ofJob, run: runs(Effect.all(ofJob), load, ({ having }) => having(({ retry }) => retry)) },
    forget: { accepts: ofJob, run: runs(Effect.all(ofJob), load, ({ having }) => having(({ forget }) => forget)) },
    migrate: {
      accepts: database,
      run: runs(Effect.all(database), load, ({ having }) => having(({ migrate }) => migrate))
    }
  }
})

export const commands = { bulk }
