import { assert, describe, it } from "@effect/vitest"
import { Json, type ListError, Lists, Metrics, ServiceApi } from "@stevedore/core"
import { Chunk, DateTime, Effect, Metric, Option, Schema, Stream } from "effect"
import type * as List from "../src/list/list.js"
import { type FakePage, item, items, keysetList, pageAnswer, scriptedList } from "./fixtures/fakeLists.js"
import { fakeService } from "./fixtures/fakeService.js"

const Item = Schema.Struct({ id: Schema.String, title: Schema.String })
const things = Lists.make({ path: "/v1/things", item: Item, sorts: ["title"] })

const empty = () => fakeService(() => pageAnswer({ data: [] }))

const skippedSoFar = Effect.map(Metric.value(Metrics.itemsSkipped), ({ count }) => count)

/** What a walk sends, beside the page. */
const sent = <E>(walk: Effect.Effect<unknown, E, ServiceApi.ServiceApi>) =>
  Effect.gen(function*() {
    const list = empty()
    yield* Effect.provide(walk, list.layer)
    return list.received.map(({ path, query }) => {
      query.delete("page[limit]")
      return `${path}?${decodeURIComponent(query.toString())}`
    })
  })

const refused = <A>(stream: Stream.Stream<A, ListError.ListError, ServiceApi.ServiceApi>) =>
  Effect.gen(function*() {
    const list = empty()
    const error = yield* Effect.provide(Effect.flip(Stream.runDrain(stream)), list.layer)
    return { error, requests: list.received.length }
  })

