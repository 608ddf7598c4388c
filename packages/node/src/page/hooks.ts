/** An upload that is completed through the app, to its end: the service is asked until it has answered, and the hook told. */
import type { FileRecord } from "@stevedore/core/FileRecord"
import { isThere } from "@stevedore/core/FileRecord"
import type { Metadata } from "@stevedore/core/Metadata"
import { ServiceApi } from "@stevedore/core/ServiceApi"
import type * as ServiceApiModule from "@stevedore/core/ServiceApi"
import type { ServiceError } from "@stevedore/core/ServiceError"
import { UploadConflict } from "@stevedore/core/ServiceError"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import { leftAfterComplete, mayBeComplete, wasAnswered } from "@stevedore/core/Uploads"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Complete, Entry, UploadOutbox } from "../UploadOutbox.js"
import type { Refused } from "./refusal.js"
import * as Refusal from "./refusal.js"

/** What an application is told of uploads. */
export interface Hooks<User, E, R> {
  readonly completed?:
    | ((user: User, file: FileRecord, metadata: Metadata) => Effect.Effect<void, E, R>)
    | undefined
  readonly failed?:
    | ((user: User, file: FileRecord, metadata: Metadata, error: ServiceError) => Effect.Effect<void, E, R>)
    | undefined
}

/** Tells the service that an upload is complete. */
export const send = (
  service: ServiceApiModule.Service,
  complete: Complete
): Effect.Effect<FileRecord, ServiceError> => {
  const { parts = [], uploadId, ...rest } = complete
  return uploadId === undefined
    ? service.completeUpload(rest)
    // nothing else about a part is sent on the wire
    : service.completeLargeUpload({
      fileId: rest.fileId,
      numericIds: rest.numericIds ?? [],
      uploadId,
      parts: parts.map((part) => ({ ...part, size: 1, attempts: 1 }))
    })
}

interface NotThere {
  readonly _tag: "NotThere"
  readonly left: ReturnType<typeof leftAfterComplete>
  readonly error: ServiceError
}

type Outcome = NotThere | { readonly _tag: "There"; readonly file: FileRecord }

// whoever refused it for good is not asked again
const isSettled = (failure: NotThere | Refused): boolean => failure._tag === "NotThere" && failure.left !== "waiting"

const firstByte = ({ download }: ServiceApiModule.Service, fileId: string): Effect.Effect<boolean, ServiceError> =>
  download(fileId, { range: { start: 0, end: 0 } }).pipe(
    Effect.flatMap((answer) =>
      answer._tag === "Link"
        ? Effect.succeed(false)
        : Effect.map(Stream.runHead(Stream.filter(answer.bytes, ({ byteLength }) => byteLength > 0)), Option.isSome)
    ),
    Effect.scoped
  )

/** Looks whether a file is there that may be complete although its Complete has failed. */
const looked = (
  service: ServiceApiModule.Service,
  { fileId, size }: Pick<Complete, "fileId" | "size">,
  error: ServiceError
): Effect.Effect<Outcome> => {
  const notThere = (left: ReturnType<typeof leftAfterComplete>): Outcome => ({ _tag: "NotThere", left, error })
  return Effect.gen(function*() {
    const file = yield* service.file(fileId)
    const isFinal = file.status !== undefined && service.profile.finalStates.includes(file.status)
    if (!isThere(file, size ?? file.size ?? 0)) return notThere("over")
    return isFinal || (yield* firstByte(service, fileId)) ? { _tag: "There" as const, file } : notThere("waiting")
  }).pipe(
    Effect.catchAll((failure) =>
      Effect.succeed(notThere(failure._tag === "NotFound" && wasAnswered(error) ? leftAfterComplete(error) : "waiting"))
    )
  )
}

/** Whether an upload is complete, after telling the service so. */
const outcome = (
  service: ServiceApiModule.Service,
  complete: Complete,
  { size, wasSentBefore }: { readonly wasSentBefore: boolean; readonly size: number | undefined }
): Effect.Effect<Outcome> =>
  Effect.flatMap(Effect.either(send(service, complete)), (end): Effect.Effect<Outcome> => {
    if (Either.isRight(end) && end.right.status !== "failed") return Effect.succeed({ _tag: "There", file: end.right })
    const error = Either.isLeft(end)
      ? end.left
      : new UploadConflict({ operation: "completeUpload", status: 200, issues: [] })
    return mayBeComplete(error, wasSentBefore)
      ? looked(service, { fileId: complete.fileId, size }, error)
      : Effect.succeed({ _tag: "NotThere", left: leftAfterComplete(error), error })
  })

/** One after the other for each file. */
const makeTurns = () => {
  const turns = new Map<string, { readonly semaphore: Effect.Semaphore; waiting: number }>()
  return <A, E, R>(fileId: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const turn = turns.get(fileId) ?? { semaphore: Effect.unsafeMakeSemaphore(1), waiting: 0 }
      turns.set(fileId, turn)
      turn.waiting++
      return Effect.ensuring(
        turn.semaphore.withPermits(1)(effect),
        Effect.sync(() => --turn.waiting === 0 && turns.delete(fileId))
      )
    })
}

const elsewhere = Refusal.refused(503, { message: "Another request completes this upload" })

/** Longer than the service takes to answer. A process that dies lets go at once. */
const lockTries = 600

const locked = <User>({ lock }: UploadOutbox<User>, fileId: string): Effect.Effect<void, Refused, Scope.Scope> =>
  Effect.flatMap(
    UploadLedger.waitForLock(lock, fileId, "100 millis", lockTries),
    (taken) => taken ? Effect.void : Effect.fail(elsewhere)
  )

/**
 * When the service is asked again whose answer was lost, or the hook is called again that has failed: for as long as
 * the service keeps an upload that is not complete.
 */
