/** `stevedore mcp`: whether what it needs is beside this package, and then the server. */
import * as Effect from "effect/Effect"
import { createRequire } from "node:module"
import * as Installed from "../options/installed.js"
import type { Options } from "./options.js"

const wanted = ["@effect/ai@0.37", "@effect/rpc@0.76", "@effect/experimental@0.61"]

/** This package has none of it, so that nobody installs a server for agents to upload a file. */
export const run = (options: Options) =>
  Effect.suspend(() => Installed.check("mcp", Installed.problem(createRequire(import.meta.url), wanted))).pipe(
    Effect.zipRight(Effect.promise(() => import("./server.js"))),
    Effect.flatMap(({ serve }) => serve(options))
  )
