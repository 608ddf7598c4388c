import * as Arr from "effect/Array"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as HashMap from "effect/HashMap"
import * as List from "effect/List"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { decodeProblem } from "../base/effect.js"
import { textHash } from "../base/text.js"
import type { Checkpoint } from "../Checkpoints.js"
import type { ListError } from "../ListError.js"
import { ItemInvalid } from "../ListError.js"
import type { Page } from "../service/page.js"
import type { ServiceApi } from "../ServiceApi.js"
import * as Pages from "./pages.js"
import type { Prepared } from "./request.js"

export interface Entry<A> {
  readonly result: Either.Either<A, ItemInvalid>
  /** Of the item's id, or of the whole item if it has none. */
  readonly hash: number
  /** The position after the item. Created on demand, because most walks do not need it. */
  readonly at: () => Checkpoint
}

export interface EntryPage<A> {
  readonly page: Page<unknown>
  readonly entries: ReadonlyArray<Entry<A>>
}

const idOf = (item: unknown): string | undefined =>
  Predicate.hasProperty(item, "id") && (typeof item.id === "string" || typeof item.id === "number")
    ? String(item.id)
    : undefined

// Deeply nested JSON can be parsed but not always stringified
const jsonOf = Option.liftThrowable((item: unknown) => JSON.stringify(item))

const hashOf = (item: unknown): number => textHash(idOf(item) ?? Option.getOrUndefined(jsonOf(item)) ?? "")

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

/** How often each item was returned: it may come again, and is then skipped, as many times. */
type Bag = HashMap.HashMap<number, number>

const put = (bag: Bag, hashes: List.List<number>): Bag =>
  List.reduce(
    hashes,
    bag,
    (all, hash) => HashMap.modifyAt(all, hash, (count) => Option.some(Option.getOrElse(count, () => 0) + 1))
  )

const take = (bag: Bag, hash: number): Bag =>
  HashMap.modifyAt(bag, hash, (count) => Option.map(Option.filter(count, (times) => times > 1), (times) => times - 1))

const listed = (bag: Bag): List.List<number> =>
  HashMap.reduce(
    bag,
    List.empty<number>(),
    (all, count, hash) => List.prependAll(all, List.fromIterable(Arr.replicate(hash, count)))
  )

/** What a checkpoint after an item has to contain. It is a snapshot: later items do not change it. */
interface Snapshot {
  /** Of this page. */
  readonly here: List.List<number>
  /** From before the walk was resumed, and not seen again since. */
  readonly owed: Bag
}

/**
 * The mutable state of one run of a walk. Each run creates its own, and nobody else sees it.
 *
 * Items in the bag are skipped by identity. So if a page has changed since the checkpoint was taken, the walk returns
 * everything new on it, and nothing twice.
 */
class Run<A> {
  #owed: Bag
  #receivedAt: number | undefined

  constructor(readonly prepared: Prepared<A>) {
    this.#owed = put(HashMap.empty(), prepared.from?.passed ?? List.empty())
    this.#receivedAt = prepared.from?.receivedAt
  }

  entriesOf(page: Page<unknown>, clock: Clock.Clock): EntryPage<A> {
    const now = clock.unsafeCurrentTimeMillis()
    const received = { cursor: this.#receivedAt ?? now, next: now }
    this.#receivedAt = now
    let here = List.empty<number>()
    const entries: Array<Entry<A>> = []
    page.items.forEach((item, index) => {
      const hash = hashOf(item)
      here = List.prepend(here, hash)
      if (HashMap.has(this.#owed, hash)) {
        this.#owed = take(this.#owed, hash)
        return
      }
      const given: Snapshot = { here, owed: this.#owed }
      entries.push({
        hash,
        result: Either.mapLeft(
          this.prepared.decode(item),
          (error) => invalid(this.prepared, page, index, decodeProblem(error))
        ),
        at: () => this.#placeBehind(page, index, given, received, clock)
      })
    })
    return { page, entries }
  }

  #placeBehind(
    page: Page<unknown>,
    index: number,
    given: Snapshot,
    received: { readonly cursor: number; readonly next: number },
    clock: Clock.Clock
  ): Checkpoint {
    const { fingerprint, path } = this.prepared
    const takenAt = Math.floor(clock.unsafeCurrentTimeMillis())
    const known = { version: 1 as const, path, fingerprint, takenAt }
    const owed = listed(given.owed)
    return index + 1 === page.items.length && page.nextCursor !== undefined
      ? {
        ...known,
        cursor: page.nextCursor,
        receivedAt: Math.floor(received.next),
        page: page.index + 1,
        position: 0,
        passed: owed
      }
      : {
        ...known,
        ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
        receivedAt: Math.floor(received.cursor),
        page: page.index,
        position: index + 1,
        passed: List.appendAll(given.here, owed)
      }
  }
}

/**
 * The pages of a walk, each item decoded on its own and with the position after it. Items that a checkpoint marks as
 * returned are skipped.
 */
export const walkEntries = <A>(prepared: Prepared<A>): Stream.Stream<EntryPage<A>, ListError, ServiceApi> =>
  Stream.unwrap(Effect.map(Effect.clock, (clock) => {
    const { from, limit, path, query } = prepared
    const run = new Run(prepared)
    const start = from === undefined
      ? undefined
      : { cursor: from.cursor, index: from.page, receivedAt: from.receivedAt }
    return Stream.map(Pages.walk({ path, limit, query, from: start }), (page) => run.entriesOf(page, clock))
  }))
