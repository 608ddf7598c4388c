/** What a response says before its body. */
export interface AnswerHead {
  readonly status: number
  /** Names in lower case; repeated headers are joined by commas, but of those that have a single value the first counts. */
  readonly headers: Readonly<Record<string, string>>
  /** Each `set-cookie`, since they cannot be joined. */
  readonly cookies: ReadonlyArray<string>
  /** Whether the connection can be reused for another request. */
  readonly persistent: boolean
}

/** The events of an incoming response, in this order. The bytes are the ones that were pushed, not a copy. */
export interface AnswerEvents {
  /** The other side wants the body, which the request had announced with `Expect`. */
  readonly onContinue?: (() => void) | undefined
  readonly onHead: (head: AnswerHead) => void
  readonly onBody: (bytes: Uint8Array) => void
  readonly onEnd: () => void
}

/** The response is not HTTP/1.1 as defined by RFC 9112. The code covers every way it can be wrong. */
export class MalformedAnswer extends Error {
  readonly code = "ERR_MALFORMED_ANSWER"
}

type State = "status" | "header" | "length" | "close" | "chunkSize" | "chunk" | "chunkEnd" | "trailer" | "ended"

const longestHead = 65_536

// Without a regular expression: one for trailing blanks rescans each run of blanks from every position in it.
const trimmed = (value: string, blanks: string): string => {
  const isBlank = (index: number): boolean => blanks.includes(value[index] ?? "none")
  let start = 0
  let end = value.length
  while (start < end && isBlank(start)) start++
  while (end > start && isBlank(end - 1)) end--
  return value.slice(start, end)
}

const isToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+"

const quoted = String.raw`"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"`

const chunkHead = new RegExp(`^([0-9a-fA-F]{1,12})(?:;${token}(?:=(?:${token}|${quoted}))?)*$`)

// In the order in which Node lists them: a list of either cannot be told from two values
const singleValued = new Set([
  "age",
  "authorization",
  "content-type",
  "etag",
  "expires",
  "from",
  "host",
  "if-modified-since",
  "if-unmodified-since",
  "last-modified",
  "location",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "retry-after",
  "server",
  "user-agent"
])

const framing = new Set(["content-length", "transfer-encoding"])

const fieldOf = (line: string): readonly [name: string, value: string] => {
  const colon = line.indexOf(":")
  const name = line.slice(0, Math.max(0, colon)).toLowerCase()
  if (!isToken.test(name)) throw new MalformedAnswer("A header has no name")
  const value = line.slice(colon + 1)
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw new MalformedAnswer("A header contains a control character")
  // some ignore a coding or a length with a tab beside it, and would see the response end elsewhere
  return [name, trimmed(value, framing.has(name) ? " " : " \t")]
}

/**
 * Parses one HTTP/1.1 response, pushed in pieces of any size. It passes the body on without copying it, which is the
 * reason it exists: Node's own parser copies each piece of a body, and that is a quarter of the cost of a download.
 *
 * It rejects anything ambiguous: a length that is repeated or combined with chunks, a folded line, a line that does not
 * end in exactly CRLF, bytes after the end. A differential test shows that it rejects whatever Node's own parser does.
 */
export class AnswerParser {
  #state: State = "status"
  #line = ""
  #seen = 0
  #left = 0
  #status = 0
  #version = ""
  #headers: Record<string, string> = {}
  #cookies: Array<string> = []

  /** `bodiless`: whether this is the response to a HEAD, which has no body whatever the headers say. */
  constructor(readonly events: AnswerEvents, readonly bodiless = false) {}

