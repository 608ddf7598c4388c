/** The commands that show what the service has: what they accept, and the help about them. */
import type { Sort } from "@stevedore/core/Lists"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { make, runs } from "../options/command.js"
import { argument, flag, option, options } from "../options/parameter.js"
import { ofService, oneFileId } from "../options/shared.js"
import { matching, name, path, text, wholeNumber } from "../options/values.js"

const ofFile = { fileId: oneFileId, ...ofService }

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

const walking = {
  pageSize: option({
    name: "page-size",
    takes: wholeNumber(1, 100),
    help: "Items per page. Default: as many as the service allows"
  }),
  limit: option({
    name: "limit",
    takes: wholeNumber(1),
    elsewhere: ["max-items"],
    help: "Maximum number of items to print. Default: all"
  }),
  skipInvalid: flag({ name: "skip-invalid", help: "Skip invalid items instead of failing at the first" }),
  ...ofService
}

const isSort = (text: string): text is Sort<string> => /^[^:]+:(?:asc|desc)$/.test(text)

const listing = {
  resource: argument({
    name: "RESOURCE",
    takes: name,
    help:
      "projects, data, docs, insights, highlights, tags, channels, contacts, folders, users, folders/ID/contents, or " +
      "the path of any other list"
  }),
  filter: options({
    name: "filter",
    takes: text("NAME=VALUE"),
    help: "Filter, such as title.contains=interview. Can be repeated"
  }),
  sort: options({
    name: "sort",
    takes: matching("FIELD:asc|desc", "a field and a direction, such as title:asc", isSort),
    help: "Sort order, such as title:asc. Repeat for a second field. Default: created_at:desc"
  }),
  resume: option({
    name: "resume",
    takes: path("FILE"),
    help: "Resume from the checkpoint in this file, and keep it up to date"
  }),
  ...walking
}

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
