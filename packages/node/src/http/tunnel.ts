import { systemCode } from "@stevedore/core/ConnectionError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Net from "node:net"
import type * as Tls from "node:tls"
import type { HttpProxy } from "../HttpProxy.js"
import { isExcepted } from "../HttpProxy.js"
import type { AnswerHead } from "./answerParser.js"
import { AnswerParser } from "./answerParser.js"
import * as PeerSocket from "./peerSocket.js"
import { written } from "./requestHead.js"

/** A proxy did not do what it was asked for. Nothing of the request has got past it. */
export class ProxyRefused extends Error {
  readonly code: string
  readonly arrived = "no"
  constructor(readonly status: number) {
    super(`The proxy answered ${status}`)
    this.code = `PROXY_ANSWERED_${status}`
  }
}

/** What a proxy wants in each request that is for itself. */
export const proxyFields = ({ authorization }: HttpProxy): ReadonlyArray<string> =>
  authorization === undefined ? [] : [`proxy-authorization: ${Redacted.value(authorization)}`]

/** The proxy for a URL, if it is not reached without one. */
export const proxyFor = (proxy: HttpProxy | undefined, url: URL): HttpProxy | undefined =>
  proxy === undefined || isExcepted(proxy.except ?? "", url) ? undefined : proxy

// 502 and 504 are about the other side, which a request would not reach either
const isAboutTunnels = (status: number): boolean => ![407, 502, 504].includes(status)

/** Whether a proxy that refused a tunnel may still take the requests themselves. */
export const mayForward = (url: URL, cause: unknown): boolean =>
  url.protocol === "http:" &&
  (cause instanceof ProxyClosed || (cause instanceof ProxyRefused && isAboutTunnels(cause.status)))

/**
 * Whether a response to a request that a proxy was to forward is about the proxy. If it forwards nothing at all, what
 * counts is why it made no tunnel.
 */
export const refusalOf = ({ headers, status }: AnswerHead, tunnel: unknown): ProxyRefused | undefined => {
  if (status === 405 || status === 501) return tunnel instanceof ProxyRefused ? tunnel : new ProxyRefused(status)
  return status === 407 || headers["x-squid-error"] !== undefined ? new ProxyRefused(status) : undefined
}

// What ended the connection to the proxy says nothing about the other side
const ofProxy = (error: Error): Error => {
  const code = systemCode(error)
  return Object.assign(error, { arrived: "no", ...(code === undefined ? {} : { code: `PROXY_${code}` }) })
}

/** The proxy closed the connection instead of an answer. */
class ProxyClosed extends Error {
  readonly code = "ECONNRESET"
  readonly arrived = "no"
}

/**
 * A connection to a URL's host and port through a proxy: what is written there next arrives at the other end. Nobody
 * reads it yet. Fails with a cause of which only the code may be used.
 */
export const dig = (
  proxy: HttpProxy,
  url: URL,
  tls: Tls.ConnectionOptions,
  limit: Duration.Duration
): Effect.Effect<Net.Socket, unknown> =>
  Effect.suspend(() => {
    const socket = PeerSocket.open(PeerSocket.peerOf(new URL(proxy.origin), tls), { tls: undefined }, undefined)
    const made = Effect.async<Net.Socket, unknown>((resume) => {
      let established = false
      let settled = false
      const settle = (outcome: Effect.Effect<Net.Socket, unknown>) => {
        if (settled) return
        settled = true
        // from now on, whoever has the tunnel listens
        socket.off("data", take).off("end", closed).off("close", closed).pause()
        resume(outcome)
      }
      const fail = (cause: unknown) => settle(Effect.fail(cause))
      const parser = new AnswerParser({
        onHead: ({ status }) =>
          status >= 200 && status < 300 ? settle(Effect.succeed(socket)) : fail(new ProxyRefused(status)),
        onBody: () => {},
        onEnd: () => {}
      }, true)
      const take = (bytes: Buffer) => {
        try {
          parser.push(bytes)
        } catch (error) {
          fail(error)
        }
      }
      const closed = () => fail(established ? new ProxyClosed() : PeerSocket.notConnected())
      socket.once(PeerSocket.established(socket), () => established = true)
      socket.on("error", (error) => {
        // the error of a tunnel that stands is the other side's, and its request may have arrived
        if (!settled) fail(ofProxy(error))
      })
      socket.on("end", closed).on("close", closed).on("data", take)
      const port = PeerSocket.portOf(url)
      const target = `${url.hostname}:${port}`
      socket.write(written("CONNECT", target, [`host: ${target}`, ...proxyFields(proxy)]))
    })
    const inTime = Duration.isFinite(limit)
      ? Effect.timeoutFail(made, { duration: limit, onTimeout: PeerSocket.notConnected })
      : made
    return Effect.onError(Effect.interruptible(inTime), () => Effect.sync(() => socket.destroy()))
  })
