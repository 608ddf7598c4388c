import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { AnyNumber } from "../Recovery.js"

/**
 * A time in milliseconds that may never end, which is `"Infinity"` in JSON. By Effect's own form a time of more milliseconds
 * than a whole number holds exactly cannot be encoded, and a line that has almost stopped takes longer.
 *
 * @internal
 */
export const AnyDuration = /* #__PURE__ */ Schema.transform(
  AnyNumber.pipe(Schema.nonNegative()),
  Schema.DurationFromSelf.annotations({
    arbitrary: () => (fc) =>
      fc.oneof(
        fc.constant(Duration.infinity),
        fc.maxSafeNat().map(Duration.millis),
        fc.nat().map((nanos) => Duration.nanos(BigInt(nanos)))
      )
  }),
  { strict: true, decode: (millis) => Duration.millis(millis), encode: Duration.toMillis }
).annotations({ identifier: "AnyDuration" })
