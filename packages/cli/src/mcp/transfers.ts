/** The uploads and downloads that an agent has begun: they go on behind its calls, and outlive the process. */
import * as Imports from "@stevedore/core/Imports"
import type { ServiceApi } from "@stevedore/core/ServiceApi"
import { UploadLocked } from "@stevedore/core/UploadError"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import * as Uploads from "@stevedore/core/Uploads"
import * as FileSource from "@stevedore/node/FileSource"
import * as NodeDownloads from "@stevedore/node/NodeDownloads"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { basename } from "node:path"
import * as HeldLedger from "../upload/heldLedger.js"
import { madeSince } from "../upload/importing.js"
import { refusalOf, type Refused, refused } from "./answers.js"
import * as Journal from "./journal.js"
import { isThere, type Roots } from "./roots.js"

/** How far a transfer has come. */
interface Moving {
  /** In bytes. */
  readonly moved: number
  readonly size: number | undefined
  /** Bytes per second. */
  readonly speed?: number | undefined
  readonly secondsLeft?: number | undefined
}

/** How a transfer stands. */
export interface TransferStatus extends Moving, Journal.Known {
  readonly state: "waiting" | "moving" | "done" | "failed" | "cancelled"
}

/** The requirements of what moves files. */
export type Requirements = Uploads.Requirements | ServiceApi

/** A transfer that was asked for, and whether it was begun by that: an earlier one may be the same. */
export type Asked = readonly [id: string, isNew: boolean]

/** The transfers of one server. */
export interface Transfers {
  /** Begins an upload, unless the same one is under way or done; `again` takes none that is done for the same. */
  readonly upload: (wish: Journal.UploadWish, again: boolean) => Effect.Effect<Asked, never, Requirements>
  /** Begins a download, unless the same one is under way or done. */
  readonly download: (wish: Journal.DownloadWish) => Effect.Effect<Asked, Refused, Requirements>
  readonly standing: (id: string) => Effect.Effect<TransferStatus, Refused>
  /** Stops a transfer, whichever process moves it. */
  readonly cancel: (id: string) => Effect.Effect<void>
  /** How many are under way. */
  readonly running: Effect.Effect<number>
}

const filesAtOnce = 4

const another = "Name another path: nothing is replaced."

const lookEvery = Duration.seconds(2)

export const isStanding = (value: object): value is TransferStatus => "begun" in value

/** Whether it will not move any more. */
export const isOver = ({ state }: Pick<TransferStatus, "state">): boolean => state !== "waiting" && state !== "moving"

// Two uploads with the same are one; a download is of its target
const keyOf = (wish: Journal.Wish): string =>
  wish.action === "upload"
    ? JSON.stringify([wish.path, wish.size, wish.dates, wish.name, wish.project])
    : wish.path

