/** Records what the sandbox sees, for the report. */
import type * as Exchange from "../Exchange.js"
import * as SandboxReport from "../SandboxReport.js"

/**
 * A request as it arrives. `target` is path and query. The query is needed to recognize a URL, and is not passed on.
 *
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
  readonly contentType: string | undefined
  readonly at: number
}

/**
 * How a request was answered: its status, and the etag that the client received.
 *
 * @category models
 */
export interface Answered {
  readonly status: number
  readonly etag: string | undefined
}

/**
 * A request that is being recorded.
 *
 * @category models
 */
export interface Recording {
  /** Counts from 1 for requests of the same operation on the same file and part. */
  readonly attempt: number
  readonly received: (bytes: number) => void
  readonly sent: (bytes: number) => void
  readonly breach: (rule: SandboxReport.Rule, message: string) => void
  readonly urlExpired: () => void
  /** Storage refused the request, with this code. */
  readonly refused: (status: number, code: string) => void
  /** The media type of an upload, as its initiate request declared it. */
  readonly declared: (fileId: string, mediaType: string | undefined) => void
  /** The parts that a complete request names. */
  readonly listed: (parts: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }>) => void
  /** The request's file is finalized now. */
  readonly finalized: () => void
  /** A response with this status told the client not to ask again before `until`, in milliseconds of the server's clock. */
  readonly retryAfter: (status: number, until: number) => void
  /** The server does not read on, so it does not notice when the client leaves: what follows is not held against it. */
  readonly unheard: () => void
  readonly finish: (outcome: typeof SandboxReport.Outcome.Type, answered?: Answered | undefined) => void
}

/**
 * Records requests, and reports what it has recorded.
 *
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

const isPut = ({ operation }: Arrival): boolean => operation === "put" || operation === "putPart"

const repeatableStatuses = [408, 409, 429]
const repeatableCodes = ["RequestTimeout", "IncompleteBody", "SlowDown"]

const isFinal = (status: number, code: string): boolean =>
  status >= 400 && status < 500 && !repeatableStatuses.includes(status) && !repeatableCodes.includes(code)

const signedHeadersOf = (target: string): ReadonlyArray<string> =>
  new URLSearchParams(target.slice(target.indexOf("?") + 1)).get("X-Amz-SignedHeaders")?.split(";") ?? []

/** The rules that one request breaks by itself, whatever came before. */
const inItself = (arrival: Arrival): ReadonlyArray<readonly [SandboxReport.Rule, string]> => {
  if (arrival.server === "api" || arrival.operation === "preflight") {
    return []
  }
  const trace = arrival.headerNames.filter(isTraceHeader)
  const signed = signedHeadersOf(arrival.target)
  const encryption = arrival.operation === "putPart"
    ? arrival.headerNames.filter((name) => name.startsWith("x-amz-server-side-encryption") && !signed.includes(name))
    : []
  return [
    ...(arrival.headerNames.includes("authorization")
      ? [["BearerAtStorage", "An Authorization header was sent to the storage"] as const]
      : []),
    ...(trace.length > 0
      ? [["TraceHeadersAtStorage", `Trace headers were sent to the storage: ${trace.join(", ")}`] as const]
      : []),
    ...(encryption.length > 0
      ? [["EncryptionHeaderOnPart", `The URL of the part does not sign ${encryption.join(", ")}`] as const]
      : [])
  ]
}

/**
 * A recorder that has seen nothing yet.
 *
 * @category constructors
 */
