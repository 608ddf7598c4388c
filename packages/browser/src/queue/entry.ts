import type { ServiceApi } from "@stevedore/core/ServiceApi"
import type { SourceError } from "@stevedore/core/SourceError"
import { SourceUnreadable } from "@stevedore/core/SourceError"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import type { UploadHandle } from "@stevedore/core/Uploads"
import * as Uploads from "@stevedore/core/Uploads"
import type { RepeatableSource, SourceFingerprint } from "@stevedore/core/UploadSource"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { readFailure, textOf } from "../base/thrown.js"
import * as BlobSource from "../BlobSource.js"
import * as FileHandles from "../FileHandles.js"
import type { Addition, Failure, Item } from "./model.js"

/** Every file in a queue has the name that it is uploaded under. */
export interface NamedAddition extends Addition {
  readonly name: string
}

/** A wait before the next attempt. */
export interface Wait {
  readonly waitingFor: NonNullable<Item["waitingFor"]>
  /** In milliseconds of our clock. */
  readonly until: number
}

/** What the engine knows about an item. */
export interface Entry {
  item: Item
  addition: NamedAddition | undefined
  /** The upload in the ledger that this item must resume. */
  unfinished: string | undefined
  /** The ids in the ledger of all files that it has had, as far as they are known. */
  readonly ledgerIds: Set<string>
  fiber: Fiber.RuntimeFiber<void> | undefined
  handle: UploadHandle | undefined
  /** Paused by the user, or waiting for its turn to resume. */
  waits: boolean
  /** Why there is no attempt at the moment. */
  wait: Wait | undefined
  /** Halved each time that one which was added later starts before it. */
  share: number
}

export const entryOf = (item: Item, addition?: NamedAddition, unfinished?: string): Entry => ({
  item,
  addition,
  unfinished,
  ledgerIds: new Set(unfinished === undefined ? [] : [unfinished]),
  fiber: undefined,
  handle: undefined,
  waits: false,
  wait: undefined,
  share: 1
})

/** Whether it takes up a slot: a pause during completion stops nothing. */
export const goesOn = ({ fiber, item, waits }: Entry): boolean =>
  fiber !== undefined && (!waits || item.state === "finishing")

export const isQueued = ({ item }: Entry): boolean => item.state === "queued"

export const isToClear = ({ state }: Item): boolean => state === "completed" || state === "cancelled"

/** Named by its path if it comes from a chosen folder: a folder can hold files of the same name, size and date. */
export const additionOf = (given: File | Addition): NamedAddition => {
  const addition = "file" in given ? given : { file: given }
  const { file: { name, webkitRelativePath } } = addition
  return { ...addition, name: addition.name ?? (webkitRelativePath || name) }
}

// What names a field is for programs
const refusalIn = (error: unknown): unknown =>
  Predicate.hasProperty(error, "issues") && Array.isArray(error.issues)
    ? error.issues.find((issue: unknown) =>
      textOf(issue, "message") !== undefined && !Predicate.hasProperty(issue, "path")
    )
    : undefined

export const failureOf = (cause: Cause.Cause<unknown>): Failure => {
  const error = Cause.squash(cause)
  const status = Predicate.hasProperty(error, "status") && Predicate.isNumber(error.status) ? error.status : undefined
  const refusal = status !== undefined && status >= 400 && status < 500 ? refusalIn(error) : undefined
  return {
    tag: textOf(error, "_tag") ?? "Unexpected",
    message: textOf(error, "message") ?? String(error),
    status,
    operation: textOf(error, "operation"),
    reason: textOf(refusal, "message"),
    code: textOf(refusal, "code")
  }
}

/** How the identity of what a queue sends begins. */
const markOf = (name: string | undefined): string => `${JSON.stringify([name]).slice(0, -1)},`

/**
 * The source of an item, as one of this queue and with this metadata: what another queue began, or began with other
 * metadata, is another upload. Without either it is that of the file alone, which any program continues.
 */
