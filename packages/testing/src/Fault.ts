/** What can go wrong in one exchange, as data: faults can be written to a file and compared. */
import * as Schema from "effect/Schema"

const Bytes = Schema.NonNegativeInt
const Status = Schema.Int.pipe(Schema.between(200, 599))

/**
 * The request is not handled; this response is sent instead. Without `code`, the status's usual code is used. Storage
 * sends XML, the service JSON. `retryAfter` is sent verbatim, well-formed or not.
 *
 * @category models
 */
export class Answer extends Schema.TaggedClass<Answer>("@stevedore/testing/Fault/Answer")("Answer", {
  status: Status,
  code: Schema.optional(Schema.String),
  retryAfter: Schema.optional(Schema.String)
}) {}

/**
 * The request is not handled; a gateway's HTML page is sent instead.
 *
 * @category models
 */
export class Html extends Schema.TaggedClass<Html>("@stevedore/testing/Fault/Html")("Html", { status: Status }) {}

/**
 * The request is handled, and the connection breaks before the response is sent.
 *
 * @category models
 */
export class LoseAnswer
  extends Schema.TaggedClass<LoseAnswer>("@stevedore/testing/Fault/LoseAnswer")("LoseAnswer", {})
{}

/**
 * The connection breaks before the request is handled, or with `afterBytes`, after that many bytes of the request's
 * body. A request without a body, or whose body is not longer than that, is handled, and the connection breaks in the
 * body of the response: after that many bytes, but at the latest before the last byte. If the response has no body
 * either, the connection breaks instead of the response.
 *
 * @category models
 */
export class Reset extends Schema.TaggedClass<Reset>("@stevedore/testing/Fault/Reset")("Reset", {
  afterBytes: Schema.optional(Bytes)
}) {}

/**
 * The three moments at which a server can stop: before it reads anything, while a body is being transferred (the
 * request's, or else the response's, as for {@link Reset}), and after it has done everything except respond.
 *
 * @category models
 */
export const StallPhase = Schema.Literal("connect", "body", "answer")

/** @category models */
export type StallPhase = typeof StallPhase.Type

/**
 * The server goes silent and the connection stays open, forever. `afterBytes` applies only to the phase `body`.
 *
 * @category models
 */
export class Stall extends Schema.TaggedClass<Stall>("@stevedore/testing/Fault/Stall")("Stall", {
  phase: StallPhase,
  afterBytes: Schema.optional(Bytes)
}) {}

/**
 * The request is handled as usual, but later.
 *
 * @category models
 */
export class Delay extends Schema.TaggedClass<Delay>("@stevedore/testing/Fault/Delay")("Delay", {
  duration: Schema.DurationFromMillis
}) {}

/**
 * The bytes are stored, but the response has no etag, as when CORS does not expose it.
 *
 * @category models
 */
export class OmitEtag extends Schema.TaggedClass<OmitEtag>("@stevedore/testing/Fault/OmitEtag")("OmitEtag", {}) {}

/**
 * The URL counts as expired, whatever the time.
 *
 * @category models
 */
export class Expire extends Schema.TaggedClass<Expire>("@stevedore/testing/Fault/Expire")("Expire", {}) {}

/**
 * A storm: for this long, starting with the first request that meets it, every request is answered with 503 `SlowDown`.
 * One turn of a rule is a whole storm.
 *
 * @category models
 */
export class SlowDown extends Schema.TaggedClass<SlowDown>("@stevedore/testing/Fault/SlowDown")("SlowDown", {
  duration: Schema.DurationFromMillis
}) {}

/**
 * The body arrives completely and the connection breaks, but the bytes are stored only this much later, over those of a
 * faster retry. The last write of a part wins, whatever the client believes.
 *
 * @category models
 */
export class LandLate extends Schema.TaggedClass<LandLate>("@stevedore/testing/Fault/LandLate")("LandLate", {
  duration: Schema.DurationFromMillis
}) {}

/**
 * The page's `next_cursor` is the cursor that requested it. The first page was requested without a cursor, so it is
 * unchanged.
 *
 * @category models
 */
export class RepeatCursor
  extends Schema.TaggedClass<RepeatCursor>("@stevedore/testing/Fault/RepeatCursor")("RepeatCursor", {})
{}

/**
 * A page without items but with a next cursor, from which the list continues where it was: no item is lost.
 *
 * @category models
 */
export class EmptyPage extends Schema.TaggedClass<EmptyPage>("@stevedore/testing/Fault/EmptyPage")("EmptyPage", {}) {}

/**
 * The page says that there is more, but has no next cursor.
 *
 * @category models
 */
export class DropCursor
  extends Schema.TaggedClass<DropCursor>("@stevedore/testing/Fault/DropCursor")("DropCursor", {})
{}

/**
 * The first item of the page is `null`: no record.
 *
 * @category models
 */
export class CorruptPage
  extends Schema.TaggedClass<CorruptPage>("@stevedore/testing/Fault/CorruptPage")("CorruptPage", {})
{}

/**
 * The page says that there is no more, but has a next cursor, from which the list continues. The last page is followed
 * by an empty one, which is unchanged.
 *
 * @category models
 */
export class DenyMore extends Schema.TaggedClass<DenyMore>("@stevedore/testing/Fault/DenyMore")("DenyMore", {}) {}

/**
 * The cursor is refused as too old: 400 `ValidationError` at `page.start_cursor`. The first page is requested without a
 * cursor, so it is unchanged.
 *
 * @category models
 */
export class RejectCursor
  extends Schema.TaggedClass<RejectCursor>("@stevedore/testing/Fault/RejectCursor")("RejectCursor", {})
{}

/**
 * The page has at most `items` items, whatever was requested. Nothing after it is lost.
 *
 * @category models
 */
export class ShortPage extends Schema.TaggedClass<ShortPage>("@stevedore/testing/Fault/ShortPage")("ShortPage", {
  items: Schema.Int.pipe(Schema.positive())
}) {}

/**
 * Before the page is made, a record appears in the list: a copy of its first one with a new id, created a second after
 * the newest. An empty list stays empty.
 *
 * @category models
 */
export class ItemAppears
  extends Schema.TaggedClass<ItemAppears>("@stevedore/testing/Fault/ItemAppears")("ItemAppears", {})
{}

/**
 * Before the page is made, the record that it starts after vanishes: the last one that the client has seen. The first
 * page starts after no record, so it is unchanged.
 *
 * @category models
 */
export class ItemVanishes
  extends Schema.TaggedClass<ItemVanishes>("@stevedore/testing/Fault/ItemVanishes")("ItemVanishes", {})
{}

/**
 * Faults that apply only to a page of a list.
 *
 * @category models
 */
export const PageFault = Schema.Union(
  RepeatCursor,
  EmptyPage,
  DropCursor,
  CorruptPage,
  DenyMore,
  RejectCursor,
  ShortPage,
  ItemAppears,
  ItemVanishes
)

/** @category models */
export type PageFault = typeof PageFault.Type

/**
 * Everything that can go wrong in one exchange.
 *
 * @category models
 */
export const Fault = Schema.Union(
  Answer,
  Html,
  LoseAnswer,
  Reset,
  Stall,
  Delay,
  OmitEtag,
  Expire,
  SlowDown,
  LandLate,
  PageFault
)

/**
 * Everything that can go wrong in one exchange.
 *
 * @category models
 */
export type Fault = typeof Fault.Type

/**
 * Whether a value is a fault of a page.
 *
 * @category predicates
 */
export const isPageFault = Schema.is(PageFault)
