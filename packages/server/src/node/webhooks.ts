/** Webhooks from Node: to no address of this machine, or of a private network, unless it is allowed. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { lookup } from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"
import { Hooks, type HooksService } from "../Hooks.js"
import * as Webhooks from "../Webhooks.js"
import { ServeFailed } from "./listening.js"

const notPublic = new BlockList()
for (
  const [network, prefix, family] of [
    ["0.0.0.0", 8, "ipv4"],
    ["10.0.0.0", 8, "ipv4"],
    ["100.64.0.0", 10, "ipv4"],
    ["127.0.0.0", 8, "ipv4"],
    ["169.254.0.0", 16, "ipv4"],
    ["172.16.0.0", 12, "ipv4"],
    ["192.0.0.0", 24, "ipv4"],
    ["192.0.2.0", 24, "ipv4"],
    ["192.88.99.0", 24, "ipv4"],
    ["192.168.0.0", 16, "ipv4"],
    ["198.18.0.0", 15, "ipv4"],
    ["198.51.100.0", 24, "ipv4"],
    ["203.0.113.0", 24, "ipv4"],
    ["224.0.0.0", 3, "ipv4"],
    ["::", 96, "ipv6"],
    ["::ffff:0:0:0", 96, "ipv6"],
    ["64:ff9b::", 96, "ipv6"],
    ["64:ff9b:1::", 48, "ipv6"],
    ["100::", 64, "ipv6"],
    ["2001::", 32, "ipv6"],
    ["2001:db8::", 32, "ipv6"],
    ["2002::", 16, "ipv6"],
    ["5f00::", 16, "ipv6"],
    ["fc00::", 7, "ipv6"],
    ["fe80::", 10, "ipv6"],
    ["fec0::", 10, "ipv6"],
    ["ff00::", 8, "ipv6"]
  ] as const
) notPublic.addSubnet(network, prefix, family)

export const isPublic = (address: string): boolean => !notPublic.check(address, isIP(address) === 6 ? "ipv6" : "ipv4")

/** Looks up a name as Node does, and refuses it where any of its addresses is not public: it is asked at each connection. */
export const publicOnly: LookupFunction = (host, options, told) =>
  lookup(host, { ...options, all: true }, (error, found) => {
    const [first] = found ?? []
    if (error !== null || first === undefined) return told(error, [])
    if (!found.every(({ address }) => isPublic(address))) {
      return told(Object.assign(new Error("Not a public address"), { code: "EPRIVATE" }), [])
    }
    return options.all === true ? told(null, found) : told(null, first.address, first.family)
  })

const problemOf = ({ isPrivate, url }: Webhooks.Options): string | undefined => {
  const { hostname, protocol } = new URL(Redacted.value(url))
  const address = hostname.replace(/^\[|\]$/g, "")
  const allowed = "set STEVEDORE_SERVE_WEBHOOK_PRIVATE to true, if that is what you want"
  return isPrivate === true
    ? undefined
    : protocol !== "https:"
    ? `expected a URL of https: ${allowed}`
    : isIP(address) !== 0 && !isPublic(address)
    ? `it is an address of this machine or of a private network: ${allowed}`
    : undefined
}

/** One after the other: an event is told when both have succeeded. */
const both = (own: HooksService, told: Effect.Effect.Success<ReturnType<typeof Webhooks.make>>): HooksService => ({
  ...own,
  onCompleted: (event) => Effect.zipRight(own.onCompleted(event), told.onCompleted(event)),
  onRemoved: (event) => Effect.zipRight(own.onRemoved(event), told.onRemoved(event)),
  onFailed: (event) => Effect.zipRight(own.onFailed(event), told.onFailed(event))
})

/** Hooks that tell a URL too, if one is given. */
export const hooks = (
  options: Webhooks.Options | undefined
): Effect.Effect<HooksService, ServeFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const own = yield* Hooks
    if (options === undefined) return own
    const problem = problemOf(options)
    if (problem !== undefined) return yield* new ServeFailed({ option: "STEVEDORE_SERVE_WEBHOOK_URL", problem })
    const agent = NodeHttpClient.makeAgentLayer(options.isPrivate === true ? {} : { lookup: publicOnly })
    const client = yield* Layer.build(Layer.provide(NodeHttpClient.layerWithoutAgent, agent))
    return both(own, yield* Effect.provide(Webhooks.make(options), client))
  })
