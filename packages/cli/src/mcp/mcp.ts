/** `stevedore mcp`: whether what it needs is beside this package, and then the server. */
import * as Effect from "effect/Effect"
import { createRequire } from "node:module"
import * as Installed from "../options/installed.js"
import { problem } from "./installed.js"
import type { Options } from "./options.js"

/** This package has none of it, so that nobody installs a server for agents to upload a file. */
export const run = (options: Options) =>
  Effect.suspend(() => Installed.check("mcp", problem(createRequire(import.meta.url)))).pipe(
    Effect.zipRight(Effect.promise(() => import("./server.js"))),
    Effect.flatMap(({ serve }) => serve(options))
  )
