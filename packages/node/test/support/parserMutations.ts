import * as Http from "node:http"
import { Duplex } from "node:stream"
import { Chance } from "../../../core/test/simulation/Chance.js"
import { type AnswerHead, AnswerParser, MalformedAnswer } from "../../src/http/answerParser.js"

/** A response that a parser took as whole. */
export interface Taken {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const responses = [
  "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 11\r\nConnection: keep-alive\r\n\r\nhello world",
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"b\"\r\n\r\n5;a=1\r\nhello\r\n6\r\n world\r\n0\r\nx-sum: 1\r\n\r\n",
  "HTTP/1.1 206 Partial Content\r\ncontent-range: bytes 0-4/11\r\ncontent-length: 5\r\nvary: a\r\nvary: b\r\n\r\nhello",
  "HTTP/1.0 200 OK\r\nServer: old\r\n\r\nuntil the end",
  "HTTP/1.1 403 Forbidden\r\ncontent-type: application/xml\r\nconnection: close\r\n\r\n<Error><Code>x</Code></Error>",
  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nlink: x\r\n\r\nHTTP/1.1 201 Created\r\nlocation: /a\r\ncontent-length: 2\r\n\r\n{}",
  "HTTP/1.1 204 No Content\r\ndate: Wed, 21 Oct 2015 07:28:00 GMT\r\n\r\n",
  "HTTP/1.1 304 Not Modified\r\netag: W/\"x\"\r\ncontent-length: 5\r\n\r\n",
  "HTTP/1.1 200 \r\nset-cookie: a=1\r\nset-cookie: b=2\r\ncontent-length: 0\r\n\r\n"
] as const

const insertions = [
  "\r",
  "\n",
  "\r\n",
  "\r\n\r\n",
  " ",
  "\t",
  "\0",
  "\x01",
  "\x0b",
  "\x1b",
  "\x7f",
  "\xe9",
  ":",
  ";",
  ",",
  "=",
  "\"",
  "0",
  "1",
  "a",
  "-",
  "+",
  "0x",
  "\r\n ",
  "\r\nContent-Length: 5",
  "\r\ncontent-length: 11\t",
  "\r\nTransfer-Encoding: chunked",
  "\r\ntransfer-encoding: gzip, chunked",
  "\r\ntransfer-encoding: identity",
  "\r\nconnection: upgrade\r\nupgrade: h2c",
  "\r\nconnection: close",
  "\r\netag: \"c\"",
  "\r\nlocation: /c",
  "\r\n__proto__: x",
  "HTTP/1.1 200 OK\r\n",
  "HTTP/1.1 101 Switching Protocols\r\n\r\n",
  "0\r\n\r\n",
  "ffffffffffffffff"
] as const

const splice = (bytes: Buffer, at: number, removed: number, inserted: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), inserted, bytes.subarray(Math.min(bytes.byteLength, at + removed))])

const mutated = (bytes: Buffer, chance: Chance): Buffer => {
  const at = chance.whole(0, bytes.byteLength)
  switch (chance.whole(0, 5)) {
    case 0:
      return splice(bytes, at, 1, Buffer.from([chance.whole(0, 255)]))
    case 1:
      return splice(bytes, at, chance.whole(1, 4), Buffer.alloc(0))
    case 2: {
      const from = chance.whole(0, bytes.byteLength)
      return splice(bytes, at, 0, bytes.subarray(from, from + chance.whole(1, 40)))
    }
    case 3: {
      // where lines end is where parsers differ most
      const end = bytes.indexOf("\r\n", at)
      return end === -1 ? bytes : splice(bytes, end, chance.whole(0, 2), Buffer.from(chance.pick(insertions), "latin1"))
    }
    default:
      return splice(bytes, at, 0, Buffer.from(chance.pick(insertions), "latin1"))
  }
}

/** A response with one to four mutations; the same for the same seed. */
export const mutation = (seed: number): Buffer => {
  const chance = new Chance(seed)
  let bytes: Buffer = Buffer.from(chance.pick(responses), "latin1")
  for (let left = chance.whole(1, 4); left > 0; left--) bytes = mutated(bytes, chance)
  return bytes
}

/** What our parser takes, and how many bytes of it; nothing if it refuses them, or they are not a whole response. */
export const takenByUs = (bytes: Buffer, piece: number): readonly [Taken, number] | undefined => {
  let head: AnswerHead | undefined
  const body: Array<Buffer> = []
  let ended = false
  const parser = new AnswerParser({
    onHead: (one) => head = one,
    onBody: (one) => body.push(Buffer.from(one)),
    onEnd: () => ended = true
  })
  let position = 0
  try {
    for (; position < bytes.byteLength && !ended; position += piece) {
      parser.push(bytes.subarray(position, position + piece))
    }
    if (!ended) parser.close()
  } catch (error) {
    if (!(error instanceof MalformedAnswer)) throw error
  }
  return !ended || head === undefined
    ? undefined
    : [{ status: head.status, headers: head.headers, body: Buffer.concat(body) }, Math.min(position, bytes.byteLength)]
}

const joined = (headers: Http.IncomingHttpHeaders): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = ""]) => [name, Array.isArray(value) ? value.join(", ") : value])
  )

/** What Node's own client takes. */
export const takenByNode = (bytes: Buffer): Promise<Taken | undefined> =>
  new Promise((resolve) => {
    const socket = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
    // no more than 64 KiB, as ours
    const request = Http.request({ createConnection: () => socket, host: "node.test", maxHeaderSize: 65_536 })
    let answered = false
    request.on("response", (response) => {
      answered = true
      const body: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => body.push(chunk))
      response.on("end", () => {
        const { complete, headers, statusCode: status = 0 } = response
        resolve(complete ? { status, headers: joined(headers), body: Buffer.concat(body) } : undefined)
      })
      response.on("error", () => resolve(undefined))
      response.on("close", () => resolve(undefined))
    })
    request.on("upgrade", () => resolve(undefined))
    request.on("error", () => resolve(undefined))
    request.on("close", () => answered ? undefined : resolve(undefined))
    request.end()
    socket.push(bytes)
    socket.push(null)
  })
