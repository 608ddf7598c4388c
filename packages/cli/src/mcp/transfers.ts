/** The uploads and downloads that an agent has begun: they go on behind its calls, and uploads outlive the process. */
import * as Imports from "@stevedore/core/Imports"
import type { ListError } from "@stevedore/core/ListError"
import type { ServiceApi } from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import * as Uploads from "@stevedore/core/Uploads"
import * as FileSource from "@stevedore/node/FileSource"
import * as NodeDownloads from "@stevedore/node/NodeDownloads"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { randomBytes } from "node:crypto"
import { basename } from "node:path"
import * as HeldLedger from "../upload/heldLedger.js"
import { madeSince } from "../upload/importing.js"
import * as Journal from "./journal.js"
import { refused } from "./refused.js"
import type { Place, Roots } from "./roots.js"

/** How a transfer stands. */
export interface Standing {
  readonly state: "waiting" | "moving" | "done" | "failed" | "cancelled"
  /** In bytes. */
  readonly moved: number
  readonly size: number | undefined
  /** Bytes per second. */
  readonly speed: number | undefined
  readonly secondsLeft: number | undefined
  readonly fileId: string | undefined
  /** Why it waits, or has failed. */
  readonly reason: string | undefined
}

const nothing: Standing = {
  state: "waiting",
  moved: 0,
  size: undefined,
  speed: undefined,
  secondsLeft: undefined,
  fileId: undefined,
  reason: undefined
}

/** What is uploaded as what. */
export interface Wish {
  readonly place: Place
  readonly name: string | undefined
  readonly project: string | undefined
}

interface Transfer {
  /** Of an upload that another call may ask for again. */
  readonly key: string | undefined
  standing: Effect.Effect<Standing>
}

/** The requirements of what moves files. */
export type Requirements = Uploads.Requirements | ServiceApi

/** The transfers of one server. */
export interface Transfers {
  /** Begins an upload, unless the same one is under way, and gives its id. */
  readonly upload: (wish: Wish) => Effect.Effect<string, never, Requirements>
  /** Begins a download, and gives its id. */
  readonly download: (
    fileId: string,
    target: Pick<Place, "path">,
    size: number | undefined
  ) => Effect.Effect<string, never, Requirements>
  readonly standing: (id: string) => Effect.Effect<Option.Option<Standing>>
  readonly cancel: (id: string) => Effect.Effect<void>
  /** How many are under way. */
  readonly running: Effect.Effect<number>
}

const filesAtOnce = 4

/** Whether it will not move any more. */
export const isOver = ({ state }: Standing): boolean => state === "done" || state === "failed" || state === "cancelled"

const ofJournal = ({ begun, reached }: Journal.Known): Standing => ({
  ...nothing,
  state: Journal.endOf(reached) ?? "waiting",
  fileId: reached?.file,
  reason: reached?.reason ?? `${basename(begun.path)} is uploaded by another process, or waits for its turn`
})

const newId = (kind: string): Effect.Effect<string> => Effect.sync(() => `${kind}-${randomBytes(5).toString("hex")}`)

const entryOf = (
  wish: { readonly project: string; readonly title: string; readonly file: string },
  before: Journal.Known | undefined
): Effect.Effect<void, ServiceError | ListError, ServiceApi> =>
  Effect.gen(function*() {
    const { file, project: projectId, title } = wish
    const made = before?.reached?.state === "importing"
      ? yield* madeSince({ projectId, title }, before.begun.begunAt)
      : Option.none()
    if (Option.isNone(made)) yield* Imports.file({ fileId: file, projectId, title })
  })

