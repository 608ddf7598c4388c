/**
 * A modelled line in front of a server: `line.mjs <port> <round trip ms> <window bytes> <bytes a second>`. Each direction
 * is a link of that rate, shared by all connections; each connection has at most a window of bytes on its way. No loss
 * and no slow start.
 */
import type { Socket } from "node:net"
import { connect, createServer } from "node:net"
import { performance } from "node:perf_hooks"
import type { Told } from "../Told.js"

const [upstream = 0, roundTrip = 0, window = 0, rate = 1] = process.argv.slice(2).map(Number)

const oneWay = roundTrip / 2

/** When a link is free again, in milliseconds. */
class Link {
  private freeAt = 0

  /** Takes so many bytes, and says when the last of them is at the other end. */
  carry(bytes: number): number {
    this.freeAt = Math.max(performance.now(), this.freeAt) + bytes / rate * 1000
    return this.freeAt + oneWay
  }
}

interface Arrival {
  readonly at: number
  readonly happen: () => void
}

/** Things that happen in the order in which they were put, each not before its time. */
class Queue {
  private arrivals: Array<Arrival> = []
  private timer: NodeJS.Timeout | undefined

  put(at: number, happen: () => void): void {
    this.arrivals.push({ at, happen })
    this.wake()
  }

  private wake(): void {
    const first = this.arrivals[0]
    if (first === undefined || this.timer !== undefined) return
    this.timer = setTimeout(() => {
      this.timer = undefined
      const now = performance.now()
      const due = this.arrivals.findIndex(({ at }) => at > now)
      const ready = this.arrivals.splice(0, due === -1 ? this.arrivals.length : due)
      for (const { happen } of ready) happen()
      this.wake()
    }, Math.max(0, first.at - performance.now()))
  }
}

const forward = (from: Socket, to: Socket, link: Link, openedAt: number) => {
  const arrivals = new Queue()
  const confirmations = new Queue()
  let onTheWay = 0
  from.on("data", (chunk) => {
    onTheWay += chunk.length
    if (onTheWay >= window) from.pause()
    const at = Math.max(openedAt, link.carry(chunk.length))
    arrivals.put(at, () => to.write(chunk))
    confirmations.put(at + oneWay, () => {
      onTheWay -= chunk.length
      if (onTheWay < window) from.resume()
    })
  })
  from.on("end", () => arrivals.put(link.carry(0), () => to.end()))
  from.on("error", () => to.destroy())
  from.on("close", () => arrivals.put(link.carry(0), () => to.destroySoon()))
}

const up = new Link()
const down = new Link()

const server = createServer({ allowHalfOpen: true }, (client) => {
  const remote = connect({ host: "127.0.0.1", port: upstream, allowHalfOpen: true })
  client.setNoDelay(true)
  remote.setNoDelay(true)
  // the handshake is a round trip, before the first byte goes
  forward(client, remote, up, performance.now() + roundTrip + oneWay)
  forward(remote, client, down, 0)
})

process.on("disconnect", () => process.exit())

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  const told: Told = { _tag: "Listening", port: typeof address === "object" && address !== null ? address.port : 0 }
  process.send?.(told)
})
