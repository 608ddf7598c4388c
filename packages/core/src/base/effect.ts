/** What Effect 3 and Effect 4 do differently: the seam of the second line replaces this module as a whole. */
import * as Arr from "effect/Array"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DefaultServices from "effect/DefaultServices"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import * as FiberRefs from "effect/FiberRefs"
import { constVoid } from "effect/Function"
import type * as Option from "effect/Option"
import type * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as EffectRecord from "effect/Record"
import * as Runtime from "effect/Runtime"
import type * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ExactNumber } from "../Json.js"

/** A duration as a person says it: from two days on in days, and then in years. */
export const spelled = (duration: Duration.Duration): string => {
  const days = Math.floor(Duration.toMillis(duration) / 86_400_000)
  return days < 2 ? Duration.format(duration) : days < 731 ? `${days} days` : `${Math.floor(days / 365.25)} years`
}

/** The waits of a schedule whose every wait is waited for, in their order, and no more than these many. */
export const waitsOf = <A>(
  schedule: Schedule.Schedule<A>,
  most: number
): Effect.Effect<ReadonlyArray<Duration.Duration>> =>
  Effect.gen(function*() {
    const waits: Array<Duration.Duration> = []
    let now = 0
    let state = schedule.initial
    while (waits.length < most) {
      const [next, , decision] = yield* schedule.step(now, undefined, state)
      if (ScheduleDecision.isDone(decision)) break
      const at = Math.max(now, ScheduleIntervals.start(decision.intervals))
      waits.push(Duration.millis(at - now))
      state = next
      now = at
    }
    return waits
  })

// The timers of the platform fire at once if they are set to more than this
const longestTimer = 2 ** 31 - 1

const isLive = (clock: Clock.Clock): boolean => clock === Context.get(DefaultServices.liveServices, Clock.Clock)

/** Runs an effect after this long by Effect's clock, in a fiber of its own. Returns a function that cancels it. */
export type Timer = (limit: Duration.Duration, late: Effect.Effect<void>) => () => void

const timerOf = (clock: Clock.Clock, start: (effect: Effect.Effect<void>) => () => void): Timer => (limit, late) => {
  const millis = Duration.toMillis(limit)
  if (!isLive(clock)) return start(Effect.zipRight(Effect.sleep(limit), late))
  if (millis > longestTimer) return constVoid
  let cancel = () => clearTimeout(timeout)
  const timeout = setTimeout(() => {
    cancel = start(late)
  }, millis)
  return () => cancel()
}

/**
 * The timer of where this runs. With the live clock it is one of the platform, and costs no fiber before the time is up;
 * with any other, such as the one of a test, it is a fiber that sleeps.
 */
export const timer: Effect.Effect<Timer> = /* #__PURE__ */ Effect.map(
  /* #__PURE__ */ Effect.runtime<never>(),
  (runtime): Timer =>
    timerOf(
      Context.get(FiberRefs.getOrDefault(runtime.fiberRefs, DefaultServices.currentServices), Clock.Clock),
      (effect) => {
        const fiber = Runtime.runFork(runtime)(Effect.interruptible(effect))
        return () => fiber.unsafeInterruptAsFork(FiberId.none)
      }
    )
)

/**
 * Produces one element at a time, and fails with `None` at the end. Streams are made of this; it is used where a Stream
 * would cost more than what it carries.
 */
export type Pull<A, E> = Effect.Effect<A, Option.Option<E>>

/** The elements of a stream as they come, several at a time. */
export const severalOf = <A, E>(
  stream: Stream.Stream<A, E>
): Effect.Effect<Pull<ReadonlyArray<A>, E>, never, Scope.Scope> =>
  Effect.map(Stream.toPull(stream), Effect.map(Chunk.toReadonlyArray))

export const ofStream = <A, E>(stream: Stream.Stream<A, E>): Effect.Effect<Pull<A, E>, never, Scope.Scope> =>
  Effect.map(severalOf(stream), (more) => {
    let several: ReadonlyArray<A> = []
    let index = 0
    const next: Pull<A, E> = Effect.suspend(() => {
      const one = several[index++]
      return index <= several.length && one !== undefined ? Effect.succeed(one) : Effect.flatMap(more, (got) => {
        several = got
        index = 0
        return next
      })
    })
    return next
  })

/** A stream that goes on from one state to the next, one element at a time. */
export const paginate: <S, A, E, R>(
  start: S,
  step: (state: S) => Effect.Effect<readonly [A, Option.Option<S>], E, R>
) => Stream.Stream<A, E, R> = Stream.paginateEffect

/** What is pulled, as a stream. */
export const toStream: <A, E, R>(pull: Effect.Effect<A, Option.Option<E>, R>) => Stream.Stream<A, E, R> =
  Stream.repeatEffectOption

/** Decodes with a Schema, and keeps the fields that it does not name, at any depth. */
export const decodeKeeping = <A, I>(
  schema: Schema.Schema<A, I>
): (value: unknown) => Either.Either<A, ParseResult.ParseError> =>
  Schema.decodeUnknownEither(schema, { onExcessProperty: "preserve" })

