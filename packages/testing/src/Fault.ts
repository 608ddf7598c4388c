/**
 * What can go wrong in one exchange, as data: a fault can be written into a file, and two faults can be compared.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const Bytes = Schema.NonNegativeInt
const Status = Schema.Int.pipe(Schema.between(200, 599))

/**
 * The request is not handled; this is answered instead. Without `code` the usual one of the status is taken. The body is
 * XML from the storage and JSON from the service. `retryAfter` is sent as it stands, well-formed or not.
 *
 * @since 0.1.0
 * @category models
 */
export class Answer extends Schema.TaggedClass<Answer>("@stevedore/testing/Fault/Answer")("Answer", {
  status: Status,
  code: Schema.optional(Schema.String),
  retryAfter: Schema.optional(Schema.String)
}) {}

/**
 * The request is not handled; a gateway's page is answered instead.
 *
 * @since 0.1.0
 * @category models
 */
export class Html extends Schema.TaggedClass<Html>("@stevedore/testing/Fault/Html")("Html", { status: Status }) {}

/**
 * The request is handled, and the connection breaks before the answer goes out.
 *
 * @since 0.1.0
 * @category models
 */
export class LoseAnswer
  extends Schema.TaggedClass<LoseAnswer>("@stevedore/testing/Fault/LoseAnswer")("LoseAnswer", {})
{}

/**
 * The connection breaks before the request is handled; with `afterBytes`, after that many bytes of the request's body. A
 * request without a body, or with one of no more bytes, is handled, and the connection breaks in the body of its answer:
 * after that many bytes, before the last one at the latest. Where there is no answer's body either, it breaks instead of
 * the answer.
 *
 * @since 0.1.0
 * @category models
 */
export class Reset extends Schema.TaggedClass<Reset>("@stevedore/testing/Fault/Reset")("Reset", {
  afterBytes: Schema.optional(Bytes)
}) {}

/**
 * The three times at which a server can stop: before it reads anything, while a body is on its way (the request's or else
 * the answer's, as for {@link Reset}), and after it did everything but answer.
 *
 * @since 0.1.0
 * @category models
 */
export const StallPhase = Schema.Literal("connect", "body", "answer")

/**
 * @since 0.1.0
 * @category models
 */
export type StallPhase = typeof StallPhase.Type

/**
 * The server goes silent and the connection stays open, for ever. `afterBytes` counts for the phase `body` only.
 *
 * @since 0.1.0
 * @category models
 */
export class Stall extends Schema.TaggedClass<Stall>("@stevedore/testing/Fault/Stall")("Stall", {
  phase: StallPhase,
  afterBytes: Schema.optional(Bytes)
}) {}

/**
 * The request is handled as usual, later.
 *
 * @since 0.1.0
 * @category models
 */
export class Delay extends Schema.TaggedClass<Delay>("@stevedore/testing/Fault/Delay")("Delay", {
  duration: Schema.DurationFromMillis
}) {}

/**
 * The bytes are stored, and the answer has no etag, as when CORS does not expose it.
 *
 * @since 0.1.0
 * @category models
 */
export class OmitEtag extends Schema.TaggedClass<OmitEtag>("@stevedore/testing/Fault/OmitEtag")("OmitEtag", {}) {}

/**
 * The URL counts as too old, whatever the time is.
 *
 * @since 0.1.0
 * @category models
 */
export class Expire extends Schema.TaggedClass<Expire>("@stevedore/testing/Fault/Expire")("Expire", {}) {}

/**
 * A storm: from the first request that meets it on, for so long, every one is answered 503 `SlowDown`. A turn of a rule is a
 * whole storm.
 *
 * @since 0.1.0
 * @category models
 */
export class SlowDown extends Schema.TaggedClass<SlowDown>("@stevedore/testing/Fault/SlowDown")("SlowDown", {
  duration: Schema.DurationFromMillis
}) {}

