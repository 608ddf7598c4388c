/** The sandbox that `stevedore sandbox` runs, for a program. */
export { start } from "./serve/sandbox.js"
