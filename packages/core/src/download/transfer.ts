import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { BandwidthLimit } from "../BandwidthLimit.js"
import * as Pulls from "../base/effect.js"
import type { Pull } from "../base/effect.js"
import { leastProgress, unstalled } from "../base/fibers.js"
import { ConnectionFailed, TimedOut } from "../ConnectionError.js"
import type { DownloadError, InvalidRange } from "../DownloadError.js"
import { DownloadIncomplete } from "../DownloadError.js"
import * as Metrics from "../Metrics.js"
import * as RetryPolicy from "../RetryPolicy.js"
import * as RetryBudget from "../service/retryBudget.js"
import * as RangedContent from "../storage/range.js"
import * as Timeouts from "../Timeouts.js"
import type { Answer, Content, RequestedBytes } from "./answer.js"
import { changed, pause, request } from "./answer.js"

export interface Transfer {
  readonly content: Content
  /** As the caller requested, with the etag of the first response. */
  readonly asked: RequestedBytes
  readonly resume: boolean
  /** Whether each chunk is consumed before the next is requested, so that its memory may be reused. */
  readonly passing: boolean
  /** Closes the connection of the first response: a broken one is closed before the next one starts. */
  readonly close: Effect.Effect<void>
}

/** The requested bytes, starting with those of one response, and resumed with another where it breaks. */
export const bytesOf = (
  transfer: Transfer,
  first: Answer
): Effect.Effect<Pull<Uint8Array, DownloadError>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { asked, content } = transfer
    const scope = yield* Effect.scope
    const received = yield* Metrics.receiver
    let current = yield* wanted(transfer, first, asked.start)
    let known = knownBy(transfer, first)
    let { attempt } = first
    let from = asked.start
    let position = from
    let { close } = transfer

    const next: Pull<Uint8Array, DownloadError> = Effect.suspend(() =>
      Effect.matchEffect(current, {
        onSuccess: (chunk) => {
          position += chunk.byteLength
          received(chunk.byteLength)
          return position > known.limit
            ? Effect.fail(Option.some(incomplete(transfer, known.limit, position)))
            : Effect.succeed(chunk)
        },
        onFailure: (broken) =>
          // A break after the last byte does not matter.
          Option.match(
            isWhole(known, position) ? Option.none() : Option.orElse(broken, () => shortOf(transfer, known, position)),
            {
              onNone: () => Effect.fail(Option.none()),
              onSome: (error) => Effect.zipRight(Effect.mapError(goOn(error), Option.some), next)
            }
          )
      })
    )

    const goOn = (cause: DownloadError): Effect.Effect<void, DownloadError> =>
      Effect.gen(function*() {
        // After progress, attempts are counted from the start: over a bad connection, a long download is cut more often
        // than a request may fail. What comes in drops is not progress.
        const progress = cause._tag === "TimedOut" ? leastProgress : 1
        const error = withAttempts(cause, position - from >= progress ? 1 : attempt)
        const inForce = yield* RetryPolicy.RetryPolicy
        // Once bytes have come, the setup is right, and what fails is the connection
        const policy = position > asked.start
          ? { ...inForce, attempts: RetryBudget.patient(inForce.attempts) }
          : inForce
        const provable = position === asked.start ||
          (Option.exists(asked.etag, RangedContent.isStrong) && !isBeyond(known, position))
        if (!transfer.resume || !provable || !RetryPolicy.repeats(policy, error)) return yield* Effect.fail(error)
        yield* close
        yield* pause(content, policy, error)
        const own = yield* Scope.fork(scope, scope.strategy)
        close = Scope.close(own, Exit.void)
        const etag = Option.filter(asked.etag, RangedContent.isStrong)
        const rest = yield* request(content, { start: position, end: known.end, etag }, error.attempts + 1).pipe(
          Effect.provideService(RetryPolicy.RetryPolicy, policy),
          Scope.extend(own),
          Effect.matchEffect({
            onSuccess: Effect.succeedSome,
            onFailure: (again) =>
              again._tag === "InvalidRange"
                ? Effect.as(checkEnd(transfer, known, position, { outside: again, error }), Option.none())
                : Effect.fail(again)
          })
        )
        if (Option.isNone(rest)) {
          known = { ...known, end: Option.some(position) }
          current = Effect.fail(Option.none())
          return
        }
        yield* checkSame(content, { etag: asked.etag, totalLength: known.totalLength }, rest.value)
        known = knownBy(transfer, rest.value, known)
        current = yield* Scope.extend(wanted(transfer, rest.value, position), own)
        attempt = rest.value.attempt
        from = position
      })

    return next
  })

