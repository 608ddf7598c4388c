import { ServiceApi } from "@stevedore/core/ServiceApi"
import * as Uploads from "@stevedore/core/Uploads"
import { largestSize } from "@stevedore/core/UploadSource"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Entry } from "./entry.js"
import * as Entries from "./entry.js"
import * as Items from "./item.js"
import * as Limits from "./limits.js"
import type { Addition, Options, Refusal, UploadQueue } from "./model.js"
import * as Places from "./places.js"
import * as Rows from "./rows.js"
import type { Ground } from "./runs.js"

/** A queue, and a function to call before its ground goes away. */
export type Engine = readonly [queue: UploadQueue, end: () => void]

const secondLookMillis = 1000

const undoMillis = 5000

/** Offers uploads that an earlier page has left: none that another tab sends, or that only another service can resume. */
const offerUnfinished = (rows: Rows.Rows, { inTurn, stopped }: Places.Places, name: string | undefined) => {
  const offer = (upload: Uploads.UnfinishedUpload, kept: boolean) =>
    Effect.gen(function*() {
      yield* stopped
      if (rows.all().some(({ ledgerIds }) => ledgerIds.has(upload.id))) return
      if (yield* Entries.isLeft(upload.id, name)) {
        rows.enter(Entries.entryOf(Items.leftOver(rows.nextId(), upload, kept), undefined, upload.id))
      }
    })
  const found = Effect.gen(function*() {
    const { baseUrl } = yield* ServiceApi
    for (const upload of yield* Uploads.unfinished) {
      if (upload.service !== baseUrl) continue
      const handle = yield* Entries.ofHandles((handles) => handles.find(upload.id))
      yield* inTurn(offer(upload, Option.isSome(Option.flatten(handle))))
    }
    rows.publish()
  })
  // another tab that opens may just have been probing a lock, or one that was closed may not yet have released it
  return found.pipe(Effect.zipRight(Effect.sleep(secondLookMillis)), Effect.zipRight(found))
}

/** What a person can do with one entry. An action that it is not ready for does nothing. */
const actionsOf = <E>({ fork }: Ground<E>, rows: Rows.Rows, { stop }: Places.Places) => ({
  pause: (entry: Entry) => {
    if (!["queued", "preparing", "uploading"].includes(entry.item.state)) return
    entry.waits = true
    entry.item = Items.settled(entry.item, { state: "paused" })
    if (entry.handle !== undefined) fork(entry.handle.pause)
  },
  resume: (entry: Entry) => {
    if (entry.item.state === "paused" || entry.item.state === "ready") {
      entry.item = Items.changed(entry.item, { state: "queued" })
    }
  },
  cancel: (entry: Entry) => {
    if (Items.isOver(entry.item) || entry.item.state === "needs-file") return
    stop(entry)
    entry.item = Items.settled(entry.item, { state: "cancelled", sent: 0, confirmed: 0, kept: false })
  },
  remove: (entry: Entry) => {
    if (!Entries.isToClear(entry.item)) stop(entry)
    rows.drop(entry.item.id)
  }
})

