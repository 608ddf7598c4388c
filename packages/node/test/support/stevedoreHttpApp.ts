import { StevedoreHttpApp } from "@stevedore/node"
import { Cause, Effect, Logger } from "effect"

export const app = StevedoreHttpApp.make({
  permit: "everything",
  authorize: ({ cookies }) => cookies["session"] === undefined ? Effect.fail("no session") : Effect.succeed("Ada"),
  lists: ["/v1/projects"]
})

export const initiate = "/v2/files/upload"

export const small = { name: "a.txt", type: "text/plain", size: 5 }

/** What a program tells the log, by level, beside what it gives. */
export const withLog = <A, E, R>(program: Effect.Effect<A, E, R>) => {
  const log: Array<string> = []
  const logger = Logger.make(({ cause, logLevel, message }) =>
    void log.push(`${logLevel.label}: ${String(message)} ${Cause.pretty(cause)}`)
  )
  return Effect.map(
    Effect.provide(program, Logger.replace(Logger.defaultLogger, logger)),
    (value) => ({ value, log })
  )
}
