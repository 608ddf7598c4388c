import { assert, describe, it } from "@effect/vitest"
import { type ServiceApi } from "@stevedore/core"
import { Array as Arr, Chunk, Duration, Effect, Either, FastCheck as fc, Fiber, Stream, TestClock } from "effect"
import { runs } from "../../../testing/test/support/runs.js"
import { textHash } from "../../src/base/text.js"
import * as Pages from "../../src/list/pages.js"
import { UsedCursors } from "../../src/list/usedCursors.js"
import { type FakePage, items, keysetList, pageAnswer, scriptedHandler, scriptedList } from "../fixtures/fakeLists.js"
import { fakeService, json, refusal } from "../fixtures/fakeService.js"

const projects = { path: "/v1/projects", limit: 100, query: [] } satisfies Pages.Walk

const allItems = <E>(pages: Stream.Stream<{ readonly items: ReadonlyArray<unknown> }, E, ServiceApi.ServiceApi>) =>
  Effect.map(Stream.runCollect(pages), (chunk) => Chunk.toReadonlyArray(chunk).flatMap((page) => page.items))

/** What a walk gave before it ended, and how it ended. */
const walked = (walk: Pages.Walk = projects) => {
  const given: Array<unknown> = []
  return Pages.walk(walk).pipe(
    Stream.runForEach((page) => Effect.sync(() => page.items.forEach((item) => given.push(item)))),
    Effect.either,
    Effect.map((end) => ({ given, end }))
  )
}

const withoutWaiting = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

const page = (data: ReadonlyArray<unknown>, next: Omit<FakePage, "data">): FakePage => ({ data, ...next })

