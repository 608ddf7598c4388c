/** `stevedore doctor`: what it accepts, and the help about it. */
import * as Effect from "effect/Effect"
import { make, runs } from "../options/command.js"
import { checking } from "./options.js"

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
