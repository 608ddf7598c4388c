/** Every command, in the order of the help. */
import * as Effect from "effect/Effect"
import * as BulkCommands from "../bulk/commands.js"
import * as DoctorCommands from "../doctor/commands.js"
import * as DownloadCommands from "../download/commands.js"
import * as ListCommands from "../list/commands.js"
import * as McpCommands from "../mcp/commands.js"
import { make, type Page } from "../options/command.js"
import { optionalArgument } from "../options/parameter.js"
import { ofService } from "../options/shared.js"
import { name } from "../options/values.js"
import * as ServeCommands from "../serve/commands.js"
import * as UploadCommands from "../upload/commands.js"
import * as Help from "./help.js"

/** What the help says about each command. */
export const pages = (): ReadonlyArray<Page> => commands

const config = make({
  name: "config",
  summary: "show the settings in force, and where they come from",
  help:
    "Show the settings in force, and where each comes from: an option, a variable, or the configuration file. The token is " +
    "never shown",
  examples: ["stevedore config", "stevedore config --config other.json --json"],
  accepts: ofService,
  run: Effect.flatMap(
    Effect.all(ofService),
    (given) => Effect.flatMap(Effect.promise(() => import("./config.js")), ({ run }) => run(given, pages()))
  )
})

const described = { command: optionalArgument({ name: "COMMAND", takes: name, help: "A command to describe" }) }

const help = make({
  name: "help",
  summary: "show this help, or that of a command",
  help: "Show what there is, or what a command accepts",
  examples: ["stevedore help", "stevedore help upload"],
  accepts: described,
  run: Effect.flatMap(Effect.all(described), ({ command }) => Help.show(command, pages()))
})

/** Every command. */
export const commands = [
  UploadCommands.commands.upload,
  UploadCommands.commands.uploads,
  UploadCommands.commands.uploaded,
  DownloadCommands.commands.download,
  BulkCommands.commands.bulk,
  McpCommands.commands.mcp,
  UploadCommands.commands.limit,
  ListCommands.commands.file,
  ListCommands.commands.projects,
  ListCommands.commands.list,
  ListCommands.commands.whoami,
  DoctorCommands.commands.doctor,
  config,
  help,
  ServeCommands.commands.serve,
  ServeCommands.commands.token,
  ServeCommands.commands.files,
  ServeCommands.commands.bucket,
  ServeCommands.commands.sandbox
]

type Any = typeof commands[number]["run"]

/** What a command does. */
export type Run = Effect.Effect<void, Effect.Effect.Error<Any>, Effect.Effect.Context<Any>>
