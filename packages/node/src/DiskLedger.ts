/** The ledger of unfinished uploads on disk, in a directory that only its owner can read. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Ages from "@stevedore/core/parts/ages"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { homedir } from "node:os"
import * as Path from "node:path"
import * as HeldFile from "./file/heldFile.js"
import * as DurableFile from "./ledger/durableFile.js"
import * as FileLock from "./ledger/fileLock.js"
import * as JournaledStore from "./ledger/journaledStore.js"
import { keyValueStore } from "./ledger/keyValueStore.js"
import * as PrivateDirectory from "./ledger/privateDirectory.js"
import * as PrivateStore from "./ledger/privateStore.js"
import * as ReceiptLines from "./ledger/receiptLines.js"
import * as WarnOnce from "./ledger/warnOnce.js"

/**
 * Where the ledger is stored, and what it keeps.
 *
 * @category models
 */
export interface Options {
  /**
   * A directory for the ledger alone, on a disk of this machine. Only processes that can see each other may share it:
   * to one container, a process in another looks dead, and its uploads are taken over. Defaults to
   * {@link defaultDirectory}.
   */
  readonly directory?: string | undefined
  /**
   * Whether part URLs are kept. They are the only way back into a session. Without them, running an upload again sends
   * all of it again, unless storage already had every part. Defaults to `true`.
   */
  readonly keepUrls?: boolean | undefined
}

/**
 * The platform's directory for program state: `$XDG_STATE_HOME/stevedore`, or else `~/.local/state/stevedore`;
 * `~/Library/Application Support/stevedore` on macOS; `%LOCALAPPDATA%\stevedore` on Windows. A variable that is not an
 * absolute path is ignored, as the XDG Base Directory Specification says.
 *
 * @category constructors
 */
export const directoryOf = (machine: {
  readonly platform: NodeJS.Platform
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly home: string
}): string => {
  const { environment, home, platform } = machine
  const { isAbsolute, join } = platform === "win32" ? Path.win32 : Path.posix
  const given = (variable: string, otherwise: ReadonlyArray<string>): string => {
    const value = environment[variable]
    return value !== undefined && isAbsolute(value) ? value : join(home, ...otherwise)
  }
  switch (platform) {
    case "darwin":
      return join(home, "Library", "Application Support", "stevedore")
    case "win32":
      return join(given("LOCALAPPDATA", ["AppData", "Local"]), "stevedore")
    default:
      return join(given("XDG_STATE_HOME", [".local", "state"]), "stevedore")
  }
}

/**
 * The ledger's directory on this machine, or none if the user has no home directory. An empty or relative `HOME` does
 * not count as one: the ledger would be in the current directory, perhaps among the files to upload.
 *
 * @category constructors
 */
export const defaultDirectory: Effect.Effect<Option.Option<string>> = Effect.sync(
  Option.liftThrowable(() => directoryOf({ platform: process.platform, environment: process.env, home: homedir() }))
).pipe(Effect.map(Option.filter((directory) => Path.isAbsolute(directory))))

/**
 * {@link defaultDirectory} as a directory that is refused if others can enter it. The command line keeps its record of
 * finished uploads there.
 *
 * @internal
 */
export const privateDirectory: Effect.Effect<
  Option.Option<PrivateDirectory.PrivateDirectory>,
  never,
  FileSystem.FileSystem
> = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.transposeMapOption(yield* defaultDirectory, (path) => PrivateDirectory.make(fs, path))
})

/**
 * {@link defaultDirectory} where a newer version has written it. The command line does nothing then.
 *
 * @internal
 */
export const newerDirectory = Effect.flatMap(
  defaultDirectory,
  (found) =>
    Effect.promise(async () => Option.isSome(found) && await PrivateDirectory.isNewer(found.value) ? found.value : "")
)

/**
 * Whether a process is running an upload of the ledger in {@link defaultDirectory}. The command line tells it from those
 * that were interrupted.
 *
 * @internal
 */
