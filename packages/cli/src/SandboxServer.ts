/** The sandbox that `stevedore sandbox` runs, for a program. */
export {
  /** Starts a sandbox, which ends with its scope. */
  start
} from "./serve/sandbox.js"
