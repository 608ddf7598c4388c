/**
 * Tells each step of a command, for `--verbose`: every call to the service and every transfer to or from storage, when
 * it ends.
 */
import * as Measure from "@stevedore/core/parts/measure"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Runtime from "effect/Runtime"
import * as Tracer from "effect/Tracer"

// Other spans, such as those of the sandbox's server, may have a whole URL among their attributes.
const harmless: ReadonlySet<string> = new Set([
  "attempt",
  "bytes",
  "fileId",
  "index",
  "items",
  "limit",
  "origin",
  "part",
  "parts",
  "path",
  "sessions",
  "size"
])

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.match(exit, {
    onSuccess: () => "done",
    onFailure: (cause) =>
      Option.match(Cause.failureOption(cause), {
        onNone: () => Cause.isInterruptedOnly(cause) ? "interrupted" : "defect",
        onSome: (error) => Predicate.hasProperty(error, "_tag") ? String(error._tag) : "failed"
      })
  })

const endOf = (span: Tracer.Span, endTime: bigint, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  Effect.logDebug(span.name).pipe(Effect.annotateLogs({
    ...Object.fromEntries([...span.attributes].filter(([name]) => harmless.has(name))),
    outcome: outcomeOf(exit),
    took: Measure.duration(Duration.nanos(endTime - span.status.startTime))
  }))

/** Logs each step of this effect when it ends, at level debug. No step shows a token or a signature. */
export const tellSteps = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const tracer = yield* Effect.tracer
    const runtime = yield* Effect.runtime<never>()
    const telling = Tracer.make({
      span: (...given) => {
        const span = tracer.span(...given)
        const end = span.end.bind(span)
        span.end = (endTime, exit) => {
          Runtime.runSync(runtime)(endOf(span, endTime, exit))
          end(endTime, exit)
        }
        return span
      },
      context: tracer.context
    })
    return yield* Effect.withTracer(effect, telling)
  })
