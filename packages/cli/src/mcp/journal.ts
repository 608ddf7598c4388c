/** What agents have asked to be uploaded, and how each ended: kept where the unfinished uploads are. */
import * as FileSystem from "@effect/platform/FileSystem"
import { UploadLedger } from "@stevedore/core/UploadLedger"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as JsonLines from "../files/jsonLines.js"

/** An upload that was begun: enough to begin it again. */
export const Begun = Schema.Struct({
  id: Schema.String,
  service: Schema.String,
  /** Its real path. */
  path: Schema.String,
  name: Schema.optional(Schema.String),
  project: Schema.optional(Schema.String),
  /** In milliseconds since 1970. */
  begunAt: Schema.Number
})

export type Begun = typeof Begun.Type

/** How far an upload has come for good: its file is there, its entry is about to be made, or it is over. */
export const Reached = Schema.Struct({
  id: Schema.String,
  state: Schema.Literal("uploaded", "importing", "done", "failed", "cancelled"),
  file: Schema.optional(Schema.String),
  reason: Schema.optional(Schema.String)
})

export type Reached = typeof Reached.Type

/** What is known of an upload. */
export interface Known {
  readonly begun: Begun
  readonly reached: Reached | undefined
}

/** How it has ended; undefined if it has not. */
export const endOf = (reached: Reached | undefined): "done" | "failed" | "cancelled" | undefined =>
  reached === undefined || reached.state === "uploaded" || reached.state === "importing" ? undefined : reached.state

const Line = Schema.parseJson(Schema.Union(Begun, Reached))

const decode = Schema.decodeEither(Line)
const encode = Schema.encodeSync(Line)

export interface Journal {
  readonly add: (line: Begun | Reached) => Effect.Effect<void>
  /** By id, also what other processes have added. */
  readonly known: Effect.Effect<ReadonlyMap<string, Known>>
}

// The newest are kept when more stand there
const most = 500

const apply = (all: Map<string, Known>, line: Begun | Reached): void => {
  if ("begunAt" in line) return void all.set(line.id, { begun: line, reached: all.get(line.id)?.reached })
  const known = all.get(line.id)
  if (known !== undefined) all.set(line.id, { ...known, reached: line })
}

const file = "agents.jsonl"

/** The journal of this user; in memory alone where there is no private directory for it. */
export const make: Effect.Effect<Journal, never, FileSystem.FileSystem> = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* DiskLedger.privateDirectory
  const warn = DiskLedger.warnOnce()
  const all = new Map<string, Known>()
  if (Option.isNone(directory)) {
    return { add: (line) => Effect.sync(() => apply(all, line)), known: Effect.succeed(all) }
  }
  const lines = JsonLines.make(fs, directory.value, file)
  const read = Effect.map(lines.more, (more) => {
    if (more.anew) all.clear()
    for (const line of more.lines) Either.match(decode(line), { onLeft: () => {}, onRight: (one) => apply(all, one) })
  })
  const known = Effect.as(
    Effect.catchAll(read, ({ message }) => warn(`What was begun before cannot be read: ${message}`)),
    all
  )
  const newest = Effect.sync(() =>
    [...all.values()]
      .filter(({ reached }, index) => endOf(reached) === undefined || index >= all.size - most)
      .flatMap(({ begun, reached }) => reached === undefined ? [begun] : [begun, reached])
      .map((line) => `${encode(line)}\n`).join("")
  )
  yield* known
  if (all.size > 2 * most) {
    // another server that begins now does the same
    const { lock } = yield* UploadLedger
    yield* Effect.ignore(Effect.scoped(Effect.whenEffect(Effect.zipRight(read, lines.replace(newest)), lock(file))))
  }
  return {
    add: (line) =>
      Effect.zipRight(
        Effect.catchAll(Effect.zipRight(directory.value.makeDirectory(""), lines.add(encode(line))), ({ message }) =>
          warn(`An upload cannot be remembered: ${message}`)),
        Effect.sync(() =>
          apply(all, line)
        )
      ),
    known
  }
})
