import { assert, describe, it } from "@effect/vitest"
import { Checkpoints, Lists } from "@stevedore/core"
import { Chunk, Duration, Effect, FastCheck as fc, Fiber, Schema, Stream, TestClock } from "effect"
import { runs } from "../../testing/test/support/runs.js"
import type * as List from "../src/list/list.js"
import { type Item, item, items, keysetPage } from "./fixtures/fakeLists.js"
import { fakeService, json, refusal } from "./fixtures/fakeService.js"
import { inVirtualTime } from "./fixtures/virtualTime.js"

const things = Lists.make({
  path: "/v1/things",
  item: Schema.Struct({ id: Schema.String, title: Schema.String }),
  filters: Schema.Struct({ colour: Schema.optional(Schema.String) }),
  sorts: ["title"]
})

const throughJson = (checkpoint: Checkpoints.Checkpoint): Checkpoints.Checkpoint =>
  Schema.decodeSync(Schema.parseJson(Checkpoints.Checkpoint))(
    Schema.encodeSync(Schema.parseJson(Checkpoints.Checkpoint))(checkpoint)
  )

/** A list that changes under the walk, and whose cursors can end. */
const changingList = (initial: ReadonlyArray<Item>) => {
  const state = { items: initial, cursorsHold: true }
  return {
    state,
    ...fakeService(({ query }) =>
      query.has("page[start_cursor]") && !state.cursorsHold
        ? refusal(400, "ValidationError", "page.start_cursor")
        : keysetPage(state.items, query)
    )
  }
}

type Options = List.ItemOptions<"title"> & { readonly colour?: string | undefined }

const marked = (options?: Options) => Effect.map(Stream.runCollect(things.marked(options)), Chunk.toReadonlyArray)

const ids = (marks: ReadonlyArray<Checkpoints.Marked<Item>>) => marks.map(({ item }) => item.id)

const sizes = { count: fc.integer({ min: 1, max: 30 }), pageSize: fc.integer({ min: 1, max: 12 }) }

