/** `stevedore mcp`: what it accepts, and the help about it. */
import * as Effect from "effect/Effect"
import { make, remembering, runs } from "../options/command.js"
import { serving } from "./options.js"

const mcp = make({
  name: "mcp",
  summary: "move files for an agent, by the Model Context Protocol",
  help:
    "Serve the Model Context Protocol on standard input and output, for a program that runs an agent. The agent names files " +
    "below --root and gets ids and states: no bytes, no tokens and no URLs. What was unfinished when it ended goes on at the " +
    "next start",
  examples: [
    "stevedore mcp --root ~/interviews",
    "stevedore mcp --root ~/interviews --root /mnt/archive --allow-downloads ~/transcripts"
  ],
  accepts: serving,
  run: runs(Effect.all(serving), () => import("./server.js"), ({ serve }) => remembering(serve))
})

export const commands = { mcp }