export const isRunning: Effect.Effect<(id: string) => Effect.Effect<boolean>, never, FileSystem.FileSystem> = Effect
  .gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* privateDirectory
    return Option.isNone(directory) ? () => Effect.succeed(false) : yield* FileLock.look(fs, directory.value)
  })

/**
 * For what the command line replaces on disk.
 *
 * @internal
 */
export const untilLetGo = HeldFile.untilLetGo

/**
 * For what the command line writes to disk outside the ledger.
 *
 * @internal
 */
export const replaceFile = DurableFile.replace

/**
 * For what the command line reads from disk.
 *
 * @internal
 */
export const untilReadable = HeldFile.untilReadable

/**
 * For what the command line records on disk.
 *
 * @internal
 */
export const warnOnce = WarnOnce.make

/**
 * How long anything is kept that nobody continues, in milliseconds.
 *
 * @internal
 */
export const longestKept = Duration.toMillis("30 days")

const oneDay = Duration.toMillis("1 day")

// The upload that starts waits for it, and years of failures may have accumulated
const forgottenAtOnce = 16

type Kept = Omit<Effect.Effect.Success<ReturnType<typeof JournaledStore.make>>, "locked" | "takenOver">

// Without the URLs: decoding ten thousand of them takes longer than everything else
const Begun = Schema.parseJson(
  Schema.Struct({ version: Schema.Literal(1), id: Schema.String, startedAt: Schema.Number })
)
const decodeBegun = Schema.decodeOption(Begun)

const isBegunBefore = ({ store }: Kept, name: string, time: number): Effect.Effect<boolean> =>
  Effect.map(store.get(UploadLedger.recordKey(name)), Option.flatMap(decodeBegun)).pipe(
    Effect.map(Option.exists(({ id, startedAt }) => PrivateStore.nameOf(id) === name && startedAt < time)),
    Effect.orElseSucceed(() => false)
  )

// The lock has the same name. If a killed process left it, it is removed at the end, even if nothing else is there: then
// nobody else would come for it.
const forgetOld = (ledger: UploadLedger.Service, store: Kept, name: string, before: number): Effect.Effect<boolean> =>
  Effect.gen(function*() {
    if (!(yield* ledger.lock(name))) return false
    if (yield* isBegunBefore(store, name, before)) yield* Effect.ignore(store.removeAll(name))
    return true
  }).pipe(Effect.scoped)

// The file of a failed upload may never be uploaded again, and on a server such records would accumulate every day.
const forgettingOld = (ledger: UploadLedger.Service, store: Kept): UploadLedger.Service => {
  let lookedAt = Number.NEGATIVE_INFINITY
  let untouched: Array<string> = []
  let before = 0
  const forget = Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    if (now - lookedAt >= oneDay) {
      lookedAt = now
      before = now - longestKept
      const locks = yield* store.untouchedSince(now - oneDay, FileLock.folder)
      const old = yield* store.untouchedSince(before)
      const mayForget = old.length > 0 && (yield* Ages.lookIn(keyValueStore(store.store), longestKept))
      untouched = [...new Set([...(mayForget ? old : []), ...locks])]
      if (!mayForget) before = 0
    }
    for (let forgotten = 0; forgotten < forgottenAtOnce;) {
      const name = untouched.pop()
      if (name === undefined) return
      if (yield* forgetOld(ledger, store, name, before)) forgotten += 1
    }
  })
  return { ...ledger, begin: (record) => Effect.zipRight(ledger.begin(record), forget) }
}

// A program that uploads nothing need not know of it
const withoutHome = Effect.map(
  Effect.provide(UploadLedger.UploadLedger, UploadLedger.none),
  ({ lock, unfinished, ...ledger }): UploadLedger.Service => {
    const warn = WarnOnce.make()(
      "No home directory for the upload ledger: uploads cannot be resumed after this process ends"
    )
    return { ...ledger, lock: (id) => Effect.zipRight(warn, lock(id)), unfinished: Effect.zipRight(warn, unfinished) }
  }
)

