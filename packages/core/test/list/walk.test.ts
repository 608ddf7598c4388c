import { assert, describe, it } from "@effect/vitest"
import { Lists } from "@stevedore/core"
import { Chunk, Clock, Duration, Effect, Either, FastCheck as fc, Fiber, Schema, Stream, TestClock } from "effect"
import { runs } from "../../../testing/test/support/runs.js"
import { type Item, item, items, keysetPage, pageAnswer } from "../fixtures/fakeLists.js"
import { type FakeService, fakeService, type Handler, json, refusal } from "../fixtures/fakeService.js"

const things = Lists.make({ path: "/v1/things", item: Schema.Struct({ id: Schema.String, title: Schema.String }) })

const all = items(400)

/** A list of 400 items in pages of 100, of which one page is changed by a fault. */
const faulty = (fault: (page: number, cursor: string | null) => ReturnType<Handler> | undefined): FakeService =>
  fakeService((request) => {
    const cursor = request.query.get("page[start_cursor]")
    const page = cursor === null ? 0 : (Number(cursor.slice("after-".length)) + 1) / 100
    return fault(page, cursor) ?? keysetPage(all, request.query)
  })

const walked = (list: FakeService, options: Parameters<typeof things>[0] = {}) =>
  Effect.gen(function*() {
    const given: Array<string> = []
    const fiber = yield* Stream.runForEach(things(options), ({ id }) => Effect.sync(() => given.push(id))).pipe(
      Effect.either,
      Effect.provide(list.layer),
      Effect.fork
    )
    yield* TestClock.adjust("1 hour")
    return { end: yield* Fiber.join(fiber), given }
  })

const ids = (some: ReadonlyArray<Item>) => some.map(({ id }) => id)

describe("the seven faults that lose items or never end", () => {
  it.effect("an empty page in the middle that has a cursor loses nothing", () =>
    Effect.gen(function*() {
      let given = false
      const list = faulty((page, cursor) => {
        if (page !== 1 || given) return undefined
        given = true
        return pageAnswer({ data: [], has_more: true, next_cursor: `${cursor}.0` })
      })
      const { end, given: seen } = yield* walked(list)
      assert.isTrue(Either.isRight(end))
      assert.deepStrictEqual(seen, ids(all))
    }))

  it.effect("a repeated cursor fails the walk at the second request with it", () =>
    Effect.gen(function*() {
      const list = faulty((page, cursor) =>
        page === 2 ? pageAnswer({ data: all.slice(200, 300), has_more: true, next_cursor: cursor }) : undefined
      )
      const { end, given } = yield* walked(list)
      assert.deepInclude(yield* Either.flip(end), { _tag: "PaginationBroken", problem: "cursorRepeated" })
      assert.deepStrictEqual(given, ids(all.slice(0, 300)))
      assert.lengthOf(list.received, 3)
    }))

  it.effect("more items without a cursor fail the walk after the page's items", () =>
    Effect.gen(function*() {
      const list = faulty((page) =>
        page === 1 ? pageAnswer({ data: all.slice(100, 200), has_more: true, next_cursor: null }) : undefined
      )
      const { end, given } = yield* walked(list)
      assert.deepInclude(yield* Either.flip(end), { _tag: "PaginationBroken", problem: "moreWithoutCursor" })
      assert.deepStrictEqual(given, ids(all.slice(0, 200)))
    }))

  it.effect("a page size of 200 where 100 is the maximum is refused before any request, and short pages do not end the walk", () =>
    Effect.gen(function*() {
      const list = faulty(() => undefined)
      const { end } = yield* walked(list, { pageSize: 200 })
      assert.deepInclude(yield* Either.flip(end), { _tag: "InvalidPageSize", pageSize: 200, maximum: 100 })
      assert.lengthOf(list.received, 0)
      const short = fakeService(({ query }) => keysetPage(all, query, 37))
      assert.deepStrictEqual((yield* walked(short)).given, ids(all))
    }))

  it.effect("the same list walked twice returns the same items", () =>
    Effect.gen(function*() {
      const list = faulty(() => undefined)
      const walk = things()
      const once = Effect.map(Stream.runCollect(walk), (got) => ids(Chunk.toReadonlyArray(got)))
      const both = yield* Effect.all([once, once]).pipe(Effect.provide(list.layer))
      assert.deepStrictEqual(both, [ids(all), ids(all)])
    }))

  it.effect("a page that fails once is retried; one that keeps failing is an error with the cursor to resume from", () =>
    Effect.gen(function*() {
      let failures = 0
      const once = faulty((page) => page === 2 && failures++ === 0 ? json({}, { status: 500 }) : undefined)
      assert.deepStrictEqual((yield* walked(once)).given, ids(all))
      assert.lengthOf(once.received, 5)

      const broken = faulty((page) => page === 2 ? json({}, { status: 500 }) : undefined)
      const { end, given } = yield* walked(broken)
      const error = yield* Either.flip(end)
      assert(error._tag === "ServiceUnavailable")
      assert.deepStrictEqual(error.page, { path: "/v1/things", index: 2, cursor: "after-199" })
      assert.deepStrictEqual(given, ids(all.slice(0, 200)))
    }))

  const waiting = (retryAfter: string) =>
    Effect.gen(function*() {
      const times: Array<number> = []
      const list = fakeService((request) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          times.push(now)
          return times.length === 2
            ? json({ errors: [] }, { status: 429, headers: { "retry-after": retryAfter } })
            : keysetPage(all, request.query)
        })
      )
      return { ...(yield* walked(list)), times }
    })

  it.effect.each([["2", 2000], ["Thu, 01 Jan 1970 00:00:05 GMT", 5000]] as const)(
    "Retry-After: %s is respected exactly",
    ([retryAfter, millis]) =>
      Effect.gen(function*() {
        const { given, times } = yield* waiting(retryAfter)
        assert.deepStrictEqual(times, [0, 0, millis, millis, millis])
        assert.deepStrictEqual(given, ids(all))
      })
  )

  it.effect("Retry-After: 100000 fails at once with the wait and the place, without sleeping for 27 hours", () =>
    Effect.gen(function*() {
      const { end, times } = yield* waiting("100000")
      const error = yield* Either.flip(end)
      assert(error._tag === "RateLimited")
      assert.strictEqual(Duration.toSeconds(error.retryAfter ?? 0), 100_000)
      assert.strictEqual(error.page?.cursor, "after-99")
      assert.deepStrictEqual(times, [0, 0])
    }))

  it.effect.each(["soon", "-1", "2 weeks", ""])(
    "Retry-After: %j is ignored and does not crash",
    (retryAfter) =>
      Effect.gen(function*() {
        const { given } = yield* waiting(retryAfter)
        assert.deepStrictEqual(given, ids(all))
      })
  )
})

