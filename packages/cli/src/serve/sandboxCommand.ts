/** `stevedore sandbox`: what it accepts, and the help about it. */
import * as Effect from "effect/Effect"
import { make, runs } from "../options/command.js"
import { option, optionOr } from "../options/parameter.js"
import { ofMachine } from "../options/shared.js"
import { called, path, text, wholeNumber } from "../options/values.js"

const trying = {
  port: optionOr({
    name: "port",
    takes: wholeNumber(0, 65_535),
    default: 4600,
    help: "Port of the service; 0 for any free port"
  }),
  storagePort: optionOr({
    name: "storage-port",
    takes: wholeNumber(0, 65_535),
    default: 4601,
    help: "Port of the storage; 0 for any free port"
  }),
  directory: option({
    name: "directory",
    takes: path("PATH"),
    help: "Where to keep the uploaded bytes while it runs. Default: a temporary directory"
  }),
  token: option({
    name: "token",
    takes: text("TOKEN"),
    help: "Token to accept. Use a throwaway one that is valid nowhere else"
  }),
  projects: optionOr({
    name: "projects",
    takes: wholeNumber(0, 1_000_000),
    default: 0,
    help: "Number of projects in the list"
  }),
  faults: option({
    name: "faults",
    takes: path("FILE"),
    help: "Faults to inject: one sentence per line, such as on(\"putPart\").part(3).times(2).answer(503), or JSON"
  }),
  variation: option({
    name: "variation",
    takes: called("SEED", wholeNumber(1)),
    help: "Be the service of this number, from 1: one that keeps the interface and differs in all that it leaves open"
  }),
  ...ofMachine
}

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

export const commands = { sandbox }
