import * as HttpClient from "@effect/platform/HttpClient"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Checksum from "@stevedore/core/Checksum"
import * as ConnectionError from "@stevedore/core/ConnectionError"
import type { ObjectStorage, PutReceipt } from "@stevedore/core/ObjectStorage"
import type { ServiceApi } from "@stevedore/core/ServiceApi"
import type { ServiceWithToken } from "@stevedore/core/ServiceConfig"
import type { ByteRange } from "@stevedore/core/UploadPlan"
import type { MultipartSession, PartReceipt, SingleSession } from "@stevedore/core/UploadSession"
import * as UploadSources from "@stevedore/core/UploadSources"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { lookup } from "node:dns/promises"
import { createConnection, isIP, type Socket } from "node:net"
import { connect } from "node:tls"
import type { HttpProxy } from "../HttpProxy.js"
import * as Comparison from "../parts/comparison.js"

/** The names of the checks, in order. */
export const checkIds = [
  "connection",
  "token",
  "rate-limit",
  "initiate",
  "clock",
  "single-put",
  "encryption",
  "part-put",
  "etag",
  "cors",
  "complete",
  "inspect",
  "download",
  "throughput"
] as const

/** The name of a check. */
export type CheckId = typeof checkIds[number]

/** What was left behind at the service: a `file` until it is deleted there, a `session` for about a day. */
export interface LeftBehind {
  readonly fileId: string
  readonly kind: "file" | "session"
  readonly bytes: number
}

/** A session that was completed is a file. */
export const settle = (left: Array<LeftBehind>, id: string): void => {
  const at = left.findIndex(({ fileId }) => fileId === id)
  const one = left[at]
  if (one !== undefined) left[at] = { ...one, kind: "file" }
}

/** The content of trial uploads: bytes that nobody needs. */
export const contentOf = (size: number): Uint8Array => {
  const content = new Uint8Array(size)
  for (let index = 0; index < size; index++) content[index] = Math.imul(index, 2_654_435_761) >>> 24
  return content
}

export const mediaType = "text/plain"
export const singleName = "stevedore-doctor-single.txt"
export const largeName = "stevedore-doctor-multipart.txt"

/** The same checksum of these bytes; undefined for an algorithm that is not known, or a value in another notation. */
export const sameOf = ({ algorithm, value }: Checksum.Checksum, bytes: Uint8Array) =>
  Effect.map(
    Comparison.reportedChecksum({ [algorithm]: value }),
    (known) => Option.getOrUndefined(Option.map(known, ({ algorithm }) => Checksum.ofBytes(algorithm, bytes).value))
  )

/** A check that did not pass: what was found, and what to do. */
export interface Problem {
  readonly _tag: "Problem"
  readonly found: string
  /** Defaults to the check's own. */
  readonly remedy?: string | undefined
  readonly unauthorized?: boolean | undefined
}

export const problem = (found: string, remedy?: string): Problem => ({ _tag: "Problem", found, remedy })

export const failed = (found: string, remedy?: string): Effect.Effect<never, Problem> =>
  Effect.fail(problem(found, remedy))

/** A check that passed, passed with something to note, or was not requested. */
export interface Finding {
  readonly found: string
  readonly note?: string | undefined
  readonly untried?: boolean | undefined
}

/** What the checks have found so far, for those that follow. */
export interface Found {
  readonly service: ServiceWithToken
  /** Omitted if there is no proxy. */
  readonly proxy?: HttpProxy | undefined
  readonly singleContent: Uint8Array
  readonly largeContent: Uint8Array
  /** A connection to the service was established. */
  reached?: true | undefined
  single?: SingleSession | undefined
  /** When that session was asked for, between request and response, in milliseconds of Unix time. */
  initiatedAt?: number | undefined
  multipart?: MultipartSession | undefined
  singleReceipt?: PutReceipt | undefined
  partReceipts?: ReadonlyArray<PartReceipt> | undefined
  /** Bytes per second. */
  speed?: number | undefined
  /** The id of a file that the service says is complete. */
  fileId?: string | undefined
  readonly left: Array<LeftBehind>
}

export type Needed = "reached" | "single" | "multipart" | "singleReceipt" | "partReceipts" | "speed" | "fileId"

/** A check as data; `needs` is what an earlier check must have found. */
export interface Check<R> {
  readonly id: CheckId
  readonly title: string
  /** What to do when it fails, if the failure itself does not say. */
  readonly remedy: string
  readonly needs: ReadonlyArray<Needed>
  readonly run: (found: Found) => Effect.Effect<Finding, Problem, R>
}

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, "")

