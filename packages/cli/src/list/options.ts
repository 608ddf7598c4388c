/** What the commands that show what the service has accept. */
import type { Sort } from "@stevedore/core/Lists"
import { argument, flag, option, options } from "../options/parameter.js"
import type { Accepted } from "../options/parameter.js"
import { ofService, oneFileId } from "../options/shared.js"
import { matching, name, path, text, wholeNumber } from "../options/values.js"

export const ofFile = { fileId: oneFileId, ...ofService }

export const walking = {
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

export const listing = {
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

/** What the command is given. */
export type Options = Accepted<typeof listing>
