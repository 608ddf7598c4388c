/**
 * The position of a walk: small, plain data made to be stored, so that a crash does not lose the progress of a long
 * walk.
 */
import * as List from "effect/List"
import * as Schema from "effect/Schema"
import { textHash } from "./base/text.js"

/**
 * A position in a list, right after an item. Store it with its Schema, for instance through `KeyValueStore.forSchema`,
 * and pass it back as `from`.
 *
 * Cursors expire eventually: use a checkpoint to continue after a crash or a pause, not as a permanent bookmark.
 *
 * @example
 * import { KeyValueStore } from "@effect/platform"
 * import { Checkpoints, Lists } from "@stevedore/core"
 * import { Effect, Option, Stream } from "effect"
 *
 * const nightly = Effect.gen(function*() {
 *   const store = (yield* KeyValueStore.KeyValueStore).forSchema(Checkpoints.Checkpoint)
 *   const from = Option.getOrUndefined(yield* store.get("projects"))
 *   yield* Lists.projects.marked({ from }).pipe(
 *     Stream.runForEach(({ at, item }) => Effect.zipRight(Effect.log(item.title), store.set("projects", at)))
 *   )
 *   // walked to its end: the next night begins anew
 *   yield* store.remove("projects").pipe(Effect.whenEffect(store.has("projects")))
 * })
 *
 * @category models
 */
export const Checkpoint = /* #__PURE__ */ Schema.Struct({
  version: Schema.Literal(1),
  /** The list, such as `/v1/projects`. */
  path: Schema.String,
  /** Identifies the service, and the filters and the sort: a walk continues only with the same ones. */
  fingerprint: Schema.String,
  /** The cursor of the page; absent for the first. */
  cursor: Schema.optionalWith(Schema.String, { exact: true }),
  /** The index of the page in the walk, from 0. */
  page: Schema.NonNegativeInt,
  /** How many items of the page have been passed. */
  position: Schema.NonNegativeInt,
  /** When the cursor was received, in milliseconds of Unix time. */
  receivedAt: Schema.NonNegativeInt,
  /** When the checkpoint was taken, in milliseconds of Unix time. */
  takenAt: Schema.NonNegativeInt,
  /**
   * Hashes of the ids of items that have been passed and that this cursor may return again, the latest first: those of
   * this page, and those from before an earlier resumption that have not come up again yet. A resumed walk skips items
   * by these hashes rather than by counting, because a page may have changed meanwhile.
   */
  passed: Schema.List(Schema.NonNegativeInt)
}).annotations({ identifier: "Checkpoint" })

/**
 * The type of {@link Checkpoint}.
 *
 * @category models
 */
export interface Checkpoint extends Schema.Schema.Type<typeof Checkpoint> {}

/**
 * An item, and the position right after it.
 *
 * @category models
 */
export interface Marked<out A> {
  readonly item: A
  readonly at: Checkpoint
}

/**
 * Tells one walk from another: by its service, and behind a dot by its list, its filters and its sort, as they are sent over
 * the wire.
 *
 * @internal
 */
export const fingerprint = (
  baseUrl: string,
  path: string,
  query: ReadonlyArray<readonly [string, string]>
): string => `${textHash(baseUrl).toString(36)}.${textHash(JSON.stringify([path, query])).toString(36)}`

/**
 * The position before the first item of a list.
 *
 * @category constructors
 */
export const start = (options: {
  readonly path: string
  readonly fingerprint: string
  readonly now: number
}): Checkpoint => ({
  version: 1,
  path: options.path,
  fingerprint: options.fingerprint,
  page: 0,
  position: 0,
  receivedAt: Math.floor(options.now),
  takenAt: Math.floor(options.now),
  passed: List.empty()
})