/** Resolves the host name and establishes a connection, over TLS if the address says so. */
export const reach = (url: URL): Effect.Effect<string, Problem> =>
  Effect.gen(function*() {
    const { address } = yield* Effect.tryPromise({
      try: () => lookup(hostOf(url)),
      catch: () => problem(`${url.hostname} does not resolve`, "Check the base URL, the network and its DNS server.")
    })
    if (url.protocol !== "https:") {
      yield* connection(url)
      return `${url.hostname} resolves to ${address}; no TLS`
    }
    const { authorized, protocol, until } = yield* handshake(url)
    if (authorized !== "") {
      return yield* failed(
        `the certificate of ${url.hostname} was rejected: ${authorized}`,
        ConnectionError.adviceOf({ code: authorized, origin: url.origin })
      )
    }
    return `${url.hostname} resolves to ${address}; ${protocol}, certificate valid until ${until}`
  })

const unreachable = "Check the base URL, the network, and whether a firewall or proxy blocks the connection."

const connected = <A>(
  url: URL,
  open: (peer: { readonly host: string; readonly port: number }, ready: (result: A) => void) => Socket
): Effect.Effect<A, Problem> =>
  Effect.async((resume) => {
    const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
    const socket = open({ host: hostOf(url), port }, (result) => {
      resume(Effect.succeed(result))
      socket.destroy()
    })
    socket.once("error", (error: NodeJS.ErrnoException) =>
      resume(
        failed(`no connection to ${url.host} (${error.code ?? "unknown reason"})`, unreachable)
      ))
    return Effect.sync(() => socket.destroy())
  })

const connection = (url: URL): Effect.Effect<void, Problem> =>
  connected<void>(url, (peer, ready) => createConnection(peer, ready))

const handshake = (url: URL) =>
  connected<{ readonly authorized: string; readonly protocol: string; readonly until: string }>(
    url,
    ({ host, port }, ready) => {
      // an IP address is not a name, and must not be sent as a server name
      const socket = connect(
        { host, port, servername: isIP(host) === 0 ? host : "", rejectUnauthorized: false },
        () =>
          ready({
            authorized: socket.authorized ? "" : String(socket.authorizationError),
            protocol: socket.getProtocol() ?? "TLS",
            until: socket.getPeerCertificate().valid_to
          })
      )
      return socket
    }
  )

/** Behind a proxy, which resolves host names itself, the most that can be asked for is a response. */
export const reachBy = (proxy: HttpProxy, request: HttpClientRequest.HttpClientRequest) =>
  Effect.map(headersOf(request), () => `${new URL(request.url).host} answers`).pipe(
    Effect.mapError(({ found }) =>
      problem(
        found,
        `Check the proxy ${proxy.origin}: the variable that sets it, its user and password, and whether it allows ` +
          "this host. Hosts in no_proxy are reached without it."
      )
    )
  )

const lineRemedy = "Check the network, and whether a firewall or proxy blocks the connection; then run it again."
const laterRemedy = "Run it again later; if it fails again, give the service's operator the request id."

/** What to do about failures that are not specific to the step where they occur. */
const remedies: ReadonlyMap<string, string> = new Map([
  ["Unauthorized", "Use a valid token."],
  ["ConnectionFailed", lineRemedy],
  ["TimedOut", lineRemedy],
  ["RateLimited", laterRemedy],
  ["ServiceUnavailable", laterRemedy],
  ["StorageUnavailable", laterRemedy]
])

/** The response to a request, whose connection goes back with the scope. No span shows its URL. */
export const executed = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(
    HttpClient.HttpClient,
    (client) => client.pipe(HttpClient.withTracerDisabledWhen(() => true), HttpClient.withScope).execute(request)
  )

/** The headers of a response, whatever its status. No token is sent. */
export const headersOf = (request: HttpClientRequest.HttpClientRequest) =>
  executed(request).pipe(
    Effect.flatMap((response) =>
      Effect.as(Effect.ignore(response.text), { status: response.status, headers: response.headers })
    ),
    Effect.scoped,
    Effect.mapError((error) => {
      const code = ConnectionError.systemCode(error)
      return problem(
        `no answer from ${new URL(request.url).host}${code === undefined ? "" : ` (${code})`}`,
        lineRemedy
      )
    })
  )

/** A range of bytes as a section to upload. */
export const sectionOf = (name: string, bytes: Uint8Array, range: ByteRange) =>
  Effect.flatMap(UploadSources.fromBytes(name, bytes, { mediaType }).open, (source) => source.section(range))

/** The services that a check requires. */
export type Needs = ServiceApi | ObjectStorage | HttpClient.HttpClient

/** The failure of a step as a problem: its message already names the next step. */
export const problemFrom = <A, E extends { readonly _tag: string; readonly message: string }, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Problem, R> =>
  Effect.mapError(effect, ({ _tag, message }) => ({
    ...problem(`${_tag}: ${message}`, remedies.get(_tag)),
    unauthorized: _tag === "Unauthorized"
  }))

const missing = failed("something that this check needs is missing")

/** What an earlier check has found. */
export const present = <A>(value: A | undefined): Effect.Effect<A, Problem> =>
  value === undefined ? missing : Effect.succeed(value)
