/**
 * The sink: takes uploads, counts and drops them; gives downloads of bytes without meaning. Its own process, on loopback.
 * `sink.mjs <milliseconds that a PUT to storage takes> [key.pem cert.pem]`. Asked over IPC, it tells what it counted and
 * begins anew.
 */
import { readFileSync } from "node:fs"
import type { Socket } from "node:net"
import { createServer } from "node:net"
import { setTimeout } from "node:timers/promises"
import { createServer as createTlsServer } from "node:tls"
import type { Told } from "../Told.js"
import type { Answer } from "./Answer.js"
import { answer } from "./Answer.js"
import { RequestReader } from "./RequestReader.js"

const [putTakes = "0", key, cert] = process.argv.slice(2)

const zero = { bytes: 0, sent: 0, requests: 0, connections: 0 }

let counted = { ...zero }

const block = Buffer.alloc(2 ** 20, "stevedore")

const reasons: Readonly<Record<number, string>> = { 100: "Continue", 200: "OK", 201: "Created", 204: "No Content" }

const headOf = ({ body = "", headers = {}, status }: Answer): string => {
  const length = typeof body === "number" ? body : Buffer.byteLength(body)
  const lines = Object.entries({ ...headers, ...(status === 204 ? {} : { "content-length": length }) })
  return [
    `HTTP/1.1 ${status} ${reasons[status] ?? ""}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    "",
    ""
  ].join("\r\n")
}

const drained = (socket: Socket) =>
  new Promise<void>((resolve) => {
    const settle = () => {
      socket.off("drain", settle)
      socket.off("close", settle)
      resolve()
    }
    socket.once("drain", settle)
    socket.once("close", settle)
  })

const sendBytes = async (socket: Socket, count: number) => {
  for (let rest = count; rest > 0 && !socket.destroyed; rest -= block.length) {
    const chunk = rest < block.length ? block.subarray(0, rest) : block
    counted.sent += chunk.length
    if (!socket.write(chunk)) await drained(socket)
  }
}

const send = (socket: Socket, given: Answer): Promise<void> => {
  const head = headOf(given)
  if (typeof given.body === "number") {
    socket.write(head)
    return sendBytes(socket, given.body)
  }
  socket.write(head + (given.body ?? ""))
  return Promise.resolve()
}

const serve = (scheme: "http" | "https") => (socket: Socket) => {
  counted.connections++
  socket.setNoDelay(true)
  // a client that is done closes as it likes
  socket.on("error", () => socket.destroy())
  let before = Promise.resolve()
  const reader = new RequestReader({
    onExpected: () => socket.write("HTTP/1.1 100 Continue\r\n\r\n"),
    onBytes: (count) => {
      counted.bytes += count
    },
    onRequest: (request) => {
      counted.requests++
      const due = request.target.startsWith("/storage/") && Number(putTakes) > 0
        ? setTimeout(Number(putTakes))
        : Promise.resolve()
      before = before.then(() => due).then(() => send(socket, answer(request, scheme)))
    }
  })
  socket.on("data", (chunk) => reader.read(chunk))
}

const server = key === undefined || cert === undefined
  ? createServer(serve("http"))
  : createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, serve("https"))

const tell = (told: Told) => process.send?.(told)

process.on("message", () => {
  tell({ _tag: "Counted", ...counted })
  counted = { ...zero }
})

// it is there for the process that started it
process.on("disconnect", () => process.exit())

server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (typeof address === "object" && address !== null) tell({ _tag: "Listening", port: address.port })
})
