/** What a response says before its body. */
export interface AnswerHead {
  readonly status: number
  /** Names in lower case; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  /** Each `set-cookie`, since they cannot be joined. */
  readonly cookies: ReadonlyArray<string>
  /** Whether the connection can be reused for another request. */
  readonly persistent: boolean
}

/** The events of an incoming response, in this order. The bytes are the ones that were pushed, not a copy. */
export interface AnswerEvents {
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
const trimmed = (value: string): string => {
  const isBlank = (index: number): boolean => value[index] === " " || value[index] === "\t"
  let start = 0
  let end = value.length
  while (start < end && isBlank(start)) start++
  while (end > start && isBlank(end - 1)) end--
  return value.slice(start, end)
}

const isToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const fieldOf = (line: string): readonly [name: string, value: string] => {
  const colon = line.indexOf(":")
  const name = line.slice(0, Math.max(0, colon)).toLowerCase()
  if (!isToken.test(name)) throw new MalformedAnswer("A header has no name")
  if (/[\0\r]/.test(line)) throw new MalformedAnswer("A header contains a line break")
  return [name, trimmed(line.slice(colon + 1))]
}

/**
 * Parses one HTTP/1.1 response, pushed in pieces of any size. It passes the body on without copying it, which is the
 * reason it exists: Node's own parser copies each piece of a body, and that is a quarter of the cost of a download.
 *
 * It rejects anything ambiguous: a length that is repeated or combined with chunks, a folded line, bytes after the end.
 *
 * @internal
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
          const line = this.#line.endsWith("\r") ? this.#line.slice(0, -1) : this.#line
          this.#line = ""
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
        const [, version, status] = /^HTTP\/(1\.[01]) (\d{3})(?: .*)?$/.exec(line) ?? []
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
        const [, size] = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line) ?? []
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
        fieldOf(line)
    }
  }

  #header(line: string): void {
    const [name, value] = fieldOf(line)
    if (name === "set-cookie") this.#cookies.push(value)
    const before = Object.hasOwn(this.#headers, name) ? this.#headers[name] : undefined
    this.#headers[name] = before === undefined ? value : `${before}, ${value}`
  }

  #body(): void {
    this.#seen = 0
    if (this.#status >= 100 && this.#status < 200) {
      if (this.#status === 101) throw new MalformedAnswer("No protocol switch was requested")
      this.#state = "status"
      return
    }
    const { connection = "", "content-length": length, "transfer-encoding": coding } = this.#headers
    const persistent = this.#version === "1.1" && !/(?:^|,)\s*close\s*(?:,|$)/i.test(connection)
    if (this.#status === 204) {
      // it has no body, but a server that declares one may send it
      this.#begin(persistent && coding === undefined && Number(length ?? 0) === 0, "length", 0)
    } else if (this.bodiless || this.#status === 304) this.#begin(persistent, "length", 0)
    else if (coding !== undefined) {
      if (length !== undefined || !/^chunked$/i.test(coding)) throw new MalformedAnswer("Its length is ambiguous")
      this.#begin(persistent, "chunkSize", 0)
    } else if (length === undefined) this.#begin(false, "close", 0)
    else if (/^\d{1,15}$/.test(length)) this.#begin(persistent, "length", Number(length))
    else throw new MalformedAnswer("Its length is invalid")
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
