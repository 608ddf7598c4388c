import { assert, describe, it } from "@effect/vitest"
import { ListResources } from "@stevedore/server"
import { Effect, FastCheck, Layer, Schema } from "effect"
import { Sandbox, SandboxHttp } from "../../src/index.js"
import type { SandboxOptions } from "../../src/index.js"
import * as Calls from "../Calls.js"
import { runs } from "../support/runs.js"

const sandbox = (options?: SandboxOptions.Options) =>
  Layer.provideMerge(SandboxHttp.layerClient, Sandbox.layerMemory(options))

const Page = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.String }, { key: Schema.String, value: Schema.Unknown })),
  page: Schema.Struct({
    total_count: Schema.Int,
    has_more: Schema.Boolean,
    next_cursor: Schema.optional(Schema.NullOr(Schema.String))
  })
})

const list = (path: string, parameters: ReadonlyArray<readonly [string, string]> = []) => {
  const search = new URLSearchParams(parameters.map(([name, value]) => [name, value])).toString()
  return Calls.json("GET", search === "" ? path : `${path}?${search}`)
}

const page = (path: string, parameters?: ReadonlyArray<readonly [string, string]>) =>
  Effect.flatMap(list(path, parameters), ({ body }) => Schema.decodeUnknown(Page)(body))

const titles = (path: string, parameters?: ReadonlyArray<readonly [string, string]>) =>
  Effect.map(page(path, parameters), ({ data }) => data.map((record) => record["title"] ?? record["name"] ?? record.id))

const walk = (path: string, parameters: ReadonlyArray<readonly [string, string]>) =>
  Effect.gen(function*() {
    let ids: ReadonlyArray<string> = []
    let requests = 0
    let cursor: string | null | undefined = undefined
    do {
      const from: ReadonlyArray<readonly [string, string]> = cursor === undefined || cursor === null
        ? []
        : [["page[start_cursor]", cursor]]
      const answer: typeof Page.Type = yield* page(path, [...parameters, ...from])
      ids = [...ids, ...answer.data.map(({ id }) => id)]
      assert.strictEqual(answer.page.has_more, typeof answer.page.next_cursor === "string")
      cursor = answer.page.next_cursor
      requests += 1
    } while (cursor !== undefined && cursor !== null && requests < 1000)
    return { ids, requests }
  })

const refused = (path: string, parameters: ReadonlyArray<readonly [string, string]>, field: string) =>
  Effect.gen(function*() {
    const { body, status } = yield* list(path, parameters)
    assert.strictEqual(status, 400)
    const Errors = Schema.Struct({ errors: Schema.Array(Schema.Struct({ code: Schema.String, path: Schema.String })) })
    const { errors } = yield* Schema.decodeUnknown(Errors)(body)
    assert.deepStrictEqual(errors[0], { code: "ValidationError", path: field })
  })

