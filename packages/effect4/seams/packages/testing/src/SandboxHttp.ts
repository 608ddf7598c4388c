import type * as HttpServer from "effect/http/HttpServer"
import * as NetAddress from "effect/net/NetAddress"

type Server = HttpServer.HttpServer["Service"]

const originOf = (address: NetAddress.SocketAddress): string | undefined => {
  if (address._tag === "UnixPathAddress") return undefined
  const { hostname, port } = new URL(NetAddress.formatUrlUnsafe(address))
  // a server that listens on every address is reachable on the loopback
  return `http://${hostname === "0.0.0.0" || hostname === "[::]" ? "127.0.0.1" : hostname}:${port}`
}
