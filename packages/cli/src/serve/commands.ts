/** The commands of one's own service, which load what a user has beside this package, and of the sandbox: the help about them. */
import * as Effect from "effect/Effect"
import { make, ofActions, runs } from "../options/command.js"
import { logLevel } from "../options/shared.js"
import {
  creating,
  listing,
  ofFile,
  ofRows,
  resending,
  revoking,
  serving,
  settingUp,
  storing,
  trying,
  verifying
} from "./options.js"

const serve = make({
  name: "serve",
  summary: "run a service that keeps its files in a directory or a bucket",
  help:
    "Run a service that keeps its files in a directory; or, where STEVEDORE_SERVE_DATABASE_URL and STEVEDORE_SERVE_BUCKET " +
    "name a PostgreSQL and a bucket, one of any number of instances of it",
  examples: [
    "stevedore serve",
    "stevedore serve --directory /srv/files --port 8080 --public-url https://files.example",
    "stevedore serve --host 0.0.0.0 --base-path /api"
  ],
  accepts: serving,
  run: runs(Effect.all({ ...serving, logLevel }), () => import("./serve.js"), ({ run }) => run)
})

const ofTokens = () => import("./tokens.js")

const ofFiles = () => import("./files.js")

const ofBucket = () => import("./bucket.js")

const token = ofActions({
  name: "token",
  summary: "make, list and revoke tokens of your service",
  help: "Make, list and revoke the tokens of your own service. A token is shown once, when it is made",
  examples: [
    "stevedore token create --tenant acme --owner ann --scopes read,write --days 30",
    "stevedore token list",
    "stevedore token revoke 1kf00nQk9yfWKfsTDni8aO"
  ],
  actions: {
    create: { accepts: creating, run: runs(Effect.all(creating), ofTokens, ({ create }) => create) },
    list: { accepts: ofRows, run: runs(Effect.all(ofRows), ofTokens, ({ list }) => list) },
    revoke: { accepts: revoking, run: runs(Effect.all(revoking), ofTokens, ({ revoke }) => revoke) }
  }
})

const files = ofActions({
  name: "files",
  summary: "look at the files of your service, and at what is stuck",
  help:
    "Look at the files of your own service, of all tenants, by its database: list them, show one, sum up what each tenant " +
    "has, or show what waits for somebody, since when and why. rm lets one be removed by the service. " +
    "verify compares all with the store, both ways, and with --bytes reads what is stored. resend calls the hook or " +
    "webhook of events again: of a file, or of all that rest after a day",
  examples: [
    "stevedore files ls --tenant acme --limit 20",
    "stevedore files show 1kf00nQk9yfWKfsTDni8aO",
    "stevedore files usage --json",
    "stevedore files rm 1kf00nQk9yfWKfsTDni8aO",
    "stevedore files verify --repair",
    "stevedore files verify --bytes --rate 50M",
    "stevedore files stuck",
    "stevedore files resend"
  ],
  actions: {
    ls: { accepts: listing, run: runs(Effect.all(listing), ofFiles, ({ ls }) => ls) },
    show: { accepts: ofFile, run: runs(Effect.all(ofFile), ofFiles, ({ show }) => show) },
    usage: { accepts: ofRows, run: runs(Effect.all(ofRows), ofFiles, ({ usage }) => usage) },
    rm: { accepts: ofFile, run: runs(Effect.all(ofFile), ofFiles, ({ rm }) => rm) },
    verify: { accepts: verifying, run: runs(Effect.all(verifying), ofFiles, ({ verify }) => verify) },
    stuck: { accepts: ofRows, run: runs(Effect.all(ofRows), ofFiles, ({ stuck }) => stuck) },
    resend: { accepts: resending, run: runs(Effect.all(resending), ofFiles, ({ resend }) => resend) }
  }
})

const bucket = ofActions({
  name: "bucket",
  elsewhere: ["mb"],
  summary: "set up or check the bucket of your service",
  help:
    "Set up the bucket of your own service, or check it: the rule by which pages may send to it, the rule that ends what " +
    "is never completed, what keeps files from being replaced, and the rights of the credential. STEVEDORE_SERVE_BUCKET " +
    "and its companions name it, as for serve",
  examples: [
    "stevedore bucket setup --origins https://app.example",
    "stevedore bucket setup --origins https://app.example --print",
    "stevedore bucket check"
  ],
  actions: {
    setup: { accepts: settingUp, run: runs(Effect.all(settingUp), ofBucket, ({ setup }) => setup) },
    check: { accepts: storing, run: runs(Effect.all(storing), ofBucket, ({ check }) => check) }
  }
})

const sandbox = make({
  name: "sandbox",
  summary: "run a local service and storage to try things out",
  help: "Run a service and its storage on this machine, to try things out",
  examples: [
    "stevedore sandbox",
    "stevedore sandbox --port 0 --storage-port 0 --projects 250 --json",
    "echo 'on(\"put\").times(2).answer(503, \"SlowDown\")' > bad-day.faults && stevedore sandbox --faults bad-day.faults"
  ],
  accepts: trying,
  run: runs(Effect.all(trying), () => import("./sandbox.js"), ({ run }) => run)
})

export const commands = { serve, token, files, bucket, sandbox }