describe("Lists", () => {
  describe("what is asked for", () => {
    const day = new Date("2024-05-01T12:00:00.000+02:00")
    const zoned = DateTime.unsafeMakeZoned("2024-06-01T00:00:00Z", { timeZone: "Europe/Berlin" })

    it.effect("every list has its path", () =>
      Effect.gen(function*() {
        const all: ReadonlyArray<List.Walks<unknown, unknown, never>> = [
          Lists.projects,
          Lists.data,
          Lists.docs,
          Lists.insights,
          Lists.highlights,
          Lists.tags,
          Lists.channels,
          Lists.contacts,
          Lists.folders,
          Lists.folderContents("F1"),
          Lists.users
        ]
        assert.deepStrictEqual(all.map(({ path }) => path), [
          "/v1/projects",
          "/v1/data",
          "/v1/docs",
          "/v1/insights",
          "/v1/highlights",
          "/v1/tags",
          "/v1/channels",
          "/v1/contacts",
          "/v1/folders",
          "/v1/folders/F1/contents",
          "/v1/users"
        ])
        const list = empty()
        yield* Effect.forEach(all, (one) => Stream.runDrain(one())).pipe(Effect.provide(list.layer))
        assert.deepStrictEqual(list.received.map(({ path }) => path), all.map(({ path }) => path))
      }))

    it.effect("text, one id and several, in deep brackets", () =>
      Effect.gen(function*() {
        const queries = yield* sent(
          Effect.all([
            Stream.runDrain(Lists.projects({ title: { contains: "a&b" } })),
            Stream.runDrain(Lists.projects({ title: { equal_to: "x" }, folder_id: "f" })),
            Stream.runDrain(Lists.projects({ folder_id: ["f", "g"] }))
          ])
        )
        assert.deepStrictEqual(queries, [
          "/v1/projects?filter[title][contains]=a&b",
          "/v1/projects?filter[folder_id]=f&filter[title][equal_to]=x",
          "/v1/projects?filter[folder_id][0]=f&filter[folder_id][1]=g"
        ])
      }))

    it.effect("times in UTC, booleans, and null for the root", () =>
      Effect.gen(function*() {
        const queries = yield* sent(
          Effect.all([
            Stream.runDrain(Lists.docs({ created_at: { gte: day, lt: zoned }, published: false })),
            Stream.runDrain(Lists.folders({ parent_folder_id: null })),
            Stream.runDrain(Lists.highlights({ tag_id: "t", updated_at: { lte: day } }))
          ])
        )
        assert.deepStrictEqual(queries, [
          "/v1/docs?filter[created_at][gte]=2024-05-01T10:00:00.000Z" +
          "&filter[created_at][lt]=2024-06-01T00:00:00.000Z&filter[published]=false",
          "/v1/folders?filter[parent_folder_id]=null",
          "/v1/highlights?filter[tag_id]=t&filter[updated_at][lte]=2024-05-01T10:00:00.000Z"
        ])
      }))

    it.effect("sorts in their order, each by itself", () =>
      Effect.gen(function*() {
        const queries = yield* sent(
          Effect.all([
            Stream.runDrain(Lists.projects({ sort: "title:asc" })),
            Stream.runDrain(Lists.contacts({ sort: ["name:desc", "created_at:asc"] }))
          ])
        )
        assert.deepStrictEqual(queries, [
          "/v1/projects?sort=title:asc",
          "/v1/contacts?sort=name:desc&sort=created_at:asc"
        ])
      }))

    it.effect.each([
      ["2024-02-29", "2024-02-29T00:00:00.000Z"],
      ["2024-02", "2024-02-01T00:00:00.000Z"],
      ["2024-02-29T10:00", "2024-02-29T10:00:00.000Z"],
      ["2024-02-29 10:00:30.5", "2024-02-29T10:00:30.500Z"],
      ["2024-02-29T00:30:00+02:00", "2024-02-28T22:30:00.000Z"],
      ["2024-02-29T23:30:00-0200", "2024-03-01T01:30:00.000Z"],
      ["2024-02-29 10:00:30.123456+00", "2024-02-29T10:00:30.123Z"],
      ["2024-02-29T10:00:30+02", "2024-02-29T08:00:30.000Z"],
      ["2024-02-29T10:00:30.5-11", "2024-02-29T21:00:30.500Z"],
      ["2024-02-29T10:00+02", "2024-02-29T08:00:00.000Z"]
    ])("a date as text, %s, goes out as %s", ([text, moment]) =>
      Effect.gen(function*() {
        const queries = yield* sent(Stream.runDrain(Lists.data.untyped({ created_at: { gte: text } })))
        assert.deepStrictEqual(queries, [`/v1/data?filter[created_at][gte]=${moment}`])
      }))

    it.effect("an undefined filter is none", () =>
      Effect.gen(function*() {
        const queries = yield* sent(Stream.runDrain(Lists.projects({ title: undefined, sort: undefined })))
        assert.deepStrictEqual(queries, ["/v1/projects?"])
      }))

    it.effect("filters go out with every page", () => {
      const list = keysetList(items(250))
      return Effect.gen(function*() {
        yield* Stream.runDrain(things({ sort: "title:asc" }))
        assert.deepStrictEqual(list.received.map(({ query }) => query.get("sort")), Array(3).fill("title:asc"))
      }).pipe(Effect.provide(list.layer))
    })
  })

  describe("what is refused before any request", () => {
    const untyped = (
      name: string,
      list: List.Walks<unknown, Readonly<Record<string, unknown>>, string>,
      options: object
    ) => [name, list, { ...options }] as const

    it.effect.each([
      untyped("both texts", Lists.projects.untyped, { title: { contains: "a", equal_to: "b" } }),
      untyped("no text", Lists.projects.untyped, { title: {} }),
      untyped("both lower ends", Lists.data.untyped, { created_at: { gt: "2024-01-01", gte: "2024-01-01" } }),
      untyped("no end", Lists.data.untyped, { created_at: {} }),
      untyped("no date", Lists.data.untyped, { created_at: { gt: "yesterday" } }),
      untyped("a date of another kind", Lists.data.untyped, { created_at: { gt: "01.02.2024" } }),
      untyped("a number for a date", Lists.data.untyped, { created_at: { gt: "5" } }),
      untyped("a day that is none", Lists.data.untyped, { created_at: { gt: "2024-02-30T00:00:00Z" } }),
      untyped("two of the three", Lists.highlights.untyped, { project_id: "p", highlight_id: "h" }),
      untyped("an unknown filter", Lists.tags.untyped, { title: { contains: "a" } }),
      untyped("an unknown operator", Lists.projects.untyped, { title: { like: "a" } }),
      untyped("no ids at all", Lists.projects.untyped, { folder_id: [] }),
      untyped("an empty id", Lists.projects.untyped, { folder_id: "" }),
      untyped("an unknown sort", Lists.tags.untyped, { sort: "title:asc" }),
      untyped("the cursor of a page", Lists.projects.untyped, { cursor: "abc" }),
      untyped("the maximum of a collection", Lists.projects.untyped, { atMost: 5 }),
      untyped("a sort of another type", Lists.projects.untyped, { sort: { title: "asc" } }),
      untyped("a page size of another type", Lists.projects.untyped, { pageSize: "10" }),
      untyped("a position of another type", Lists.projects.untyped, { from: "2024" }),
      untyped("a position that is null", Lists.projects.untyped, { from: null }),
      untyped("an id that leads elsewhere", Lists.folderContents("..").untyped, {}),
      untyped("an empty id in the path", Lists.folderContents("").untyped, {}),
      untyped("an id that no URL can hold", Lists.folderContents("\ud800").untyped, {})
    ])("%s", ([_, list, options]) =>
      Effect.gen(function*() {
        const { error, requests } = yield* refused(list(options))
        assert.strictEqual(error._tag, "InvalidListOption")
        assert.notInclude(error.message, "yesterday")
        assert.strictEqual(requests, 0)
      }))

    it.effect("a cursor of another type", () =>
      Effect.gen(function*() {
        const options: object = { cursor: ["a", "b"] }
        const { error, requests } = yield* refused(Stream.fromEffect(Lists.projects.untyped.page({ ...options })))
        assert.deepInclude(error, { _tag: "InvalidListOption", option: "cursor" })
        assert.strictEqual(requests, 0)
      }))

    it.effect("a path that a URL would make another of", () =>
      Effect.gen(function*() {
        for (const part of ["..", ".", "%2e%2e", "%2E.", ".%2e", "%2e", "a\\..\\..", "\\..", "\ud800", ""]) {
          for (const path of [`/v1/folders/${part}/token`, `/v1/folders/${part}`]) {
            const { error, requests } = yield* refused(Lists.make({ path, item: Item })())
            assert.deepInclude(error, { _tag: "InvalidListOption", option: "path" })
            assert.strictEqual(requests, 0)
          }
        }
        const allowed = ["/v1/...", "/v1/a..b", "/v1/..a", "/v1/%2e%2e%2e", "/v1/%2f"]
        const walked = yield* sent(
          Effect.forEach(allowed, (path) => Stream.runDrain(Lists.make({ path, item: Item })()))
        )
        assert.deepStrictEqual(walked, allowed.map((path) => `${path}?`))
      }))

    it.effect("a filter that no query can say, since without it the whole list would be walked", () =>
      Effect.gen(function*() {
        const own = Lists.make({
          path: "/v1/things",
          item: Item,
          filters: Schema.Struct({
            since: Schema.optional(Schema.DateFromSelf),
            ids: Schema.optional(Schema.Array(Schema.UndefinedOr(Schema.String))),
            range: Schema.optional(Schema.Struct({ from: Schema.optional(Schema.BigIntFromSelf) }))
          })
        })
        for (
          const [filters, reason] of [
            [{ since: new Date(0) }, "its Schema must encode it at since"],
            [{ ids: [] }, "expected at least one value: without any, the whole list would be requested at ids"],
            [{ ids: ["a", undefined] }, "its Schema must encode it at ids.1"],
            [{ range: {} }, "the whole list would be requested at range"],
            [{ range: { from: undefined } }, "the whole list would be requested at range"]
          ] as const
        ) {
          const { error, requests } = yield* refused(own(filters))
          assert.strictEqual(error._tag, "InvalidListOption")
          assert.include(error.message, reason)
          assert.strictEqual(requests, 0)
        }
        const within = yield* refused(own.untyped({ range: { from: "1" } }))
        assert.deepInclude(within.error, { _tag: "InvalidListOption", option: "range.from" })
        const queries = yield* sent(
          Stream.runDrain(own({ since: undefined, ids: ["a"], range: { from: 1n } }))
        )
        assert.deepStrictEqual(queries, ["/v1/things?filter[ids][0]=a&filter[range][from]=1"])
      }))

    it.effect("the refusal names the option and what would be right", () =>
      Effect.gen(function*() {
        const { error } = yield* refused(Lists.highlights.untyped({ project_id: "p", tag_id: "t" }))
        assert.include(error.message, "expected only one of project_id, tag_id and highlight_id")
        const other = yield* refused(Lists.projects.untyped({ title: { contains: "a", equal_to: "b" } }))
        assert.include(other.error.message, "expected one of contains and equal_to at title")
        const unknown = yield* refused(Lists.projects.untyped({ colour: "red" }))
        assert.include(unknown.error.message, "this list has no such filter at colour")
      }))

    it.effect.each([0, 101, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
      "a page size of %s",
      (pageSize) =>
        Effect.gen(function*() {
          const { error, requests } = yield* refused(Lists.projects({ pageSize }))
          assert.deepInclude(error, { _tag: "InvalidPageSize", pageSize, maximum: 100, attempts: 0 })
          assert.strictEqual(requests, 0)
        })
    )

    it.effect.each([1, 100])("but not a page size of %i", (pageSize) => {
      const list = empty()
      return Effect.gen(function*() {
        yield* Stream.runDrain(Lists.projects({ pageSize }))
        assert.strictEqual(list.received[0]?.query.get("page[limit]"), String(pageSize))
      }).pipe(Effect.provide(list.layer))
    })
  })

  describe("items", () => {
    it.effect("unknown fields are kept, at any depth", () => {
      const record = {
        ...{ id: "1", title: "a", type: "project", created_at: "2024", deleted: false },
        author: { id: "2", name: null, mood: "good" },
        colour: { name: "red" }
      }
      const list = fakeService(() => pageAnswer({ data: [record] }))
      return Effect.gen(function*() {
        const first: unknown = Option.getOrThrow(yield* Stream.runHead(Lists.projects()))
        assert.deepStrictEqual(first, {
          id: "1",
          title: "a",
          type: "project",
          created_at: "2024",
          deleted: false,
          author: { id: "2", extra: { name: null, mood: "good" } },
          extra: { colour: { name: "red" } }
        })
      }).pipe(Effect.provide(list.layer))
    })

    const broken: ReadonlyArray<FakePage> = [
      { data: [item(1), item(2)], has_more: true, next_cursor: "a", total_count: 5 },
      { data: [item(3), { id: "4", title: { secret: "value" } }, item(5)], total_count: 6 }
    ]

    it.effect("a broken item ends the walk after those before it; the error says where, and never the value", () =>
      Effect.gen(function*() {
        const given: Array<string> = []
        const error = yield* Effect.flip(Stream.runForEach(things(), ({ id }) => Effect.sync(() => given.push(id))))
        assert.deepStrictEqual(given, ["1", "2", "3"])
        assert.deepInclude(error, { _tag: "ItemInvalid", index: 1, itemId: "4", field: "title" })
        assert.deepStrictEqual("page" in error && error.page, { path: "/v1/things", index: 1, cursor: "a" })
        assert.notInclude(error.message, "secret")
        assert.include(error.message, "Item 2 (id 4) of page 2 of /v1/things, cursor a")
      }).pipe(Effect.provide(scriptedList(broken).layer)))

    it.effect("skip leaves broken items out and counts them", () =>
      Effect.gen(function*() {
        const before = yield* skippedSoFar
        const ids = yield* Stream.runCollect(Stream.map(things({ onInvalid: "skip" }), ({ id }) => id))
        assert.deepStrictEqual(Chunk.toReadonlyArray(ids), ["1", "2", "3", "5"])
        const pages = yield* Stream.runCollect(things.pages({ onInvalid: "skip" }))
        assert.deepStrictEqual(Chunk.toReadonlyArray(pages).map(({ skipped }) => skipped), [0, 1])
        assert.strictEqual((yield* skippedSoFar) - before, 2)
      }).pipe(Effect.provide(scriptedList(broken).layer)))

    it.effect("an item of a depth that nobody can write is broken like any other", () => {
      const deep = `${"[".repeat(490)}${"]".repeat(490)}`
      const answer = `{"data":[{"id":"1","title":"a"},${deep},{"id":{"a":${deep}}}],"page":{}}`
      return Effect.gen(function*() {
        const page = yield* things.page({ onInvalid: "skip" })
        assert.deepStrictEqual([page.items.map(({ id }) => id), page.skipped], [["1"], 2])
      }).pipe(
        Effect.provide(
          fakeService(() => new Response(answer, { headers: { "content-type": "application/json" } })).layer
        )
      )
    })

    it.effect("an answer of a depth that overflows the stack of whoever prints it is InvalidResponse", () => {
      const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`
      return Effect.gen(function*() {
        const error = yield* Effect.flip(Stream.runHead(things()))
        assert.deepInclude({ ...error }, { _tag: "InvalidResponse", path: "", problem: "nested too deeply" })
      }).pipe(
        Effect.provide(fakeService(() => new Response(`{"data":[{"id":"1","title":${deep}}],"page":{}}`)).layer)
      )
    })

    it.effect("a number that a double cannot hold is kept in items, and rounded for a Schema that asks for a number", () => {
      const items = "[{\"id\":\"1\",\"title\":\"a\",\"n\":9007199254740993}]"
      const numbers = Lists.make({ path: "/v1/things", item: Schema.Struct({ n: Schema.Number }) })
      return Effect.gen(function*() {
        const kept: unknown = Option.getOrThrow(yield* Stream.runHead(things()))
        assert.include(Json.stringify(kept), "\"n\":9007199254740993")
        assert.strictEqual(Option.getOrThrow(yield* Stream.runHead(numbers())).n, 9007199254740992)
        const project = Option.getOrThrow(yield* Stream.runHead(Lists.projects()))
        assert.deepStrictEqual(project.extra, { n: new Json.ExactNumber("9007199254740993") })
      }).pipe(Effect.provide(fakeService(() => new Response(`{"data":${items},"page":{}}`)).layer))
    })

    it.effect("an answer that is no page is InvalidResponse, with the page", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Stream.runHead(things()))
        assert.strictEqual(error._tag, "InvalidResponse")
        assert.deepInclude("page" in error && error.page, { path: "/v1/things", index: 0 })
      }).pipe(Effect.provide(fakeService(() => new Response("{\"data\": {}}")).layer)))
  })

  describe("the other ways to walk", () => {
    it.effect("take(n) of items makes ceil(n / 100) requests, and none for 0", () => {
      const list = keysetList(items(1000))
      return Effect.gen(function*() {
        for (const n of [0, 1, 100, 101, 250, 300]) {
          list.received.length = 0
          assert.strictEqual(yield* Stream.runCount(Stream.take(things(), n)), n)
          assert.strictEqual(list.received.length, Math.ceil(n / 100))
        }
      }).pipe(Effect.provide(list.layer))
    })

    it.effect("pages give items, place, cursors and total", () => {
      const list = keysetList(items(25))
      return Effect.gen(function*() {
        const pages = Chunk.toReadonlyArray(yield* Stream.runCollect(things.pages({ pageSize: 10 })))
        assert.deepStrictEqual(
          pages.map(({ items, ...page }) => ({ ...page, count: items.length })),
          [
            {
              count: 10,
              skipped: 0,
              index: 0,
              cursor: undefined,
              nextCursor: "after-9",
              isLast: false,
              totalCount: 25
            },
            {
              count: 10,
              skipped: 0,
              index: 1,
              cursor: "after-9",
              nextCursor: "after-19",
              isLast: false,
              totalCount: 25
            },
            { count: 5, skipped: 0, index: 2, cursor: "after-19", nextCursor: undefined, isLast: true, totalCount: 25 }
          ]
        )
      }).pipe(Effect.provide(list.layer))
    })

    it.effect("page gives one page: the first, or that of a cursor", () => {
      const list = keysetList(items(25))
      return Effect.gen(function*() {
        const first = yield* things.page({ pageSize: 10 })
        const second = yield* things.page({ pageSize: 10, cursor: first.nextCursor })
        assert.deepStrictEqual([...first.items, ...second.items], items(20))
        assert.strictEqual(list.received.length, 2)
      }).pipe(Effect.provide(list.layer))
    })

    it.effect.each([null, "a"])(
      "page fails where the list leads nowhere, since the absence of a next cursor would say that it ends: %j",
      (next) => {
        const list = fakeService(() => pageAnswer({ data: items(2), has_more: true, next_cursor: next }))
        return Effect.gen(function*() {
          const error = yield* Effect.flip(things.page({ cursor: "a" }))
          assert.deepInclude(error, { _tag: "PaginationBroken", page: { path: "/v1/things", index: 0, cursor: "a" } })
          assert.strictEqual(list.received.length, 1)
        }).pipe(Effect.provide(list.layer))
      }
    )

    it.effect("an empty cursor is none, and is not sent", () => {
      const list = keysetList(items(25))
      return Effect.gen(function*() {
        const first = yield* things.page({ pageSize: 10 })
        assert.deepStrictEqual(yield* things.page({ pageSize: 10, cursor: "" }), first)
        const api = yield* ServiceApi.ServiceApi
        yield* api.listPage({ path: "/v1/things", limit: 10, query: [], cursor: Option.some("") })
        assert.isTrue(list.received.every(({ query }) => !query.has("page[start_cursor]")))
      }).pipe(Effect.provide(list.layer))
    })

    it.effect("count is the service's own for these filters, by one small request", () => {
      const list = keysetList(items(250))
      return Effect.gen(function*() {
        assert.strictEqual(yield* Lists.projects.count({ title: { contains: "a" } }), 250)
        assert.deepStrictEqual(list.received.map(({ query }) => [...query]), [
          [["page[limit]", "1"], ["filter[title][contains]", "a"]]
        ])
      }).pipe(Effect.provide(list.layer))
    })

    it.effect("count counts where the service gives no total, with the same filters", () => {
      const list = scriptedList([{ data: items(3), next_cursor: "a" }, { data: items(2) }])
      return Effect.gen(function*() {
        assert.strictEqual(yield* Lists.projects.count({ title: { contains: "a" } }), 5)
        assert.deepStrictEqual(list.received.map(({ query }) => query.get("filter[title][contains]")), ["a", "a", "a"])
      }).pipe(Effect.provide(list.layer))
    })

    it.effect.each([-1, 2.5, 1e300])("a total that is no number of items is none: %d", (total_count) => {
      const list = scriptedList([{ data: items(3), next_cursor: "a", total_count }, { data: items(2), total_count }])
      return Effect.gen(function*() {
        assert.strictEqual(yield* things.count(), 5)
        assert.isUndefined((yield* things.page()).totalCount)
      }).pipe(Effect.provide(list.layer))
    })
  })
})