export const make = (options?: { readonly inFlightLimit?: number | undefined }): SandboxRecorder => {
  const entries: Array<Entry> = []
  const breaches: Array<SandboxReport.Breach> = []
  const attempts = new Map<string, number>()
  const expiredTargets = new Set<string>()
  const refusedTargets = new Map<string, string>()
  const openPuts = new Map<string, number>()
  const declaredTypes = new Map<string, string>()
  const finalizedFiles = new Set<string>()
  // by file and part, the etag of the attempt that started last: an older one may end after it
  const etags = new Map<string, { readonly etag: string; readonly request: number }>()
  // the wait of a 429 of the service applies to all of it, any other only to the URL
  const waits = new Map<string, number>()
  const waitOf = (key: string): number => waits.get(key) ?? Number.NEGATIVE_INFINITY
  const limit = options?.inFlightLimit ?? Number.POSITIVE_INFINITY
  let inFlight = 0
  let mostInFlight = 0

  const partKey = (fileId: string | undefined, part: number | undefined): string => JSON.stringify([fileId, part])

  const noteUrl = ({ at, server, target }: Arrival, breach: Recording["breach"]) => {
    const refusal = refusedTargets.get(target)
    if (expiredTargets.has(target)) {
      breach("ExpiredUrlRetried", "The URL was used again after the storage had reported it as expired")
    } else if (refusal !== undefined) {
      breach("RefusalRetried", `The URL was used again after the storage had refused it: ${refusal}`)
    }
    const wait = Math.max(waitOf(target), server === "api" ? waitOf("api") : Number.NEGATIVE_INFINITY)
    if (at < wait) {
      breach("EarlierThanRetryAfter", `Asked ${wait - at} ms earlier than Retry-After allows`)
    }
  }

  const notePut = (arrival: Arrival, key: string, breach: Recording["breach"]) => {
    const { contentType, fileId, operation } = arrival
    const open = openPuts.get(key) ?? 0
    openPuts.set(key, open + 1)
    inFlight += 1
    mostInFlight = Math.max(mostInFlight, inFlight)
    const declared = fileId === undefined ? undefined : declaredTypes.get(fileId)
    if (open > 0) {
      breach("OverlappingAttempts", "PUT while an earlier attempt of the same was still running")
    }
    if (inFlight > limit) {
      breach("TooManyInFlight", `${inFlight} PUTs at once, where ${limit} are allowed`)
    }
    if (fileId !== undefined && finalizedFiles.has(fileId)) {
      breach("PutAfterFinalized", "Bytes were sent to a finalized upload")
    }
    if (operation === "put" && declared !== undefined && contentType !== declared) {
      breach("MediaTypeDiffers", `${declared} was declared, ${contentType ?? "nothing"} was sent`)
    }
  }

  const noteEtags = (
    { fileId }: Arrival,
    parts: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }>,
    breach: Recording["breach"]
  ) => {
    const wrong = parts.filter(({ etag, partNumber }) => etags.get(partKey(fileId, partNumber))?.etag !== etag)
    if (wrong.length > 0) {
      const numbers = wrong.slice(0, 5).map(({ partNumber }) => partNumber).join(", ")
      breach("WrongEtag", `Not the etags that were last returned: of part ${numbers}${wrong.length > 5 ? ", ..." : ""}`)
    }
  }

  return {
    arrived: (arrival) => {
      const index = entries.length
      const key = JSON.stringify([arrival.operation, arrival.fileId, arrival.part])
      const attempt = (attempts.get(key) ?? 0) + 1
      const entry: Entry = { arrival, attempt, bytesReceived: 0, bytesSent: 0, status: undefined, outcome: "open" }
      // of a response that is lost, the client learns nothing
      let isExpired = false
      let refusal: string | undefined
      const breach: Recording["breach"] = (rule, message) => {
        breaches.push(new SandboxReport.Breach({ rule, message, request: index }))
      }

      let isCounted = isPut(arrival)
      const leave = () => {
        if (!isCounted) return
        isCounted = false
        inFlight -= 1
        openPuts.set(key, (openPuts.get(key) ?? 1) - 1)
      }

      attempts.set(key, attempt)
      entries.push(entry)
      inItself(arrival).forEach(([rule, message]) => breach(rule, message))
      noteUrl(arrival, breach)
      if (isPut(arrival)) {
        notePut(arrival, key, breach)
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
          isExpired = true
        },
        refused: (status, code) => {
          if (isPut(arrival) && isFinal(status, code)) {
            refusal = `${status} ${code}`
          }
        },
        declared: (fileId, mediaType) => {
          if (mediaType !== undefined) {
            declaredTypes.set(fileId, mediaType)
          }
        },
        listed: (parts) => noteEtags(arrival, parts, breach),
        finalized: () => {
          if (arrival.fileId !== undefined) {
            finalizedFiles.add(arrival.fileId)
          }
        },
        retryAfter: (status, until) => {
          const key = arrival.server === "api" && status === 429 ? "api" : arrival.target
          waits.set(key, Math.max(waitOf(key), until))
        },
        unheard: leave,
        finish: (outcome, answered) => {
          const wasOpen = entry.outcome === "open"
          entry.outcome = outcome
          entry.status = answered?.status
          if (wasOpen && outcome === "answered") {
            if (isExpired) expiredTargets.add(arrival.target)
            if (refusal !== undefined) refusedTargets.set(arrival.target, refusal)
          }
          if (!isPut(arrival) || !wasOpen) {
            return
          }
          leave()
          const told = partKey(arrival.fileId, arrival.part)
          const before = etags.get(told)
          if (answered?.etag !== undefined && (before === undefined || before.request < index)) {
            etags.set(told, { etag: answered.etag, request: index })
          }
        }
      }
    },
    report: () => new SandboxReport.SandboxReport({ requests: entries.map(toSeen), breaches, mostInFlight })
  }
}
