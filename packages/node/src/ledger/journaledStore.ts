import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type { Lock } from "@stevedore/core/UploadLedger"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { randomUUID } from "node:crypto"
import { released, untilLetGo, untilReadable } from "../file/heldFile.js"
import { isMissing, messageOf } from "../file/platformError.js"
import type { Locks } from "./fileLock.js"
import * as GroupedAppends from "./groupedAppends.js"
import type { PrivateDirectory } from "./privateDirectory.js"
import type * as PrivateStore from "./privateStore.js"
import { nameOf } from "./privateStore.js"
import * as WarnOnce from "./warnOnce.js"

/** Where the journals are, one for each store that is writing. */
export const folder = "journals"

// What a journal says of an upload: a value is set, a line is added, or all of it is removed.
const Entry = Schema.parseJson(Schema.Union(
  Schema.Tuple(Schema.Literal("set", "add"), Schema.String, Schema.String, Schema.String),
  Schema.Tuple(Schema.Literal("remove"), Schema.String)
))

type Entry = typeof Entry.Type

const decode = Schema.decodeOption(Entry)

// Its own line breaks keep an entry apart from one that a killed process left half-written.
const encode = (entry: Entry): string => `\n${JSON.stringify(entry)}\n`

/** Values and lines under one prefix, by the last segment of their keys. */
interface Content {
  readonly values: Map<string, string>
  readonly lines: Map<string, Array<string>>
}

const emptyContent = (): Content => ({ values: new Map(), lines: new Map() })

const isEmpty = ({ lines, values }: Content): boolean => lines.size === 0 && values.size === 0

const addLine = ({ lines }: Content, segment: string, line: string): void => {
  const before = lines.get(segment)
  if (before === undefined) lines.set(segment, [line])
  else before.push(line)
}

const clear = ({ lines, values }: Content): void => {
  lines.clear()
  values.clear()
}

const entriesOf = (name: string, { lines, values }: Content): ReadonlyArray<Entry> => [
  ...Array.from(values, ([segment, text]): Entry => ["set", name, segment, text]),
  ...Array.from(lines).flatMap(([segment, all]) => all.map((line): Entry => ["add", name, segment, line]))
]

/**
 * What a journal holds, by the names of prefixes. What a power failure tore, zeroed or lost is passed over: nothing that
 * was confirmed is among it.
 */
export const replay = (text: string): ReadonlyMap<string, Content> => {
  const contents = new Map<string, Content>()
  const contentOf = (name: string): Content => {
    const content = contents.get(name) ?? emptyContent()
    contents.set(name, content)
    return content
  }
  for (const line of text.split("\n")) {
    if (line === "") continue
    const entry = Option.getOrUndefined(decode(line))
    if (entry === undefined) continue
    if (entry[0] === "remove") contents.delete(entry[1])
    else if (entry[0] === "set") contentOf(entry[1]).values.set(entry[2], entry[3])
    else addLine(contentOf(entry[1]), entry[2], entry[3])
  }
  return contents
}

// Beyond this, in characters, a journal is written anew if half of it is out of date.
const longest = 4 * 1024 * 1024

const placeOf = (key: string) => {
  const end = key.lastIndexOf("/")
  return { name: nameOf(key.slice(0, Math.max(0, end))), segment: key.slice(end + 1) }
}

/**
 * A {@link PrivateStore} in which an upload that is new and locked here is written to a journal: one file for all that
 * this process runs, which grows by a line for each thing to keep. What still stands there when the lock is released
 * moves into the store's own files, where every process finds it; what a dead process left moves when its lock is taken
 * over. So an upload is in one of the two, and only the holder of its lock moves it.
 */