/** Passes the same bytes to a sink, chunk by chunk. */
export const drained = <E, R>(
  transfer: Omit<Transfer, "passing">,
  first: Answer,
  sink: (chunk: Uint8Array) => Effect.Effect<void, E, R>
): Effect.Effect<void, DownloadError | E, R> =>
  Effect.scoped(
    Effect.flatMap(bytesOf({ ...transfer, passing: true }, first), (pull) =>
      Effect.catchAll(
        Effect.forever(Effect.flatMap(pull, (chunk) => Effect.mapError(sink(chunk), Option.some))),
        (end: Option.Option<DownloadError | E>) =>
          Option.match(end, { onNone: () => Effect.void, onSome: (error) => Effect.fail(error) })
      ))
  )

/** What the responses so far say about where the bytes end. */
interface Known {
  readonly totalLength: Option.Option<number>
  /** The position after the last byte that will come. */
  readonly end: Option.Option<number>
  /** The position after the last byte that any response declared. */
  readonly reached: number
  /** Whether more may follow after the last response. */
  readonly open: boolean
  /**
   * The position that the last response must not exceed: one with more than its range is not that range, and one with more
   * than the file is not the file.
   */
  readonly limit: number
}

const nothingKnown = { totalLength: Option.none<number>(), reached: 0 }

const toldEnd = ({ length, start }: Answer): Option.Option<number> => Option.map(length, (bytes) => start + bytes)

const least = (one: Option.Option<number>, other: Option.Option<number>): Option.Option<number> =>
  Option.orElse(Option.zipWith(one, other, Math.min), () => Option.orElse(one, () => other))

const knownBy = (
  { asked, content }: Pick<Transfer, "asked" | "content">,
  answer: Answer,
  before: Pick<Known, "totalLength" | "reached"> = nothingKnown
): Known => {
  const totalLength = Option.orElse(before.totalLength, () => answer.totalLength)
  const end = endOf(asked, { ...answer, totalLength })
  const told = toldEnd(answer)
  return {
    totalLength,
    end,
    reached: Math.max(before.reached, Option.getOrElse(told, () => 0)),
    open: answer.partial && Option.isNone(end),
    limit: Option.getOrElse(least(Option.filter(told, () => answer.partial), content.size), () => Infinity)
  }
}

/**
 * The position after the last byte that will come. A range may extend past the end of the file, so the end that the
 * server reports decides. The end of a partial response does not, because it may be shorter than requested.
 */
export const endOf = (asked: RequestedBytes, answer: Answer): Option.Option<number> =>
  least(asked.end, Option.orElse(answer.totalLength, () => answer.partial ? Option.none() : toldEnd(answer)))

const isWhole = ({ end }: Known, position: number): boolean => Option.contains(end, position)

// The transport decoded the bytes without saying so: the declared length was for other bytes, and only the transport
// knows where these end.
const isBeyond = ({ end }: Known, position: number): boolean => Option.exists(end, (told) => position > told)

const incomplete = ({ asked, content: { fileId } }: Transfer, end: number, position: number): DownloadIncomplete =>
  new DownloadIncomplete({ fileId, expected: end - asked.start, received: position - asked.start })

const shortOf = (
  transfer: Transfer,
  { end, open, reached }: Known,
  position: number
): Option.Option<DownloadError> =>
  Option.map(
    Option.filter(open ? Option.some(Math.max(position + 1, reached)) : end, (after) => position < after),
    (after) => incomplete(transfer, after, position)
  )

