/** Where a page is in a list: errors of a walk name it, so that the walk can continue from there. */
import * as Schema from "effect/Schema"
import { printable } from "../base/text.js"

/** A page of a walk. A cursor is no secret: it says where, not who. */
export const PagePosition = Schema.Struct({
  /** The list, such as `/v1/projects`. */
  path: Schema.String,
  /** The index in the walk, from 0. */
  index: Schema.NonNegativeInt,
  /** The cursor that fetches the page, exactly as received; absent for the first. A walk can continue from it. */
  cursor: Schema.optional(Schema.String)
}).annotations({ identifier: "PagePosition" })

/** The type of {@link PagePosition}. */
export interface PagePosition extends Schema.Schema.Type<typeof PagePosition> {}

/** A page in words, for messages. */
export const describe = ({ cursor, index, path }: PagePosition): string =>
  `page ${index + 1} of ${path}${cursor === undefined ? "" : `, cursor ${printable(cursor)}`}`
