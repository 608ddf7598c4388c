import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { connect, createServer } from "node:net"

/** A machine of its own, as far as the network goes: clients reach it on one line, and it reaches its peers on another. */
export interface Host {
  /** Where clients find it. */
  readonly address: string
  /** Where it finds its peers. */
  readonly peers: string
  /** The words that run a program there. */
  readonly within: ReadonlyArray<string>
  /** Its line to its peers loses whatever is sent, and tells nobody. */
  readonly cut: Effect.Effect<void>
  readonly heal: Effect.Effect<void>
}

const ip = (...words: ReadonlyArray<string>): void => {
  execFileSync("ip", words, { stdio: ["ignore", "ignore", "inherit"] })
}

// RFC 2544: addresses for tests, which no network has
const network = `198.18.${process.pid % 250}`

const line = (name: string, namespace: string, end: string, first: number) => {
  const [here, there] = [`${network}.${first + 1}`, `${network}.${first + 2}`]
  ip("link", "add", "name", name, "type", "veth", "peer", "name", end, "netns", namespace)
  ip("addr", "add", `${here}/30`, "dev", name)
  ip("link", "set", name, "up")
  ip("-n", namespace, "addr", "add", `${there}/30`, "dev", end)
  ip("-n", namespace, "link", "set", end, "up")
  return { here, there }
}

/** The host of this number, from 0 to 31, until the scope closes. */
export const host = (number: number) =>
  Effect.acquireRelease(
    Effect.sync((): Host & { readonly namespace: string } => {
      const namespace = `stevedore-${process.pid}-${number}`
      ip("netns", "add", namespace)
      ip("-n", namespace, "link", "set", "lo", "up")
      const [front, back] = [`sf${process.pid}n${number}`, `sb${process.pid}n${number}`]
      const clients = line(front, namespace, "front", number * 8)
      const peers = line(back, namespace, "back", number * 8 + 4)
      return {
        namespace,
        address: clients.there,
        peers: peers.here,
        within: ["ip", "netns", "exec", namespace],
        cut: Effect.sync(() => ip("link", "set", back, "down")),
        heal: Effect.sync(() => ip("link", "set", back, "up"))
      }
    }),
    // its lines end with it
    ({ namespace }) => Effect.sync(() => ip("netns", "del", namespace))
  )

/** Passes on what comes to an address of this machine, byte for byte; answers with the port. */
export const forwarded = (address: string, to: { readonly hostname: string; readonly port: string }) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<{ readonly port: number; readonly close: () => void }>((resume) => {
        const open = new Set<{ readonly destroy: () => void }>()
        const server = createServer((incoming) => {
          const there = connect(Number(to.port), to.hostname)
          for (const [one, other] of [[incoming, there], [there, incoming]] as const) {
            open.add(one)
            one.pipe(other)
            one.on("error", () => other.destroy())
            one.on("close", () => {
              open.delete(one)
              other.destroy()
            })
          }
        })
        server.listen(0, address, () => {
          const bound = server.address()
          resume(Effect.succeed({
            port: typeof bound === "object" && bound !== null ? bound.port : 0,
            close: () => {
              for (const socket of open) socket.destroy()
              server.close()
            }
          }))
        })
      }),
      ({ close }) => Effect.sync(close)
    ),
    ({ port }) => port
  )