export const sourceOf = (
  { file, handle, name }: NamedAddition,
  { metadata }: Item,
  queue: string | undefined
): Effect.Effect<RepeatableSource, SourceError> =>
  Effect.map(
    handle === undefined ? BlobSource.fromFile(file, { name }) : BlobSource.fromHandle(handle, { name }),
    (source) => {
      const { identity } = source.fingerprint
      return queue === undefined && metadata === undefined ? source : {
        ...source,
        fingerprint: { ...source.fingerprint, identity: JSON.stringify([queue, metadata, identity]) }
      }
    }
  )

const isOfQueue = ({ identity = "" }: SourceFingerprint, queue: string | undefined): boolean =>
  identity.startsWith(markOf(queue)) || queue === undefined && !identity.startsWith("[")

export const ofHandles = <A>(
  use: (handles: FileHandles.Service) => Effect.Effect<A, never, ServiceApi>
): Effect.Effect<Option.Option<A>, never, ServiceApi> =>
  Effect.flatMap(Effect.serviceOption(FileHandles.FileHandles), Effect.transposeMapOption(use))

/** An upload that another tab is sending stays with that tab, and so does its file. */
export const forget = (ledgerIds: Iterable<string>): Effect.Effect<void, never, ServiceApi> =>
  Effect.forEach(
    ledgerIds,
    (id) => Effect.ignore(Effect.zipRight(Uploads.forget(id), ofHandles((handles) => handles.forget(id)))),
    { discard: true }
  )

/** Whether an upload that was listed as unfinished is of this queue, has not ended since, and nobody is sending it. */
export const isLeft = (ledgerId: string, queue: string | undefined): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    const { find, lock } = yield* UploadLedger.UploadLedger
    return (yield* Effect.scoped(lock(ledgerId)))
      && Option.exists(yield* find(ledgerId), ({ record }) => isOfQueue(record.fingerprint, queue))
  })

/** What the ledger no longer has cannot be resumed: the next attempt starts over. */
export const dropEnded = (entry: Entry): Effect.Effect<void> =>
  Effect.gen(function*() {
    const { find } = yield* UploadLedger.UploadLedger
    const found = yield* Effect.transposeMapOption(Option.fromNullable(entry.unfinished), find)
    if (Option.isNone(Option.flatten(found))) entry.unfinished = undefined
  })

/**
 * Uploads a file once more that could not be read. In WebKit, a page that was left and returned to cannot read its files
 * at first, and one that is being left cannot either: only what fails again needs its file to be chosen again.
 */
export const readingAgain = <A, E extends { readonly _tag: string }, R>(
  upload: Effect.Effect<A, E | SourceUnreadable, R>
): Effect.Effect<A, E | SourceUnreadable, R> =>
  Effect.catchIf(
    upload,
    (error) => error instanceof SourceUnreadable && (error.reason === "NotFound" || error.reason === "Failed"),
    () => Effect.delay(upload, "1 second")
  )

/** What failed because of the line, and not of a rule that forbids the page to call there, goes on once that works. */
export const isLineLost = (error: unknown): boolean =>
  Predicate.isTagged(error, "ConnectionFailed") && !Predicate.hasProperty(error, "hint")

/** The file that is kept for an upload in the ledger, if the user allows it. */
export const keptFile = (ledgerId: string, name: string): Effect.Effect<Addition, SourceError, ServiceApi> =>
  Effect.gen(function*() {
    const handle = Option.flatten(yield* ofHandles((handles) => handles.find(ledgerId)))
    if (Option.isNone(handle) || !(yield* FileHandles.allow(handle.value))) {
      return yield* new SourceUnreadable({ fileName: name, reason: "PermissionDenied" })
    }
    const file = yield* Effect.tryPromise({
      try: () => handle.value.getFile(),
      catch: (cause) => readFailure(name, cause)
    })
    return { file, handle: handle.value }
  })