export const make = (
  fs: FileSystem.FileSystem,
  directory: PrivateDirectory,
  files: ReturnType<typeof PrivateStore.make>
) =>
  Effect.gen(function*() {
    const own = randomUUID()
    const pathOf = (journal: string) => directory.pathOf(`${folder}/${journal}`)
    const held = new Map<string, Content>()
    let onDisk: "absent" | "intact" | "unknown" = "absent"
    let length = 0
    let lengthAnew = 0

    const snapshot = (): string =>
      Array.from(held).flatMap(([name, content]) => entriesOf(name, content)).map(encode).join("")

    const removeJournal = (journal: string) => untilLetGo(fs.remove(pathOf(journal), { force: true }))

    const nextWrite = (entries: string): Effect.Effect<void, PlatformError> => {
      if (Array.from(held.values()).every(isEmpty)) {
        return Effect.map(onDisk === "absent" ? Effect.void : removeJournal(own), () => {
          onDisk = "absent"
        })
      }
      if (onDisk === "intact" && (length < longest || length < 2 * lengthAnew)) {
        return Effect.map(directory.append(`${folder}/${own}`, entries), () => {
          length += entries.length
        })
      }
      const anew = snapshot()
      return Effect.map(files.replace(folder, own, anew), () => {
        onDisk = "intact"
        length = lengthAnew = anew.length
      })
    }

    // What is to be appended stands in memory already, so it is in a journal that is written anew.
    const written = GroupedAppends.make((_, entries) =>
      Effect.tapError(Effect.suspend(() => nextWrite(entries)), () =>
        Effect.sync(() => {
          onDisk = "unknown"
        }))
    )
    const note = (entry: Entry) => written(own, encode(entry))

    const others = untilReadable(
      Effect.zipRight(directory.checked, fs.readDirectory(directory.pathOf(folder)))
    ).pipe(
      Effect.catchIf(isMissing, () => Effect.succeed([])),
      Effect.map((journals) => journals.filter((journal) => journal !== own))
    )

    // Reading a pipe that nobody writes to would block forever.
    const read = (journal: string) =>
      untilReadable(Effect.flatMap(
        fs.stat(pathOf(journal)),
        ({ type }) => type === "File" ? fs.readFileString(pathOf(journal)) : Effect.succeed("")
      )).pipe(
        Effect.catchIf(isMissing, () => Effect.succeed("")),
        Effect.map(replay)
      )

    const readAll: Effect.Effect<ReadonlyMap<string, Content>, PlatformError> = Effect.map(
      Effect.flatMap(others, Effect.forEach(read)),
      (contents) => new Map(contents.flatMap((content) => Array.from(content)))
    )
    // A list of unfinished uploads asks for each of them.
    const [readLately, invalidate] = yield* Effect.cachedInvalidateWithTTL(readAll, "1 second")

    const intoFiles = (name: string, { lines, values }: Content) =>
      Effect.zipRight(
        Effect.forEach(values, ([segment, text]) => files.store.set(`${name}/${segment}`, text), { discard: true }),
        Effect.forEach(lines, ([segment, all]) => files.append(`${name}/${segment}`, all.join("\n")), { discard: true })
      )

    const adoptFrom = (journal: string, name: string) =>
      Effect.gen(function*() {
        const content = (yield* read(journal)).get(name)
        if (content === undefined) return
        yield* intoFiles(name, content)
        yield* directory.append(`${folder}/${journal}`, encode(["remove", name]))
        if ((yield* read(journal)).size === 0) yield* removeJournal(journal)
      })

    const warn = WarnOnce.make()
    // The names in the journals of others that a dead process may have left, once somebody has looked
    let orphans: Set<string> | undefined

    const adopted = (name: string): Effect.Effect<void> =>
      Effect.gen(function*() {
        orphans ??= new Set((yield* readAll).keys())
        if (!orphans.has(name)) return
        yield* Effect.forEach(yield* others, (journal) => adoptFrom(journal, name), { discard: true })
        yield* invalidate
        orphans.delete(name)
      }).pipe(
        Effect.catchAll((error) => warn(`What another process left of an upload cannot be read: ${messageOf(error)}`))
      )

    const adopt = (name: string): Effect.Effect<void> =>
      Effect.suspend(() => orphans?.has(name) === false ? Effect.void : adopted(name))

    const isInFiles = (name: string): Effect.Effect<boolean> =>
      Effect.match(fs.stat(directory.pathOf(name)), {
        onFailure: (error) => !isMissing(error),
        onSuccess: () => true
      })

    const moveOut = (name: string, content: Content, isOurs: Effect.Effect<boolean>): Effect.Effect<void> => {
      const over = Effect.sync(() => void held.delete(name))
      const moved = Effect.suspend(() =>
        Effect.zipRight(
          intoFiles(name, content),
          Effect.suspend(() => {
            clear(content)
            return note(["remove", name])
          })
        )
      )
      // Most uploads have ended, and left nothing
      return Effect.suspend(() =>
        isEmpty(content) ? over : Effect.flatMap(isOurs, (isOurs) => isOurs ? moved : Effect.void).pipe(
          Effect.catchAll((error) => warn(`An upload that has not ended cannot be recorded: ${messageOf(error)}`)),
          Effect.ensuring(over)
        )
      )
    }

    const holding = (name: string, isOurs: Effect.Effect<boolean>): Effect.Effect<void, never, Scope.Scope> =>
      Effect.flatMap(
        Effect.zipRight(adopt(name), isInFiles(name)),
        (inFiles) =>
          inFiles || held.has(name) ? Effect.void : Effect.asVoid(released(
            Effect.sync(() => {
              const content = emptyContent()
              held.set(name, content)
              return content
            }),
            (content) => moveOut(name, content, isOurs)
          ))
      )

    const entered = (
      key: string,
      enter: (content: Content, name: string, segment: string) => Entry,
      otherwise: Effect.Effect<void, PlatformError>
    ): Effect.Effect<void, PlatformError> =>
      Effect.suspend(() => {
        const { name, segment } = placeOf(key)
        const content = held.get(name)
        return content === undefined ? otherwise : note(enter(content, name, segment))
      })

    const contentAt = (name: string): Effect.Effect<Content | undefined, PlatformError> =>
      Effect.suspend(() => {
        const content = held.get(name)
        return content === undefined
          ? Effect.map(readLately, (contents) => contents.get(name))
          : Effect.succeed(content)
      })

    const inJournal = <A>(key: string, find: (content: Content, segment: string) => A | undefined) => {
      const { name, segment } = placeOf(key)
      return Effect.map(contentAt(name), (content) => content === undefined ? undefined : find(content, segment))
    }

    const inOwnFiles = <A>(key: string, read: Effect.Effect<A, PlatformError>, none: A) =>
      Effect.suspend(() => held.has(placeOf(key).name) ? Effect.succeed(none) : read)

    const get = (key: string): Effect.Effect<Option.Option<string>, PlatformError> =>
      Effect.flatMap(
        inOwnFiles(key, files.store.get(key), Option.none()),
        (found) =>
          Option.isSome(found)
            ? Effect.succeed(found)
            : Effect.map(inJournal(key, ({ values }, segment) => values.get(segment)), Option.fromNullable)
      )

    // Records are text.
    const set = (key: string, value: string | Uint8Array): Effect.Effect<void, PlatformError> => {
      if (typeof value !== "string") return files.store.set(key, value)
      return entered(key, (content, name, segment) => {
        content.values.set(segment, value)
        return ["set", name, segment, value]
      }, files.store.set(key, value))
    }

    const append = (key: string, line: string): Effect.Effect<void, PlatformError> =>
      entered(key, (content, name, segment) => {
        addLine(content, segment, line)
        return ["add", name, segment, line]
      }, files.append(key, line))

    const lines = (key: string): Effect.Effect<ReadonlyArray<string>, PlatformError> =>
      Effect.zipWith(
        inOwnFiles<ReadonlyArray<string>>(key, files.lines(key), []),
        inJournal(key, ({ lines }, segment) => lines.get(segment)),
        (earlier, later = []) => [...earlier, ...later]
      )

    const removeAll = (prefix: string): Effect.Effect<void, PlatformError> =>
      Effect.suspend(() => {
        const name = nameOf(prefix)
        const content = held.get(name)
        if (content === undefined) return files.removeAll(prefix)
        if (isEmpty(content)) return Effect.void
        clear(content)
        return note(["remove", name])
      })

    return {
      /** A lock whose holder writes to the journal. What whoever has lost it had there has been moved by another. */
      locked: ({ isHeld = () => Effect.succeed(true), lock }: Locks): Lock => (id) =>
        Effect.uninterruptible(
          Effect.tap(lock(id), (taken) => taken ? holding(nameOf(id), isHeld(id)) : Effect.void)
        ),
      /** Tells that the lock of an id was taken from a dead process, whose journal may say something of it. */
      takenOver: (id: string): Effect.Effect<void> => Effect.sync(() => void orphans?.add(nameOf(id))),
      store: { get, set, remove: files.store.remove },
      append,
      lines,
      removeLines: files.removeLines,
      removeAll,
      prefixes: Effect.zipWith(
        files.prefixes,
        Effect.zipRight(invalidate, readLately),
        (names, contents) => [...new Set([...names, ...contents.keys(), ...held.keys()])]
      ),
      untouchedSince: files.untouchedSince
    }
  })
