/** `npm run demo:service`: the number of files is 12, or the argument. */
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Duration, Effect, Option, Predicate } from "effect"
import { demo } from "./Demo.js"

const describe = (cause: Cause.Cause<unknown>): string =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => Cause.pretty(cause),
    onSome: (error) => Predicate.hasProperty(error, "message") ? String(error.message) : String(error)
  })

Effect.timed(demo(Number(process.argv[2] ?? 12))).pipe(
  Effect.flatMap(([took]) => Console.log(`\nThe demo took ${Duration.toSeconds(took).toFixed(1)} s.`)),
  Effect.tapErrorCause((cause) => Console.error(`\nThe demo failed. ${describe(cause)}`)),
  Effect.provide(NodeContext.layer),
  NodeRuntime.runMain({ disableErrorReporting: true })
)
