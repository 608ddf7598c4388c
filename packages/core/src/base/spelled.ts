import * as Duration from "effect/Duration"

/** A duration in words. */
export const spelled: (duration: Duration.Duration) => string = Duration.format
