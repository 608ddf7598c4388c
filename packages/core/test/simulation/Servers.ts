import { Checksum } from "@stevedore/core"
import type { CallTrouble, Meaning, PutTrouble, StorageRow } from "./Faults.js"
import type { Exchange, Session } from "./History.js"
import { limits } from "./Scenario.js"
import { signatureMark, storageOrigin, token, type World } from "./World.js"

/** An answer on its way to the client. */
export interface Answer {
  readonly status: number
  readonly kind: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly meaning?: Meaning
  readonly etag?: string
}

interface Stored {
  readonly etag: string
  readonly bytes: Uint8Array
}

interface Grant {
  readonly session: OpenSession
  readonly part: number
  readonly signedHeaders: ReadonlyArray<string>
}

/** A session as the servers keep it. */
export interface OpenSession {
  readonly known: Session
  readonly mediaType: string
  readonly stored: Map<number, Stored>
}

const day = 24 * 3_600_000

const basicDate = (millis: number): string => new Date(millis).toISOString().replace(/[-:]|\.\d{3}/g, "")

const concatenate = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(pieces.reduce((size, piece) => size + piece.length, 0))
  let offset = 0
  for (const piece of pieces) {
    bytes.set(piece, offset)
    offset += piece.length
  }
  return bytes
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null

/** The service and the storage: strict, and with one clock, which is right. */
export class Servers {
  private readonly sessions = new Map<string, OpenSession>()
  private readonly grants = new Map<string, Grant>()
  private count = 0
  private windowEnds = Number.NEGATIVE_INFINITY
  private callsInWindow = 0

  constructor(private readonly world: World) {}

  private get now(): number {
    return this.world.now
  }

  // Storage

  private storageError(row: StorageRow, kind: string): Answer {
    const body = row.body ??
      `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${row.code ?? ""}</Code>${
        row.elements?.(this.now) ?? ""
      }<RequestId>R${this.count}</RequestId></Error>`
    const isSlow = row.meaning === "slowDown" && this.world.chance.happens(0.4)
    return {
      status: row.status,
      kind,
      meaning: row.meaning,
      headers: {
        ...row.headers,
        date: new Date(this.now).toUTCString(),
        ...(isSlow ? { "retry-after": String(this.world.chance.whole(1, 20)) } : {})
      },
      body
    }
  }

  /** Whether a PUT meets this trouble. Storage that takes a file once says 412 because it has one, and of nothing else. */
  meets(trouble: PutTrouble | undefined, grant: Grant | undefined): boolean {
    if (trouble !== "412 PreconditionFailed" || grant === undefined || grant.session.known.uploadId !== undefined) {
      return true
    }
    const { known, stored } = grant.session
    // nothing of this session was sent before: the file is somebody else's
    return stored.has(grant.part) ||
      !this.world.history.exchanges.some(({ fileId, part }) => fileId === known.fileId && part !== undefined)
  }

  /** What storage says to a PUT instead of storing it. */
  row(row: StorageRow, kind: string, exchange: Exchange): Answer {
    const session = exchange.fileId === undefined ? undefined : this.sessions.get(exchange.fileId)
    // by the clock: past the URL's own deadline it can only be the deadline
    const isOver = session !== undefined && this.now >= session.known.deadline
    if (kind === "403 unreadable" && isOver) return this.storageError({ ...row, meaning: "newSession" }, kind)
    const etag = row.status === 412 && session?.known.uploadId === undefined
      ? session?.stored.get(exchange.part ?? 1)?.etag
      : undefined
    return etag === undefined
      ? this.storageError(row, kind)
      : { ...this.storageError({ ...row, meaning: "there" }, kind), etag }
  }

  grantOf(url: URL): Grant | undefined {
    const grant = this.grants.get(url.searchParams.get("X-Amz-Signature") ?? "")
    return grant !== undefined && url.pathname === `/${grant.session.known.fileId}` ? grant : undefined
  }

