/** Whether a service may remove what is old: its instances look at the clock of their table once a minute. */
import * as Looks from "@stevedore/core/parts/ages"
import { monotonicMillis } from "@stevedore/core/parts/timers"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Ages } from "../FileTable.js"

/** What the table keeps of the looks, if there was one, and what its clock says. */
export interface Looked {
  readonly now: number
  readonly since?: number | null
  readonly at?: number | null
}

/** In seconds. A store refuses what is signed a quarter of an hour away from its clock. */
const MOST_AWAY = 300

const LOOK_MILLIS = 60_000

/** An instance that was away for no longer looks on. */
const LONGEST_SILENCE = Duration.toMillis("12 hours")

const doubtOf = (looks: Looks.Looks, away: number): string | undefined =>
  away > MOST_AWAY
    ? `it is ${away} seconds away from that of the database`
    : Looks.mayRemove(looks)
    ? undefined
    : `it was set, or the service was away, at ${
      new Date(looks.since).toISOString()
    }: nothing is removed for its age for a day`

/** What has expired by then may be removed; what has the time 0, by the word of whoever runs the service. */
export const until = ({ doubt, now }: Ages): number => doubt === undefined ? now + Looks.ADJUSTED_MILLIS : 0

/** Looks no more than once a minute, and goes by the monotonic clock in between. Says in the log when doubts begin. */
export const make = <E>(
  read: Effect.Effect<Looked, E>,
  keep: (looks: Looks.Looks) => Effect.Effect<unknown, E>
): Effect.Effect<Ages, E> => {
  let own: (Ages & { readonly monotonic: number }) | undefined
  return Effect.gen(function*() {
    const clock = yield* Effect.clock
    const monotonic = monotonicMillis(clock)
    const passed = own === undefined ? undefined : monotonic - own.monotonic
    if (own !== undefined && passed !== undefined && passed < LOOK_MILLIS) return { ...own, now: own.now + passed }
    const { at, now, since } = yield* read
    // at the first look of all, nothing is there that could be removed wrongly
    const before = { since: since ?? now - 2 * Looks.DOUBTED_MILLIS, at: own?.now ?? at ?? now }
    const looks = Looks.look(before, now, passed ?? 0, passed ?? LONGEST_SILENCE)
    yield* keep(looks)
    const away = Math.round(Math.abs(now - clock.unsafeCurrentTimeMillis()) / 1000)
    const doubt = doubtOf(looks, away)
    if (doubt !== undefined && own?.doubt === undefined) yield* Effect.logWarning(`The clock: ${doubt}`)
    own = { now, doubt, isAway: away > MOST_AWAY, monotonic }
    return own
  })
}
