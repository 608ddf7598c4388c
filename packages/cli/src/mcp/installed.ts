import * as Installed from "../options/installed.js"

/** What is missing beside this package for agents, with the line that installs it; undefined if nothing is. */
export const problem = (from: NodeJS.Require): string | undefined =>
  Installed.problem(from, ["@effect/ai@0.37", "@effect/rpc@0.76", "@effect/experimental@0.61"])
