import * as Duration from "effect/Duration"
import * as Net from "node:net"
import * as Tls from "node:tls"

/** Where a connection leads. */
export interface Peer {
  readonly host: string
  readonly port: number
  /** Absent without TLS. */
  readonly tls: Tls.ConnectionOptions | undefined
}

/** Without brackets, which a URL has around an IPv6 address. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "")

export const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)

export const peerOf = (url: URL, tls: Tls.ConnectionOptions): Peer => ({
  host: hostOf(url),
  port: portOf(url),
  tls: url.protocol === "https:" ? tls : undefined
})

// Node's timers fire at once if they are set to more than this.
const longestTimer = 2 ** 31 - 1

// Node's code for a single address that took too long to connect.
export const notConnected = (): Error =>
  Object.assign(new Error("Connecting took too long"), { code: "ERR_SOCKET_CONNECTION_TIMEOUT" })

// Until this event, Node keeps what is written to itself.
export const established = (socket: Net.Socket) => socket instanceof Tls.TLSSocket ? "secureConnect" : "connect"

export const endUnlessConnected = (socket: Net.Socket, limit: Duration.Duration): void => {
  if (!Duration.isFinite(limit)) return
  const timer = setTimeout(() => socket.destroy(notConnected()), Math.min(Duration.toMillis(limit), longestTimer))
  const settle = () => clearTimeout(timer)
  socket.once(established(socket), settle)
  socket.once("close", settle)
}

interface More {
  readonly host: string
  readonly port: number
  readonly onread: Net.OnReadOpts | undefined
  readonly session: Buffer | undefined
  readonly tunnel: Net.Socket | undefined
}

const connectSecurely = (
  options: Tls.ConnectionOptions,
  { host, onread, port, session, tunnel }: More
): Tls.TLSSocket =>
  Tls.connect({
    ALPNProtocols: ["http/1.1"],
    ...options,
    ...(Net.isIP(host) === 0 ? { servername: host } : {}),
    ...(session === undefined ? {} : { session }),
    ...(tunnel === undefined ? { onread, host, port } : { socket: tunnel, host, port })
  })

/**
 * A connection to a peer, or to what is at the other end of a tunnel. With `onread`, bytes come there; those of a tunnel
 * come as events.
 */
export const open = (
  { host, port, tls }: Peer,
  session: { tls: Buffer | undefined },
  onread: Net.OnReadOpts | undefined,
  tunnel?: Net.Socket
): Net.Socket => {
  if (tls === undefined) {
    return tunnel ?? Net.connect({ host, port, noDelay: true, ...(onread === undefined ? {} : { onread }) })
  }
  const socket = connectSecurely(tls, { host, port, onread, session: session.tls, tunnel })
  socket.on("session", (ticket) => session.tls = ticket)
  tunnel?.on("error", (error) => socket.destroy(error))
  return socket.setNoDelay(true)
}

/**
 * A Node socket destroys itself when a write fails, and with it any response that has arrived but was not read, which
 * would say why storage stopped reading the body. So a failed write never completes; the response or the end of the
 * connection comes next.
 */
export const holdWriteErrors = (socket: Net.Socket, onError: (error: Error) => void): void => {
  type Done = (error?: Error | null) => void
  const held = (done: Done): Done => (error) => error === undefined || error === null ? done() : onError(error)
  const write = socket._write.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, held(done))
  const writeAll = socket._writev?.bind(socket)
  if (writeAll !== undefined) socket._writev = (chunks, done) => writeAll(chunks, held(done))
}
