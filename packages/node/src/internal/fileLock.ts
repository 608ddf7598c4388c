import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type { Lock } from "@stevedore/core/UploadLedger"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { untilLetGo, untilReadable } from "./heldFile.js"
import type { PrivateDirectory } from "./privateDirectory.js"
import { nameOf } from "./privateStore.js"
import * as ProcessIdentity from "./processIdentity.js"
import * as WarnOnce from "./warnOnce.js"

const Owner = Schema.parseJson(Schema.Struct({
  pid: Schema.Int.pipe(Schema.positive()),
  startedAt: Schema.optional(Schema.String),
  seenAt: Schema.optional(Schema.Number),
  /** Distinguishes this acquisition of a lock from every other. */
  taking: Schema.NonEmptyString
}))

type Owner = typeof Owner.Type

/** @internal */
export const folder = "locks"

const isReason = (reason: "NotFound" | "AlreadyExists" | "PermissionDenied") => (error: PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === reason

interface Held {
  readonly path: string
  readonly taking: string
}

interface Found {
  readonly taking: string
  readonly owner: Option.Option<Owner>
  /** When its owner last showed that it is there, in milliseconds since 1970. */
  readonly shownAt: number | undefined
}

/**
 * Where lock files are.
 *
 * @internal
 */
export interface Place extends Pick<PrivateDirectory, "makeDirectory" | "pathOf"> {
  readonly writeAside: (content: string) => Effect.Effect<string, PlatformError>
}

const pathIn = (directory: Pick<Place, "pathOf">) => (id: string): string => directory.pathOf(`${folder}/${nameOf(id)}`)

// Reading a pipe that nobody writes to would block forever.
const contentOf = (fs: FileSystem.FileSystem, path: string) =>
  Effect.flatMap(
    fs.stat(path),
    ({ mtime, type }) =>
      Effect.map(type === "File" ? fs.readFileString(path) : Effect.succeed(""), (text) => ({
        text,
        shownAt: Option.getOrUndefined(Option.map(mtime, (date) => date.getTime()))
      }))
  )

// A file that is not one of our locks has no owner: a lock is written in one step, so it cannot be a half-written one.
const readWith = (fs: FileSystem.FileSystem) => (path: string): Effect.Effect<Found, PlatformError> =>
  Effect.flatMap(untilReadable(contentOf(fs, path)), ({ shownAt, text }) =>
    Effect.match(Schema.decode(Owner)(text), {
      onFailure: () => ({ taking: text, owner: Option.none(), shownAt }),
      onSuccess: (owner) => ({ taking: owner.taking, owner: Option.some(owner), shownAt })
    }))

type IsAlive = (owner: Owner, shownAt: number | undefined) => Effect.Effect<boolean>

const isHeldBy = (isAlive: IsAlive) => ({ owner, shownAt }: Found): Effect.Effect<boolean> =>
  Option.match(owner, { onNone: () => Effect.succeed(false), onSome: (one) => isAlive(one, shownAt) })

const isHeldAt = (fs: FileSystem.FileSystem, isAlive: IsAlive) => (path: string): Effect.Effect<boolean> =>
  Effect.orElseSucceed(Effect.flatMap(readWith(fs)(path), isHeldBy(isAlive)), () => false)

/**
 * Whether a running process has the lock of an id. It does not take the lock, not even for a moment in which that
 * process would not get it.
 *
 * @internal
 */
export const look = (
  fs: FileSystem.FileSystem,
  directory: Pick<Place, "pathOf">
): Effect.Effect<(id: string) => Effect.Effect<boolean>> =>
  Effect.map(ProcessIdentity.make(fs), ({ isAlive }) => flow(pathIn(directory), isHeldAt(fs, isAlive)))

/**
 * One lock file per id, containing its owner, in a private directory. The file is written aside and hard-linked into
 * place: only one process can succeed, and the lock file never exists without its owner in it. A lock whose owner is
 * dead is taken over. Where the system does not tell when a process started, an owner shows every minute that it is
 * there, and counts as dead when it has not for ten: its number may be another process's by now. If a lock cannot be
 * created at all, and nobody has it, it counts as acquired, because the upload matters more than its lock.
 *
 * @internal
 */
export const make = (fs: FileSystem.FileSystem, directory: Place, what = "Uploads"): Effect.Effect<Lock> =>
  Effect.map(ProcessIdentity.make(fs), ({ isAlive, isRecognizable, own }) => {
    const pathOf = pathIn(directory)
    const read = readWith(fs)
    const isHeld = isHeldBy(isAlive)

    const writeAside = (taking: string) =>
      Effect.flatMap(own, (owner) => directory.writeAside(JSON.stringify({ ...owner, taking } satisfies Owner)))

    const isStill = ({ path, taking }: Held): Effect.Effect<boolean, PlatformError> =>
      Effect.map(read(path), (found) => found.taking === taking)

    // If the response of a network drive is lost, it is asked again, and finds the lock that it has just created.
    const orLinked = (held: Held, error: PlatformError): Effect.Effect<boolean, PlatformError> =>
      Effect.if(Effect.orElseSucceed(isStill(held), () => false), {
        onTrue: () => Effect.succeed(true),
        onFalse: () => isReason("AlreadyExists")(error) ? Effect.succeed(false) : Effect.fail(error)
      })

    const link = (held: Held): Effect.Effect<boolean, PlatformError> =>
      Effect.flatMap(writeAside(held.taking), (written) =>
        fs.link(written, held.path).pipe(
          Effect.catchIf(
            isReason("NotFound"),
            () => Effect.zipRight(directory.makeDirectory(folder), fs.link(written, held.path))
          ),
          Effect.as(true),
          Effect.catchAll((error) => orLinked(held, error)),
          Effect.ensuring(Effect.ignore(fs.remove(written, { force: true })))
        ))

    // Where nobody can look up when this process started, another one may have its number after it.
    const showing = (held: Held): Effect.Effect<void, never, Scope.Scope> => {
      const show = Effect.flatMap(Clock.currentTimeMillis, (now) => fs.utimes(held.path, now / 1000, now / 1000))
      return isRecognizable
        ? Effect.void
        : Effect.whenEffect(show, isStill(held)).pipe(
          Effect.ignore,
          Effect.schedule(Schedule.spaced(ProcessIdentity.beat)),
          Effect.forkScoped,
          Effect.asVoid
        )
    }

    // If it cannot be read, as without a free file descriptor, it is still ours: nobody takes it from a running process.
    const release = (held: Held): Effect.Effect<void> => {
      const isOurs = Effect.orElseSucceed(isStill(held), () => true)
      return Effect.ignore(Effect.whenEffect(untilLetGo(fs.remove(held.path, { force: true })), isOurs))
    }

    const replace = ({ path, taking }: Held): Effect.Effect<void, PlatformError> =>
      Effect.flatMap(writeAside(taking), (written) =>
        Effect.tapError(
          untilLetGo(fs.rename(written, path)),
          () => Effect.ignore(fs.remove(written, { force: true }))
        ))

    // To take over the lock of a dead owner, a process first locks that very acquisition and checks again. If several
    // find the same dead owner, only one replaces it, and none replaces the lock of the one that did.
    const takeOver = (dead: Held, held: Held): Effect.Effect<Option.Option<Held>, PlatformError> =>
      Effect.acquireUseRelease(
        take(pathOf(`${dead.path} ${dead.taking}`)),
        Option.match({
          onNone: () => Effect.succeedNone,
          onSome: () => Effect.whenEffect(Effect.as(replace(held), held), isStill(dead))
        }),
        Option.match({ onNone: () => Effect.void, onSome: release })
      )

    const take = (path: string, patience = 100): Effect.Effect<Option.Option<Held>, PlatformError> =>
      Effect.gen(function*() {
        const held = { path, taking: randomUUID() }
        if (yield* link(held)) return Option.some(held)
        const found = yield* read(path)
        if (yield* isHeld(found)) return Option.none()
        return yield* takeOver({ path, taking: found.taking }, held)
      }).pipe(
        // It was released after it was found.
        Effect.catchIf(
          (error) => isReason("NotFound")(error) && patience > 0,
          () => Effect.suspend(() => take(path, patience - 1))
        )
      )

    // On a full disk no lock can be created, but those of other processes are there. Where others can write, one may have
    // been planted.
    const isRefused = (path: string, error: PlatformError): Effect.Effect<boolean> =>
      isReason("PermissionDenied")(error) ? Effect.succeed(false) : isHeldAt(fs, isAlive)(path)

    const warn = WarnOnce.make()

    const withoutLock = (path: string, error: PlatformError) =>
      Effect.gen(function*() {
        const taken = !(yield* isRefused(path, error))
        if (taken) yield* warn(`${what} cannot be locked: ${error.message}. Two processes may use the same one`)
        return { held: Option.none<Held>(), taken }
      })

    return (id) =>
      Effect.acquireRelease(
        take(pathOf(id)).pipe(
          Effect.map((held) => ({ held, taken: Option.isSome(held) })),
          Effect.catchAll((error) => withoutLock(pathOf(id), error))
        ),
        ({ held }) => Option.match(held, { onNone: () => Effect.void, onSome: release })
      ).pipe(
        Effect.tap(({ held }) => Option.match(held, { onNone: () => Effect.void, onSome: showing })),
        Effect.map(({ taken }) => taken)
      )
  })
