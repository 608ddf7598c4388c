/** The wire forms of the services whose SDKs are compared: how a cursor comes in, how a page and a refusal go out. */
import type { ListPage } from "./FaultyList.js"
import { itemCount } from "./FaultyList.js"

export interface WireAnswer {
  readonly contentType: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

export interface Dialect {
  readonly cursorOf: (url: URL) => string | undefined
  readonly page: (page: ListPage, url: URL) => WireAnswer
  readonly refusal: (status: number) => WireAnswer
}

const json = (body: unknown, headers: Readonly<Record<string, string>> = {}): WireAnswer => ({
  contentType: "application/json",
  headers,
  body: JSON.stringify(body)
})

const parameter = (name: string) => (url: URL): string | undefined => url.searchParams.get(name) ?? undefined

const codeOf = (status: number): string => status === 429 ? "rate_limited" : "internal_server_error"

// Their cursor is the id of the last item: where there is none to be had, that item has no id
const byLastId = (page: ListPage, kind: string) => ({
  object: "list",
  has_more: page.hasMore,
  data: page.ids.map((id, index) =>
    index === page.ids.length - 1 && page.hasMore && page.next === undefined
      ? { object: kind, name: id, filename: id }
      : { object: kind, id, name: id, filename: id }
  )
})

export const stripe: Dialect = {
  cursorOf: parameter("starting_after"),
  page: (page, url) => json({ ...byLastId(page, "customer"), url: url.pathname }),
  refusal: (status) => json({ error: { type: status === 429 ? "rate_limit_error" : "api_error", message: "No" } })
}

export const openai: Dialect = {
  cursorOf: parameter("after"),
  page: (page) => json(byLastId(page, "file")),
  refusal: (status) => json({ error: { type: codeOf(status), code: codeOf(status), message: "No" } })
}

export const octokit: Dialect = {
  cursorOf: parameter("after"),
  page: (page, url) => {
    const next = new URL(url)
    if (page.next !== undefined) next.searchParams.set("after", page.next)
    return json(
      { total_count: itemCount, incomplete_results: false, items: page.ids.map((id) => ({ id, name: id })) },
      page.next === undefined ? {} : { link: `<${next.href}>; rel="next"` }
    )
  },
  refusal: () => json({ message: "No" })
}

const element = (name: string, value: string | number | boolean): string => `<${name}>${value}</${name}>`

export const s3: Dialect = {
  cursorOf: parameter("continuation-token"),
  page: (page) => ({
    contentType: "application/xml",
    body: `<?xml version="1.0" encoding="UTF-8"?>` +
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${
        [
          element("Name", "bucket"),
          element("MaxKeys", 100),
          element("KeyCount", page.ids.length),
          element("IsTruncated", page.hasMore),
          page.next === undefined ? "" : element("NextContinuationToken", page.next),
          ...page.ids.map((id) => element("Contents", element("Key", id) + element("Size", 1)))
        ].join("")
      }</ListBucketResult>`
  }),
  refusal: (status) => ({
    contentType: "application/xml",
    body: element("Error", element("Code", status === 429 ? "SlowDown" : "InternalError") + element("Message", "No"))
  })
}

export const notion: Dialect = {
  cursorOf: parameter("start_cursor"),
  page: (page) =>
    json({
      object: "list",
      type: "user",
      results: page.ids.map((id) => ({ object: "user", id, name: id })),
      has_more: page.hasMore,
      next_cursor: page.next ?? null
    }),
  refusal: (status) => json({ object: "error", status, code: codeOf(status), message: "No" })
}

export const stevedore: Dialect = {
  cursorOf: parameter("page[start_cursor]"),
  page: (page) =>
    json({
      data: page.ids.map((id) => ({
        id,
        title: id,
        type: "project",
        created_at: "2026-01-01T00:00:00.000Z",
        deleted: false
      })),
      page: { total_count: itemCount, has_more: page.hasMore, next_cursor: page.next ?? null }
    }),
  refusal: (status) => json({ errors: [{ code: status === 429 ? "TooManyRequests" : "InternalError" }] })
}