  /** Why storage refuses a PUT by its headers and its time; none when it takes it. */
  refusal(url: URL, headers: Readonly<Record<string, string>>): Answer | undefined {
    const grant = this.grantOf(url)
    const refuse = (status: number, code: string, meaning: Meaning, elements = "") =>
      this.storageError({ status, code, meaning, elements: () => elements }, `${status} ${code} (earned)`)
    if (grant === undefined) return refuse(403, "SignatureDoesNotMatch", "never")
    if (headers["authorization"] !== undefined) return refuse(400, "InvalidArgument", "never")
    const { session } = grant
    if (this.now >= session.known.deadline) {
      const expires = new Date(session.known.deadline).toISOString()
      const serverTime = new Date(this.now).toISOString()
      return refuse(
        403,
        "AccessDenied",
        "newSession",
        `<Message>Request has expired</Message><Expires>${expires}</Expires><ServerTime>${serverTime}</ServerTime>`
      )
    }
    if (grant.signedHeaders.some((name) => headers[name] === undefined)) {
      return refuse(403, "SignatureDoesNotMatch", "never")
    }
    const unsigned = Object.keys(headers).filter((name) =>
      name.startsWith("x-amz-") && !grant.signedHeaders.includes(name)
    )
    if (unsigned.length > 0) {
      return refuse(403, "AccessDenied", "never", `<HeadersNotSigned>${unsigned.join(", ")}</HeadersNotSigned>`)
    }
    if (headers["content-length"] === undefined) return refuse(411, "MissingContentLength", "never")
    this.collect(session)
    if (session.known.uploadId !== undefined && (session.known.finalized ?? session.known.ended) !== undefined) {
      return refuse(404, "NoSuchUpload", "never")
    }
    return undefined
  }

  /** Keeps the bytes of a PUT: the last one of a part counts. */
  store(exchange: Exchange, url: URL, bytes: Uint8Array, isLate: boolean): string | undefined {
    const grant = this.grantOf(url)
    if (grant === undefined) return undefined
    const { part, session } = grant
    if (session.known.uploadId !== undefined && (session.known.finalized ?? session.known.ended) !== undefined) {
      return undefined
    }
    this.count++
    const etag = this.world.scenario.etags === "unique"
      ? `"${this.count}-${part}"`
      : `"${Checksum.ofBytes(Checksum.crc32, bytes).value}"`
    session.stored.set(part, { etag, bytes })
    this.world.history.writes.push({
      ...this.world.moment(),
      exchange: exchange.id,
      fileId: session.known.fileId,
      part,
      etag,
      length: bytes.length,
      late: isLate
    })
    if (session.known.uploadId === undefined) {
      if (session.known.finalized !== undefined) session.known.content = bytes
      else if (this.world.scenario.finalizesAlone && bytes.length === session.known.size) this.finalize(session, bytes)
    }
    return etag
  }

  stored(bytes: Uint8Array, etag: string, isTold: boolean): Answer {
    return {
      status: 200,
      kind: isTold ? "200" : "200 etag missing",
      meaning: isTold ? "stored" : "never",
      headers: {
        ...(isTold ? { etag } : {}),
        "x-amz-request-id": `R${this.count}`,
        ...(this.world.scenario.answersChecksum
          ? { "x-amz-checksum-crc32": Checksum.ofBytes(Checksum.crc32, bytes).value }
          : {})
      },
      body: "",
      etag
    }
  }

  // The service

  private finalize(session: OpenSession, bytes: Uint8Array): void {
    session.known.finalized = this.world.moment()
    session.known.content = bytes
  }

  private collect(session: OpenSession): void {
    if (session.known.finalized === undefined && this.now > session.known.opened.at + day) {
      session.known.ended ??= this.world.moment()
    }
  }

  private json(status: number, value: unknown, kind = String(status)): Answer {
    return { status, kind, headers: this.headers(), body: JSON.stringify(value) }
  }

  private refused(status: number, code: string): Answer {
    return this.json(status, { errors: [{ code, title: code }] }, `${status} ${code}`)
  }

  private headers(): Record<string, string> {
    const { answersDate, rateLimit } = this.world.scenario
    return {
      "content-type": "application/json",
      ...(answersDate ? { date: new Date(this.now).toUTCString() } : {}),
      ...(rateLimit === undefined ? {} : {
        "x-ratelimit-limit": String(rateLimit.calls),
        "x-ratelimit-remaining": String(Math.max(0, rateLimit.calls - this.callsInWindow)),
        "x-ratelimit-reset": String(Math.ceil(this.windowEnds / 1000))
      })
    }
  }

  private isOverLimit(): boolean {
    const { rateLimit } = this.world.scenario
    if (rateLimit === undefined) return false
    if (this.now >= this.windowEnds) {
      this.windowEnds = this.now + rateLimit.windowMillis
      this.callsInWindow = 0
    }
    this.callsInWindow++
    return this.callsInWindow > rateLimit.calls
  }