const again = Schedule.exponential("1 second").pipe(
  Schedule.union(Schedule.spaced("5 minutes")),
  Schedule.jittered,
  Schedule.upTo("24 hours")
)

interface Opened {
  readonly fileId: string
  readonly file: Entry<unknown>["file"]
  readonly metadata?: Metadata | undefined
}

/** How the uploads of an app end. */
export interface Ending<User, R> {
  /** Notes an upload that was opened. */
  readonly opened: (user: User, upload: Opened) => Effect.Effect<void, Refused>
  /** Completes an upload. Returns what the page is told. */
  readonly completed: (
    user: User,
    complete: Complete
  ) => Effect.Effect<string, Refused | ServiceError, ServiceApi | R>
  /** Takes up what an earlier process has left; once. */
  readonly resumed: Effect.Effect<void, never, ServiceApi | R>
}

/** `answerOf` is what the page is told of a file. */
export const make = <User, E, R>(
  hooks: Hooks<User, E, R>,
  outbox: UploadOutbox<User>,
  answerOf: (file: FileRecord) => string
): Ending<User, R> => {
  const inTurn = makeTurns()
  const followed = new Set<string>()
  let hasResumed = false

  const told = (call: () => Effect.Effect<void, E, R>): Effect.Effect<void, Refused, R> =>
    Effect.catchAllCause(Effect.suspend(call), Refusal.ofHook)

  const noted = (entry: Entry<User>) => Effect.catchAllCause(outbox.put(entry), Refusal.ofHook)

  const found = (fileId: string) => Effect.catchAllCause(outbox.find(fileId), Refusal.ofHook)

  // What the service says of the file, and what is known of it where it says nothing
  const recordOf = ({ file, fileId }: Entry<User>, told?: FileRecord): FileRecord => ({
    ...(file && { name: file.name, type: file.mediaType, size: file.size }),
    ...told,
    id: fileId
  })

  const ended = (
    entry: Entry<User>,
    complete: Complete
  ): Effect.Effect<string, NotThere | Refused, ServiceApi | R> =>
    Effect.gen(function*() {
      const service = yield* ServiceApi
      const completing: Entry<User> = { ...entry, phase: "completing", complete }
      yield* noted(completing)
      const end = yield* outcome(service, complete, {
        wasSentBefore: entry.phase === "completing",
        size: entry.file?.size
      })
      const { metadata, user } = entry
      const without: Entry<User> = { ...entry, complete: undefined }
      if (end._tag === "There") {
        const answer = answerOf(end.file)
        yield* told(() => hooks.completed?.(user, recordOf(entry, end.file), metadata) ?? Effect.void)
        yield* noted({ ...without, phase: "completed", answer })
        return answer
      }
      const { error, left } = end
      if (left === "repairable") yield* noted({ ...without, phase: "opened" })
      if (left === "over") {
        if (entry.phase !== "failed") {
          yield* told(() => hooks.failed?.(user, recordOf(entry), metadata, error) ?? Effect.void)
        }
        yield* noted({ ...without, phase: "failed" })
      }
      return yield* Effect.fail(end)
    })

  const inItsTurn = (
    fileId: string,
    next: (entry: Option.Option<Entry<User>>) => Effect.Effect<string, NotThere | Refused, ServiceApi | R>
  ) =>
    inTurn(
      fileId,
      Effect.scoped(
        Effect.zipRight(
          locked(outbox, fileId),
          Effect.flatMap(
            found(fileId),
            (entry) =>
              Option.isSome(entry) && entry.value.phase === "completed"
                ? Effect.succeed(entry.value.answer ?? "")
                : next(entry)
          )
        )
      )
    )

  // Nobody need ask for it: whoever wanted to know has perhaps left
  const follow = (fileId: string, isNew: boolean): Effect.Effect<void, never, ServiceApi | R> =>
    Effect.suspend(() => {
      if (followed.has(fileId)) return Effect.void
      followed.add(fileId)
      const once = inItsTurn(fileId, (entry) =>
        Option.match(entry, {
          onNone: () => Effect.succeed(""),
          onSome: (entry) =>
            entry.phase === "completing" && entry.complete !== undefined
              ? Effect.catchIf(ended(entry, entry.complete), isSettled, () => Effect.succeed(""))
              : Effect.succeed("")
        }))
      return once.pipe(
        isNew ? Effect.delay("1 second") : (effect) => effect,
        Effect.retry(again),
        Effect.catchAll(() => Effect.logError(`Whether ${fileId} is complete has been unknown for 24 hours`)),
        Effect.ensuring(Effect.sync(() => followed.delete(fileId))),
        Effect.forkDaemon,
        Effect.asVoid
      )
    })

  return {
    opened: (user, { file, fileId, metadata = {} }) => noted({ fileId, file, metadata, user, phase: "opened" }),
    completed: (user, complete) => {
      const { fileId } = complete
      const entry = Option.getOrElse((): Entry<User> => ({ fileId, metadata: {}, user, phase: "opened" }))
      return inItsTurn(fileId, (found) => ended(entry(found), complete)).pipe(
        Effect.tapError((failure) => isSettled(failure) ? Effect.void : follow(fileId, true)),
        Effect.mapError((failure) => failure._tag === "NotThere" ? failure.error : failure)
      )
    },
    resumed: Effect.suspend(() => {
      if (hasResumed) return Effect.void
      hasResumed = true
      return Effect.catchAllCause(
        Effect.flatMap(outbox.completing, Effect.forEach((fileId) => follow(fileId, false), { discard: true })),
        (cause) => Effect.logError("The outbox of StevedoreHttpApp cannot be read", cause)
      )
    })
  }
}
