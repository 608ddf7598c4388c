/** What `stevedore doctor` accepts. */
import { flag, option } from "../options/parameter.js"
import type { Accepted } from "../options/parameter.js"
import { ofService } from "../options/shared.js"
import { matching, path } from "../options/values.js"

export const checking = {
  file: option({
    name: "file",
    takes: path("PATH"),
    help: "A file to upload later: check whether it can finish in time, without sending it"
  }),
  origin: option({
    name: "origin",
    takes: matching(
      "ORIGIN",
      "the origin of your pages, such as https://app.example",
      (text): text is string => URL.canParse(text) && new URL(text).origin === text
    ),
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

/** What the command is given. */
export type Options = Accepted<typeof checking>
