import * as RetryPolicy from "@stevedore/core/RetryPolicy"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import * as Uploads from "@stevedore/core/Uploads"
import type { Requirements, UploadedFile } from "@stevedore/core/Uploads"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { resized, textOf } from "../base/thrown.js"
import * as Entries from "./entry.js"
import type { Entry, NamedAddition } from "./entry.js"
import * as Items from "./item.js"
import type { Options } from "./model.js"
import type { Rows } from "./rows.js"
import { call } from "./rows.js"

/** What a queue runs on. Its fibers end with it. */
export interface Ground<E> {
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.RuntimeFiber<A, E>
  readonly provided: <A, E2>(effect: Effect.Effect<A, E2, Requirements>) => Effect.Effect<A, E | E2>
}

const shortestTold = 1000

/** Between the tries of an upload whose line was lost. */
const betweenTries = 5000

/** The uploads of entries. `told`: what is shown has changed. `ended`: so has what runs. */
export const make = <E>(
  { fork, provided }: Ground<E>,
  options: Options,
  rows: Rows,
  { ended, told }: { readonly ended: () => void; readonly told: () => void }
) => {
  // what was cancelled or removed: its file may be added again, so an upload starts only once nothing of these is left
  const stopping = new Set<Fiber.RuntimeFiber<unknown>>()
  const stopped: Effect.Effect<void> = Effect.suspend(() => Fiber.awaitAll(stopping))
  // an upload does not start while its lock is being probed
  const inTurn = Effect.unsafeMakeSemaphore(1).withPermits(1)

  const settle = (entry: Entry, exit: Exit.Exit<UploadedFile, unknown>): void => {
    entry.fiber = undefined
    entry.handle = undefined
    if (Exit.isSuccess(exit)) {
      const { item: { size } } = entry
      entry.item = Items.settled(entry.item, {
        state: "completed",
        sent: size,
        confirmed: size,
        error: undefined,
        result: exit.value
      })
      call(() => options.onCompleted?.(entry.item))
    } else if (!Cause.isInterruptedOnly(exit.cause)) {
      const error = Entries.failureOf(exit.cause)
      // the file given is not the one that is needed
      const needsFile = entry.unfinished !== undefined && error.tag === "SourceChanged"
      // a kept file that is not the one that is needed has to be chosen
      const kept = needsFile && entry.item.kept && entry.addition?.handle === undefined
      // it does not count as being in the list: it may be added as a file of its own
      if (needsFile) entry.addition = undefined
      entry.item = Items.settled(entry.item, { state: needsFile ? "needs-file" : "failed", error, kept })
    }
    ended()
  }

  // The file of an upload that an earlier page left was added like any other: the two become one item.
  const claim = (entry: Entry, ledgerId: string | undefined): void => {
    if (ledgerId !== undefined) entry.ledgerIds.add(ledgerId)
    for (const other of rows.all()) {
      if (other.item.state === "needs-file" && other.unfinished === ledgerId) rows.drop(other.item.id)
    }
    told()
  }

  const program = (entry: Entry, addition: NamedAddition) =>
    Effect.gen(function*() {
      yield* stopped
      const { item: { name, size } } = entry
      // another file than it started with: said first, whatever else is wrong with it
      if (entry.unfinished !== undefined && size !== addition.file.size) yield* resized(name, size, addition.file.size)
      const source = yield* Entries.sourceOf(addition, entry.item, options.name)
      const { baseUrl } = yield* ServiceApi
      const ledgerId = entry.unfinished ?? Option.getOrUndefined(UploadLedger.idOf(baseUrl, source))
      yield* inTurn(Effect.sync(() => claim(entry, ledgerId)))
      const { handle } = addition
      if (handle !== undefined) yield* Entries.ofHandles((handles) => handles.keep(source, handle))
      const upload = yield* Uploads.start(source, {
        ...options.upload,
        ...(addition.metadata && { metadata: addition.metadata }),
        unfinished: entry.unfinished
      })
      if (entry.waits) yield* upload.pause
      entry.handle = upload
      const uploaded = yield* Effect.tapError(upload.await, () => Entries.dropEnded(entry))
      // and of those that this file has replaced
      yield* Entries.forget(entry.ledgerIds)
      return uploaded
    }).pipe(
      Effect.provideService(RetryPolicy.OnWait, (error, wait) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const waitingFor = Items.waiterOf(textOf(error, "_tag") ?? "")
          const millis = Duration.toMillis(wait)
          // what is over before it is read says nothing
          if (millis >= shortestTold) entry.wait = { waitingFor, until: now + millis }
        })),
      Effect.scoped
    )

  /** A line that was lost is waited for: the row says so, and each try sends what storage does not have. */
  const throughLosses = <A, E, R>(entry: Entry, upload: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.catchIf(upload, Entries.isLineLost, () =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        entry.item = Items.settled(entry.item, {})
        entry.wait = { waitingFor: "network", until: now + betweenTries }
        return Effect.delay(throughLosses(entry, upload), betweenTries)
      }))

  const stoppedRun = ({ fiber, ledgerIds }: Entry): Effect.Effect<unknown> => {
    const ids = Array.from(ledgerIds)
    ledgerIds.clear()
    return Effect.zipRight(
      fiber === undefined ? Effect.void : Fiber.interrupt(fiber),
      Effect.exit(provided(Entries.forget(ids)))
    )
  }

  return {
    begin: (entry: Entry, addition: NamedAddition): void => {
      entry.waits = false
      entry.item = Items.settled(entry.item, { state: "preparing", error: undefined })
      // not before the entry knows its fiber
      const begun = Effect.zipRight(
        Effect.yieldNow(),
        provided(Entries.readingAgain(throughLosses(entry, program(entry, addition))))
      )
      const fiber: Fiber.RuntimeFiber<void> = fork(
        Effect.flatMap(Effect.exit(begun), (exit) =>
          Effect.sync(() => {
            if (entry.fiber === fiber) settle(entry, exit)
          }))
      )
      entry.fiber = fiber
    },
    goOn: (entry: Entry): void => {
      entry.waits = false
      entry.item = Items.settled(entry.item, { state: entry.handle === undefined ? "preparing" : "uploading" })
      if (entry.handle !== undefined) fork(entry.handle.resume)
    },
    /** Interrupts what runs, and forgets what an earlier page or this one has left of it. */
    stop: (entry: Entry): void => {
      // what has never run has left nothing
      if (entry.fiber === undefined && entry.ledgerIds.size === 0) return
      const fiber = fork(stoppedRun(entry))
      stopping.add(fiber)
      fiber.addObserver(() => stopping.delete(fiber))
      entry.fiber = entry.handle = entry.unfinished = undefined
    },
    stopped,
    inTurn
  }
}
