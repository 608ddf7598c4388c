import { createHmac, timingSafeEqual } from "node:crypto"
import { createServer, type Server } from "node:http"
import { text } from "node:stream/consumers"

const FIVE_MINUTES = 300_000

/** Whether the body was signed with the secret, and not long ago. */
export const isGenuine = (
  secret: string,
  header: string,
  body: string,
  now: number
) => {
  const parts = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header)
  const [, seconds, signature] = parts ?? []
  if (seconds === undefined || signature === undefined) return false
  const expected = createHmac("sha256", secret)
    .update(`${seconds}.${body}`)
    .digest()
  return timingSafeEqual(expected, Buffer.from(signature, "hex")) &&
    Math.abs(now - Number(seconds) * 1000) < FIVE_MINUTES
}

export interface Delivery {
  readonly id: string
  readonly type: "completed" | "removed" | "failed"
  readonly file: { readonly id: string; readonly name: string }
}

/**
 * Hears of each event once, although it may come more often:
 * `receiver(secret, Date.now, heard)`.
 */
export const receiver = (
  secret: string,
  clock: () => number,
  heard: (delivery: Delivery) => Promise<void>
): Server => {
  // in a database: with what is written because of the event
  const known = new Set<string>()
  return createServer(async (request, response) => {
    const body = await text(request)
    const header = request.headers["stevedore-signature"]
    if (!isGenuine(secret, String(header), body, clock())) {
      response.writeHead(401).end()
      return
    }
    const delivery: Delivery = JSON.parse(body)
    try {
      if (!known.has(delivery.id)) await heard(delivery)
      known.add(delivery.id)
      response.writeHead(204).end()
    } catch {
      // it comes again
      response.writeHead(500).end()
    }
  })
}
