import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { Marked } from "../Checkpoints.js"
import * as Checkpoints from "../Checkpoints.js"
import type { ItemInvalid, ListError } from "../ListError.js"
import * as Metrics from "../Metrics.js"
import type { Page } from "../service/page.js"
import { ServiceApi } from "../ServiceApi.js"
import * as Pages from "./pages.js"
import type { ListShape, Prepared, Wishes } from "./request.js"
import { prepare, refuse } from "./request.js"
import type { Entry, EntryPage } from "./walk.js"
import { walkEntries } from "./walk.js"

const prepared = <A>(shape: ListShape<A>, wishes: Wishes): Effect.Effect<Prepared<A>, ListError, ServiceApi> =>
  Effect.flatMap(ServiceApi, (api) => prepare(shape, wishes, api))

/**
 * What a user sees: either the entries up to the first invalid one, followed by that one; or all except the invalid
 * ones.
 */
interface Kept<A> {
  readonly entries: ReadonlyArray<{ readonly item: A; readonly entry: Entry<A> }>
  readonly skipped: number
  readonly failure: Option.Option<ItemInvalid>
}

const keep = <A>({ entries }: EntryPage<A>, onInvalid: "fail" | "skip"): Effect.Effect<Kept<A>> => {
  const kept: Array<{ readonly item: A; readonly entry: Entry<A> }> = []
  let skipped = 0
  for (const entry of entries) {
    if (Either.isRight(entry.result)) {
      kept.push({ item: entry.result.right, entry })
    } else if (onInvalid === "skip") {
      skipped++
    } else {
      return Effect.succeed({ entries: kept, skipped, failure: Option.some(entry.result.left) })
    }
  }
  return Effect.as(
    skipped === 0 ? Effect.void : Metric.incrementBy(Metrics.itemsSkipped, skipped),
    { entries: kept, skipped, failure: Option.none() }
  )
}

const keptEntries = <A>(shape: ListShape<A>, wishes: Wishes) =>
  Stream.unwrap(
    Effect.map(prepared(shape, wishes), (walk) =>
      Stream.flatMap(walkEntries(walk), (page) =>
        Stream.unwrap(Effect.map(keep(page, walk.onInvalid), ({ entries, failure }) =>
          Option.match(failure, {
            onNone: () =>
              Stream.fromIterable(entries),
            onSome: (error) =>
              Stream.concat(Stream.fromIterable(entries), Stream.fail(error))
          })))))
  )

const items = <A>(shape: ListShape<A>) => (wishes: Wishes = {}): Stream.Stream<A, ListError, ServiceApi> =>
  Stream.map(keptEntries(shape, wishes), ({ item }) => item)

const marked = <A>(shape: ListShape<A>) => (wishes: Wishes = {}): Stream.Stream<Marked<A>, ListError, ServiceApi> =>
  Stream.map(keptEntries(shape, wishes), ({ entry, item }) => ({ item, at: entry.at() }))

const pageOf = <A>(page: EntryPage<A>, onInvalid: "fail" | "skip"): Effect.Effect<Page<A>, ItemInvalid> =>
  Effect.flatMap(keep(page, onInvalid), ({ entries, failure, skipped }) =>
    Option.match(failure, {
      onNone: () => Effect.succeed({ ...page.page, items: entries.map(({ item }) => item), skipped }),
      onSome: Effect.fail
    }))

const pages = <A>(shape: ListShape<A>) => (wishes: Wishes = {}): Stream.Stream<Page<A>, ListError, ServiceApi> =>
  Stream.unwrap(
    Effect.map(
      prepared(shape, wishes),
      // Stream.mapEffect supports concurrency, which costs half a KiB of a page
      (walk) => Stream.flatMap(walkEntries(walk), (page) => Stream.fromEffect(pageOf(page, walk.onInvalid)))
    )
  )

const page = <A>(shape: ListShape<A>) =>
(
  { cursor: given = "", ...wishes }: Wishes & { readonly cursor?: string | undefined } = {}
): Effect.Effect<Page<A>, ListError, ServiceApi> =>
  Effect.gen(function*() {
    const walk = yield* prepared(shape, wishes)
    if (!Predicate.isString(given)) return yield* refuse(walk.path, "cursor", "expected text")
    const now = yield* Clock.currentTimeMillis
    const from = given === ""
      ? undefined
      : { ...Checkpoints.start({ ...walk, now }), cursor: given }
    // a page that leads nowhere is followed by its error, without a request
    const found = yield* walkEntries({ ...walk, from }).pipe(
      Stream.filter(({ page }) => page.isLast || page.nextCursor !== undefined),
      Stream.runHead
    )
    return yield* pageOf(Option.getOrThrow(found), walk.onInvalid)
  })

const count = <A>(shape: ListShape<A>) => (wishes: Wishes = {}): Effect.Effect<number, ListError, ServiceApi> =>
  Effect.gen(function*() {
    const walk = yield* prepared(shape, wishes)
    const { path, query } = walk
    const told = yield* Stream.runHead(Pages.walk({ path, query, limit: 1 }))
    return yield* Option.match(Option.flatMapNullable(told, ({ totalCount }) => totalCount), {
      onNone: () => Stream.runFold(Pages.walk({ ...walk, from: undefined }), 0, (sum, { items }) => sum + items.length),
      onSome: Effect.succeed
    })
  })

/** All operations of a list, for filters that are not validated yet. */
export const operations = <A>(shape: ListShape<A>) => ({
  items: items(shape),
  pages: pages(shape),
  page: page(shape),
  count: count(shape),
  marked: marked(shape)
})