/** A Schema that refuses the fields that it does not name, wherever it is used. */
export const closed = <Fields extends Schema.Struct.Fields>(schema: Schema.Struct<Fields>): Schema.Struct<Fields> =>
  schema.annotations({ parseOptions: { onExcessProperty: "error" } })

/**
 * The message for Schemas of values with signed URLs: by default, the error of their decoder repeats the value,
 * possibly all of it.
 */
export const hiddenValue = (): string => "an invalid record is not shown"

export const hidden = () => ({ message: hiddenValue(), override: true })

/**
 * Where decoding failed first, and how, in words that never repeat a value: it may be a signed URL or somebody's data.
 */
export const decodeProblem = (
  error: ParseResult.ParseError,
  at = ""
): { readonly path: string; readonly problem: string } => {
  const [{ issue, path }] = leavesOf(error.issue)
  return {
    path: showPath(at, path).slice(0, longestPath),
    problem: problems[issue._tag] ?? "a value of the wrong type"
  }
}

/** A record may have a name of any length. */
const longestPath = 300

/** What is wrong at one place. */
export interface Leaf {
  readonly path: ReadonlyArray<PropertyKey>
  readonly issue: ParseResult.ParseIssue
}

/**
 * All problems, place by place. Effect's formatters also show the value, which throws on deeply nested JSON and on
 * objects that cannot be printed, and they add half a KiB to a page.
 */
export const leavesOf = (
  issue: ParseResult.ParseIssue,
  path: Leaf["path"] = []
): Arr.NonEmptyReadonlyArray<Leaf> => {
  if (issue._tag === "Pointer") return leavesOf(issue.issue, path.concat(issue.path))
  if (issue._tag === "Composite") {
    return Arr.flatMap("_tag" in issue.issues ? [issue.issues] : issue.issues, (one) => leavesOf(one, path))
  }
  return "issue" in issue && issue.kind !== "Predicate" ? leavesOf(issue.issue, path) : [{ path, issue }]
}

const showPath = (at: string, path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (shown, key) =>
      typeof key === "number" ? `${shown}[${key}]` : shown === "" ? String(key) : `${shown}.${String(key)}`,
    at
  )

const problems: Readonly<Record<string, string>> = {
  Missing: "a field is missing",
  Unexpected: "an unexpected field"
}

/** Whether a value is an object of JSON. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isReadonlyRecord(value) && !(value instanceof ExactNumber)

/** An object of JSON, whose names and values can be anything. It is not copied. */
export const JsonObject = /* #__PURE__ */ Schema.declare(
  isJsonObject,
  {
    identifier: "JsonObject",
    arbitrary: () => (fc) => fc.dictionary(fc.string(), fc.jsonValue()),
    pretty: () => (value) => JSON.stringify(value)
  }
)

const decodeWith =
  (ours: boolean, isTyped: (entry: readonly [string, unknown]) => boolean) =>
  (wire: Readonly<Record<string, unknown>>) => {
    const { extra, ...placed } = wire
    const displaced = ours && isJsonObject(extra) ? extra : undefined
    const [others, typed] = Arr.partition(Object.entries(displaced === undefined ? wire : placed), isTyped)
    const record = Object.fromEntries(typed)
    return others.length === 0 && displaced === undefined
      ? record
      : { ...record, extra: { ...Object.fromEntries(others), ...displaced } }
  }

const encodeWith = (ours: boolean) => ({ extra = {}, ...typed }: { readonly extra?: object | undefined }) => {
  const taken = (name: string) => Object.hasOwn(typed, name) || (ours && name === "extra")
  const [placed, displaced] = Arr.partition(Object.entries(extra), ([name]) => taken(name))
  return {
    ...typed,
    ...Object.fromEntries(placed),
    ...(displaced.length === 0 ? {} : { extra: Object.fromEntries(displaced) })
  }
}

/**
 * The Schema of a service's record, of which the interface shows nothing: whatever fields come, it decodes. A field is
 * typed if it has the type that is expected of it. Everything else, if there is any, is kept in `extra` as it came, and
 * returns to its place when the record is encoded. What has lost its place to a field of ours stays in `extra` there
 * too: `ours` says that the encoded form is one that we wrote, which may have such an `extra`.
 */
export const openRecord = <Fields extends Schema.Struct.Fields>(
  identifier: string,
  fields: Fields,
  { ours = false }: { readonly ours?: boolean } = {}
) => {
  const fits = EffectRecord.map(
    fields,
    (field, name) => Schema.decodeUnknownEither(Schema.make<unknown>(Schema.Struct({ [name]: field }).ast))
  )
  const isTyped = ([name, value]: readonly [string, unknown]) =>
    Object.hasOwn(fits, name) && value !== undefined && fits[name]?.({ [name]: value })._tag === "Right"
  return Schema.transform(JsonObject, Schema.Struct({ ...fields, extra: Schema.optional(JsonObject) }), {
    strict: false,
    decode: decodeWith(ours, isTyped),
    encode: encodeWith(ours)
  }).annotations({ identifier })
}