/**
 * The body arrives whole, the connection breaks, and only so much later the bytes are stored: over those of a repeat that
 * was faster. The last write of a part wins, whoever believes to have been the last.
 *
 * @since 0.1.0
 * @category models
 */
export class LandLate extends Schema.TaggedClass<LandLate>("@stevedore/testing/Fault/LandLate")("LandLate", {
  duration: Schema.DurationFromMillis
}) {}

/**
 * The page's `next_cursor` is the cursor that asked for it. The first page was asked for without one, so it stays as it is.
 *
 * @since 0.1.0
 * @category models
 */
export class RepeatCursor
  extends Schema.TaggedClass<RepeatCursor>("@stevedore/testing/Fault/RepeatCursor")("RepeatCursor", {})
{}

/**
 * A page without items and with a next cursor, behind which the list goes on where it was: no item is lost.
 *
 * @since 0.1.0
 * @category models
 */
export class EmptyPage extends Schema.TaggedClass<EmptyPage>("@stevedore/testing/Fault/EmptyPage")("EmptyPage", {}) {}

/**
 * The page says that there is more and has no next cursor.
 *
 * @since 0.1.0
 * @category models
 */
export class DropCursor
  extends Schema.TaggedClass<DropCursor>("@stevedore/testing/Fault/DropCursor")("DropCursor", {})
{}

/**
 * The first record of the page has lost its id and its title.
 *
 * @since 0.1.0
 * @category models
 */
export class CorruptPage
  extends Schema.TaggedClass<CorruptPage>("@stevedore/testing/Fault/CorruptPage")("CorruptPage", {})
{}

/**
 * The page says that there is no more, and has a next cursor all the same. The list goes on behind it; behind the last
 * page comes an empty one, which stays as it is.
 *
 * @since 0.1.0
 * @category models
 */
export class DenyMore extends Schema.TaggedClass<DenyMore>("@stevedore/testing/Fault/DenyMore")("DenyMore", {}) {}

/**
 * The cursor is refused, as one that has become too old: 400 `ValidationError` at `page.start_cursor`. The first page is
 * asked for without one, so it stays as it is.
 *
 * @since 0.1.0
 * @category models
 */
export class RejectCursor
  extends Schema.TaggedClass<RejectCursor>("@stevedore/testing/Fault/RejectCursor")("RejectCursor", {})
{}

/**
 * The page holds no more than `items`, whatever was asked for. Nothing is lost behind it.
 *
 * @since 0.1.0
 * @category models
 */
export class ShortPage extends Schema.TaggedClass<ShortPage>("@stevedore/testing/Fault/ShortPage")("ShortPage", {
  items: Schema.Int.pipe(Schema.positive())
}) {}

/**
 * Before the page is made, a record appears in the list: a copy of its first one with an id of its own, created a second
 * after the newest. An empty list stays empty.
 *
 * @since 0.1.0
 * @category models
 */
export class ItemAppears
  extends Schema.TaggedClass<ItemAppears>("@stevedore/testing/Fault/ItemAppears")("ItemAppears", {})
{}

/**
 * Before the page is made, the record vanishes behind which the page begins: the last one that the client has seen. The
 * first page begins behind none, so it stays as it is.
 *
 * @since 0.1.0
 * @category models
 */
export class ItemVanishes
  extends Schema.TaggedClass<ItemVanishes>("@stevedore/testing/Fault/ItemVanishes")("ItemVanishes", {})
{}

/**
 * Faults that make sense for a page of a list only.
 *
 * @since 0.1.0
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

/**
 * @since 0.1.0
 * @category models
 */
export type PageFault = typeof PageFault.Type

/**
 * Everything that can go wrong in one exchange.
 *
 * @since 0.1.0
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
 * @since 0.1.0
 * @category models
 */
export type Fault = typeof Fault.Type

/**
 * Whether a value is a fault of a page.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isPageFault = Schema.is(PageFault)
