/** HTTP/1.1 requests from the bytes of a connection. Large bodies are counted and dropped: that is what makes it cheap. */

export interface Request {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** How many bytes the body had, without what a chunked encoding adds. */
  readonly bodyLength: number
  /** The body, of requests that are not there to bring bytes. */
  readonly text: string
}

/** What the reader tells while it reads. */
export interface Listener {
  /** The head has come; the answer to `Expect: 100-continue` is due. */
  readonly onExpected: () => void
  readonly onBytes: (count: number) => void
  readonly onRequest: (request: Request) => void
}

const longestHead = 65_536

const bringsBytes = (method: string): boolean => method === "PUT" || method === "PATCH"

interface Head {
  readonly method: string
  readonly target: string
  readonly headers: ReadonlyMap<string, string>
}

const parseHead = (text: string): Head => {
  const [first = "", ...lines] = text.split("\r\n")
  const [method = "", target = ""] = first.split(" ")
  const headers = lines.map((line): readonly [string, string] => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  return { method, target, headers: new Map(headers) }
}

type State =
  | { readonly _tag: "Head" }
  | { readonly _tag: "Body"; remaining: number }
  | { readonly _tag: "ChunkSize" }
  | { readonly _tag: "Chunk"; remaining: number }
  | { readonly _tag: "Trailer" }

/** Give it every chunk of a connection in order. */
export class RequestReader {
  private state: State = { _tag: "Head" }
  private pending: Buffer = Buffer.alloc(0)
  private head: Head = parseHead("")
  private bodyLength = 0
  private text: Array<string> = []

  constructor(private readonly listener: Listener) {}

  read(chunk: Buffer): void {
    let rest = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk])
    this.pending = Buffer.alloc(0)
    while (rest.length > 0) {
      const taken = this.step(rest)
      if (taken === 0) {
        if (rest.length > longestHead) throw new Error("The head of a request has no end")
        // a copy: the chunk's memory belongs to the socket
        this.pending = Buffer.from(rest)
        return
      }
      rest = rest.subarray(taken)
    }
  }

  /** Takes bytes from the beginning, and says how many; 0 when there are too few. */
  private step(bytes: Buffer): number {
    switch (this.state._tag) {
      case "Head":
        return this.line(bytes, "\r\n\r\n", (text) => this.begin(text))
      case "Body":
      case "Chunk":
        return this.body(bytes, this.state)
      case "ChunkSize":
        return this.line(bytes, "\r\n", (text) => {
          const size = Number.parseInt(text, 16)
          this.state = size === 0 ? { _tag: "Trailer" } : { _tag: "Chunk", remaining: size + 2 }
          this.bodyLength += size
        })
      case "Trailer":
        return this.line(bytes, "\r\n", (text) => {
          if (text === "") this.end()
        })
    }
  }

  private line(bytes: Buffer, end: string, then: (text: string) => void): number {
    const at = bytes.indexOf(end)
    if (at === -1) return 0
    then(bytes.toString("latin1", 0, at))
    return at + end.length
  }

  private begin(text: string): void {
    this.head = parseHead(text)
    this.bodyLength = 0
    this.text = []
    if (this.head.headers.get("expect") === "100-continue") this.listener.onExpected()
    if (this.head.headers.get("transfer-encoding") === "chunked") {
      this.state = { _tag: "ChunkSize" }
      return
    }
    const remaining = Number(this.head.headers.get("content-length") ?? 0)
    this.bodyLength = remaining
    if (remaining === 0) this.end()
    else this.state = { _tag: "Body", remaining }
  }

  private body(bytes: Buffer, state: { readonly _tag: "Body" | "Chunk"; remaining: number }): number {
    const taken = Math.min(bytes.length, state.remaining)
    state.remaining -= taken
    if (bringsBytes(this.head.method)) this.listener.onBytes(taken)
    else this.text.push(bytes.toString("latin1", 0, taken))
    if (state.remaining > 0) return taken
    if (state._tag === "Chunk") this.state = { _tag: "ChunkSize" }
    else this.end()
    return taken
  }

  private end(): void {
    this.state = { _tag: "Head" }
    this.listener.onRequest({ ...this.head, bodyLength: this.bodyLength, text: this.text.join("") })
  }
}