describe("Checkpoints", () => {
  it.prop(
    "the position before the first item is read back as it was stored, whatever fraction of a millisecond it is",
    { now: fc.double({ min: 0, max: 8.64e15, noNaN: true }) },
    ({ now }) => {
      const start = Checkpoints.start({ path: "/v1/things", fingerprint: "f", now })
      assert.deepStrictEqual(throughJson(start), start)
      assert.deepInclude(start, { page: 0, position: 0, takenAt: Math.floor(now) })
    }
  )

  it.effect.prop(
    "resuming from any checkpoint loses nothing and repeats nothing, with the same page size or another",
    { ...sizes, resumedPageSize: sizes.pageSize, stop: fc.nat(29) },
    ({ count, pageSize, resumedPageSize, stop }) => {
      const list = changingList(items(count))
      return Effect.gen(function*() {
        const before = yield* Stream.runCollect(Stream.take(things.marked({ pageSize }), stop % count + 1))
        const marks = Chunk.toReadonlyArray(before)
        const from = marks.at(-1)?.at
        const after = yield* marked({ pageSize: resumedPageSize, from: from && throughJson(from) })
        assert.deepStrictEqual([...ids(marks), ...ids(after)], items(count).map(({ id }) => id))
      }).pipe(Effect.provide(list.layer))
    },
    { fastCheck: { numRuns: runs(40) } }
  )

  it.effect.prop(
    "even if items came and went meanwhile: new items after the place are returned, earlier ones are not repeated",
    {
      ...sizes,
      stop: fc.nat(29),
      removed: fc.array(fc.nat(29), { maxLength: 8 }),
      inserted: fc.uniqueArray(fc.nat(29), { maxLength: 8 })
    },
    ({ count, inserted, pageSize, removed, stop }) => {
      const list = changingList(items(count))
      return Effect.gen(function*() {
        const place = stop % count + 1
        const marks = Chunk.toReadonlyArray(
          yield* Stream.runCollect(Stream.take(things.marked({ pageSize }), place))
        )
        list.state.items = [
          ...items(count).filter((_, index) => !removed.includes(index)),
          ...inserted.map((index) => item(index + 0.5))
        ].sort((a, b) => Number(a.id) - Number(b.id))
        const after = ids(yield* marked({ pageSize, from: marks.at(-1)?.at }))
        const given = ids(marks)
        assert.deepStrictEqual(after.filter((id) => given.includes(id)), [])
        const owed = list.state.items.map(({ id }) => id).filter((id) => Number(id) > place - 1)
        assert.deepStrictEqual(after.filter((id) => Number(id) > place - 1), owed)
      }).pipe(Effect.provide(list.layer))
    },
    { fastCheck: { numRuns: runs(40) } }
  )

  it.effect.prop(
    "however often a walk is interrupted, and whatever is added at the start, every item that stays is returned once",
    {
      ...sizes,
      takes: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 })
    },
    ({ count, pageSize, takes }) => {
      const list = changingList(items(count))
      return Effect.gen(function*() {
        let from: Checkpoints.Checkpoint | undefined
        let given: ReadonlyArray<string> = []
        const walk = (take: number) =>
          Effect.map(
            Stream.runCollect(Stream.take(things.marked({ pageSize, from }), take)),
            (some) => {
              const marks = Chunk.toReadonlyArray(some)
              given = [...given, ...ids(marks)]
              const last = marks.at(-1)
              if (last !== undefined) from = throughJson(last.at)
            }
          )
        for (const [round, take] of takes.entries()) {
          yield* walk(take)
          // newest first, as lists are sorted by default
          list.state.items = [item(-round - 1), ...list.state.items]
        }
        yield* walk(1000)
        assert.deepStrictEqual(given.filter((id, index) => given.indexOf(id) !== index), [])
        assert.includeMembers([...given], items(count).map(({ id }) => id))
      }).pipe(Effect.provide(list.layer))
    },
    { fastCheck: { numRuns: runs(60) } }
  )

  it.effect.prop(
    "interrupted at any time, with a list that changes with every request",
    {
      first: fc.uniqueArray(fc.nat(60), { maxLength: 40, size: "max" }),
      requests: fc.array(
        fc.record({
          appear: fc.array(fc.nat(60), { maxLength: 4 }),
          vanish: fc.array(fc.nat(60), { maxLength: 4 }),
          millis: fc.constantFrom(0, 5, 30)
        }),
        { maxLength: 30, size: "max" }
      ),
      lives: fc.array(
        fc.record({
          pageSize: fc.integer({ min: 1, max: 9 }),
          millisForEach: fc.constantFrom(0, 3, 20),
          endsAfter: fc.nat(100)
        }),
        { maxLength: 8, size: "max" }
      )
    },
    ({ first, lives, requests }) => {
      let now = new Set(first)
      const stayed = new Set(first)
      const list = fakeService(({ query }, index) => {
        const { appear, millis, vanish } = requests[index] ?? { appear: [], millis: 0, vanish: [] }
        now = new Set([...now, ...appear].filter((id) => !vanish.includes(id)))
        vanish.forEach((id) => stayed.delete(id))
        return Effect.as(
          Effect.sleep(millis),
          keysetPage([...now].sort((one, other) => one - other).map(item), query)
        )
      })
      return inVirtualTime(Effect.gen(function*() {
        let from: Checkpoints.Checkpoint | undefined
        const given: Array<string> = []
        const walk = (options: Options, millisForEach: number) =>
          Stream.runForEach(
            things.marked({ ...options, from: from && throughJson(from) }),
            ({ at, item }) => {
              given.push(item.id)
              from = at
              return Effect.sleep(millisForEach)
            }
          )
        for (const { endsAfter, millisForEach, pageSize } of lives) {
          const life = yield* Effect.fork(Effect.ignore(walk({ pageSize }, millisForEach)))
          yield* Effect.sleep(endsAfter)
          yield* Fiber.interrupt(life)
        }
        yield* walk({ pageSize: 5 }, 0)
        assert.deepStrictEqual(given.filter((id, index) => given.indexOf(id) !== index), [])
        assert.includeMembers(given, [...stayed].map(String))
      })).pipe(Effect.provide(list.layer), Effect.asVoid)
    },
    { fastCheck: { numRuns: runs(60) }, timeout: 60_000 }
  )

  it.effect("after the last item of a page, the place is the next page, and only that is requested", () => {
    const list = changingList(items(20))
    return Effect.gen(function*() {
      const marks = yield* marked({ pageSize: 10 })
      assert.deepInclude(marks[9]?.at, { cursor: "after-9", page: 1, position: 0 })
      assert.deepInclude(marks[10]?.at, { cursor: "after-9", page: 1, position: 1 })
      list.received.length = 0
      assert.strictEqual((yield* marked({ pageSize: 10, from: marks[9]?.at })).length, 10)
      assert.strictEqual(list.received.length, 1)
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("after the last item of a list nothing comes, until something new does", () => {
    const list = changingList(items(5))
    return Effect.gen(function*() {
      const from = (yield* marked()).at(-1)?.at
      assert.deepStrictEqual(yield* marked({ from }), [])
      list.state.items = items(6)
      assert.deepStrictEqual(ids(yield* marked({ from })), ["5"])
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("different filters, another sort or another list are refused before any request", () => {
    const list = changingList(items(20))
    return Effect.gen(function*() {
      const from = (yield* marked({ colour: "red", pageSize: 10 }))[3]?.at
      list.received.length = 0
      const mismatch = (options: Options) => Effect.flip(marked({ ...options, from }))
      assert.deepInclude(yield* mismatch({ colour: "blue" }), { _tag: "CheckpointMismatch", what: "filters" })
      assert.deepInclude(yield* mismatch({ colour: "red", sort: "title:asc" }), { _tag: "CheckpointMismatch" })
      assert.deepInclude(yield* Effect.flip(Stream.runDrain(Lists.projects({ from }))), {
        _tag: "CheckpointMismatch",
        what: "list"
      })
      const [, walk = ""] = from?.fingerprint.split(".") ?? []
      const elsewhere = from && { ...from, fingerprint: `other.${walk}` }
      assert.deepInclude(yield* Effect.flip(marked({ colour: "red", from: elsewhere })), {
        _tag: "CheckpointMismatch",
        what: "service"
      })
      assert.strictEqual(list.received.length, 0)
      yield* marked({ colour: "red", from })
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("a cursor that is no longer accepted fails with its age", () => {
    const list = changingList(items(20))
    return Effect.gen(function*() {
      const from = (yield* marked({ pageSize: 10 }))[12]?.at
      yield* TestClock.adjust("3 hours")
      list.state.cursorsHold = false
      const error = yield* Effect.flip(marked({ pageSize: 10, from }))
      assert.strictEqual(error._tag, "CursorRejected")
      assert.strictEqual(error._tag === "CursorRejected" && Duration.toHours(error.age), 3)
    }).pipe(Effect.provide(list.layer))
  })

  it.effect.each([{}, { path: null }, { path: "" }, { path: [] }])(
    "a service that names no place is understood as well, for an old cursor: %j",
    (place) => {
      let holds = true
      const list = fakeService(({ query }) =>
        query.has("page[start_cursor]") && !holds
          ? json({ errors: [{ code: "ValidationError", ...place }] }, { status: 400 })
          : keysetPage(items(20), query)
      )
      return Effect.gen(function*() {
        const from = (yield* marked({ pageSize: 10 }))[12]?.at
        holds = false
        assert.strictEqual((yield* Effect.flip(marked({ pageSize: 10, from })))._tag, "CursorRejected")
      }).pipe(Effect.provide(list.layer))
    }
  )

  it.effect("a failure that is none of the cursor's ends the walk: nothing is asked for again", () => {
    let requests = 0
    const list = fakeService(({ query }) => ++requests === 3 ? refusal(403, "Forbidden") : keysetPage(items(40), query))
    return Effect.gen(function*() {
      const error = yield* Effect.flip(marked({ pageSize: 10 }))
      assert.strictEqual(error._tag, "Forbidden")
      assert.strictEqual(requests, 3)
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("items without an id are recognized by their content", () => {
    const nameless = Lists.make({ path: "/v1/nameless", item: Schema.Struct({ name: Schema.String }) })
    const list = fakeService(() =>
      new Response(JSON.stringify({
        data: [{ name: "a" }, { name: "b" }, { name: "a" }, { name: "c" }],
        page: {}
      }))
    )
    return Effect.gen(function*() {
      const marks = Chunk.toReadonlyArray(yield* Stream.runCollect(nameless.marked()))
      const rest = yield* Stream.runCollect(nameless({ from: marks[1]?.at }))
      assert.deepStrictEqual(Chunk.toReadonlyArray(rest), [{ name: "a" }, { name: "c" }])
    }).pipe(Effect.provide(list.layer))
  })

  it.effect.each(
    [
      ["also on one page", 4],
      ["also on several pages", 2]
    ] as const
  )("equal items are returned as often after a resumption as without one: %s", ([, pageSize]) => {
    const nameless = Lists.make({ path: "/v1/nameless", item: Schema.Struct({ name: Schema.String }) })
    const named = ["a", "a", "b", "a", "c", "b", "a"].map((name) => ({ name }))
    const list = fakeService(({ query }) => {
      const place = Number(query.get("page[start_cursor]") ?? 0)
      const next = place + pageSize
      const more = next < named.length
      return json({ data: named.slice(place, next), page: { has_more: more, next_cursor: more ? String(next) : null } })
    })
    return Effect.gen(function*() {
      const options = { pageSize }
      const marks = Chunk.toReadonlyArray(yield* Stream.runCollect(nameless.marked(options)))
      for (const [index, { at }] of marks.entries()) {
        const rest = yield* Stream.runCollect(nameless({ ...options, from: throughJson(at) }))
        assert.deepStrictEqual(Chunk.toReadonlyArray(rest), named.slice(index + 1))
      }
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("a checkpoint says when its cursor was received, even after a resumption, and when it was taken itself", () => {
    const list = changingList(items(30))
    return Effect.gen(function*() {
      const hours = (from?: Checkpoints.Checkpoint) =>
        Stream.runCollect(
          Stream.mapEffect(things.marked({ pageSize: 10, from }), (mark) => Effect.as(TestClock.adjust("1 hour"), mark))
        ).pipe(Effect.map((marks) =>
          Chunk.toReadonlyArray(marks).map(({ at }) => [at.receivedAt / 3_600_000, at.takenAt / 3_600_000, at] as const)
        ))
      const first = yield* hours()
      const [receivedAt, , from] = first[12] ?? []
      assert.strictEqual(receivedAt, 0)
      const [[resumed, taken] = []] = yield* hours(from)
      assert.deepStrictEqual([resumed, taken], [0, 30])
    }).pipe(Effect.provide(list.layer))
  })

  it.effect("a stored checkpoint is small: at most one page's hashes", () => {
    const list = changingList(items(1000))
    return Effect.gen(function*() {
      const largest = Math.max(
        ...(yield* marked()).map(({ at }) => JSON.stringify(Schema.encodeSync(Checkpoints.Checkpoint)(at)).length)
      )
      assert.isAtMost(largest, 2_100)
    }).pipe(Effect.provide(list.layer))
  })

  it.prop(
    "every checkpoint survives JSON",
    { checkpoint: Checkpoints.Checkpoint },
    ({ checkpoint }) => {
      assert.deepStrictEqual(throughJson(checkpoint), checkpoint)
    }
  )
})
