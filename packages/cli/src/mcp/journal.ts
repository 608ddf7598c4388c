/** What agents have asked to be moved, and how each ended: kept where the unfinished uploads are. */
import * as FileSystem from "@effect/platform/FileSystem"
import { Proof } from "@stevedore/core/UploadedFile"
import * as UploadLedger from "@stevedore/core/UploadLedger"
import * as DiskLedger from "@stevedore/node/DiskLedger"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as JsonLines from "../files/jsonLines.js"
import { Refusal } from "./answers.js"

/** What is uploaded as what. */
export const UploadWish = Schema.Struct({
  action: Schema.Literal("upload"),
  /** Its real path. */
  path: Schema.String,
  size: Schema.Number,
  dates: Schema.String,
  name: Schema.optional(Schema.String),
  project: Schema.optional(Schema.String)
})

export type UploadWish = typeof UploadWish.Type

/** What is downloaded to where. */
export const DownloadWish = Schema.Struct({
  action: Schema.Literal("download"),
  /** The real path of its directory, and its name there. */
  path: Schema.String,
  file: Schema.String,
  size: Schema.optional(Schema.Number)
})

export type DownloadWish = typeof DownloadWish.Type

export type Wish = UploadWish | DownloadWish

/** A transfer that was begun: enough to begin it again. */
export const Begun = Schema.Struct({
  id: Schema.String,
  service: Schema.String,
  wish: Schema.Union(UploadWish, DownloadWish),
  /** In milliseconds since 1970. */
  begunAt: Schema.Number
})

export type Begun = typeof Begun.Type

/** How far a transfer has come for good: its file is there, its entry is about to be made, or it is over. */
export const Reached = Schema.Struct({
  id: Schema.String,
  state: Schema.Literal("uploaded", "importing", "done", "failed", "cancelled"),
  /** In milliseconds since 1970. */
  at: Schema.Number,
  file: Schema.optional(Schema.String),
  /** Of what was uploaded: said once, and kept from then on. */
  proof: Schema.optional(Proof),
  why: Schema.optional(Refusal)
})

export type Reached = typeof Reached.Type

/** What is known of a transfer. */
export interface Known {
  readonly begun: Begun
  readonly reached: Reached | undefined
}

/** How it has ended; undefined if it has not. */
export const endOf = ({ reached }: Known): "done" | "failed" | "cancelled" | undefined =>
  reached === undefined || reached.state === "uploaded" || reached.state === "importing" ? undefined : reached.state

const Line = Schema.parseJson(Schema.Union(Begun, Reached))

const decode = Schema.decodeEither(Line)
const encode = Schema.encodeSync(Line)

export interface Journal {
  readonly add: (line: Begun | Reached) => Effect.Effect<void>
  /** By id, the earliest first, also what other processes have added. */
  readonly known: Effect.Effect<ReadonlyMap<string, Known>>
  /** Runs what looks for a transfer and then begins it: no other does so meanwhile, in this process or another. */
  readonly alone: <A, E, R>(run: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

// The newest are kept when more stand there
const most = 2_000

// What has ended stays so, but for a file that was there when another process stopped its transfer
const apply = (all: Map<string, Known>, line: Begun | Reached): void => {
  const known = all.get(line.id)
  if ("begunAt" in line) return void all.set(line.id, { begun: line, reached: known?.reached })
  if (known === undefined) return
  const end = endOf(known)
  if (end === undefined || end !== "done" && line.state === "done") {
    all.set(line.id, { ...known, reached: { ...line, proof: line.proof ?? known.reached?.proof } })
  }
}

const file = "agents.jsonl"

/** The journal of this user; in memory alone where there is no private directory for it. */
export const make: Effect.Effect<Journal, never, FileSystem.FileSystem> = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* DiskLedger.privateDirectory
  const warn = DiskLedger.warnOnce()
  const all = new Map<string, Known>()
  const { lock } = yield* UploadLedger.UploadLedger
  const turn = yield* Effect.makeSemaphore(1)
  const locked = UploadLedger.waitForLock(lock, file, "20 millis")
  const alone: Journal["alone"] = (run) =>
    turn.withPermits(1)(Effect.scopedWith((scope) => Effect.zipRight(Scope.extend(locked, scope), run)))
  const note = (line: Begun | Reached) => Effect.sync(() => apply(all, line))
  if (Option.isNone(directory)) return { add: note, known: Effect.succeed(all), alone }
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
      .filter((one, index) => endOf(one) === undefined || index >= all.size - most)
      .flatMap(({ begun, reached }) => reached === undefined ? [begun] : [begun, reached])
      .map((line) => `${encode(line)}\n`).join("")
  )
  yield* known
  if (all.size > 2 * most) yield* Effect.ignore(alone(Effect.zipRight(read, lines.replace(newest))))
  return {
    add: (line) =>
      Effect.zipRight(directory.value.makeDirectory(""), lines.add(encode(line))).pipe(
        Effect.catchAll(({ message }) => warn(`A transfer cannot be remembered: ${message}`)),
        Effect.zipRight(note(line))
      ),
    known,
    alone
  }
})