/** What agents have left unfinished at this service goes on at once. */
export const make = (
  service: string,
  roots: Roots
): Effect.Effect<Transfers, never, Requirements | Scope.Scope | Effect.Effect.Context<typeof Journal.make>> =>
  Effect.gen(function*() {
    const journal = yield* Journal.make
    const fibers = yield* FiberMap.make<string>()
    const slots = yield* Effect.makeSemaphore(filesAtOnce)
    const transfers = new Map<string, Transfer>()

    const begin = <R>(
      id: string,
      key: string | undefined,
      run: (transfer: Transfer) => Effect.Effect<string | undefined, { readonly message: string }, R>
    ) => {
      const transfer: Transfer = { key, standing: Effect.succeed(nothing) }
      transfers.set(id, transfer)
      const ended = (change: Partial<Standing>) =>
        Effect.map(transfer.standing, (last) => {
          transfer.standing = Effect.succeed({ ...last, speed: undefined, secondsLeft: undefined, ...change })
        })
      const running = Effect.matchEffect(slots.withPermits(1)(Effect.scoped(run(transfer))), {
        onSuccess: (fileId) => ended({ state: "done", fileId }),
        onFailure: ({ message }) =>
          Effect.zipRight(
            ended({ state: "failed", reason: roots.shown(message) }),
            key === undefined ? Effect.void : journal.add({ id, state: "failed", reason: roots.shown(message) })
          )
      })
      return FiberMap.run(fibers, id, running)
    }

    // With the lock in hand, what another process has done meanwhile is in the journal
    const sendOnce = (id: string, wish: Wish, transfer: Transfer) =>
      Effect.gen(function*() {
        const { name, place } = wish
        const source = yield* FileSource.fromEntry(
          { name: place.shown, path: place.path, within: place.within },
          { name: name ?? basename(place.path) }
        )
        const { ledger, settle } = yield* HeldLedger.make
        const isOurs = Effect.map(journal.known, (known) => known.get(id)?.reached === undefined)
        const handle = yield* Uploads.start(source).pipe(
          Effect.provideService(UploadLedger.UploadLedger, {
            ...ledger,
            lock: (of) => Effect.flatMap(ledger.lock(of), (taken) => taken ? isOurs : Effect.succeed(false))
          })
        )
        transfer.standing = Effect.map(handle.progress.get, ({ confirmed, sent, size, speed, timeLeft }) => ({
          ...nothing,
          state: "moving",
          moved: Math.max(confirmed, sent),
          size,
          speed: Option.getOrUndefined(speed),
          secondsLeft: Option.getOrUndefined(Option.map(timeLeft, Duration.toSeconds))
        }))
        const file = yield* handle.await
        yield* journal.add({ id, state: "uploaded", file: file.id })
        yield* settle
        return file.id
      }).pipe(Effect.scoped)

    const send = (id: string, wish: Wish, transfer: Transfer) =>
      Effect.gen(function*() {
        const before = (yield* journal.known).get(id)
        if (Journal.endOf(before?.reached) !== undefined) return before?.reached?.file
        const file = before?.reached?.file ?? (yield* sendOnce(id, wish, transfer))
        const { place, project } = wish
        if (project !== undefined) {
          yield* journal.add({ id, state: "importing", file })
          yield* entryOf({ file, project, title: wish.name ?? basename(place.path) }, before)
        }
        yield* journal.add({ id, state: "done", file })
        return file
      }).pipe(Effect.retry({
        while: (error) => error._tag === "UploadLocked",
        schedule: Schedule.spaced("2 seconds")
      }))

    const sending = (id: string, key: string, wish: Wish) => begin(id, key, (transfer) => send(id, wish, transfer))

    const keyOf = ({ name, place, project }: Wish) => JSON.stringify([place.path, name, project])

    const upload: Transfers["upload"] = (wish) =>
      Effect.gen(function*() {
        const key = keyOf(wish)
        for (const [id, transfer] of transfers) {
          if (transfer.key === key && !isOver(yield* transfer.standing)) return id
        }
        const id = yield* newId("upload")
        const { name, place: { path }, project } = wish
        const begunAt = yield* Clock.currentTimeMillis
        yield* journal.add({ id, service, path, name, project, begunAt })
        yield* sending(id, key, wish)
        return id
      })

    const download: Transfers["download"] = (fileId, { path }, size) =>
      Effect.flatMap(newId("download"), (id) =>
        Effect.as(
          begin(id, undefined, (transfer) =>
            Effect.gen(function*() {
              let moved = { ...nothing, state: "moving" as const, size }
              transfer.standing = Effect.sync(() => moved)
              const onProgress = (received: number, of: Option.Option<number>) => {
                moved = { ...moved, moved: received, size: Option.getOrElse(of, () => size) }
              }
              yield* NodeDownloads.toFile(fileId, path, { size, keep: true, onProgress })
              return fileId
            })),
          id
        ))

    const standing: Transfers["standing"] = (id) =>
      Effect.suspend(() => {
        const transfer = transfers.get(id)
        return transfer === undefined
          ? Effect.map(journal.known, (known) => Option.map(Option.fromNullable(known.get(id)), ofJournal))
          : Effect.asSome(transfer.standing)
      })

    const cancel: Transfers["cancel"] = (id) =>
      Effect.gen(function*() {
        const fiber = Option.getOrUndefined(yield* Effect.option(FiberMap.get(fibers, id)))
        const transfer = transfers.get(id)
        if (transfer === undefined) return
        const last = yield* transfer.standing
        if (fiber !== undefined) yield* Fiber.interrupt(fiber)
        if (isOver(yield* transfer.standing)) return
        transfer.standing = Effect.succeed({ ...last, state: "cancelled", speed: undefined, secondsLeft: undefined })
        if (transfer.key !== undefined) yield* journal.add({ id, state: "cancelled" })
      })

    for (const [id, known] of yield* journal.known) {
      const { name, path, project } = known.begun
      if (known.begun.service !== service || Journal.endOf(known.reached) !== undefined) continue
      const found = yield* Effect.either(roots.find(path))
      // another server may have other roots: it stays for one that has this
      if (found._tag === "Left") continue
      const wish = { place: found.right, name, project }
      yield* sending(id, keyOf(wish), wish)
    }

    return { upload, download, standing, cancel, running: FiberMap.size(fibers) }
  })

/** That no transfer has this id. */
export const unknown = (id: string) =>
  refused(`There is no transfer ${id.slice(0, 40)}`, "Begin it again by upload or download.")