// There is nothing after the last byte: everything had already arrived before the connection broke.
const checkEnd = (
  { asked, content }: Transfer,
  { reached, totalLength }: Known,
  position: number,
  { error, outside }: { readonly outside: InvalidRange; readonly error: DownloadError }
): Effect.Effect<void, DownloadError> => {
  if (position === asked.start) return Effect.fail(outside)
  const told = Option.fromNullable(outside.totalLength)
  if (Option.isNone(told)) return Effect.fail(error)
  const isAnother = Option.exists(totalLength, (size) => size !== told.value) ||
    told.value < Math.max(reached, position)
  if (isAnother) return Effect.fail(changed(content, inBytes(totalLength), inBytes(told), outside.attempts))
  return told.value === position ? Effect.void : Effect.fail(error)
}

const inBytes = Option.map((size: number) => `${size} bytes`)

export const checkSame = (
  content: Content,
  before: { readonly etag: Option.Option<string>; readonly totalLength: Option.Option<number> },
  answer: Answer
): Effect.Effect<void, DownloadError> => {
  const differ = <A>(one: Option.Option<A>, other: Option.Option<A>) =>
    Option.isSome(one) && Option.isSome(other) && one.value !== other.value
  const unproven = Option.exists(before.etag, RangedContent.isStrong) && Option.isNone(answer.etag)
  if (unproven || differ(before.etag, answer.etag)) {
    return Effect.fail(changed(content, before.etag, answer.etag, answer.attempt))
  }
  if (differ(before.totalLength, answer.totalLength)) {
    return Effect.fail(changed(content, inBytes(before.totalLength), inBytes(answer.totalLength), answer.attempt))
  }
  return Effect.void
}

const patient = (
  { passing }: Transfer,
  { attempt, bytes, peer, pull }: Answer
): Effect.Effect<Pull<Uint8Array, DownloadError>, never, Scope.Scope> =>
  Effect.gen(function*() {
    const { stall } = yield* Timeouts.Timeouts
    return yield* unstalled(
      passing && pull !== undefined ? pull : yield* Pulls.ofStream(bytes),
      stall,
      () => new TimedOut({ peer, phase: "body", after: stall, attempts: attempt }),
      ({ byteLength }) => byteLength
    )
  })

// A server that does not support ranges sends everything: what is already there, and what was not requested, is
// skipped.
const wanted = (
  transfer: Transfer,
  answer: Answer,
  from: number
): Effect.Effect<Pull<Uint8Array, DownloadError>, never, Scope.Scope> => {
  const end = Option.getOrElse(transfer.asked.end, () => Infinity)
  // a partial response with a declared length does not extend past what was requested
  const isExact = answer.start === from && (end === Infinity || (answer.partial && Option.isSome(answer.length)))
  const bytes = Effect.zipWith(patient(transfer, answer), BandwidthLimit, (pull, { pull: limited }) => limited(pull))
  return isExact ? bytes : Effect.map(bytes, (pull) => sliced(pull, from - answer.start, end - answer.start))
}

const sliced = <E>(pull: Pull<Uint8Array, E>, start: number, end: number): Pull<Uint8Array, E> => {
  let seen = 0
  const next: Pull<Uint8Array, E> = Effect.suspend(() =>
    seen >= end ? Effect.fail(Option.none()) : Effect.flatMap(pull, (chunk) => {
      const before = seen
      seen += chunk.byteLength
      const kept = before >= start && seen <= end
        ? chunk
        : chunk.subarray(Math.max(0, start - before), Math.max(0, end - before))
      return kept.byteLength > 0 ? Effect.succeed(kept) : next
    })
  )
  return next
}

const withAttempts = (error: DownloadError, attempts: number): DownloadError => {
  switch (error._tag) {
    case "ConnectionFailed":
      return new ConnectionFailed({ ...error, attempts })
    case "DownloadIncomplete":
      return new DownloadIncomplete({ ...error, attempts })
    case "TimedOut":
      return new TimedOut({ ...error, attempts })
    default:
      return error
  }
}
