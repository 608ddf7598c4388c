/** The lines of a client: each by itself, whatever the one before was. */
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type Transport
} from "@modelcontextprotocol/server"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Readable, Writable } from "node:stream"

/** In bytes. */
const longest = 4 * 1024 * 1024

type Id = string | number

const idOf = (value: unknown): Id | null => {
  const id = Predicate.hasProperty(value, "id") ? value.id : undefined
  return typeof id === "string" || typeof id === "number" && Number.isSafeInteger(id) ? id : null
}

/** What a call of a tool has. */
export const Calling = Schema.Struct({
  name: Schema.String,
  arguments: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
})

const isCalling = Schema.is(Calling)

// A notification is never answered, not even a wrong one
const isNotification = (value: unknown): boolean =>
  Predicate.isRecord(value) && typeof value["method"] === "string" && !Object.hasOwn(value, "id")

const noMessage = "The line is not a message of JSON-RPC 2.0 (ids are text or whole numbers; no batches)"

const utf8 = new TextDecoder("utf-8", { fatal: true })

const jsonOf = Option.liftThrowable((line: Uint8Array): unknown => JSON.parse(utf8.decode(line)))

const isBlank = (line: Uint8Array): boolean => line.every((byte) => [0x20, 0x09, 0x0d].includes(byte))

/** Calls back with each line, without its end; `undefined` stands for one that is too long to be kept. */
export const splitting = (onLine: (line: Uint8Array | undefined) => void): (chunk: Buffer) => void => {
  let held: Array<Uint8Array> = []
  let size = 0
  const hold = (piece: Uint8Array) => {
    size += piece.byteLength
    if (size <= longest) held.push(piece)
    else held = []
  }
  return (chunk) => {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      hold(chunk.subarray(from, at))
      const line = size > longest ? undefined : Buffer.concat(held)
      held = []
      size = 0
      from = at + 1
      onLine(line)
    }
    hold(chunk.subarray(from))
  }
}

/** Lines in and out. `onEnd` is called when the client closes either, before whoever serves it is told. */
export const transport = (input: Readable, output: Writable, onEnd: () => void): Transport => {
  const send = (message: object) =>
    new Promise<void>((resolve) => {
      output.write(`${JSON.stringify(message)}\n`, () => resolve())
    })
  const refuse = (code: number, message: string, id: Id | null = null) =>
    void send({ jsonrpc: "2.0", id, error: { code, message } })
  const read = (line: Uint8Array | undefined) => {
    if (line === undefined) return refuse(-32600, "The line has more than 4 MiB")
    if (isBlank(line)) return
    const json = jsonOf(line)
    if (Option.isNone(json)) return refuse(-32700, "The line is not JSON in UTF-8")
    const { value } = json
    if (isJSONRPCRequest(value)) {
      return value.method === "tools/call" && !isCalling(value.params)
        ? refuse(-32602, "A call has the name of a tool, and an object of arguments", idOf(value))
        : wire.onmessage?.(value)
    }
    if (isJSONRPCNotification(value) || isJSONRPCResponse(value)) return wire.onmessage?.(value)
    if (!isNotification(value)) refuse(-32600, noMessage, idOf(value))
  }
  const take = splitting(read)
  const end = () => {
    onEnd()
    void wire.close()
  }
  const wire: Transport = {
    start: async () => {
      input.on("data", take).on("end", end).on("error", end)
      output.on("error", end)
    },
    send,
    close: async () => {
      input.off("data", take).pause()
      wire.onclose?.()
    }
  }
  return wire
}
