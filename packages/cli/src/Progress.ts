/** Sizes, speeds, times and bars, as the command shows them on a terminal. */
export { bytes, duration, percent, speed } from "@stevedore/node/Measure"
export { drawn } from "./print/progressBar.js"
