import * as Arr from "effect/Array"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as HashMap from "effect/HashMap"
import * as List from "effect/List"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { decodeProblem } from "../base/decodeProblem.js"
import { textHash } from "../base/textHash.js"
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
interface Given {
  /** Of this page. */
  readonly here: List.List<number>
  /** Of the pages before it, for a walk that starts over. */
  readonly earlier: List.List<number>
  /** From before the walk was resumed or started over, and not seen again since. */
  readonly owed: Bag
}

/**
 * The mutable state of one run of a walk. Each run creates its own, and nobody else sees it.
 *
 * Items in the bag are skipped by identity. So if a page has changed since the checkpoint was taken, the walk returns
 * everything new on it, and nothing twice.
 */
class Run<A> {
  readonly remembers: Checkpoint["remembers"]
  #given: Given
  #receivedAt: number | undefined
  #hasGiven = true

  constructor(readonly prepared: Prepared<A>) {
    const { from, onCursorRejected } = prepared
    // a checkpoint that only remembers its page cannot say later what was returned before it
    this.remembers = onCursorRejected === "restart" && from?.remembers !== "page" ? "walk" : "page"
    this.#given = {
      here: List.empty(),
      earlier: this.remembers === "walk" ? from?.earlier ?? List.empty() : List.empty(),
      owed: put(HashMap.empty(), from?.passed ?? List.empty())
    }
    this.#receivedAt = from?.receivedAt
  }

  /** Each restart must get the walk further than the one before, or it would go on forever. */
  canRestart(): boolean {
    return this.remembers === "walk" && this.#hasGiven
  }

  restart(): void {
    const { earlier, here, owed } = this.#given
    this.#given = { here: List.empty(), earlier: List.empty(), owed: put(put(owed, earlier), here) }
    this.#receivedAt = undefined
    this.#hasGiven = false
  }

  entriesOf(page: Page<unknown>, clock: Clock.Clock): EntryPage<A> {
    const now = clock.unsafeCurrentTimeMillis()
    const received = { cursor: this.#receivedAt ?? now, next: now }
    this.#receivedAt = now
    this.#given = { ...this.#given, here: List.empty(), earlier: this.#behind(this.#given) }
    const entries: Array<Entry<A>> = []
    page.items.forEach((item, index) => {
      const hash = hashOf(item)
      const { earlier, here, owed } = this.#given
      const isLeftOut = HashMap.has(owed, hash)
      const given = { earlier, here: List.prepend(here, hash), owed: isLeftOut ? take(owed, hash) : owed }
      this.#given = given
      if (isLeftOut) return
      this.#hasGiven = true
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

  #behind({ earlier, here }: Given): List.List<number> {
    return this.remembers === "walk" ? List.appendAll(here, earlier) : List.empty()
  }

  #placeBehind(
    page: Page<unknown>,
    index: number,
    given: Given,
    received: { readonly cursor: number; readonly next: number },
    clock: Clock.Clock
  ): Checkpoint {
    const { fingerprint, path } = this.prepared
    const takenAt = Math.floor(clock.unsafeCurrentTimeMillis())
    const known = { version: 1 as const, path, fingerprint, takenAt, remembers: this.remembers }
    const owed = listed(given.owed)
    return index + 1 === page.items.length && page.nextCursor !== undefined
      ? {
        ...known,
        cursor: page.nextCursor,
        receivedAt: Math.floor(received.next),
        page: page.index + 1,
        position: 0,
        passed: owed,
        earlier: this.#behind(given)
      }
      : {
        ...known,
        ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
        receivedAt: Math.floor(received.cursor),
        page: page.index,
        position: index + 1,
        passed: List.appendAll(given.here, owed),
        earlier: given.earlier
      }
  }
}

const pagesFrom = <A>(
  run: Run<A>,
  from: Pages.Start | undefined
): Stream.Stream<EntryPage<A>, ListError, ServiceApi> => {
  const { ahead, emptyPages, limit, path, query } = run.prepared
  const pages = Pages.walk({ path, limit, query, ahead, emptyPages, from })
  return Stream.unwrap(Effect.map(Effect.clock, (clock) => Stream.map(pages, (page) => run.entriesOf(page, clock))))
    .pipe(
      Stream.catchAll((error) => {
        if (error._tag !== "CursorRejected" || !run.canRestart()) return Stream.fail(error)
        run.restart()
        return Stream.suspend(() => pagesFrom(run, undefined))
      })
    )
}

/**
 * The pages of a walk, each item decoded on its own and with the position after it. Items that a checkpoint marks as
 * returned are skipped.
 */
export const walkEntries = <A>(prepared: Prepared<A>): Stream.Stream<EntryPage<A>, ListError, ServiceApi> =>
  Stream.suspend(() => {
    const { from } = prepared
    return pagesFrom(
      new Run(prepared),
      from === undefined ? undefined : { cursor: from.cursor, index: from.page, receivedAt: from.receivedAt }
    )
  })
