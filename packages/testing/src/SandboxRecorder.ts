/**
 * Takes down what the sandbox sees, for the report.
 *
 * @since 0.1.0
 */
import type * as Exchange from "./Exchange.js"
import * as SandboxReport from "./SandboxReport.js"

/**
 * A request as it arrives. `target` is path and query: the query is needed to know a URL again, and goes nowhere.
 *
 * @since 0.1.0
 * @category models
 */
export interface Arrival {
  readonly server: "api" | "storage"
  readonly operation: Exchange.Operation | "preflight" | "unknown"
  readonly method: string
  readonly target: string
  readonly fileId: string | undefined
  readonly part: number | undefined
  readonly headerNames: ReadonlyArray<string>
  readonly at: number
}

/**
 * A request that is being recorded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Recording {
  /** Counts from 1 for requests of the same operation on the same file and part. */
  readonly attempt: number
  readonly received: (bytes: number) => void
  readonly sent: (bytes: number) => void
  readonly breach: (rule: SandboxReport.Rule, message: string) => void
  readonly urlExpired: () => void
  /** `seconds` from now, in which the client was told not to ask again. */
  readonly retryAfter: (seconds: number, now: number) => void
  readonly finish: (outcome: typeof SandboxReport.Outcome.Type, status?: number | undefined) => void
}

/**
 * Takes requests down, and gives what it has taken down.
 *
 * @since 0.1.0
 * @category models
 */
export interface SandboxRecorder {
  readonly arrived: (arrival: Arrival) => Recording
  readonly report: () => SandboxReport.SandboxReport
}

interface Entry {
  readonly arrival: Arrival
  readonly attempt: number
  bytesReceived: number
  bytesSent: number
  status: number | undefined
  outcome: typeof SandboxReport.Outcome.Type
}

const pathOf = (target: string): string => target.split("?")[0] ?? target

const isTraceHeader = (name: string): boolean =>
  name === "traceparent" || name === "tracestate" || name === "b3" || name.startsWith("x-b3-")

const toSeen = (entry: Entry): SandboxReport.SeenRequest =>
  new SandboxReport.SeenRequest({
    server: entry.arrival.server,
    operation: entry.arrival.operation,
    method: entry.arrival.method,
    path: pathOf(entry.arrival.target),
    ...(entry.arrival.fileId === undefined ? {} : { fileId: entry.arrival.fileId }),
    ...(entry.arrival.part === undefined ? {} : { part: entry.arrival.part }),
    attempt: entry.attempt,
    at: entry.arrival.at,
    headerNames: entry.arrival.headerNames,
    bytesReceived: entry.bytesReceived,
    bytesSent: entry.bytesSent,
    ...(entry.status === undefined ? {} : { status: entry.status }),
    outcome: entry.outcome
  })

/**
 * A recorder that has seen nothing yet.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (): SandboxRecorder => {
  const entries: Array<Entry> = []
  const breaches: Array<SandboxReport.Breach> = []
  const attempts = new Map<string, number>()
  const expiredTargets = new Set<string>()
  const openPuts = new Map<string, number>()
  // the service waits as a whole, the storage by URL
  const waits = new Map<string, number>()

  const noteHeaders = (arrival: Arrival, breach: Recording["breach"]) => {
    if (arrival.server === "api") {
      return
    }
    if (arrival.headerNames.includes("authorization")) {
      breach("BearerAtStorage", "An Authorization header was sent to the storage")
    }
    const trace = arrival.headerNames.filter(isTraceHeader)
    if (trace.length > 0) {
      breach("TraceHeadersAtStorage", `Trace headers were sent to the storage: ${trace.join(", ")}`)
    }
  }

  return {
    arrived: (arrival) => {
      const index = entries.length
      const key = JSON.stringify([arrival.operation, arrival.fileId, arrival.part])
      const attempt = (attempts.get(key) ?? 0) + 1
      const waitKey = arrival.server === "api" ? "api" : arrival.target
      const isPut = arrival.operation === "put" || arrival.operation === "putPart"
      const entry: Entry = { arrival, attempt, bytesReceived: 0, bytesSent: 0, status: undefined, outcome: "open" }
      const breach: Recording["breach"] = (rule, message) => {
        breaches.push(new SandboxReport.Breach({ rule, message, request: index }))
      }

      attempts.set(key, attempt)
      entries.push(entry)
      if (arrival.operation !== "preflight") {
        noteHeaders(arrival, breach)
      }
      if (expiredTargets.has(arrival.target)) {
        breach("ExpiredUrlRetried", "The URL was used again after the storage had called it expired")
      }
      const wait = waits.get(waitKey)
      if (wait !== undefined && arrival.at < wait) {
        breach("EarlierThanRetryAfter", `Asked ${wait - arrival.at} ms earlier than Retry-After allows`)
      }
      if (isPut) {
        const open = openPuts.get(key) ?? 0
        openPuts.set(key, open + 1)
        if (open > 0) {
          breach("OverlappingAttempts", "Put while an earlier attempt of the same was still going on")
        }
      }

      return {
        attempt,
        received: (bytes) => {
          entry.bytesReceived += bytes
        },
        sent: (bytes) => {
          entry.bytesSent += bytes
        },
        breach,
        urlExpired: () => {
          expiredTargets.add(arrival.target)
        },
        retryAfter: (seconds, now) => {
          waits.set(waitKey, now + seconds * 1000)
        },
        finish: (outcome, status) => {
          entry.outcome = outcome
          entry.status = status
          if (isPut) {
            openPuts.set(key, (openPuts.get(key) ?? 1) - 1)
          }
        }
      }
    },
    report: () => new SandboxReport.SandboxReport({ requests: entries.map(toSeen), breaches })
  }
}
