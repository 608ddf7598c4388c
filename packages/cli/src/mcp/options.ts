/** What `stevedore mcp` accepts. */
import { option, options } from "../options/parameter.js"
import type { Accepted } from "../options/parameter.js"
import { connection, limitRate, shared } from "../options/shared.js"
import { path, text } from "../options/values.js"

export const serving = {
  roots: options({
    name: "root",
    takes: text("DIR"),
    help: "A directory whose files the agent may upload. Given several times, they are looked for in this order"
  }),
  downloads: option({
    name: "allow-downloads",
    takes: path("DIR"),
    help: "The directory to which the agent may download. Without it, it can download nothing"
  }),
  allowed: options({
    name: "allow-secret",
    takes: text("NAME"),
    help: "A name that may be uploaded although files of that name usually hold secrets, such as .env or server.pem"
  }),
  limitRate,
  ...connection,
  ...shared
}

/** What the command is given. */
export type Options = Accepted<typeof serving>
