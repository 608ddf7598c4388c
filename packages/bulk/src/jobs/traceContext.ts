import * as Headers from "@effect/platform/Headers"
import * as HttpTraceContext from "@effect/platform/HttpTraceContext"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"

/** The span that is open, as the value of a header `traceparent`; undefined if there is none. */
export const current: Effect.Effect<string | undefined> = Effect.match(Effect.currentSpan, {
  onFailure: () => undefined,
  onSuccess: (span) => HttpTraceContext.toHeaders(span)["traceparent"]
})

/** The span that such a value names. */
export const decode = (traceparent: string | null): Option.Option<Tracer.ExternalSpan> =>
  traceparent === null ? Option.none() : HttpTraceContext.w3c(Headers.unsafeFromRecord({ traceparent }))