export const make = <E>(ground: Ground<E>, options: Options): Engine => {
  const { fork, provided } = ground
  const getLimits = () => ({ ...options.limits, size: options.limits?.size ?? largestSize })
  const rows = Rows.make()
  const places = Places.make(ground, options, rows)
  const actions = actionsOf(ground, rows, places)

  const changing = <A>(change: () => A): A => {
    const changed = change()
    places.schedule()
    rows.publish()
    return changed
  }

  const acting = (action: (entry: Entry) => void) => (id?: string): void =>
    changing(() => {
      for (const entry of id === undefined ? rows.all() : [rows.get(id)]) {
        if (entry !== undefined) action(entry)
      }
    })

  const giveFile = (id: string, file: File | Addition): void =>
    acting((entry) => {
      if (entry.item.state !== "needs-file" && entry.item.state !== "failed") return
      // under the name that the upload started with
      const addition = { ...Entries.additionOf(file), name: entry.item.name }
      // an unfinished upload takes only its own file, and says so itself
      const takesAny = entry.unfinished === undefined
      const refusal = (takesAny || addition.file.size === entry.item.size)
        && Limits.refusalOf(addition, Limits.presentOf(rows.all()), getLimits())
      if (refusal) {
        entry.item = Items.changed(entry.item, { error: { tag: refusal.reason, message: refusal.message } })
        return
      }
      entry.addition = addition
      // it may differ from the previous one, and nothing of it has been sent
      const { size, type: mediaType } = addition.file
      const other = takesAny && { size, mediaType, sent: 0, confirmed: 0 }
      entry.item = Items.changed(entry.item, { ...other, state: "queued", error: undefined })
    })(id)

  /** What was taken out and may come back. */
  const away = new Map<Entry, () => void>()

  const takeOut = (id: string) => {
    const entry = rows.get(id)
    if (entry === undefined) return () => {}
    const { state } = entry.item
    changing(() => {
      actions.pause(entry)
      rows.drop(id)
    })
    const end = () => {
      if (away.delete(entry) && !Entries.isToClear(entry.item)) places.stop(entry)
    }
    away.set(entry, end)
    if (state === "finishing") end()
    else fork(Effect.delay(Effect.sync(end), undoMillis))
    return () => {
      if (!away.delete(entry)) return
      changing(() => {
        rows.enter(entry)
        if (state !== "paused") actions.resume(entry)
      })
    }
  }

  if (options.offerUnfinished !== false) fork(Effect.ignore(provided(offerUnfinished(rows, places, options.name))))

  return [{
    getSnapshot: rows.getSnapshot,
    getLimits,
    subscribe: rows.subscribe,
    add: (files) =>
      changing(() => {
        // the same file may be among them
        for (const end of Array.from(away.values())) end()
        const ids: Array<string> = []
        const refused: Array<Refusal> = []
        const [present, limits] = [Limits.presentOf(rows.all()), getLimits()]
        for (const addition of Array.from(files ?? [], Entries.additionOf)) {
          const refusal = Limits.refusalOf(addition, present, limits)
          if (refusal === undefined) {
            const item = Items.added(rows.nextId(), { metadata: options.upload?.metadata, ...addition })
            rows.enter(Entries.entryOf(options.autostart === false ? { ...item, state: "ready" } : item, addition))
            ids.push(item.id)
            present.add(Limits.identityOf(addition), item.size)
          } else refused.push(refusal)
        }
        return { ids, refused }
      }),
    addUploaded: (files) =>
      changing(() => {
        const known = new Set(rows.all().map(({ item }) => item.result?.id))
        for (const file of files) {
          if (!known.has(file.id)) rows.enter(Entries.entryOf(Items.uploaded(rows.nextId(), file)))
          known.add(file.id)
        }
      }),
    pause: acting(actions.pause),
    resume: acting(actions.resume),
    cancel: acting(actions.cancel),
    retry: (id) =>
      changing(() => {
        for (const entry of Limits.toRetry(rows.all(), id)) {
          entry.item = Items.changed(entry.item, { state: "queued", error: undefined, sent: entry.item.confirmed })
        }
      }),
    fail: (id, reason, code) =>
      acting((entry) => {
        if (entry.item.state !== "completed") return
        const error = { tag: "Refused", message: reason, reason, code }
        entry.item = Items.settled(entry.item, { state: "failed", error, sent: 0, confirmed: 0 })
      })(id),
    remove: acting(actions.remove),
    takeOut,
    clear: () => {
      // an item that ended since the last snapshot has never been shown: clearing it would lose its result
      const shown = new Set(rows.getSnapshot().items)
      acting(({ item }) => {
        if (Entries.isToClear(item) && shown.has(item)) rows.drop(item.id)
      })()
    },
    giveFile,
    allow: (id) => {
      const entry = rows.get(id)
      const ledgerId = entry?.unfinished
      if (entry === undefined || ledgerId === undefined) return
      fork(Effect.matchCause(provided(Entries.keptFile(ledgerId, entry.item.name)), {
        onFailure: (cause) =>
          acting((entry) => {
            if (entry.item.state !== "needs-file") return
            entry.item = Items.changed(entry.item, { kept: false, error: Entries.failureOf(cause) })
          })(id),
        onSuccess: (addition) => giveFile(id, addition)
      }))
    }
  }, places.end]
}