describe("lists", () => {
  it.effect.prop(
    "return each item exactly once when read page by page",
    {
      projects: FastCheck.nat(60),
      limit: FastCheck.integer({ min: 1, max: 20 }),
      sort: FastCheck.constantFrom("created_at:asc", "created_at:desc", "title:asc", "title:desc", "title")
    },
    ({ limit, projects, sort }) =>
      Effect.gen(function*() {
        const { ids, requests } = yield* walk("/v1/projects", [["page[limit]", String(limit)], ["sort", sort]])
        assert.lengthOf(ids, projects)
        assert.strictEqual(new Set(ids).size, projects)
        assert.strictEqual(requests, Math.max(1, Math.ceil(projects / limit)))
      }).pipe(Effect.provide(sandbox({ projects }))),
    { fastCheck: { numRuns: runs(25) } }
  )

  it.effect("return 100 items per page by default, a null cursor on the last page, and none on a single page", () =>
    Effect.gen(function*() {
      const { data, page: { has_more, next_cursor, total_count } } = yield* page("/v1/projects")
      assert.lengthOf(data, 100)
      assert.deepStrictEqual([total_count, has_more, typeof next_cursor], [101, true, "string"])
      const { body } = yield* list("/v1/projects", [["filter[title][equal_to]", "Project 1"]])
      assert.deepStrictEqual(Object.keys((yield* Schema.decodeUnknown(Page)(body)).page), ["total_count", "has_more"])
      const last = yield* page("/v1/projects", [["page[start_cursor]", String(next_cursor)]])
      assert.isNull(last.page.next_cursor)
    }).pipe(Effect.provide(sandbox({ projects: 101 }))))

  it.effect("return at most `largestPage` items per page, and all items over all pages", () =>
    Effect.gen(function*() {
      assert.lengthOf((yield* page("/v1/projects")).data, 7)
      assert.lengthOf((yield* walk("/v1/projects", [])).ids, 20)
    }).pipe(Effect.provide(sandbox({ projects: 20, largestPage: 7 }))))

  it.effect("return the newest items first unless another sort is requested", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* titles("/v1/projects"), ["Project 3", "Project 2", "Project 1"])
      assert.deepStrictEqual(yield* titles("/v1/projects", [["sort", "title:asc"]]), [
        "Project 1",
        "Project 2",
        "Project 3"
      ])
    }).pipe(Effect.provide(sandbox({ projects: 3 }))))

  it.effect("reject an unknown or invalid parameter, and name it", () =>
    Effect.gen(function*() {
      yield* refused("/v1/projects", [["page[limit]", "0"]], "page.limit")
      yield* refused("/v1/projects", [["page[limit]", "101"]], "page.limit")
      yield* refused("/v1/projects", [["page[limit]", "ten"]], "page.limit")
      yield* refused("/v1/projects", [["page[start_cursor]", "invented"]], "page.start_cursor")
      yield* refused("/v1/projects", [["sort", "size:asc"]], "sort")
      yield* refused("/v1/projects", [["sort", "title:up"]], "sort")
      yield* refused("/v1/projects", [["filter[colour]", "red"]], "filter.colour")
      yield* refused("/v1/projects", [["filter[title][like]", "a"]], "filter.title.like")
      // what every object has is not known for that
      yield* refused("/v1/projects", [["filter[constructor]", "1"]], "filter.constructor")
      yield* refused("/v1/projects", [["filter[title][toString]", "a"]], "filter.title.toString")
      yield* refused("/v1/projects", [["limit", "10"]], "limit")
      yield* refused("/v1/data", [["filter[created_at][gt]", "yesterday"]], "filter.created_at.gt")
      yield* refused("/v1/highlights", [["filter[project_id]", "1"], ["filter[tag_id]", "2"]], "filter.tag_id")
    }).pipe(Effect.provide(sandbox({ projects: 3 }))))

  it.effect("reject a cursor of another list or another sort", () =>
    Effect.gen(function*() {
      const { page: { next_cursor } } = yield* page("/v1/projects", [["page[limit]", "1"]])
      const cursor = ["page[start_cursor]", String(next_cursor)] as const
      yield* refused("/v1/projects", [cursor, ["sort", "title:asc"]], "page.start_cursor")
      yield* refused("/v1/tags", [cursor], "page.start_cursor")
    }).pipe(Effect.provide(sandbox({ projects: 3 }))))

  const records: Readonly<Record<string, ReadonlyArray<ListResources.ListRecord>>> = {
    data: [
      {
        id: "1",
        title: "Interview A",
        created_at: "2025-01-01T00:00:00.000Z",
        folder: { id: "f1" },
        project: { id: "p1" }
      },
      {
        id: "2",
        title: "interview b",
        created_at: "2025-01-02T00:00:00.000Z",
        folder: { id: "f2" },
        project: { id: "p1" }
      },
      { id: "3", title: "Notes", created_at: "2025-01-03T00:00:00.000Z", folder: null, project: null }
    ],
    docs: [
      { id: "1", title: "Draft", created_at: "2025-01-01T00:00:00.000Z", published: false },
      { id: "2", title: "Out", created_at: "2025-01-02T00:00:00.000Z", published: true }
    ],
    insights: [{ id: "1", title: "Old", created_at: "2025-01-01T00:00:00.000Z" }],
    highlights: [
      { id: "1", created_at: "2025-01-01T00:00:00.000Z", tags: [{ id: "t1" }, { id: "t2" }] },
      { id: "2", created_at: "2025-01-02T00:00:00.000Z", tags: [] }
    ],
    folders: [
      { id: "1", title: "Root", created_at: "2025-01-01T00:00:00.000Z", parent_folder: null },
      { id: "2", title: "Child", created_at: "2025-01-02T00:00:00.000Z", parent_folder: { id: "1" } }
    ],
    "folders/1/contents": [{ id: "9", title: "Inside", created_at: "2025-01-01T00:00:00.000Z", author_id: null }]
  }

  it.effect("filter by title, folder, project, date, publication, parent folder and tag", () =>
    Effect.gen(function*() {
      const by = (...parameters: ReadonlyArray<readonly [string, string]>) =>
        titles("/v1/data", [...parameters, ["sort", "created_at:asc"]])
      assert.deepStrictEqual(yield* by(["filter[title][contains]", "interview"]), ["Interview A", "interview b"])
      assert.deepStrictEqual(yield* by(["filter[title][equal_to]", "Notes"]), ["Notes"])
      assert.deepStrictEqual(yield* by(["filter[folder_id]", "f1"]), ["Interview A"])
      assert.deepStrictEqual(yield* by(["filter[folder_id][0]", "f1"], ["filter[folder_id][1]", "f2"]), [
        "Interview A",
        "interview b"
      ])
      assert.deepStrictEqual(yield* by(["filter[project_id]", "p1"], ["filter[folder_id]", "f2"]), ["interview b"])
      assert.deepStrictEqual(
        yield* by(["filter[created_at][gt]", "2025-01-01T00:00:00.000Z"], [
          "filter[created_at][lte]",
          "2025-01-02T00:00:00Z"
        ]),
        ["interview b"]
      )
      assert.deepStrictEqual(
        yield* by(["filter[created_at][gte]", "2025-01-02T00:00:00Z"], [
          "filter[created_at][lt]",
          "2025-01-03T00:00:00Z"
        ]),
        ["interview b"]
      )
      assert.deepStrictEqual(yield* titles("/v1/docs", [["filter[published]", "true"]]), ["Out"])
      assert.deepStrictEqual(yield* titles("/v1/folders", [["filter[parent_folder_id]", "null"]]), ["Root"])
      assert.deepStrictEqual(yield* titles("/v1/highlights", [["filter[tag_id]", "t2"]]), ["1"])
      assert.deepStrictEqual(yield* titles("/v1/folders/1/contents"), ["Inside"])
      assert.deepStrictEqual(yield* titles("/v1/folders/2/contents"), [])
    }).pipe(Effect.provide(sandbox({ lists: records }))))

  it.effect("all respond with 200, and only the deprecated one has Deprecation and Link headers", () =>
    Effect.gen(function*() {
      for (const name of Object.keys(ListResources.resources)) {
        const { headers, status } = yield* list(`/v1/${name.replace("{id}", "1")}`)
        assert.strictEqual(status, 200)
        assert.strictEqual(headers["deprecation"], name === "insights" ? "true" : undefined)
        assert.strictEqual(headers["link"] !== undefined, name === "insights")
      }
    }).pipe(Effect.provide(sandbox({ lists: records }))))

  it.effect("return the projects given as an option", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* titles("/v1/projects"), ["Mine"])
    }).pipe(
      Effect.provide(sandbox({ projects: [{ id: "1", title: "Mine", created_at: "2025-01-01T00:00:00.000Z" }] }))
    ))
})
