import { Effect } from "effect"
import { Buffer } from "node:buffer"
import { connect } from "node:net"

/** A request, written byte by byte: no client adds to it, and none hides what comes back. */
export interface Exchange {
  readonly origin: string
  readonly method: string
  /** Path and query. */
  readonly target: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string
  readonly chunked: boolean
  readonly hangUp: boolean
}

/** Header names in lower case. Status 0: the connection ended without an answer. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const unchunked = (text: string): string => {
  let rest = text
  let body = ""
  for (;;) {
    const end = rest.indexOf("\r\n")
    const size = Number.parseInt(rest.slice(0, end), 16)
    if (end === -1 || !(size > 0)) return body
    body += rest.slice(end + 2, end + 2 + size)
    rest = rest.slice(end + 2 + size + 2)
  }
}

const parse = (text: string): Answer => {
  const end = text.indexOf("\r\n\r\n")
  const [statusLine = "", ...lines] = text.slice(0, end === -1 ? text.length : end).split("\r\n")
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? 0)
  const rest = end === -1 ? "" : text.slice(end + 4)
  if (status === 100) return parse(rest)
  const headers = Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  }))
  return { status, headers, body: headers["transfer-encoding"] === "chunked" ? unchunked(rest) : rest }
}

/** The answer to a request, on a connection of its own that ends with it. */
export const exchange = ({ body, chunked, hangUp, headers, method, origin, target }: Exchange): Effect.Effect<Answer> =>
  Effect.async<Answer>((resume) => {
    const { hostname, port } = new URL(origin)
    const socket = connect(Number(port), hostname)
    const seen: Array<Buffer> = []
    const answer = () => resume(Effect.sync(() => parse(Buffer.concat(seen).toString("latin1"))))
    socket.on("data", (chunk) => seen.push(chunk))
    // a server may close while the body is still on its way: what it answered counts
    socket.on("error", answer)
    socket.on("close", answer)
    const lines = [...headers, ["connection", "close"]].map(([name, value]) => `${name}: ${value}\r\n`)
    const framed = chunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body
    socket.write(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${framed}`, "latin1")
    if (hangUp) socket.end()
    return Effect.sync(() => socket.destroy())
  }).pipe(
    Effect.timeoutTo({
      duration: "20 seconds",
      onSuccess: (answer) => answer,
      onTimeout: (): Answer => ({ status: 0, headers: {}, body: "" })
    })
  )