interface Change {
  readonly appear: ReadonlyArray<number>
  readonly vanish: ReadonlyArray<number>
}

const change: fc.Arbitrary<Change> = fc.record({
  appear: fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 8 }),
  vanish: fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 8 })
})

describe("a list that changes while it is walked", () => {
  it.effect.prop(
    "returns the pages' items in order, once, including every item that was there from the first page to the last",
    [
      fc.uniqueArray(fc.integer({ min: 0, max: 200 }), { maxLength: 60 }),
      fc.array(change, { maxLength: 20 }),
      fc.integer({ min: 1, max: 12 })
    ],
    ([start, changes, pageSize]) => {
      let now = new Set(start)
      const stayed = new Set(start)
      let held: ReadonlyArray<string> = []
      const list = fakeService(({ query }, index) => {
        if (index > 0) {
          const { appear = [], vanish = [] } = changes[index - 1] ?? {}
          now = new Set([...now, ...appear].filter((id) => !vanish.includes(id)))
          vanish.forEach((id) => stayed.delete(id))
        }
        const sorted = [...now].sort((a, b) => a - b).map(item)
        const response = keysetPage(sorted, query)
        const cursor = query.get("page[start_cursor]")
        const after = cursor === null ? -1 : Number(cursor.slice("after-".length))
        held = [...held, ...ids(sorted.filter(({ id }) => Number(id) > after).slice(0, pageSize))]
        return response
      })
      return Effect.gen(function*() {
        const given = ids(Chunk.toReadonlyArray(yield* Stream.runCollect(things({ pageSize }))))
        assert.deepStrictEqual(given, held)
        assert.strictEqual(new Set(given).size, given.length)
        for (const id of stayed) assert.include(given, String(id))
      }).pipe(Effect.provide(list.layer))
    },
    { fastCheck: { numRuns: runs(25) } }
  )
})

describe("a cursor that the service rejects", () => {
  it.effect("is reported with its place, not as the end of the list", () =>
    Effect.gen(function*() {
      const list = faulty((page) => page === 3 ? refusal(400, "ValidationError", "page.start_cursor") : undefined)
      const { end, given } = yield* walked(list)
      assert.strictEqual((yield* Either.flip(end))._tag, "CursorRejected")
      assert.lengthOf(given, 300)
    }))
})
