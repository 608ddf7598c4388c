/** One list over HTTP in one wire form, under one fault. It writes down what it was asked, and when. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:http"
import type { Dialect, WireAnswer } from "./Dialects.js"
import type { Fault } from "./Fault.js"
import { faultyCursor, pageAfter } from "./FaultyList.js"

export interface FaultyServer {
  readonly origin: string
  /** Pages that were asked for, repeats included. */
  readonly requests: () => number
  /** How many requests came before the time that `Retry-After` had told. */
  readonly early: () => number
}

/** What a program calls when it knows that the outage is over. */
export const healPath = "/.heal"

interface Refusal {
  readonly status: number
  readonly retryAfter?: { readonly text: string; readonly until: number }
}

const inSeconds = (seconds: number, now: number) => ({ text: String(seconds), until: now + seconds * 1000 })

// HTTP dates have whole seconds
const inDate = (seconds: number, now: number) => {
  const until = Math.ceil((now + seconds * 1000) / 1000) * 1000
  return { text: new Date(until).toUTCString(), until }
}

/** How the page of the fault is refused for the `nth` time. */
const refusalOf = (fault: Fault, nth: number, now: number): Refusal | undefined => {
  switch (fault) {
    case "failsOnce":
      return nth === 1 ? { status: 500 } : undefined
    case "outage":
      return { status: 500 }
    case "retryAfterSeconds":
      return nth === 1 ? { status: 429, retryAfter: inSeconds(2, now) } : undefined
    case "retryAfterDate":
      return nth === 1 ? { status: 429, retryAfter: inDate(2, now) } : undefined
    case "retryAfterLong":
      return { status: 429, retryAfter: inSeconds(100_000, now) }
    default:
      return undefined
  }
}

/** A server on a port of its own, which ends with the scope. */
export const listen = (dialect: Dialect, fault: Fault): Effect.Effect<FaultyServer, never, Scope.Scope> =>
  Effect.gen(function*() {
    const clock = Runtime.runSync(yield* Effect.runtime<never>())
    let requests = 0
    let early = 0
    let refused = 0
    let closedUntil = 0
    let retryAfter = ""
    let isHealed = false

    const send = (response: ServerResponse, status: number, answer: WireAnswer, more: Record<string, string> = {}) => {
      response.writeHead(status, { "content-type": answer.contentType, ...answer.headers, ...more })
      response.end(answer.body)
    }

    const refuse = (response: ServerResponse, now: number): boolean => {
      if (isHealed) return false
      if (now < closedUntil) {
        early++
        send(response, 429, dialect.refusal(429), { "retry-after": retryAfter })
        return true
      }
      const refusal = refusalOf(fault, ++refused, now)
      if (refusal === undefined) return false
      closedUntil = refusal.retryAfter?.until ?? 0
      retryAfter = refusal.retryAfter?.text ?? ""
      const headers: Record<string, string> = refusal.retryAfter === undefined ? {} : { "retry-after": retryAfter }
      send(response, refusal.status, dialect.refusal(refusal.status), headers)
      return true
    }

    const answer = (request: IncomingMessage, response: ServerResponse) => {
      const url = new URL(request.url ?? "/", `http://${request.headers.host}`)
      if (url.pathname === healPath) {
        isHealed = true
        return send(response, 200, { contentType: "text/plain", body: "" })
      }
      requests++
      const cursor = dialect.cursorOf(url)
      if (cursor === faultyCursor && refuse(response, clock(Clock.currentTimeMillis))) return
      send(response, 200, dialect.page(pageAfter(fault, cursor), url))
    }

    const server = createServer(answer)
    yield* Effect.acquireRelease(
      Effect.async<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return { origin: `http://127.0.0.1:${port}`, requests: () => requests, early: () => early }
  })
