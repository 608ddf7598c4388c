/** Every client against every fault: each walk in a process of its own, stopped when it goes on for too long. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { fork } from "node:child_process"
import { join } from "node:path"
import * as Bundle from "../Bundle.js"
import type { ClientName } from "./clients/index.js"
import { clients } from "./clients/index.js"
import type { Fault } from "./Fault.js"
import * as FaultyServer from "./FaultyServer.js"
import * as Report from "./Report.js"
import type { Observation } from "./Verdict.js"

/** More than any walk of 500 items by 100 or 50 needs, with all repeats that a client may make. */
const mostRequests = 40

/** Longer than the defaults of any client wait between two requests of a walk that goes on. */
const longestSilence = Duration.seconds(15)

interface Process {
  /** What it told at the last. */
  readonly items: () => number
  readonly ended: Effect.Effect<Pick<Observation, "items" | "again" | "duplicates" | "end">>
}

/** The walking process as a script, which goes with the scope. */
export const program: Effect.Effect<string, never, Scope.Scope> = Effect.gen(function*() {
  const folder = yield* Bundle.folder
  yield* Bundle.programs(["faults/walk"], folder)
  return join(folder, "faults/walk.mjs")
})

const start = (
  program: string,
  words: readonly [client: ClientName, fault: Fault, origin: string]
): Effect.Effect<Process, never, Scope.Scope> =>
  Effect.gen(function*() {
    let items = 0
    let last: Option.Option<Report.Report> = Option.none()
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        // what was given to this process, such as a loader, is not for that one
        fork(program, words, { execArgv: [], stdio: ["ignore", "ignore", "inherit", "ipc"] })
      ),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    child.on("message", (message) => {
      last = Report.decode(message)
      if (Option.isSome(last)) items = last.value.items
    })
    const ended: Process["ended"] = Effect.async((resume) => {
      child.once("exit", () => {
        const report = Option.getOrUndefined(last)
        if (report?._tag !== "Ended") {
          resume(Effect.succeed({ items, again: undefined, duplicates: 0, end: { _tag: "Vanished" } }))
        } else {
          const { again, duplicates, error } = report
          resume(Effect.succeed({
            items,
            again,
            duplicates,
            end: error === undefined ? { _tag: "Done" } : { _tag: "Error", ...error }
          }))
        }
      })
    })
    return { items: () => items, ended }
  })

/** Ends when the walk has gone on for too long, and says in which way. */
const watch = (server: FaultyServer.FaultyServer): Effect.Effect<"TooManyRequests" | "TooLong"> => {
  const step = Duration.millis(50)
  const wait = (requests: number, silence: number): Effect.Effect<"TooManyRequests" | "TooLong"> =>
    Effect.flatMap(Effect.sleep(step), () => {
      const now = server.requests()
      if (now > mostRequests) return Effect.succeed("TooManyRequests")
      const silent = now === requests ? silence + Duration.toMillis(step) : 0
      return silent > Duration.toMillis(longestSilence) ? Effect.succeed("TooLong") : wait(now, silent)
    })
  return wait(0, 0)
}

/** One walk. */
export const observe = (program: string, name: ClientName, fault: Fault): Effect.Effect<Observation> =>
  Effect.scoped(Effect.gen(function*() {
    const server = yield* FaultyServer.listen(clients[name].dialect, fault)
    const child = yield* start(program, [name, fault, server.origin])
    const seen = yield* Effect.race(
      child.ended,
      Effect.map(watch(server), (_tag): Effect.Effect.Success<Process["ended"]> => ({
        items: child.items(),
        again: undefined,
        duplicates: 0,
        end: { _tag }
      }))
    )
    return { ...seen, fault, requests: server.requests(), early: server.early() }
  }))
