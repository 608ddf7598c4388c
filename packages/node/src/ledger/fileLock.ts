import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type { Lock } from "@stevedore/core/UploadLedger"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { flow } from "effect/Function"
import * as Iterable from "effect/Iterable"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { released, untilLetGo, untilReadable } from "../file/heldFile.js"
import { isReason, messageOf } from "../file/platformError.js"
import * as ProcessIdentity from "../file/processIdentity.js"
import type { PrivateDirectory } from "./privateDirectory.js"
import { nameOf } from "./privateStore.js"
import * as WarnOnce from "./warnOnce.js"

const Owner = Schema.parseJson(Schema.Struct({
  pid: Schema.Int.pipe(Schema.positive()),
  startedAt: Schema.optional(Schema.String),
  seenAt: Schema.optional(Schema.Number),
  /** Distinguishes whoever took a lock from every other, also from those in the same process. */
  taking: Schema.NonEmptyString
}))

type Owner = typeof Owner.Type

export const folder = "locks"

interface Held {
  readonly path: string
  readonly taking: string
}

interface Taken {
  readonly held: Held
  readonly isOfDead: boolean
}

interface Found {
  readonly taking: string
  readonly owner: Option.Option<Owner>
  /** When its owner last showed that it is there, in milliseconds since 1970. */
  readonly shownAt: number | undefined
}

/** Where lock files are. */
export interface Place extends Pick<PrivateDirectory, "makeDirectory" | "pathOf"> {
  readonly writeAside: (content: string) => Effect.Effect<string, PlatformError>
}

