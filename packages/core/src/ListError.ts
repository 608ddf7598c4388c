/** How the walk of a list can fail, besides the errors of the service. */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { spelled } from "./base/effect.js"
import { printable } from "./base/text.js"
import * as PagePosition from "./errors/pagePosition.js"
import { TaggedError } from "./errors/taggedError.js"
import * as Recovery from "./Recovery.js"
import { Issue, ServiceError } from "./ServiceError.js"

const problems = {
  cursorRepeated: "it returned the same cursor twice, so the walk would never end",
  moreWithoutCursor: "it says there is more, but returned no cursor for it",
  tooManyEmptyPages: "it returned too many empty pages in a row",
  nothingNew: "its pages had nothing new any more under ever new cursors, so the walk would never end"
} as const

/**
 * The service's pages do not lead to the end of the list. The items of the pages so far were returned; what follows is
 * unknown, so the walk does not end as if it were complete.
 *
 * @category errors
 */
export class PaginationBroken extends TaggedError<PaginationBroken>()("PaginationBroken", {
  problem: Schema.Literal("cursorRepeated", "moreWithoutCursor", "tooManyEmptyPages", "nothingNew"),
  /** The last page that came. Its cursor fetches it again. */
  page: PagePosition.PagePosition,
  attempts: Recovery.attempts
}) {
  override get message(): string {
    return `The service broke the list at ${PagePosition.describe(this.page)}: ${problems[this.problem]}. ` +
      "The items so far are valid but incomplete: walk again later, and report it to the service."
  }
}

/**
 * The service no longer accepts a cursor. Cursors expire; the service does not say when.
 *
 * @category errors
 */
export class CursorRejected extends TaggedError<CursorRejected>()("CursorRejected", {
  /** The page that the cursor was for. */
  page: PagePosition.PagePosition,
  /** How long ago the cursor was received. Encoded in milliseconds. */
  age: Recovery.FiniteDuration,
  /** What the service said. */
  issues: Schema.Array(Issue),
  attempts: Recovery.attempts
}) {
  override get message(): string {
    const age = Duration.toMillis(this.age) === 0 ? "" : `, ${spelled(this.age)} old`
    return `The service rejected the cursor of ${PagePosition.describe(this.page)}${age}. Walk again from the start.`
  }
}

/**
 * An item does not match its Schema. The error names the place, never the value.
 *
 * @category errors
 */
export class ItemInvalid extends TaggedError<ItemInvalid>()("ItemInvalid", {
  page: PagePosition.PagePosition,
  /** The index in the page, from 0. */
  index: Schema.NonNegativeInt,
  /** The item's own id, if it has one. */
  itemId: Schema.optional(Schema.String),
  /** Where in the item, such as `author.name`; empty for the whole item. */
  field: Schema.String,
  /** What is wrong there. */
  problem: Schema.String,
  attempts: Recovery.attempts
}) {
  override get message(): string {
    return `Item ${this.index + 1}${this.itemId === undefined ? "" : ` (id ${printable(this.itemId)})`} of ${
      PagePosition.describe(this.page)
    } does not match its Schema: ${this.problem} at ${
      this.field === "" ? "the whole item" : printable(this.field)
    }. Skip such ` +
      "items with onInvalid: \"skip\", inspect each with results, or use your own Schema with Lists.make."
  }
}

/**
 * A page size that the service does not accept; refused before any request.
 *
 * @category errors
 */
export class InvalidPageSize extends TaggedError<InvalidPageSize>()("InvalidPageSize", {
  /** As given. Encoded as text, because it may not be a number at all. */
  pageSize: Schema.NumberFromString,
  maximum: Schema.Int,
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `A page cannot hold ${this.pageSize} items. Give a whole pageSize from 1 to ${this.maximum}.`
  }
}

/**
 * A filter, a sort field or another option that this list does not have, or that conflicts with another one; refused
 * before any request.
 *
 * @category errors
 */
export class InvalidListOption extends TaggedError<InvalidListOption>()("InvalidListOption", {
  /** The list, such as `/v1/projects`. */
  path: Schema.String,
  /** The option, such as `title.contains` or `sort`. */
  option: Schema.String,
  problem: Schema.String,
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    return `The list ${this.path} was given an invalid option: ${this.problem} at ${
      this.option === "" ? "the options" : this.option
    }. Correct it; nothing was sent.`
  }
}

/**
 * A checkpoint of another service or token's owner, of another list, or of the same list with other filters or another sort. Refused before any request,
 * because continuing from it would miss some items and repeat others.
 *
 * @category errors
 */
export class CheckpointMismatch extends TaggedError<CheckpointMismatch>()("CheckpointMismatch", {
  /** The list to continue. */
  path: Schema.String,
  /** The list that the checkpoint belongs to. */
  checkpointPath: Schema.String,
  what: Schema.Literal("list", "filters", "service", "owner"),
  attempts: Recovery.noAttempts
}) {
  override get message(): string {
    const { checkpointPath, path, what } = this
    switch (what) {
      case "list":
        return `The checkpoint belongs to ${checkpointPath}, not ${path}. Keep one checkpoint per list.`
      case "filters":
        return `The checkpoint of ${path} was taken with other filters or another sort. Use these, or walk from the start.`
      case "service":
        return `The checkpoint of ${checkpointPath} was taken at another service. Keep one checkpoint per service.`
      case "owner":
        return `The checkpoint of ${checkpointPath} was taken with the token of another owner. Keep one for each of them.`
    }
  }
}

/**
 * Every way a walk can fail.
 *
 * @category errors
 */
export const ListError = /* #__PURE__ */ (() =>
  Schema.Union(
    ...ServiceError.members,
    PaginationBroken,
    CursorRejected,
    ItemInvalid,
    InvalidPageSize,
    InvalidListOption,
    CheckpointMismatch
  ).annotations({ identifier: "ListError" }))()

/**
 * The type of {@link ListError}.
 *
 * @category errors
 */
export type ListError = typeof ListError.Type

export type {
  /**
   * Where in a list something was found.
   *
   * @category models
   */
  PagePosition
} from "./errors/pagePosition.js"