const makeWith = (
  options: Options,
  onUnreadable: (error: PlatformError) => void
): Effect.Effect<UploadLedger.Service, never, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const given = Option.fromNullable(options.directory)
    const chosen = Option.isSome(given) ? given : yield* defaultDirectory
    if (Option.isNone(chosen)) return yield* withoutHome
    const fs = yield* FileSystem.FileSystem
    const directory = yield* PrivateDirectory.make(fs, Path.resolve(chosen.value))
    const { locked, takenOver, ...kept } = yield* JournaledStore.make(fs, directory, PrivateStore.make(fs, directory))
    const noted = <A>(read: Effect.Effect<A, PlatformError>) =>
      Effect.tapError(read, (error) => Effect.sync(() => onUnreadable(error)))
    const locks = yield* FileLock.make(fs, directory, { takenOver })
    const ledger = yield* UploadLedger.make({
      ...kept,
      store: keyValueStore({ ...kept.store, get: (key) => noted(kept.store.get(key)) }),
      prefixes: noted(kept.prefixes),
      receipts: ReceiptLines.make(kept),
      lock: locked(locks),
      isHeld: locks.isHeld,
      keepUrls: options.keepUrls ?? true
    })
    return forgettingOld({ ...ledger, aside: UploadLedger.aside }, kept)
  })

/**
 * A ledger on disk. Nothing is created before the first upload. Then the directory is created with mode 0700 and its
 * files with 0600. A directory that belongs to another user, or that others can enter, is not used, because a record
 * could be read or planted there. Failures of the ledger are logged, and the upload continues, but cannot be resumed
 * later. A record that cannot be read just now, because too many files are open, for instance, is read again for two and
 * a half seconds before its upload starts over.
 *
 * What is recorded is on the disk before an upload goes on: all uploads of a process write to one journal, and what
 * comes while the disk is busy is written together, with one sync (`fsync`). So neither a killed process nor a power
 * failure loses a part that was confirmed; what was being written is lost, and nothing else. A disk that claims to have
 * synced what it has not may lose more; those parts are then sent again.
 *
 * An upload that ends without success moves from the journal into files of its own, where every process finds it. What a
 * killed process left in its journal moves there when the upload runs again.
 *
 * An upload that has not been resumed for 30 days is forgotten when other uploads start, a few with each, if it was as old a day
 * before: a clock may be wrong.
 *
 * @category constructors
 */
export const make = (options: Options = {}): Effect.Effect<UploadLedger.Service, never, FileSystem.FileSystem> =>
  makeWith(options, () => {})

/**
 * The ledger in {@link defaultDirectory}, and what it could not read so far, if anything. To its operations, which do not
 * fail, such an upload is not there: the command line would say so.
 *
 * @internal
 */
export const makeWithUnreadable: Effect.Effect<
  { readonly ledger: UploadLedger.Service; readonly unreadable: Effect.Effect<Option.Option<PlatformError>> },
  never,
  FileSystem.FileSystem
> = Effect.suspend(() => {
  let unreadable = Option.none<PlatformError>()
  const noted = (error: PlatformError) => {
    unreadable = Option.some(error)
  }
  return Effect.map(makeWith({}, noted), (ledger) => ({ ledger, unreadable: Effect.sync(() => unreadable) }))
})

/**
 * The ledger on disk, as a layer. `NodeStevedore.layer` already includes it.
 *
 * @example
 * import { DiskLedger, NodeStevedore } from "@stevedore/node"
 * import { Layer, Redacted } from "effect"
 *
 * // part URLs are never written down
 * const strict = NodeStevedore.layer({
 *   baseUrl: "https://files.example/api",
 *   token: Redacted.make("api.abc"),
 *   ledger: { keepUrls: false }
 * })
 *
 * // the same, layer by layer
 * const alsoStrict = Layer.merge(
 *   NodeStevedore.layer({ baseUrl: "https://files.example/api", token: Redacted.make("api.abc"), ledger: false }),
 *   DiskLedger.layer({ keepUrls: false })
 * )
 *
 * @category layers
 */
export const layer = (options: Options = {}): Layer.Layer<never> =>
  Layer.effect(UploadLedger.UploadLedger, make(options)).pipe(Layer.provide(NodeFileSystem.layer))