export interface Options {
  /** What is locked, as a warning says it. Defaults to uploads. */
  readonly what?: string | undefined
  /** Runs when the lock of an id was taken from a dead process. */
  readonly takenOver?: ((id: string) => Effect.Effect<void>) | undefined
  /** For how long the machine has been running, in seconds. Defaults to what the system says. */
  readonly secondsUp?: (() => number) | undefined
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
 */
export const look = (
  fs: FileSystem.FileSystem,
  directory: Pick<Place, "pathOf">
): Effect.Effect<(id: string) => Effect.Effect<boolean>> =>
  Effect.map(ProcessIdentity.make(fs), ({ isAlive }) => flow(pathIn(directory), isHeldAt(fs, isAlive)))

/** Locks, and whether one that was taken is still held: not asked where none is lost as long as its process runs. */
export interface Locks {
  readonly lock: Lock
  readonly isHeld: ((id: string) => Effect.Effect<boolean>) | undefined
}

/**
 * One lock file per id, containing its owner, in a private directory. The owner is written aside, or is in another
 * lock that is held here, and is hard-linked into place: only one process can succeed, and the lock file never exists
 * without its owner in it. A lock whose owner is
 * dead is taken over. Where the system does not tell when a process started, an owner shows every minute that it is
 * there, and counts as dead when it has not for ten: its number may be another process's by now. If a lock cannot be
 * created at all, and nobody has it, it counts as acquired, because the upload matters more than its lock.
 */
export const make = (
  fs: FileSystem.FileSystem,
  directory: Place,
  { secondsUp, takenOver = () => Effect.void, what = "Uploads" }: Options = {}
): Effect.Effect<Locks> =>
  Effect.map(ProcessIdentity.make(fs, secondsUp), ({ isAlive, isRecognizable, own }) => {
    const pathOf = pathIn(directory)
    const read = readWith(fs)
    const isHeld = isHeldBy(isAlive)

    const taking = randomUUID()
    const written = Effect.flatMap(own, (owner) =>
      directory.writeAside(JSON.stringify({ ...owner, taking } satisfies Owner)))

    // Paths of the locks that are held here, and of those that are about to be
    const mine = new Set<string>()
    const beingTaken = new Set<string>()

    const isStill = ({ path, taking }: Held): Effect.Effect<boolean, PlatformError> =>
      Effect.map(read(path), (found) =>
        found.taking === taking)

    // If the response of a network drive is lost, it is asked again, and finds the lock that it has just created.
    const orLinked = (held: Held, error: PlatformError): Effect.Effect<boolean, PlatformError> =>
      Effect.flatMap(
        Effect.orElseSucceed(isStill(held), () => false),
        (isLinked) => isLinked || isReason("AlreadyExists")(error) ? Effect.succeed(isLinked) : Effect.fail(error)
      )

    const linkAside = (path: string): Effect.Effect<void, PlatformError> =>
      Effect.flatMap(written, (aside) =>
        fs.link(aside, path).pipe(
          Effect.catchIf(
            isReason("NotFound"),
            () => Effect.zipRight(directory.makeDirectory(folder), fs.link(aside, path))
          ),
          Effect.ensuring(Effect.ignore(fs.remove(aside, { force: true })))
        ))

    // A lock that is held here already contains its owner, unless it was released meanwhile.
    const linked = (path: string): Effect.Effect<void, PlatformError> =>
      Option.match(Iterable.head(mine), {
        onNone: () => linkAside(path),
        onSome: (other) => Effect.catchIf(fs.link(other, path), isReason("NotFound"), () => linkAside(path))
      })

    const link = (held: Held): Effect.Effect<boolean, PlatformError> =>
      Effect.suspend(() => linked(held.path)).pipe(
        Effect.as(true),
        Effect.catchAll((error) => orLinked(held, error))
      )

    // Where nobody can look up when this process started, another one may have its number after it.
    const showing = (held: Held): Effect.Effect<void, never, Scope.Scope> => {
      const show = Effect.flatMap(Clock.currentTimeMillis, (now) => fs.utimes(held.path, now / 1000, now / 1000))
      return isRecognizable
        ? Effect.void
        : Effect.whenEffect(show, isStill(held)).pipe(
          Effect.ignore,
          Effect.schedule(Schedule.spaced(ProcessIdentity.beat)),
          // whoever takes a lock may be uninterruptible, and a fiber begins as the one that forks it
          Effect.interruptible,
          Effect.forkScoped,
          Effect.asVoid
        )
    }

    // If it cannot be read, as without a free file descriptor, it is still ours: nobody takes it from a running process.
    const release = (held: Held): Effect.Effect<void> => {
      const isOurs = Effect.orElseSucceed(isStill(held), () => true)
      return Effect.ignore(Effect.whenEffect(untilLetGo(fs.remove(held.path, { force: true })), isOurs)).pipe(
        Effect.zipRight(Effect.sync(() => mine.delete(held.path)))
      )
    }

    const replace = ({ path }: Held): Effect.Effect<void, PlatformError> =>
      Effect.flatMap(written, (anew) =>
        Effect.tapError(
          untilLetGo(fs.rename(anew, path)),
          () => Effect.ignore(fs.remove(anew, { force: true }))
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
        Option.match({ onNone: () => Effect.void, onSome: ({ held }) => release(held) })
      )

    const taken = (held: Held, patience: number): Effect.Effect<Option.Option<Taken>, PlatformError> =>
      Effect.gen(function*() {
        if (yield* link(held)) return Option.some({ held, isOfDead: false })
        const found = yield* read(held.path)
        if (yield* isHeld(found)) return Option.none()
        return Option.map(
          yield* takeOver({ path: held.path, taking: found.taking }, held),
          (held) => ({ held, isOfDead: true })
        )
      }).pipe(
        // It was released after it was found.
        Effect.catchIf(
          (error) => isReason("NotFound")(error) && patience > 0,
          () => Effect.suspend(() => taken(held, patience - 1))
        )
      )

    // Always where nothing interrupts it
    const take = (path: string): Effect.Effect<Option.Option<Taken>, PlatformError> =>
      Effect.suspend(() => {
        if (mine.has(path) || beingTaken.has(path)) return Effect.succeedNone
        beingTaken.add(path)
        return Effect.flatMap(Effect.exit(taken({ path, taking }, 100)), (exit) => {
          if (Exit.isSuccess(exit) && Option.isSome(exit.value)) mine.add(path)
          beingTaken.delete(path)
          return exit
        })
      })

    // On a full disk no lock can be created, but those of other processes are there. Where others can write, one may have
    // been planted.
    const isRefused = (path: string, error: PlatformError): Effect.Effect<boolean> =>
      isReason("PermissionDenied")(error) ? Effect.succeed(false) : isHeldAt(fs, isAlive)(path)

    const warn = WarnOnce.make()

    const withoutLock = (path: string, error: PlatformError) =>
      Effect.gen(function*() {
        const isOurs = !(yield* isRefused(path, error))
        if (isOurs) yield* warn(`${what} cannot be locked: ${messageOf(error)}. Two processes may use the same one`)
        return { lock: Option.none<Taken>(), isOurs }
      })

    // One that could not be created is nobody else's either. If it cannot be read, nobody has taken it.
    const isHeldStill = (id: string): Effect.Effect<boolean> =>
      Effect.suspend(() => {
        const path = pathOf(id)
        return mine.has(path) ? Effect.orElseSucceed(isStill({ path, taking }), () => true) : Effect.succeed(true)
      })

    const lock: Lock = (id) =>
      released(
        take(pathOf(id)).pipe(
          Effect.map((lock) => ({ lock, isOurs: Option.isSome(lock) })),
          Effect.catchAll((error) => withoutLock(pathOf(id), error))
        ),
        ({ lock }) => Option.match(lock, { onNone: () => Effect.void, onSome: ({ held }) => release(held) })
      ).pipe(
        Effect.tap(({ lock }) =>
          Option.match(lock, {
            onNone: () => Effect.void,
            onSome: ({ held, isOfDead }) => Effect.zipRight(showing(held), isOfDead ? takenOver(id) : Effect.void)
          })
        ),
        Effect.map(({ isOurs }) => isOurs)
      )

    return { lock, isHeld: isRecognizable ? undefined : isHeldStill }
  })
