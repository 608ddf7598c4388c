/** Time, as the transports and the ports of the sibling packages measure it. */
export { monotonicMillis } from "../base/clock.js"
export { type Timer, timer } from "../base/effect.js"
export { untilTimer } from "../base/fibers.js"