/** What agents have left unfinished at this service goes on at once. */
export const make = (
  service: string,
  roots: Roots
): Effect.Effect<Transfers, never, Requirements | Scope.Scope | Effect.Effect.Context<typeof Journal.make>> =>
  Effect.gen(function*() {
    const journal = yield* Journal.make
    const { lock } = yield* UploadLedger.UploadLedger
    const fibers = yield* FiberMap.make<string>()
    const slots = yield* Effect.makeSemaphore(filesAtOnce)
    const moving = new Map<string, Effect.Effect<Moving>>()

    const note = (reached: Omit<Journal.Reached, "at">) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) => journal.add({ ...reached, at }))

    const send = (id: string, { dates, name, path, size }: Journal.UploadWish) =>
      Effect.gen(function*() {
        const place = yield* roots.find(path)
        if (place.size !== size || place.dates !== dates) {
          return yield* refused(`${place.shown} has changed since the upload was asked for`, "Upload it again.")
        }
        const entry = { name: place.shown, path, within: place.within }
        const source = yield* FileSource.fromEntry(entry, { name: name ?? basename(path) })
        const { ledger, settle } = yield* HeldLedger.make
        const handle = yield* Effect.provideService(Uploads.start(source), UploadLedger.UploadLedger, ledger)
        moving.set(
          id,
          Effect.map(handle.progress.get, ({ confirmed, sent, size, speed, timeLeft }) => ({
            moved: Math.max(confirmed, sent),
            size,
            speed: Option.getOrUndefined(speed),
            secondsLeft: Option.getOrUndefined(Option.map(timeLeft, Duration.toSeconds))
          }))
        )
        const file = yield* handle.await
        yield* note({ id, state: "uploaded", file: file.id, proof: file.sent.proof })
        yield* settle
        return file.id
      }).pipe(Effect.scoped)

    const upload = (known: Journal.Known, wish: Journal.UploadWish) =>
      Effect.gen(function*() {
        const { begun: { begunAt, id }, reached } = known
        const fileId = reached?.file ?? (yield* send(id, wish))
        if (wish.project === undefined) return fileId
        const entry = { fileId, projectId: wish.project, title: wish.name ?? basename(wish.path) }
        yield* note({ id, state: "importing", file: fileId })
        const made = reached?.state === "importing" ? yield* madeSince(entry, begunAt) : Option.none()
        if (Option.isNone(made)) yield* Imports.file(entry)
        return fileId
      })

    const download = (id: string, { file, path, size }: Journal.DownloadWish) =>
      Effect.gen(function*() {
        const open = yield* roots.opened(path)
        let now: Moving = { moved: 0, size }
        moving.set(id, Effect.sync(() => now))
        const onProgress = (moved: number, of: Option.Option<number>) => {
          now = { moved, size: Option.getOrElse(of, () => size) }
        }
        yield* NodeDownloads.toFile(file, open, { size, keep: true, onProgress })
        return file
      }).pipe(Effect.scoped)

    // Only whoever has its lock moves it. What another process has done before that is in the journal
    const move = (id: string) =>
      Effect.gen(function*() {
        if (!(yield* lock(id))) return yield* new UploadLocked({ fileName: id })
        yield* slots.withPermits(1)(Effect.gen(function*() {
          const known = (yield* journal.known).get(id)
          if (known === undefined || Journal.endOf(known) !== undefined) return
          const { wish } = known.begun
          const file = yield* wish.action === "upload" ? upload(known, wish) : download(id, wish)
          yield* note({ id, state: "done", file })
        }))
      }).pipe(Effect.scoped)

    // What has not become a file is of no use in a directory of the user
    const discard = (id: string) =>
      Effect.gen(function*() {
        const wish = (yield* journal.known).get(id)?.begun.wish
        if (wish?.action === "download") yield* NodeDownloads.discard(wish.file, yield* roots.opened(wish.path))
      }).pipe(Effect.scoped, Effect.ignore)

    // Whoever stops a transfer of another process says so in the journal
    const stoppedElsewhere = (id: string) =>
      Effect.repeat(Effect.delay(journal.known, lookEvery), {
        until: (all) => all.get(id)?.reached?.state === "cancelled"
      })

    const begin = (id: string) => {
      const all = Effect.interruptible(move(id)).pipe(
        Effect.retry({ while: ({ _tag }) => _tag === "UploadLocked", schedule: Schedule.spaced(lookEvery) }),
        Effect.catchAll((error) => {
          const { reason, ...why } = refusalOf(error)
          const failed = note({ id, state: "failed", why: { ...why, reason: roots.shown(reason) } })
          return Effect.zipRight(discard(id), failed)
        }),
        Effect.raceFirst(Effect.zipRight(stoppedElsewhere(id), discard(id))),
        Effect.ensuring(Effect.sync(() => moving.delete(id)))
      )
      return FiberMap.run(fibers, id, all, { onlyIfMissing: true })
    }

    const asked = (wish: Journal.Wish, same: Journal.Known | undefined) =>
      Effect.gen(function*() {
        const id = same?.begun.id ?? `${wish.action}-${randomBytes(5).toString("hex")}`
        const begunAt = yield* Clock.currentTimeMillis
        if (same === undefined) yield* journal.add({ id, service, wish, begunAt })
        // one of another process, too: if that ends before it is done, it goes on here
        if (same === undefined || Journal.endOf(same) === undefined) yield* begin(id)
        return [id, same === undefined] as const
      })

    // The newest one with this key that is under way or done
    const sameAs = (wish: Journal.Wish) =>
      Effect.map(journal.known, (all) =>
        [...all.values()].findLast((one) => {
          const end = Journal.endOf(one)
          const isOfKind = one.begun.service === service && one.begun.wish.action === wish.action
          return isOfKind && (end === undefined || end === "done") && keyOf(one.begun.wish) === keyOf(wish)
        }))

    const isDone = (one: Journal.Known | undefined) => one?.reached?.state === "done"

    const standing: Transfers["standing"] = (id) =>
      Effect.gen(function*() {
        const known = (yield* journal.known).get(id)
        if (known === undefined) {
          return yield* refused(`There is no transfer ${id.slice(0, 40)}`, "Begin it again by upload or download.")
        }
        const { size } = known.begun.wish
        const now = yield* moving.get(id) ?? Effect.succeed(undefined)
        const state = Journal.endOf(known) ?? (now === undefined ? "waiting" : "moving")
        return { ...known, state, ...(now ?? { moved: state === "done" ? size ?? 0 : 0, size }) }
      })

    for (const [id, known] of yield* journal.known) {
      const { service: of, wish } = known.begun
      if (of !== service || Journal.endOf(known) !== undefined) continue
      // another server may have other directories: it stays for one that has this
      const here = yield* Effect.option(
        wish.action === "upload" ? roots.find(wish.path) : roots.target(wish.path, wish.file)
      )
      if (Option.isSome(here)) yield* begin(id)
    }

    const askedDownload: Transfers["download"] = (wish) =>
      journal.alone(Effect.gen(function*() {
        const same = yield* sameAs(wish)
        const isUnderWay = same !== undefined && !isDone(same)
        const isOfThis = same?.begun.wish.action === "download" && same.begun.wish.file === wish.file
        const isHere = yield* isThere(wish.path)
        if (isOfThis && (isUnderWay || isHere)) return yield* asked(wish, same)
        const name = basename(wish.path)
        if (isUnderWay) return yield* refused(`${same.begun.id} downloads another file to ${name}`, another)
        if (isHere) return yield* refused(`${name} is there already`, another)
        return yield* asked(wish, undefined)
      }))

    return {
      upload: (wish, again) =>
        journal.alone(Effect.flatMap(sameAs(wish), (same) => asked(wish, again && isDone(same) ? undefined : same))),
      download: askedDownload,
      standing,
      cancel: (id) =>
        Effect.gen(function*() {
          yield* FiberMap.remove(fibers, id)
          const known = (yield* journal.known).get(id)
          if (known === undefined || Journal.endOf(known) !== undefined) return
          yield* note({ id, state: "cancelled" })
          yield* discard(id)
        }),
      running: FiberMap.size(fibers)
    }
  })
