import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as List from "effect/List"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Checkpoint } from "../Checkpoints.js"
import type { ListError } from "../ListError.js"
import { ItemInvalid } from "../ListError.js"
import type { Page } from "../Page.js"
import * as Pages from "../Pages.js"
import type { ServiceApi } from "../ServiceApi.js"
import { decodeProblem } from "./decodeProblem.js"
import type { Prepared } from "./listRequest.js"
import { textHash } from "./textHash.js"

/** @internal */
export interface Entry<A> {
  readonly result: Either.Either<A, ItemInvalid>
  /** Of the item's id, or of the whole item where it has none. */
  readonly hash: number
  /** The place behind the item: made when it is asked for, as most walks do not. */
  readonly at: () => Checkpoint
}

/** @internal */
export interface EntryPage<A> {
  readonly page: Page<unknown>
  readonly entries: ReadonlyArray<Entry<A>>
}

const idOf = (item: unknown): string | undefined =>
  Predicate.hasProperty(item, "id") && (typeof item.id === "string" || typeof item.id === "number")
    ? String(item.id)
    : undefined

const hashOf = (item: unknown): number => textHash(idOf(item) ?? JSON.stringify(item) ?? "")

const invalid = (
  prepared: Prepared<unknown>,
  page: Page<unknown>,
  index: number,
  problem: ReturnType<typeof decodeProblem>
): ItemInvalid => {
  const itemId = idOf(page.items[index])
  return new ItemInvalid({
    page: {
      path: prepared.path,
      index: page.index,
      ...(page.cursor === undefined ? {} : { cursor: page.cursor })
    },
    index,
    ...(itemId === undefined ? {} : { itemId }),
    field: problem.path,
    problem: problem.problem
  })
}

/** A bag: what has been passed so often may come so often again, and is left out so often. */
const bagOf = (hashes: Iterable<number>): Map<number, number> => {
  const bag = new Map<number, number>()
  for (const hash of hashes) bag.set(hash, (bag.get(hash) ?? 0) + 1)
  return bag
}

const takeFrom = (bag: Map<number, number>, hash: number): boolean => {
  const count = bag.get(hash)
  if (count === undefined) return false
  if (count === 1) bag.delete(hash)
  else bag.set(hash, count - 1)
  return true
}

/**
 * The state of one run of a walk. It is mutable, made anew by each run, and seen by nobody else.
 *
 * Left out is what the bag holds, by identity: so a page that has changed since the checkpoint was taken gives all that
 * is new in it and nothing that is not.
 */
class Run<A> {
  readonly remembers: Checkpoint["remembers"]
  #passed: List.List<number>
  #toLeaveOut: Map<number, number>
  #hasGiven = true

  constructor(readonly prepared: Prepared<A>) {
    const { from, onCursorRejected } = prepared
    // a checkpoint that knows only its page cannot say later what was given before it
    this.remembers = onCursorRejected === "restart" && from?.remembers !== "page" ? "walk" : "page"
    this.#passed = from?.passed ?? List.empty()
    this.#toLeaveOut = bagOf(this.#passed)
  }

  /** Each start over must bring the walk further than the one before: otherwise it would go on for ever. */
  canRestart(): boolean {
    return this.remembers === "walk" && this.#hasGiven
  }

  restart(): void {
    this.#toLeaveOut = bagOf(this.#passed)
    this.#hasGiven = false
  }

  entriesOf(page: Page<unknown>, now: number): EntryPage<A> {
    if (this.remembers === "page") this.#passed = List.empty()
    const entries: Array<Entry<A>> = []
    page.items.forEach((item, index) => {
      const hash = hashOf(item)
      const isLeftOut = takeFrom(this.#toLeaveOut, hash)
      if (!isLeftOut || this.remembers === "page") this.#passed = List.prepend(this.#passed, hash)
      if (isLeftOut) return
      this.#hasGiven = true
      const passed = this.#passed
      entries.push({
        hash,
        result: Either.mapLeft(
          this.prepared.decode(item),
          (error) => invalid(this.prepared, page, index, decodeProblem(error))
        ),
        at: () => this.#placeBehind(page, { index, passed }, now)
      })
    })
    return { page, entries }
  }

  #placeBehind(
    page: Page<unknown>,
    { index, passed }: { readonly index: number; readonly passed: List.List<number> },
    now: number
  ): Checkpoint {
    const { fingerprint, path } = this.prepared
    const at = Math.floor(now)
    const known = { version: 1 as const, path, fingerprint, takenAt: at, receivedAt: at, remembers: this.remembers }
    return index + 1 === page.items.length && page.nextCursor !== undefined
      ? {
        ...known,
        cursor: page.nextCursor,
        page: page.index + 1,
        position: 0,
        passed: this.remembers === "walk" ? passed : List.empty()
      }
      : {
        ...known,
        ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
        page: page.index,
        position: index + 1,
        passed
      }
  }
}

const pagesFrom = <A>(
  run: Run<A>,
  from: Pages.Start | undefined
): Stream.Stream<EntryPage<A>, ListError, ServiceApi> => {
  const { ahead, emptyPages, limit, path, query } = run.prepared
  return Pages.walk({ path, limit, query, ahead, emptyPages, from }).pipe(
    Stream.mapEffect((page) => Effect.map(Clock.currentTimeMillis, (now) => run.entriesOf(page, now))),
    Stream.catchAll((error) => {
      if (error._tag !== "CursorRejected" || !run.canRestart()) return Stream.fail(error)
      run.restart()
      return Stream.suspend(() => pagesFrom(run, undefined))
    })
  )
}

/**
 * The pages of a walk, each item decoded by itself and with the place behind it; what a checkpoint says has been given
 * is left out.
 *
 * @internal
 */
export const walkEntries = <A>(prepared: Prepared<A>): Stream.Stream<EntryPage<A>, ListError, ServiceApi> =>
  Stream.suspend(() => {
    const { from } = prepared
    return pagesFrom(
      new Run(prepared),
      from === undefined ? undefined : { cursor: from.cursor, index: from.page, receivedAt: from.receivedAt }
    )
  })
