import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as NodeFs from "node:fs/promises"
import { basename } from "node:path"
import * as Leftovers from "../file/leftovers.js"
import * as PartFile from "./partFile.js"
import * as PartJournal from "./partJournal.js"
import * as PartLock from "./partLock.js"

/** The name of a part that is not kept. The number of the process tells whose it is. */
export const ownName = (unique: string): string => `${unique}-${process.pid}`

// A part is written to as long as its download makes progress. No step in between takes this long.
const longest = "1 day"

const notKept = /^\.stevedore-[0-9a-z]+-(\d+)\.part$/

const aside = /^\.stevedore-[0-9a-f]{24}\.part\.(?:json\.new|[0-9a-f-]{36}|_[0-9a-f]{40})$/

const kept = /^\.stevedore-[0-9a-f]{24}\.part(?:\.lock)?$/

const any = new RegExp([notKept, aside, kept].map(({ source }) => source).join("|"))

// Without a journal there is nothing to continue from, and what has a second name is downloaded already.
const isWorth = (part: string): Effect.Effect<boolean> =>
  Effect.promise(() =>
    Promise.all([NodeFs.lstat(part), NodeFs.lstat(PartJournal.pathOf(part))]).then(
      ([{ nlink }]) => nlink === 1,
      () => false
    )
  )

// Its lock, if the owner is dead, is taken over and goes with the scope.
const removeKept = (part: string): Effect.Effect<void> =>
  Effect.gen(function*() {
    if (Option.isNone(yield* PartLock.take(part, part)) || (yield* isWorth(part))) return
    yield* PartFile.remove(part)
    yield* PartFile.remove(PartJournal.pathOf(part))
  }).pipe(Effect.scoped, Effect.ignore)

/** Removes what killed downloads left in a directory, and nobody continues from. */
export const sweep = (directory: string): Effect.Effect<void> =>
  Effect.gen(function*() {
    const left = yield* Leftovers.find(directory, any, longest)
    const [others, ofKept] = Arr.partition(left, (path) => kept.test(basename(path)))
    yield* Effect.forEach(others, PartFile.remove, { discard: true })
    const parts = Arr.dedupe(ofKept.map((path) => path.replace(/\.lock$/, "")))
    yield* Effect.forEach(parts, removeKept, { discard: true })
  }).pipe(Logger.withMinimumLogLevel(LogLevel.None))
