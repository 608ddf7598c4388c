/** The cursor walk: the pages of a list, one after the other, up to a proven end. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Pulls from "../base/effect.js"
import { wholeNumber } from "../base/number.js"
import type { PagePosition } from "../errors/pagePosition.js"
import * as Json from "../Json.js"
import { CursorRejected, PaginationBroken } from "../ListError.js"
import type { PageRequest } from "../service/endpoints.js"
import type { Page, PageInfo } from "../service/page.js"
import { ServiceApi } from "../ServiceApi.js"
import type { RequestRejected, ServiceError } from "../ServiceError.js"
import { onPage } from "../ServiceError.js"
import { UsedCursors } from "./usedCursors.js"

/** One walk: which list to walk, and how. */
export interface Walk extends Omit<PageRequest, "cursor"> {
  /** Where to start. Defaults to the start of the list. */
  readonly from?: Start | undefined
}

/** A page that a walk starts with. */
export interface Start {
  readonly cursor: string | undefined
  /** The index of the page, from 0. */
  readonly index: number
  /** When the cursor was received, in milliseconds of our clock. */
  readonly receivedAt: number
}

/** What a page says about the next one. */
export type Verdict =
  | { readonly _tag: "End" }
  | { readonly _tag: "Next"; readonly cursor: string }
  | { readonly _tag: "Broken"; readonly problem: "cursorRepeated" | "moreWithoutCursor" }

/**
 * Whether another page follows. The cursor decides (service contract: repeat until `next_cursor` is null); `has_more`
 * can only show that the cursor is missing. The length of a page says nothing.
 */
export const verdict = (page: PageInfo, isUsed: (cursor: string) => boolean): Verdict => {
  const cursor = String(page.next_cursor ?? "")
  if (cursor === "") return page.has_more === true ? { _tag: "Broken", problem: "moreWithoutCursor" } : { _tag: "End" }
  return isUsed(cursor) ? { _tag: "Broken", problem: "cursorRepeated" } : { _tag: "Next", cursor }
}

interface Turn extends Start {
  readonly emptyPages: number
  /** How many pages in a row were the same as one before. */
  readonly knownPages: number
}

/** So many pages in a row without anything new are no list. */
const mostKnownPages = 5

/** So many empty pages in a row are no list either. */
const mostEmptyPages = 100

type Failure = ServiceError | PaginationBroken | CursorRejected

type Step = readonly [Page<unknown>, Option.Option<Turn | PaginationBroken>]

const positionOf = (walk: Walk, { cursor, index }: Start): PagePosition => ({
  path: walk.path,
  index,
  ...(cursor === undefined ? {} : { cursor })
})

const isAboutCursor = (error: RequestRejected): boolean =>
  error.issues.some(({ code, path }) =>
    /cursor/i.test(code) || /cursor/i.test(typeof path === "string" ? path : path?.join(".") ?? "")
  )

// A service that names no field means the cursor: everything else in the request was accepted for the page before.
const rejectsCursor = (error: RequestRejected, turn: Turn): boolean =>
  turn.cursor !== undefined && [400, 410, 422].includes(error.status) &&
  (isAboutCursor(error) || error.issues.every(({ path }) => !path?.length))

const failureOf = (walk: Walk, turn: Turn) => (error: ServiceError): Effect.Effect<never, Failure> =>
  error._tag === "RequestRejected" && rejectsCursor(error, turn)
    ? Effect.flatMap(Clock.currentTimeMillis, (now) =>
      new CursorRejected({
        page: positionOf(walk, turn),
        age: Duration.millis(now - turn.receivedAt),
        issues: error.issues,
        attempts: error.attempts
      }))
    : Effect.fail(onPage(error, positionOf(walk, turn)))