  /** The answer to a call, with all that it does. */
  call(exchange: Exchange, body: string, trouble: CallTrouble | undefined): Answer {
    exchange.arrived = this.world.moment()
    if (this.isOverLimit()) {
      const answer = this.refused(429, "TooManyRequests")
      const wait = Math.max(1, Math.ceil((this.windowEnds - this.now) / 1000))
      this.world.met("rate limit")
      return { ...answer, kind: "429 limit", headers: { ...answer.headers, "retry-after": String(wait) } }
    }
    const refusal = this.refusalOf(exchange, trouble)
    if (refusal !== undefined) return refusal
    const answer = this.carryOut(exchange, body)
    switch (trouble) {
      case "500 done":
        return this.refused(500, "InternalError")
      case "504 done":
        return { status: 504, kind: "504", headers: {}, body: "" }
      case "no JSON":
        return { ...answer, kind: "no JSON", body: "<html>welcome</html>" }
      case "wrong shape":
        return { ...answer, kind: "wrong shape", body: "{\"data\":{\"status\":1}}" }
      case "wrong number of URLs": {
        const text = answer.body.replace(/("urls":\[(?:"[^"]*"|\{[^}]*\})),/, "$1],\"more\":[")
        return { ...answer, kind: text === answer.body ? answer.kind : "wrong number of URLs", body: text }
      }
      default:
        return answer
    }
  }

  private refusalOf(exchange: Exchange, trouble: CallTrouble | undefined): Answer | undefined {
    if (exchange.headers["authorization"] !== `Bearer ${token}`) return this.refused(401, "Unauthorized")
    switch (trouble) {
      case "307":
        return { status: 307, kind: "307", headers: { location: `${storageOrigin}/elsewhere` }, body: "" }
      case "400":
        return this.refused(400, "ValidationError")
      case "401":
        return this.refused(401, "Unauthorized")
      case "403":
        return this.refused(403, "Forbidden")
      case "404":
        return this.refused(404, "NotFound")
      case "409":
        return this.refused(409, "Conflict")
      case "422":
        return this.refused(422, "UnprocessableContent")
      case "429": {
        const answer = this.refused(429, "TooManyRequests")
        const wait = this.world.chance.weighed([["1", 4], ["7", 4], ["90", 1]])
        return this.world.chance.happens(0.8)
          ? { ...answer, headers: { ...answer.headers, "retry-after": wait } }
          : answer
      }
      case "500":
        return this.refused(500, "InternalError")
      case "502 HTML":
        return {
          status: 502,
          kind: "502 HTML",
          headers: { "content-type": "text/html" },
          body: "<html>Bad Gateway</html>"
        }
      case "503":
        return {
          status: 503,
          kind: "503",
          headers: this.world.chance.happens(0.3) ? { "retry-after": "3" } : {},
          body: ""
        }
      default:
        return undefined
    }
  }

  private carryOut(exchange: Exchange, body: string): Answer {
    switch (exchange.operation) {
      case "initiate":
      case "initiateLarge":
        return this.initiate(exchange, body)
      case "complete":
      case "completeLarge":
        return this.complete(exchange, body)
      case "file": {
        const session = this.sessions.get(exchange.fileId ?? "")
        const hasRecord = session !== undefined &&
          (session.known.finalized !== undefined || this.world.scenario.recordsAtOnce)
        return hasRecord ? this.record(session) : this.refused(404, "NotFound")
      }
      case "download": {
        const { content, finalized, size } = this.sessions.get(exchange.fileId ?? "")?.known ?? {}
        return finalized === undefined || content === undefined ? this.refused(404, "NotFound") : {
          status: 206,
          kind: "206",
          headers: { "content-range": `bytes 0-0/${size}`, "content-length": "1" },
          body: "x"
        }
      }
      default:
        return this.refused(404, "NotFound")
    }
  }

  private record({ known, mediaType }: OpenSession): Answer {
    return this.json(200, {
      data: {
        id: known.fileId,
        name: known.name,
        type: mediaType,
        size: known.size,
        status: known.finalized === undefined || this.world.scenario.isPendingAfter ? "pending" : "completed",
        author: null,
        created_at: new Date(known.opened.at).toISOString(),
        ...(this.world.scenario.reportsChecksum && known.content !== undefined
          ? { checksum: Checksum.ofBytes(Checksum.crc32, known.content) }
          : {})
      }
    })
  }

  private initiate(exchange: Exchange, body: string): Answer {
    const asked: unknown = JSON.parse(body)
    if (!isRecord(asked) || typeof asked.name !== "string" || typeof asked.size !== "number") {
      return this.refused(400, "ValidationError")
    }
    const { name, size } = asked
    const isLarge = exchange.operation === "initiateLarge"
    if (size < 1 || size > (isLarge ? limits.multipartSize : limits.singleSize)) {
      return this.refused(400, "ValidationError")
    }
    const { partSize, urlLifetimeSeconds } = this.world.scenario
    const parts = isLarge ? typeof asked.parts === "number" ? asked.parts : Math.ceil(size / partSize) : 1
    this.count++
    const fileId = `F${String(this.world.scenario.seed % 1e6).padStart(6, "0")}x${String(this.count).padStart(14, "0")}`
    const session: OpenSession = {
      known: {
        fileId,
        uploadId: isLarge ? `u-${this.count}` : undefined,
        name,
        size,
        parts,
        life: exchange.life,
        opened: this.world.moment(),
        deadline: Math.floor(this.now / 1000) * 1000 + urlLifetimeSeconds * 1000
      },
      mediaType: typeof asked.type === "string" ? asked.type : "",
      stored: new Map()
    }
    this.sessions.set(fileId, session)
    this.world.history.sessions.set(fileId, session.known)
    const urls = Array.from({ length: parts }, (_, index) => this.sign(session, index + 1))
    const listed = this.world.scenario.urlObjects ? urls.map((url, index) => ({ url, part_number: index + 1 })) : urls
    const opened = isLarge
      ? { id: fileId, upload_id: session.known.uploadId, urls: listed }
      : { id: fileId, upload_url: urls[0] }
    return this.json(201, this.world.scenario.hasEnvelope ? { data: opened } : opened)
  }

  private sign(session: OpenSession, part: number): string {
    const { deadline, fileId, uploadId } = session.known
    const signedHeaders = uploadId === undefined ? ["x-amz-server-side-encryption"] : []
    const signature = `${signatureMark}${fileId}-${part}`
    this.grants.set(signature, { session, part, signedHeaders })
    const seconds = this.world.scenario.urlLifetimeSeconds
    return `${storageOrigin}/${fileId}?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=${
      basicDate(deadline - seconds * 1000)
    }&X-Amz-Expires=${seconds}&X-Amz-SignedHeaders=${["host", ...signedHeaders].join("%3B")}${
      uploadId === undefined ? "" : `&partNumber=${part}&uploadId=${uploadId}`
    }&X-Amz-Signature=${signature}`
  }

  private complete(exchange: Exchange, body: string): Answer {
    const session = this.sessions.get(exchange.fileId ?? "")
    if (session === undefined) return this.refused(404, "NotFound")
    this.collect(session)
    if (session.known.finalized !== undefined) return this.record(session)
    if (session.known.ended !== undefined) return this.refused(404, "NotFound")
    return exchange.operation === "complete" ? this.completeSingle(session) : this.completeLarge(session, body)
  }

  private completeSingle(session: OpenSession): Answer {
    const object = session.stored.get(1)
    if (object === undefined || object.bytes.length !== session.known.size) {
      return this.refused(422, "UnprocessableContent")
    }
    this.finalize(session, object.bytes)
    return this.record(session)
  }

  private completeLarge(session: OpenSession, body: string): Answer {
    const asked: unknown = JSON.parse(body)
    const listed = isRecord(asked) && Array.isArray(asked.parts) ? asked.parts.filter(isRecord) : []
    const pieces = listed.flatMap((part, index) => {
      const stored = session.stored.get(index + 1)
      return part.part_number === index + 1 && stored !== undefined && stored.etag === part.etag ? [stored.bytes] : []
    })
    const isTooSmall = pieces.slice(0, -1).some((piece) => piece.length < limits.minimumPartSize)
    const bytes = concatenate(pieces)
    if (pieces.length !== session.known.parts || pieces.length !== listed.length || isTooSmall) {
      this.world.met("Complete refused by storage")
      return this.world.scenario.refusal === "502"
        ? this.refused(502, "BadGateway")
        : this.refused(400, "InvalidPart")
    }
    if (bytes.length !== session.known.size) {
      session.known.ended = this.world.moment()
      return this.refused(422, "UnprocessableContent")
    }
    this.finalize(session, bytes)
    return this.record(session)
  }
}
