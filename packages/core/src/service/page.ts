/** One page of a list, as the service sends it. */
import * as Schema from "effect/Schema"
import { ExactNumber } from "../Json.js"

const Exact = Schema.instanceOf(ExactNumber, {
  arbitrary: () => (fc) => fc.constant(new ExactNumber("9007199254740993")),
  pretty: () => String
})

/** The position of a page in its list. */
export const PageInfo = Schema.Struct({
  /** How many items the list has. It may change between pages. What is not a whole number says nothing. */
  total_count: Schema.optional(Schema.Unknown),
  /** Only `true` says something: without a cursor, it contradicts itself. */
  has_more: Schema.optional(Schema.Unknown),
  /** Opaque, sent back exactly as received: text, or a number. */
  next_cursor: Schema.optional(
    Schema.NullOr(Schema.Union(Schema.String, Schema.JsonNumber, Exact))
  )
}).annotations({ identifier: "PageInfo" })

export interface PageInfo extends Schema.Schema.Type<typeof PageInfo> {}

/**
 * A page whose items are not decoded yet: each is decoded on its own, so that an invalid item can be named. What comes
 * with an error may lack items, or the cursor of the next page: it is no page.
 */
export const RawPage = Schema.Struct({
  data: Schema.Array(Schema.Unknown),
  page: PageInfo,
  errors: Schema.optional(Schema.Unknown.pipe(Schema.filter((errors) => !Array.isArray(errors) || errors.length === 0)))
}).annotations({ identifier: "RawPage" })

export interface RawPage extends Schema.Schema.Type<typeof RawPage> {}

/** A page of decoded items. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  /** How many items were skipped because they do not match their Schema. */
  readonly skipped: number
  /** The index in this walk, from 0. */
  readonly index: number
  /** The cursor that fetched this page; absent for the first. */
  readonly cursor: string | undefined
  /** The cursor of the next page; absent on the last page, and when the service gave no usable one. */
  readonly nextCursor: string | undefined
  /** Whether the list ends with this page. */
  readonly isLast: boolean
  readonly totalCount: number | undefined
}
