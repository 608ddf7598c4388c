/** The commands that show what the service has: what they accept, and the help about them. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { make, runs } from "../options/command.js"
import { ofService } from "../options/shared.js"
import { listing, ofFile, walking } from "./options.js"

const file = make({
  name: "file",
  elsewhere: ["head", "lsl"],
  summary: "show the record of a file",
  help: "Show the record of a file",
  examples: ["stevedore file 1kf00nQk9yfWKfsTDni8aO"],
  accepts: ofFile,
  run: runs(Effect.all(ofFile), () => import("./inspect.js"), ({ file }) => file)
})

const whoami = make({
  name: "whoami",
  summary: "show whom the token belongs to",
  help: "Show whom the token belongs to",
  examples: ["stevedore whoami"],
  accepts: ofService,
  run: runs(Effect.all(ofService), () => import("./inspect.js"), ({ whoami }) => whoami)
})

const list = make({
  name: "list",
  elsewhere: ["ls", "lsf", "lsjson"],
  summary: "list items of any kind",
  help: "List items, one per line: id, title, creation time",
  examples: [
    "stevedore list tags --limit 20",
    "stevedore list data --filter title.contains=interview --filter created_at.gte=2025-01-01 --sort title:asc",
    "stevedore list contacts --json --resume contacts.checkpoint >> contacts.jsonl"
  ],
  accepts: listing,
  run: runs(Effect.all(listing), () => import("./list.js"), ({ run }) => run)
})

const ofProjects = Effect.map(Effect.all(walking), (given) => ({
  ...given,
  resource: "projects",
  filter: [],
  sort: [],
  resume: Option.none()
}))

const projects = make({
  name: "projects",
  summary: "list the projects",
  help: "List the projects. Short for: stevedore list projects",
  examples: ["stevedore projects --limit 20 --json | jq .title"],
  accepts: walking,
  run: runs(ofProjects, () => import("./list.js"), ({ run }) => run)
})

export const commands = { file, projects, list, whoami }
