import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import { atLeastOne } from "@stevedore/core/UploadOptions"
import type { UploadedFile } from "@stevedore/core/Uploads"
import * as Uploads from "@stevedore/core/Uploads"
import { largestSize } from "@stevedore/core/UploadSource"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as UnloadWarning from "../UnloadWarning.js"
import type { Addition, Item, Options, Refusal, UploadQueue } from "../UploadQueueModel.js"
import type { Entry } from "./queueEntry.js"
import * as Entries from "./queueEntry.js"
import type { Ground } from "./queueGround.js"
import * as Limits from "./queueLimits.js"
import * as Listeners from "./queueListeners.js"
import * as View from "./queueView.js"

/** A queue, and a function to call before its ground goes away. */
export type Engine = readonly [queue: UploadQueue, end: () => void]

const tickMillis = 200

const secondLookMillis = 1000

export const make = <E>({ fork, provided }: Ground<E>, options: Options): Engine => {
  const entries = new Map<string, Entry>()
  const listeners = Listeners.make()
  const atOnce = atLeastOne(options.files, 3)
  const limits = { ...options.limits, size: options.limits?.size ?? largestSize }
  // what was cancelled or removed: its file may be added again, so an upload starts only once nothing of these is left
  const stopping = new Set<Fiber.RuntimeFiber<unknown>>()
  // an upload does not start while its lock is being probed
  const inTurn = Effect.unsafeMakeSemaphore(1).withPermits(1)
  let snapshot = View.empty
  let made = 0
  let ticking = false
  let over = false

  const publish = () => {
    const next = View.snapshotOf(snapshot, Array.from(entries.values(), ({ item }) => item))
    if (next === snapshot) return
    snapshot = next
    listeners.tell()
  }

  // while uploads are in progress, the next tick publishes: a view is not notified for each of many files
  const publishSoon = () => {
    if (!ticking) publish()
  }

  const enter = (item: Item, addition: Entries.NamedAddition | undefined, unfinished: string | undefined) =>
    entries.set(item.id, Entries.entryOf(item, addition, unfinished))

  const nextId = () => `${++made}`

  const settle = (entry: Entry, exit: Exit.Exit<UploadedFile, unknown>): void => {
    entry.fiber = undefined
    entry.handle = undefined
    if (Exit.isSuccess(exit)) {
      const { item: { size } } = entry
      entry.item = View.settled(entry.item, {
        state: "completed",
        sent: size,
        confirmed: size,
        error: undefined,
        result: exit.value
      })
      Listeners.call(() => options.onCompleted?.(entry.item))
    } else if (!Cause.isInterruptedOnly(exit.cause)) {
      const error = Entries.failureOf(exit.cause)
      // the file given is not the one that is needed
      const needsFile = entry.unfinished !== undefined && error.tag === "SourceChanged"
      // a kept file that is not the one that is needed has to be chosen
      const kept = needsFile && entry.item.kept && entry.addition?.handle === undefined
      // it does not count as being in the list: it may be added as a file of its own
      if (needsFile) entry.addition = undefined
      entry.item = View.settled(entry.item, { state: needsFile ? "needs-file" : "failed", error, kept })
    }
    schedule()
    publishSoon()
  }

  // The file of an upload that an earlier page left was added like any other: the two become one item.
  const claim = (entry: Entry, ledgerId: string | undefined): void => {
    if (ledgerId !== undefined) entry.ledgerIds.add(ledgerId)
    for (const [id, other] of entries) {
      if (other.item.state === "needs-file" && other.unfinished === ledgerId) entries.delete(id)
    }
    publishSoon()
  }

  const program = (entry: Entry, addition: Entries.NamedAddition) =>
    Effect.gen(function*() {
      yield* Fiber.awaitAll(stopping)
      if (entry.unfinished !== undefined) yield* Entries.checkSize(entry.item, addition)
      const source = yield* Entries.sourceOf(addition)
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
    }).pipe(Effect.scoped)

  const begin = (entry: Entry, addition: Entries.NamedAddition): void => {
    entry.waits = false
    entry.item = View.settled(entry.item, { state: "preparing", error: undefined })
    // not before the entry knows its fiber
    const begun = Effect.zipRight(Effect.yieldNow(), provided(Entries.readingAgain(program(entry, addition))))
    const fiber: Fiber.RuntimeFiber<void> = fork(
      Effect.flatMap(Effect.exit(begun), (exit) =>
        Effect.sync(() => {
          if (entry.fiber === fiber) settle(entry, exit)
        }))
    )
    entry.fiber = fiber
  }

  const goOn = (entry: Entry): void => {
    entry.waits = false
    entry.item = View.settled(entry.item, { state: entry.handle === undefined ? "preparing" : "uploading" })
    if (entry.handle !== undefined) fork(entry.handle.resume)
  }

  const rest = (entry: Entry): void => {
    if (View.isOver(entry.item) || entry.item.state === "needs-file") return
    entry.waits = true
    entry.item = View.settled(entry.item, { state: "paused" })
  }

  /** Starts as many items as there is room for. Items already in progress continue. */
  const schedule = (): void => {
    if (over) return entries.forEach(rest)
    let room = atOnce - Array.from(entries.values()).filter(Entries.goesOn).length
    for (const entry of entries.values()) {
      if (room <= 0 || !Entries.isQueued(entry)) continue
      room--
      if (entry.fiber !== undefined) goOn(entry)
      else if (entry.addition !== undefined) begin(entry, entry.addition)
    }
    if (!ticking && Array.from(entries.values()).some(Entries.goesOn)) {
      ticking = true
      // acquiring a slow resource must not delay the display of progress
      const holding = fork(Effect.scoped(Effect.zipRight(held, Effect.never)))
      fork(Effect.ensuring(tick, Fiber.interrupt(holding)))
    }
  }

  const look = (entry: Entry): Effect.Effect<void> =>
    entry.handle === undefined
      ? Effect.void
      : Effect.map(entry.handle.progress.get, (progress) => {
        if (entry.handle !== undefined) entry.item = View.progressed(entry.item, progress, entry.waits)
      })

  const held: Effect.Effect<void, never, Scope.Scope> = Effect.catchAllCause(
    options.during ?? UnloadWarning.scoped,
    (cause) => Effect.logWarning("A resource to hold during uploads cannot be acquired: uploading without it", cause)
  )

  const tick: Effect.Effect<void> = Effect.gen(function*() {
    while (ticking) {
      yield* Effect.sleep(tickMillis)
      for (const entry of entries.values()) yield* look(entry)
      publish()
      ticking = Array.from(entries.values()).some(Entries.goesOn)
    }
  }).pipe(Effect.onError(() =>
    Effect.sync(() => {
      ticking = false
    })
  ))

  const stopped = ({ fiber, ledgerIds }: Entry): Effect.Effect<unknown> => {
    const ids = Array.from(ledgerIds)
    ledgerIds.clear()
    return Effect.zipRight(
      fiber === undefined ? Effect.void : Fiber.interrupt(fiber),
      Effect.exit(provided(Entries.forget(ids)))
    )
  }

  const stop = (entry: Entry): void => {
    const fiber = fork(stopped(entry))
    stopping.add(fiber)
    fiber.addObserver(() => stopping.delete(fiber))
    Object.assign(entry, { fiber: undefined, handle: undefined, unfinished: undefined })
  }

  type Action = (entry: Entry) => void

  const actions = {
    pause: (entry) => {
      if (!["queued", "preparing", "uploading"].includes(entry.item.state)) return
      entry.waits = true
      entry.item = View.settled(entry.item, { state: "paused" })
      if (entry.handle !== undefined) fork(entry.handle.pause)
    },
    resume: (entry) => {
      if (entry.item.state === "paused") entry.item = View.changed(entry.item, { state: "queued" })
    },
    cancel: (entry) => {
      if (View.isOver(entry.item) || entry.item.state === "needs-file") return
      stop(entry)
      entry.item = View.settled(entry.item, { state: "cancelled", sent: 0, confirmed: 0, kept: false })
    },
    remove: (entry) => {
      if (!Entries.isToClear(entry.item)) stop(entry)
      entries.delete(entry.item.id)
    }
  } satisfies Record<string, Action>

  const acting = (action: Action) => (id?: string): void => {
    for (const entry of id === undefined ? entries.values() : [entries.get(id)]) {
      if (entry !== undefined) action(entry)
    }
    schedule()
    publish()
  }

  const retry = (id?: string): void => {
    for (const entry of Limits.toRetry(Array.from(entries.values()), id)) {
      entry.item = View.changed(entry.item, { state: "queued", error: undefined, sent: entry.item.confirmed })
    }
    schedule()
    publish()
  }

  const giveFile = (id: string, file: File | Addition): void =>
    acting((entry) => {
      if (entry.item.state !== "needs-file" && entry.item.state !== "failed") return
      // under the name that the upload started with
      const addition = { ...Entries.additionOf(file), name: entry.item.name }
      // an unfinished upload takes only its own file, and says so itself
      const takesAny = entry.unfinished === undefined
      const refusal = takesAny && Limits.refusalOf(addition, Limits.presentOf(entries.values()), limits)
      if (refusal) {
        entry.item = View.changed(entry.item, { error: { tag: refusal.reason, message: refusal.message } })
        return
      }
      entry.addition = addition
      const item = takesAny ? View.given(entry.item, addition) : entry.item
      entry.item = View.changed(item, { state: "queued", error: undefined })
    })(id)

  const offer = (upload: Uploads.UnfinishedUpload, kept: boolean) =>
    Effect.gen(function*() {
      yield* Fiber.awaitAll(stopping)
      if (Array.from(entries.values()).some(({ ledgerIds }) => ledgerIds.has(upload.id))) return
      if (yield* Entries.isLeft(upload.id)) enter(View.leftOver(nextId(), upload, kept), undefined, upload.id)
    })

  // uploads that another tab is sending, or that only another service can resume, are not offered
  const found = Effect.gen(function*() {
    const { baseUrl } = yield* ServiceApi
    for (const upload of yield* Uploads.unfinished) {
      if (upload.service !== baseUrl) continue
      const handle = yield* Entries.ofHandles((handles) => handles.find(upload.id))
      yield* inTurn(offer(upload, Option.isSome(Option.flatten(handle))))
    }
    publish()
  })
  // another tab that opens may just have been probing a lock, or one that was closed may not yet have released it
  fork(Effect.ignore(provided(found.pipe(Effect.zipRight(Effect.sleep(secondLookMillis)), Effect.zipRight(found)))))

  const end = (): void => {
    over = true
    ticking = false
    schedule()
    publish()
  }

  return [{
    getSnapshot: () => snapshot,
    subscribe: listeners.subscribe,
    add: (files) => {
      const ids: Array<string> = []
      const refused: Array<Refusal> = []
      const present = Limits.presentOf(entries.values())
      for (const addition of Array.from(files ?? [], Entries.additionOf)) {
        const refusal = Limits.refusalOf(addition, present, limits)
        if (refusal === undefined) {
          const item = View.added(nextId(), { metadata: options.upload?.metadata, ...addition })
          enter(item, addition, undefined)
          ids.push(item.id)
          present.add(addition)
        } else refused.push(refusal)
      }
      schedule()
      publish()
      return { ids, refused }
    },
    pause: acting(actions.pause),
    resume: acting(actions.resume),
    cancel: acting(actions.cancel),
    retry,
    remove: (id) => acting(actions.remove)(id),
    clear: () => {
      // an item that ended since the last snapshot has never been shown: clearing it would lose its result
      const shown = new Set(snapshot.items)
      acting(({ item }) => {
        if (Entries.isToClear(item) && shown.has(item)) entries.delete(item.id)
      })()
    },
    giveFile,
    allow: (id) => {
      const entry = entries.get(id)
      const ledgerId = entry?.unfinished
      if (entry === undefined || ledgerId === undefined) return
      fork(Effect.matchCause(provided(Entries.keptFile(ledgerId, entry.item.name)), {
        onFailure: (cause) =>
          acting((entry) => {
            if (entry.item.state !== "needs-file") return
            entry.item = View.changed(entry.item, { kept: false, error: Entries.failureOf(cause) })
          })(id),
        onSuccess: (addition) => giveFile(id, addition)
      }))
    }
  }, end]
}
