import type * as NetAddress from "effect/net/NetAddress"

const portOf = (address: NetAddress.SocketAddress): number => "port" in address ? address.port : 0
