/** `stevedore doctor`: what it accepts, and the help about it. */
import * as Effect from "effect/Effect"
import { make, runs } from "../options/command.js"
import { flag, option } from "../options/parameter.js"
import { ofService } from "../options/shared.js"
import { path, text } from "../options/values.js"

const checking = {
  file: option({
    name: "file",
    takes: path("PATH"),
    help: "A file to upload later: check whether it can finish in time, without sending it"
  }),
  origin: option({
    name: "origin",
    takes: text("ORIGIN"),
    help: "Origin of web pages that will upload: check the storage's CORS rules for it"
  }),
  writeProfile: option({
    name: "write-profile",
    takes: path("FILE.json"),
    help: "Ask the service for what the profile does not say of it, and write a profile with which every step works"
  }),
  overwrite: flag({ name: "overwrite", help: "Replace an existing file of --write-profile" }),
  ...ofService
}

const doctor = make({
  name: "doctor",
  summary: "check every step of an upload, and how to fix what fails",
  help:
    "Try every step of an upload, and say how to fix what fails. Sends two small files of its own, 1 KiB and 5 MiB, and " +
    "reports what is left of them at the service",
  examples: [
    "stevedore doctor",
    "stevedore doctor --file interview.mp4 --origin https://app.example",
    "stevedore doctor --write-profile service.json",
    "stevedore doctor --json | jq 'select(.outcome == \"failed\")'"
  ],
  accepts: checking,
  run: runs(Effect.all(checking), () => import("./doctor.js"), ({ run }) => run)
})

export const commands = { doctor }
