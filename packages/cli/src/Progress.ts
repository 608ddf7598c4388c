/** Sizes, speeds, times and bars, as the command shows them on a terminal. */
export {
  /** A bar and its percentage, with the first choice of words that leaves room for the bar. */
  drawn
} from "./print/progressBar.js"

export {
  /** A number of bytes: `512 B`, `16.8 MB`. */
  bytes,
  /** A duration: `1h 2m 5s`, `250ms`. */
  duration,
  /** The finished share of a whole, in whole percent. */
  percent,
  /** A speed, from bytes per second: `12.5 MB/s`. */
  speed
} from "@stevedore/core/parts/measure"
