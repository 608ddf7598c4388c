import { monotonicMillis } from "@stevedore/core/parts/timers"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { ConnectionOptions } from "node:tls"
import type { HttpProxy } from "../HttpProxy.js"
import type { Route } from "./connection.js"
import { Broken, Connection } from "./connection.js"
import * as PeerSocket from "./peerSocket.js"
import * as Tunnel from "./tunnel.js"

// Less than servers, and the proxies in between, keep an idle connection open.
const longestRest = 4000

// A process that talks to ever new hosts would otherwise remember each of them
const mostOrigins = 100

// Until a first body has arrived, a second's worth
const firstSlowBytes = 16_777_216

interface Resting {
  readonly connection: Connection
  /** By the wall clock, in milliseconds. */
  readonly since: number
  readonly timer: NodeJS.Timeout
}

interface Origin {
  readonly name: string
  readonly url: URL
  /** Absent if it is reached without one. */
  readonly proxy: HttpProxy | undefined
  /** Why the proxy, which gets the requests themselves, made no tunnel. */
  refusal: unknown
  readonly session: { tls: Buffer | undefined }
  readonly manner: Manner | undefined
  /** The most recently used connection is reused first. */
  readonly resting: Array<Resting>
  /** Until when connections are closed after their exchange, by the monotonic clock in milliseconds. */
  distrustedUntil: number
}

/**
 * How bodies are sent through a proxy, as learned from what became of earlier ones: it may lose a response that comes
 * while a body is being sent.
 */
export interface Manner {
  /** Whether the head of a long one goes first: the other side may not know `Expect: 100-continue`. */
  announced: boolean
  /** How many bytes are sent with pauses, at the start of a body. */
  slowBytes: number
}

/** A connection for one exchange. */
export interface Loan {
  readonly connection: Connection
  /** Shared by all loans to an origin behind a proxy; absent without a proxy. */
  readonly manner: Manner | undefined
  /**
   * Ends the exchange; later calls return the same result. Returns whether the connection is kept for reuse. If not, it
   * must be closed.
   */
  readonly rest: () => boolean
}

/** Connections by origin: one per exchange, reused afterwards if both sides have finished. */
export interface ConnectionPool {
  /**
   * A new connection fails if it takes longer than `limit` to connect. The wait for a proxy can be interrupted, and takes
   * no longer than `within`.
   */
  readonly lend: (href: string, limit?: Duration.Duration, within?: Duration.Duration) => Effect.Effect<Loan, Broken>
  /**
   * After a failed connection, the idle ones are assumed dead too and are closed: the next one is new. For a while, none
   * is kept: the other side may close each after its response, without saying so.
   */
  readonly distrust: (href: string) => Effect.Effect<void>
}

export const giveBack = ({ connection, rest }: Loan): Effect.Effect<void> =>
  Effect.suspend(() => rest() ? Effect.void : connection.close)

export interface Options {
  readonly tls?: ConnectionOptions | undefined
  readonly proxy?: HttpProxy | undefined
  /** How many origins are remembered. */
  readonly most?: number | undefined
}

