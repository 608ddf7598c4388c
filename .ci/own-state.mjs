// No test writes into the home of whoever runs it, and none finds what tests of another process are running.
import { root } from "./packages.mjs"

process.env.XDG_STATE_HOME = `${root}/.cache/state/${process.env.VITEST_POOL_ID}`
