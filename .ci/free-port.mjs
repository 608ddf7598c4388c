// A port for a process that is started with its number.
import { createServer } from "node:net"

// Systems hand out ports from 32,768 (Linux) or 49,152 on to every connection that leaves: one of those may be taken between
// the look here and the start of the process.
const first = 15_000
const beyond = 32_000

const isFree = (/** @type {number} */ port) =>
  new Promise((resolve) => {
    const server = createServer()
    server.once("error", () => resolve(false))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)))
  })

/**
 * A port of loopback that nobody listens on, and that no connection gets by itself.
 *
 * @returns {Promise<number>}
 */
export const freePort = async () => {
  for (let tried = 0; tried < 1000; tried += 1) {
    const port = first + Math.floor(Math.random() * (beyond - first))
    if (await isFree(port)) return port
  }
  throw new Error(`no free port from ${first} to ${beyond}`)
}
