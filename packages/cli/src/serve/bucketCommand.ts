/** `stevedore bucket`: what it accepts, and the help about it. */
import * as Effect from "effect/Effect"
import { make, runs } from "../options/command.js"
import { argument, flag, option } from "../options/parameter.js"
import { ofMachine } from "../options/shared.js"
import { choice, text } from "../options/values.js"

const storing = {
  action: argument({ name: "ACTION", takes: choice("setup", "check"), help: "What to do" }),
  origins: option({
    name: "origins",
    takes: text("ORIGINS"),
    help: "Origins whose pages upload, with a comma between. Default: STEVEDORE_SERVE_ORIGINS, or none"
  }),
  print: flag({
    name: "print",
    actions: ["setup"],
    help: "show the rules instead of writing them, to be written by other means"
  }),
  ...ofMachine
}

const bucket = make({
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
  accepts: storing,
  run: runs(Effect.all(storing), () => import("./bucket.js"), ({ run }) => run)
})

export const commands = { bucket }
