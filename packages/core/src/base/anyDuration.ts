import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { AnyNumber } from "../Recovery.js"

/**
 * A duration in milliseconds that may be infinite, which is `"Infinity"` in JSON. Effect's own encoding fails for more
 * milliseconds than an integer can represent exactly, and an upload that has almost stopped takes longer than that.
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
