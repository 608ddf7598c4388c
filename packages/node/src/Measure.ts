/** Formats sizes, speeds and durations: the same as `Measure` of core. */
export {
  /**
   * A number of bytes in decimal units.
   *
   * @category formatting
   */
  bytes,
  /**
   * A duration, to the second.
   *
   * @category formatting
   */
  duration,
  /**
   * The speed for this many bytes in this time, to append to a duration.
   *
   * @category formatting
   */
  pace,
  /**
   * The finished share of a whole, in whole percent.
   *
   * @category formatting
   */
  percent,
  /**
   * A speed, from bytes per second.
   *
   * @category formatting
   */
  speed
} from "@stevedore/core/Measure"
