/**
 * Whether time is a ground to remove what is old. A clock may leap, at a start or while a program runs, and be put right later:
 * what was removed for its age meanwhile was not old. So it is looked at again and again, and ages count while it has gone on from
 * look to look as time does. All times are in milliseconds.
 */
import type * as KeyValueStore from "@effect/platform/KeyValueStore"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/**
 * The last look at a clock, and since when it goes on as time does.
 *
 * @category models
 */
export interface Looks {
  readonly since: number
  readonly at: number
}

/**
 * By how much a clock may be set without a doubt.
 *
 * @category constants
 */
export const ADJUSTED_MILLIS = 3_600_000

/**
 * For how long nothing is removed for its age after a clock has leapt: long enough for somebody to put it right.
 *
 * @category constants
 */
export const DOUBTED_MILLIS = 86_400_000

/**
 * A look at a clock after the one before. How much time may have passed is what a monotonic clock says, or what is usual for a
 * program that was not running.
 *
 * @category combinators
 */
export const look = (before: Looks, now: number, atLeast: number, atMost: number): Looks => {
  const gone = now - before.at
  const goesOn = gone >= atLeast - ADJUSTED_MILLIS && gone <= atMost + ADJUSTED_MILLIS
  return { since: goesOn ? before.since : now, at: now }
}

/**
 * Whether anything may be removed for its age.
 *
 * @category predicates
 */
export const mayRemove = ({ at, since }: Looks): boolean => at - since >= DOUBTED_MILLIS

const Kept = /* #__PURE__ */ Schema.parseJson(Schema.Struct({ since: Schema.Number, at: Schema.Number }))

/**
 * Looks for a program that is not always there, where something seems to be older than `longest`, and answers whether that may be
 * removed: not before it has seemed so a day ago too.
 *
 * @category combinators
 */
export const lookIn = (
  store: Pick<KeyValueStore.KeyValueStore, "get" | "set">,
  longest: Duration.DurationInput
): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const before = Option.flatMap(yield* store.get("clock"), Schema.decodeOption(Kept))
    const looks = look(
      Option.getOrElse(before, () => ({ since: now, at: now })),
      now,
      0,
      Duration.toMillis(longest) / 2
    )
    yield* store.set("clock", JSON.stringify(looks))
    return mayRemove(looks)
  }).pipe(Effect.orElseSucceed(() => false))
