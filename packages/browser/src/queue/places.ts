import { atLeastOne } from "@stevedore/core/UploadOptions"
import type { UploadHandle } from "@stevedore/core/Uploads"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as UnloadWarning from "../UnloadWarning.js"
import type { Entry } from "./entry.js"
import * as Entries from "./entry.js"
import * as Items from "./item.js"
import type { Options } from "./model.js"
import type { Rows } from "./rows.js"
import type { Ground } from "./runs.js"
import * as Runs from "./runs.js"
import * as Turns from "./turns.js"

const tickMillis = 200

export type Places = ReturnType<typeof make>

const rest = (entry: Entry): void => {
  if (Items.isOver(entry.item) || entry.item.state === "needs-file") return
  entry.waits = true
  entry.item = Items.settled(entry.item, { state: "paused" })
}

const look = (entry: Entry, { progress }: UploadHandle): Effect.Effect<void> =>
  Effect.zipWith(progress.get, Clock.currentTimeMillis, (progress, now) => {
    if (entry.handle === undefined) return
    entry.item = Items.waited(Items.progressed(entry.item, progress, entry.waits), entry.wait, now)
  })

/** Who runs, and how often what runs is looked at. */
export const make = <E>(ground: Ground<E>, options: Options, rows: Rows) => {
  const { fork } = ground
  const atOnce = atLeastOne(options.files, 3)
  let ticking = false
  let over = false

  const isGoing = () => rows.all().some(Entries.goesOn)

  // while uploads are in progress, the next tick publishes: a view is not notified for each of many files
  const told = () => {
    if (!ticking) rows.publish()
  }
  const ended = () => {
    schedule()
    told()
  }
  const { begin, goOn, ...runs } = Runs.make(ground, options, rows, { ended, told })

  const held: Effect.Effect<void, never, Scope.Scope> = Effect.catchAllCause(
    options.during ?? UnloadWarning.scoped,
    (cause) => Effect.logWarning("`during` cannot be acquired: uploading without it", cause)
  )

  const tick: Effect.Effect<void> = Effect.gen(function*() {
    while (ticking) {
      yield* Effect.sleep(tickMillis)
      for (const entry of rows.all()) {
        if (entry.handle !== undefined) yield* look(entry, entry.handle)
      }
      rows.publish()
      ticking = isGoing()
    }
  })

  /** Starts as many items as there is room for. Items already in progress continue. */
  const schedule = (): void => {
    if (over) return rows.all().forEach(rest)
    for (let entry = Turns.take(rows.all(), atOnce); entry; entry = Turns.take(rows.all(), atOnce)) {
      if (entry.fiber !== undefined) goOn(entry)
      else if (entry.addition !== undefined) begin(entry, entry.addition)
      else break
    }
    if (!ticking && isGoing()) {
      ticking = true
      // acquiring a slow resource must not delay the display of progress
      const holding = fork(Effect.scoped(Effect.zipRight(held, Effect.never)))
      fork(Effect.ensuring(tick, Fiber.interrupt(holding)))
    }
  }

  return {
    ...runs,
    schedule,
    /** From now on nothing starts, and what has not ended rests. */
    end: (): void => {
      over = true
      ticking = false
      schedule()
      rows.publish()
    }
  }
}