  push(bytes: Buffer): void {
    for (let position = 0; position < bytes.byteLength;) {
      const rest = bytes.byteLength - position
      switch (this.#state) {
        case "length":
        case "chunk": {
          const taken = Math.min(rest, this.#left)
          this.#left -= taken
          this.events.onBody(bytes.subarray(position, position + taken))
          position += taken
          if (this.#left > 0) break
          if (this.#state === "length") this.#end()
          else this.#state = "chunkEnd"
          break
        }
        case "close":
          this.events.onBody(bytes.subarray(position))
          return
        case "ended":
          throw new MalformedAnswer("There are bytes after the response")
        default: {
          const end = bytes.indexOf(0x0a, position)
          this.#line += bytes.toString("latin1", position, end === -1 ? bytes.byteLength : end)
          this.#seen += (end === -1 ? bytes.byteLength : end + 1) - position
          if (this.#seen > longestHead) throw new MalformedAnswer("The head is too long")
          if (end === -1) return
          position = end + 1
          if (!this.#line.endsWith("\r")) throw new MalformedAnswer("A line does not end in CRLF")
          const line = this.#line.slice(0, -1)
          this.#line = ""
          if (line.includes("\r")) throw new MalformedAnswer("A line contains a line break")
          this.#take(line)
        }
      }
    }
  }

  /** The other side has closed the connection. Returns whether the response is complete. */
  close(): boolean {
    if (this.#state === "close") this.#end()
    return this.#state === "ended"
  }

  #take(line: string): void {
    switch (this.#state) {
      case "status": {
        const [, version, status] = /^HTTP\/(1\.[01]) (\d{3})(?: [\t\x20-\x7e\x80-\xff]*)?$/.exec(line) ?? []
        if (version === undefined || status === undefined) throw new MalformedAnswer("It is not an HTTP/1.1 response")
        this.#version = version
        this.#status = Number(status)
        this.#headers = {}
        this.#cookies = []
        this.#state = "header"
        return
      }
      case "header":
        return line === "" ? this.#body() : this.#header(line)
      case "chunkSize": {
        const [, size] = chunkHead.exec(line) ?? []
        if (size === undefined) throw new MalformedAnswer("A chunk has no size")
        this.#seen = 0
        this.#left = parseInt(size, 16)
        this.#state = this.#left === 0 ? "trailer" : "chunk"
        return
      }
      case "chunkEnd":
        if (line !== "") throw new MalformedAnswer("A chunk is longer than its size")
        this.#state = "chunkSize"
        return
      case "trailer":
        if (line === "") return this.#end()
        if (framing.has(fieldOf(line)[0])) throw new MalformedAnswer("Its length is ambiguous")
    }
  }

  #header(line: string): void {
    const [name, value] = fieldOf(line)
    if (name === "set-cookie") this.#cookies.push(value)
    const before = Object.hasOwn(this.#headers, name) ? this.#headers[name] : undefined
    if (before === undefined) this.#headers[name] = value
    else if (!singleValued.has(name)) this.#headers[name] = `${before}, ${value}`
  }

  #body(): void {
    this.#seen = 0
    const { connection = "", "content-length": length, "transfer-encoding": coding } = this.#headers
    if (length !== undefined && !/^\d{1,15}$/.test(length)) throw new MalformedAnswer("Its length is invalid")
    if (coding !== undefined && (length !== undefined || !/^chunked$/i.test(coding))) {
      throw new MalformedAnswer("Its length is ambiguous")
    }
    const persistent = this.#version === "1.1" && !/(?:^|,)\s*close\s*(?:,|$)/i.test(connection)
    if (this.#status >= 100 && this.#status < 200) {
      if (this.#status === 101) throw new MalformedAnswer("No protocol switch was requested")
      if (!persistent) throw new MalformedAnswer("The connection ends before the response")
      this.#state = "status"
      if (this.#status === 100) this.events.onContinue?.()
      return
    }
    if (this.#status === 204) {
      // it has no body, but a server that declares one may send it
      this.#begin(persistent && coding === undefined && Number(length ?? 0) === 0, "length", 0)
    } else if (this.bodiless || this.#status === 304) this.#begin(persistent, "length", 0)
    else if (coding !== undefined) this.#begin(persistent, "chunkSize", 0)
    else if (length === undefined) this.#begin(false, "close", 0)
    else this.#begin(persistent, "length", Number(length))
  }

  #begin(persistent: boolean, state: State, left: number): void {
    this.#state = state
    this.#left = left
    this.events.onHead({ status: this.#status, headers: this.#headers, cookies: this.#cookies, persistent })
    if (state === "length" && left === 0) this.#end()
  }

  #end(): void {
    this.#state = "ended"
    this.events.onEnd()
  }
}