describe("Pages", () => {
  describe("the end of a list", () => {
    const rows: Array<readonly [string, Omit<FakePage, "data">, string]> = [
      ["no more, no cursor: the end", { has_more: false, next_cursor: null }, "End"],
      ["no more, the cursor absent: the end", { has_more: false }, "End"],
      ["no more, an empty cursor: the end", { has_more: false, next_cursor: "" }, "End"],
      ["nothing said at all: the end", {}, "End"],
      ["more, a new cursor: on", { has_more: true, next_cursor: "b" }, "Next"],
      ["more, null for a cursor: broken", { has_more: true, next_cursor: null }, "moreWithoutCursor"],
      ["more, the cursor absent: broken", { has_more: true }, "moreWithoutCursor"],
      ["more, an empty cursor: broken", { has_more: true, next_cursor: "" }, "moreWithoutCursor"],
      ["more, a used cursor: broken", { has_more: true, next_cursor: "used" }, "cursorRepeated"],
      ["no more, a used cursor: broken", { has_more: false, next_cursor: "used" }, "cursorRepeated"],
      ["no more, a new cursor: on", { has_more: false, next_cursor: "b" }, "Next"],
      ["only a new cursor: on", { next_cursor: "b" }, "Next"]
    ]
    it.each(rows)("%s", (_, info, expected) => {
      const verdict = Pages.verdict(info, (cursor) => cursor === "used")
      assert.strictEqual(verdict._tag === "Broken" ? verdict.problem : verdict._tag, expected)
    })
  })

  it.effect("an empty page in the middle does not end the walk", () => {
    const list = scriptedList([
      page([1, 2], { has_more: true, next_cursor: "a" }),
      page([], { has_more: true, next_cursor: "b" }),
      page([3], { has_more: false, next_cursor: null })
    ])
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* allItems(Pages.walk(projects)), [1, 2, 3])
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("more than 100 empty pages in a row fail the walk", () => {
    const list = fakeService((_, index) => pageAnswer(page([], { has_more: true, next_cursor: `c${index}` })))
    return Effect.gen(function*() {
      const error = yield* Either.flip((yield* walked()).end)
      assert.strictEqual(error._tag === "PaginationBroken" && error.problem, "tooManyEmptyPages")
      assert.strictEqual(list.received.length, 101)
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("a full page in between resets the count of empty pages", () => {
    const empty = (index: number) => page([], { has_more: true, next_cursor: `c${index}` })
    const list = scriptedList([
      ...Arr.range(1, 100).map(empty),
      page([1], { has_more: true, next_cursor: "c101" }),
      ...Arr.range(102, 201).map(empty),
      page([2], {})
    ])
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* allItems(Pages.walk(projects)), [1, 2])
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("a repeated cursor is not followed: the items before it are returned, then the walk fails", () => {
    const list = fakeService(({ query }) =>
      pageAnswer(page([query.get("page[start_cursor]") ?? "start"], { has_more: true, next_cursor: "same" }))
    )
    return Effect.gen(function*() {
      const { end, given } = yield* walked()
      assert.deepStrictEqual(given, ["start", "same"])
      const error = yield* Either.flip(end)
      assert.strictEqual(error._tag === "PaginationBroken" && error.problem, "cursorRepeated")
      assert.strictEqual(list.received.length, 2)
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("a cycle of several pages is detected at the first repeated cursor", () => {
    const list = fakeService(({ query }) => {
      const place = Number(query.get("page[start_cursor]") ?? 0)
      return pageAnswer(page([place], { has_more: true, next_cursor: String(place === 5 ? 2 : place + 1) }))
    })
    return Effect.gen(function*() {
      const { end, given } = yield* walked()
      assert.deepStrictEqual(given, [0, 1, 2, 3, 4, 5])
      assert.isTrue(Either.isLeft(end))
      assert.strictEqual(list.received.length, 6)
    }).pipe(Effect.provide(list.layer))
  })

  it.effect.each<readonly [what: string, contentOf: (index: number) => ReadonlyArray<number>, atMost: number]>([
    ["the first page", () => [1, 2], 6],
    ["the last of four", (index) => [Math.min(index, 3)], 9],
    ["three in turn", (index) => [index % 3], 8],
    ["a page between empty ones", (index) => index % 2 === 0 ? [1] : [], 12]
  ])("%s again and again under ever new cursors is no list, and ends", ([, contentOf, atMost]) => {
    const list = fakeService((_, index) =>
      pageAnswer(page(contentOf(index), { has_more: true, next_cursor: `c${index}` }))
    )
    return Effect.gen(function*() {
      const { end } = yield* walked()
      assert.deepInclude(yield* Either.flip(end), { _tag: "PaginationBroken", problem: "nothingNew" })
      assert.isAtMost(list.received.length, atMost)
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("a few pages of the same items are a list, if it comes to its end", () => {
    const list = fakeService((_, index) =>
      pageAnswer(page([1], index < 4 ? { has_more: true, next_cursor: `c${index}` } : {}))
    )
    return Effect.gen(function*() {
      const { end, given } = yield* walked()
      assert.deepStrictEqual([given, Either.isRight(end)], [[1, 1, 1, 1, 1], true])
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("the cursor that a walk goes on from is used too: coming again, it ends the walk", () => {
    const list = fakeService((_, index) => pageAnswer(page([1], index < 5 ? { has_more: true, next_cursor: "a" } : {})))
    return Effect.gen(function*() {
      const { end } = yield* walked({ ...projects, from: { cursor: "a", index: 3, receivedAt: 0 } })
      assert.deepInclude(yield* Either.flip(end), { _tag: "PaginationBroken", problem: "cursorRepeated" })
      assert.strictEqual(list.received.length, 1)
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("more items without a cursor fail the walk after the page's items, and the error names the page", () => {
    const list = scriptedList([
      page([1], { has_more: true, next_cursor: "a" }),
      page([2], { has_more: true, next_cursor: null })
    ])
    return Effect.gen(function*() {
      const { end, given } = yield* walked()
      assert.deepStrictEqual(given, [1, 2])
      const error = yield* Either.flip(end)
      assert.deepInclude(error, { _tag: "PaginationBroken", problem: "moreWithoutCursor" })
      assert.deepStrictEqual("page" in error && error.page, { path: "/v1/projects", index: 1, cursor: "a" })
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("fewer items than requested do not end the walk", () => {
    const list = keysetList(items(95), 10)
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* allItems(Pages.walk(projects)), items(95))
      assert.strictEqual(list.received.length, 10)
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("one walk can run twice and returns the same twice", () => {
    const list = keysetList(items(300))
    const walk = Pages.walk(projects)
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* allItems(walk), items(300))
      assert.deepStrictEqual(yield* allItems(walk), items(300))
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("a page that fails once is retried on its own", () => {
    const list = fakeService(({ query }, index) =>
      index === 1
        ? refusal(503, "InternalError")
        : scriptedHandler([
          page([1], { has_more: true, next_cursor: "a" }),
          page([2], { has_more: true, next_cursor: "b" }),
          page([3], {})
        ])({ query, method: "GET", path: "", headers: {}, body: undefined }, index)
    )
    return Effect.gen(function*() {
      assert.deepStrictEqual(yield* withoutWaiting(allItems(Pages.walk(projects))), [1, 2, 3])
      assert.deepStrictEqual(list.received.map(({ query }) => query.get("page[start_cursor]")), [null, "a", "a", "b"])
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("a page that keeps failing ends the walk with the cursor to resume from", () => {
    const list = fakeService(({ query }) =>
      query.has("page[start_cursor]")
        ? refusal(500, "InternalError")
        : pageAnswer(page([1], { has_more: true, next_cursor: "a" }))
    )
    return Effect.gen(function*() {
      const { end, given } = yield* withoutWaiting(walked())
      assert.deepStrictEqual(given, [1])
      const error = yield* Either.flip(end)
      assert.deepInclude(error, { _tag: "ServiceUnavailable", attempts: 5 })
      assert.deepStrictEqual("page" in error && error.page, { path: "/v1/projects", index: 1, cursor: "a" })
      assert.include(error.message, "page 2 of /v1/projects, cursor a")
    }).pipe(Effect.provide(list.layer))
  })

  it.effect.each([0, 1, 99, 100, 101, 150, 200, 201, 500])("take(%i) makes ceil(n / 100) requests", (n) => {
    const list = keysetList(items(1000))
    return Effect.gen(function*() {
      const taken = yield* Pages.walk(projects).pipe(
        Stream.flatMap(({ items }) => Stream.fromIterable(items)),
        Stream.take(n),
        Stream.runCount
      )
      assert.strictEqual(taken, n)
      assert.strictEqual(list.received.length, Math.ceil(n / 100))
    }).pipe(Effect.provide(list.layer))
  })

  it.effect.prop(
    "a walk returns the pages' items in order, once",
    { contents: fc.array(fc.array(fc.integer(), { maxLength: 5 }), { minLength: 1, maxLength: 20 }) },
    ({ contents }) => {
      const list = scriptedList(
        contents.map((data, index) =>
          page(data, index + 1 === contents.length ? {} : { has_more: true, next_cursor: `c${index}` })
        )
      )
      return Effect.gen(function*() {
        assert.deepStrictEqual(yield* allItems(Pages.walk(projects)), contents.flat())
        assert.strictEqual(list.received.length, contents.length)
      }).pipe(Effect.provide(list.layer))
    },
    { fastCheck: { numRuns: runs(30) } }
  )

  const issue = { code: "InternalError", title: "A shard did not respond" }

  it.effect.each([
    ["an error", [issue], "ServiceUnavailable"],
    ["an error of no known form", ["late"], "InvalidResponse"]
  ])("what comes with %s is no page, even if it looks like the last one", ([, errors, tag]) => {
    const list = fakeService(({ query }) =>
      query.has("page[start_cursor]")
        ? json({ data: [2], page: { next_cursor: null }, errors })
        : pageAnswer(page([1], { has_more: true, next_cursor: "a" }))
    )
    return Effect.gen(function*() {
      const { end, given } = yield* withoutWaiting(walked())
      assert.deepStrictEqual(given, [1])
      assert.strictEqual((yield* Either.flip(end))._tag, tag)
    }).pipe(Effect.provide(list.layer))
  })

  it.effect.each([null, [], "none"])("a page may say that it has no errors: %j", (errors) =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* walked()).given, [1])
    }).pipe(Effect.provide(fakeService(() => json({ data: [1], page: {}, errors })).layer)))

  it.effect("a rejected cursor is distinguished from other refusals, with its age since the page that gave it", () => {
    const list = fakeService(({ query }) =>
      query.get("page[start_cursor]") === "b"
        ? refusal(400, "ValidationError", "page.start_cursor")
        : pageAnswer(page([1], { has_more: true, next_cursor: query.has("page[start_cursor]") ? "b" : "a" }))
    )
    return Effect.gen(function*() {
      const fiber = yield* Effect.fork(Effect.flip(Stream.runForEach(
        Pages.walk(projects),
        () => Effect.sleep("90 seconds")
      )))
      yield* TestClock.adjust("180 seconds")
      const error = yield* Fiber.join(fiber)
      assert.strictEqual(error._tag, "CursorRejected")
      assert.strictEqual(error._tag === "CursorRejected" && Duration.toSeconds(error.age), 90)
    }).pipe(Effect.provide(list.layer))
  })

  const refusals = [
    ["an error without a place", () => refusal(400, "ValidationError")],
    ["an empty place", () => json({ errors: [{ code: "UnprocessableContent", path: [] }] }, { status: 422 })],
    ["no error at all", () => new Response("<h1>Gone</h1>", { status: 410 })]
  ] as const

  it.effect.each(refusals)(
    "a refusal without a place blames the cursor, because nothing else has changed: %s",
    ([, refused]) => {
      const list = fakeService(({ query }) =>
        query.has("page[start_cursor]") ? refused() : pageAnswer(page([1], { has_more: true, next_cursor: "a" }))
      )
      return Effect.gen(function*() {
        const { end, given } = yield* walked(projects)
        assert.deepStrictEqual(given, [1])
        assert.deepInclude({ ...yield* Either.flip(end) }, {
          _tag: "CursorRejected",
          page: { path: "/v1/projects", index: 1, cursor: "a" }
        })
      }).pipe(Effect.provide(list.layer))
    }
  )

  const about = (code: string, path: string | ReadonlyArray<string>) => ({ code, title: code, path })

  const blames = [
    ["one of several issues", 400, [about("TooSmall", "page.limit"), about("TooOld", "page.start_cursor")], true],
    ["the place is a list", 422, [about("ValidationError", ["page", "start_cursor"])], true],
    ["only the code names it", 400, [about("InvalidCursor", "page")], true],
    ["another place is named", 400, [about("ValidationError", "filter.title")], false],
    ["it is another status", 405, [], false]
  ] as const

  it.effect.each(blames)(
    "a refusal blames the cursor only if it is about it: %s",
    ([_, status, errors, blamed]) =>
      Effect.gen(function*() {
        const { end } = yield* walked(projects)
        assert.strictEqual((yield* Either.flip(end))._tag, blamed ? "CursorRejected" : "RequestRejected")
      }).pipe(Effect.provide(
        fakeService(({ query }) =>
          query.has("page[start_cursor]")
            ? json({ errors }, { status })
            : pageAnswer(page([1], { has_more: true, next_cursor: "a" }))
        ).layer
      ))
  )

  it.effect.each(refusals)(
    "but not for the first page, which has no cursor: %s",
    ([, refused]) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(Pages.walk(projects))))._tag, "RequestRejected")
      }).pipe(Effect.provide(fakeService(() => refused()).layer))
  )

  it.effect("a different refusal of a page with a cursor is not blamed on the cursor", () => {
    const list = fakeService(({ query }) =>
      query.has("page[start_cursor]")
        ? refusal(422, "UnprocessableContent", "filter.title")
        : pageAnswer(page([1], { has_more: true, next_cursor: "a" }))
    )
    return Effect.gen(function*() {
      assert.strictEqual((yield* Effect.flip(Stream.runDrain(Pages.walk(projects))))._tag, "RequestRejected")
    }).pipe(Effect.provide(list.layer))
  })

  it.prop(
    "a used cursor is recognized, and another is not",
    [fc.uniqueArray(fc.string(), { minLength: 1 })],
    ([cursors]) => {
      const [unused = "", ...used] = cursors
      const memory = new UsedCursors()
      used.forEach((cursor) => memory.add(cursor))
      assert.isTrue(used.every((cursor) => memory.has(cursor)))
      assert.isFalse(memory.has(unused))
    }
  )

  it("10,000 cursors take about 80 KB", () => {
    const memory = new UsedCursors()
    for (let index = 0; index < 10_000; index++) {
      assert.isFalse(memory.has(`cursor-${index}`))
      memory.add(`cursor-${index}`)
    }
    assert.isAtMost(memory.size, 84_000)
    assert.isTrue(memory.has("cursor-0"))
  })

  it("no walk is so long that its used cursors take more than 1 MB, and the latest 131,072 stay known", () => {
    const memory = new UsedCursors()
    for (let index = 0; index < 131_072 + 10; index++) memory.add(`cursor-${index}`)
    assert.isAtMost(memory.size, 1_048_576)
    assert.isFalse(memory.has("cursor-9"))
    assert.isTrue(memory.has("cursor-10"))
    assert.isTrue(memory.has("cursor-131081"))
  })

  it("a new cursor is not taken for a used one: 200,000 have as many hashes", () => {
    assert.strictEqual(
      new Set(Array.from({ length: 200_000 }, (_, index) => textHash(`cursor-${index}`))).size,
      200_000
    )
  })
})