const following = (
  walk: Walk,
  turn: Turn,
  page: {
    readonly isEmpty: boolean
    readonly isKnown: boolean
    readonly verdict: Verdict
    readonly receivedAt: number
  }
): Option.Option<Turn | PaginationBroken> => {
  const emptyPages = page.isEmpty ? turn.emptyPages + 1 : 0
  const knownPages = page.isEmpty ? turn.knownPages : page.isKnown ? turn.knownPages + 1 : 0
  const broken = (problem: PaginationBroken["problem"]) =>
    Option.some(new PaginationBroken({ problem, page: positionOf(walk, turn) }))
  switch (page.verdict._tag) {
    case "End":
      return Option.none()
    case "Broken":
      return broken(page.verdict.problem)
    case "Next":
      return emptyPages > mostEmptyPages
        ? broken("tooManyEmptyPages")
        : knownPages >= mostKnownPages
        ? broken("nothingNew")
        : Option.some({
          cursor: page.verdict.cursor,
          index: turn.index + 1,
          receivedAt: page.receivedAt,
          emptyPages,
          knownPages
        })
  }
}

// -1, for instance, says that it is unknown
const totalOf = ({ total_count }: PageInfo): number | undefined =>
  typeof total_count === "number" || typeof total_count === "string"
    ? Option.getOrUndefined(wholeNumber(String(total_count)))
    : undefined

const stepOf =
  (walk: Walk, used: UsedCursors, seen: UsedCursors) =>
  (turn: Turn | PaginationBroken): Effect.Effect<Step, Failure, ServiceApi> =>
    Effect.gen(function*() {
      if ("problem" in turn) return yield* turn
      if (turn.cursor !== undefined) used.add(turn.cursor)
      const api = yield* ServiceApi
      const { limit, path, query } = walk
      const raw = yield* Effect.catchAll(
        api.listPage({ path, limit, query, cursor: Option.fromNullable(turn.cursor) }),
        failureOf(walk, turn)
      )
      const content = Json.stringify(raw.data) ?? ""
      const isKnown = seen.has(content)
      if (!isKnown) seen.add(content)
      const next = following(walk, turn, {
        isEmpty: raw.data.length === 0,
        isKnown,
        verdict: verdict(raw.page, (cursor) => used.has(cursor)),
        receivedAt: yield* Clock.currentTimeMillis
      })
      const page: Page<unknown> = {
        items: raw.data,
        skipped: 0,
        index: turn.index,
        cursor: turn.cursor,
        nextCursor: Option.getOrUndefined(
          Option.flatMap(next, (one) => "problem" in one ? Option.none() : Option.fromNullable(one.cursor))
        ),
        isLast: Option.isNone(next),
        totalCount: totalOf(raw.page)
      }
      yield* Effect.annotateCurrentSpan("items", page.items.length)
      return [page, next] as const
    }).pipe(Effect.withSpan("Pages.page", {
      captureStackTrace: false,
      attributes: { path: walk.path, limit: walk.limit, ...("index" in turn ? { index: turn.index } : {}) }
    }))

/**
 * The pages of a list, with their items as received. A page is requested only on demand, so `Stream.take` never makes
 * an unneeded request. Each page is retried on its own, as the retry policy says; a page that cannot be fetched ends
 * the stream with an error that names the page and its cursor. If the pages do not lead to the end of the list, the
 * stream fails with {@link PaginationBroken} after their items. Memory: one page, plus 16 bytes for each before.
 */
export const walk = (walk: Walk): Stream.Stream<Page<unknown>, Failure, ServiceApi> =>
  Stream.unwrap(Effect.map(Clock.currentTimeMillis, (now) => {
    const step = stepOf(walk, new UsedCursors(), new UsedCursors())
    const start: Turn = {
      ...(walk.from ?? { cursor: undefined, index: 0, receivedAt: now }),
      emptyPages: 0,
      knownPages: 0
    }
    return Pulls.paginate<Turn | PaginationBroken, Page<unknown>, Failure, ServiceApi>(start, step)
  }))