export const make = (
  { most = mostOrigins, proxy, tls = {} }: Options = {}
): Effect.Effect<ConnectionPool, never, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const clock = yield* Effect.clock
    const now = () => clock.unsafeCurrentTimeMillis()
    // The most recently used is the last
    const origins = new Map<string, Origin>()
    const isKnown = (origin: Origin): boolean => origins.get(origin.name) === origin
    const close = (origin: Origin) =>
      Effect.suspend(() =>
        Effect.forEach(origin.resting.splice(0), ({ connection, timer }) => {
          clearTimeout(timer)
          return connection.close
        }, { concurrency: "unbounded", discard: true })
      )
    const distrust = (origin: Origin) =>
      Effect.suspend(() => {
        origin.distrustedUntil = monotonicMillis(clock) + longestRest
        return close(origin)
      })
    const forgetOldest = Effect.suspend(() => {
      const [oldest] = origins.values()
      if (oldest === undefined) return Effect.void
      origins.delete(oldest.name)
      return Effect.forkIn(close(oldest), scope)
    })
    const originOf = (href: string): Origin => {
      const url = new URL(href)
      const through = Tunnel.proxyFor(proxy, url)
      const origin: Origin = origins.get(url.origin) ?? {
        name: url.origin,
        url,
        proxy: through,
        refusal: undefined,
        session: { tls: undefined },
        manner: through && { announced: true, slowBytes: firstSlowBytes },
        resting: [],
        distrustedUntil: -Infinity
      }
      origins.delete(origin.name)
      origins.set(origin.name, origin)
      return origin
    }
    const roadTo = (origin: Origin, limit: Duration.Duration): Effect.Effect<Route, Broken> => {
      if (origin.proxy === undefined) return Effect.succeed({ peer: PeerSocket.peerOf(origin.url, tls) })
      const { proxy, url } = origin
      const forwarded = (refusal: unknown): Route => {
        origin.refusal = refusal
        return {
          peer: PeerSocket.peerOf(new URL(proxy.origin), tls),
          forwarded: { fields: Tunnel.proxyFields(proxy), refusal }
        }
      }
      return origin.refusal !== undefined
        ? Effect.sync(() => forwarded(origin.refusal))
        : Effect.matchEffect(Tunnel.dig(proxy, url, tls, limit), {
          onSuccess: (tunnel) => Effect.succeed({ peer: PeerSocket.peerOf(url, tls), tunnel }),
          onFailure: (cause) =>
            Tunnel.mayForward(url, cause) ? Effect.succeed(forwarded(cause)) : Effect.fail(new Broken(cause, undefined))
        })
    }
    yield* Effect.addFinalizer(() => Effect.forEach(origins.values(), close, { discard: true }))
    return {
      lend: (href, limit = Duration.infinity, within = limit) =>
        Effect.suspend(() => {
          const origin = originOf(href)
          const loanOf = (connection: Connection): Loan => {
            let rests: boolean | undefined
            return {
              connection,
              manner: origin.manner,
              rest: () => {
                if (rests === undefined) {
                  // it is the wrong one for this origin, and the idle ones may be too
                  if (connection.status === 421) Effect.runFork(distrust(origin))
                  rests = connection.release() && isKnown(origin) && monotonicMillis(clock) >= origin.distrustedUntil
                  if (rests) rest(origin, connection, now())
                }
                return rests
              }
            }
          }
          const lent = Effect.suspend(() => {
            const resting = take(origin, now())
            return resting === undefined
              ? Effect.map(
                roadTo(origin, Duration.min(limit, within)),
                (road) => loanOf(new Connection(road, origin.session, limit))
              )
              : Effect.succeed(loanOf(resting))
          })
          const ready = origin.resting.length === 0 ? lent : Effect.zipRight(arrivalsRead, lent)
          return origins.size <= most ? ready : Effect.zipRight(forgetOldest, ready)
        }),
      distrust: (href) => Effect.suspend(() => distrust(originOf(href)))
    }
  })

// A turn of the event loop reads what has arrived. An idle connection on which anything arrives ends: a request that is
// sent before that would take it for its own response.
const arrivalsRead: Effect.Effect<void> = Effect.async((resume) => {
  setImmediate(() => resume(Effect.void))
})

const longestRestOf = ({ patience }: Connection): number => Math.min(longestRest, patience)

// Timers stand still while the computer sleeps or is busy, but the other side's do not.
const take = (origin: Origin, now: number): Connection | undefined => {
  const last = origin.resting.pop()
  if (last === undefined) return undefined
  clearTimeout(last.timer)
  if (now - last.since > longestRestOf(last.connection)) {
    Effect.runFork(last.connection.close)
    return take(origin, now)
  }
  last.connection.wakeUp()
  return last.connection
}

const rest = ({ resting }: Origin, connection: Connection, since: number): void => {
  const leave = () => {
    const index = resting.findIndex((one) => one.connection === connection)
    if (index !== -1) resting.splice(index, 1)
    clearTimeout(timer)
  }
  const timer = setTimeout(() => {
    leave()
    Effect.runFork(connection.close)
  }, longestRestOf(connection))
  timer.unref()
  connection.rest(leave)
  resting.push({ connection, since, timer })
}
