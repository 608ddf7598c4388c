import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { readThrough } from "../../src/base/blobReader.js"
import * as FakePage from "../fixtures/fakePage.js"

/** A file of ten bytes, which the browser reads as the test says. */
const readAs = (source: Omit<UnderlyingByteSource, "type">): Blob => {
  const stream = new ReadableStream({ type: "bytes", ...source })
  return Object.defineProperty(new Blob(["0123456789"]), "stream", { value: () => stream })
}

describe("blobReader", () => {
  it.effect("fails with SourceChanged if the browser's stream ends before the file does", () =>
    Effect.gen(function*() {
      const short = readAs({
        start: (controller) => {
          controller.enqueue(new Uint8Array([48, 49, 50]))
          controller.close()
        },
        pull: (controller) => controller.byobRequest?.respond(0)
      })
      const seen: Array<number> = []
      const error = yield* Effect.flip(readThrough("a.txt", short, (chunk) => chunk.forEach((byte) => seen.push(byte))))
      assert.deepInclude(error, { _tag: "SourceChanged", what: "size", expected: "10 bytes", actual: "3 bytes" })
      assert.deepStrictEqual(seen, [48, 49, 50])
    }))

  it.effect("after an interruption, passes on nothing that arrives late and lets go of the file", () =>
    Effect.gen(function*() {
      const late: Array<() => void> = []
      let cancelled = false
      const slow = readAs({
        pull: (controller) => new Promise((resolve) => late.push(() => resolve(controller.enqueue(new Uint8Array(2))))),
        cancel: () => {
          cancelled = true
        }
      })
      const seen: Array<Uint8Array> = []
      const reading = yield* Effect.fork(readThrough("a.txt", slow, (chunk) => seen.push(chunk)))
      yield* FakePage.settled
      yield* Fiber.interrupt(reading)
      late.forEach((arrive) => arrive())
      yield* FakePage.settled
      assert.lengthOf(late, 1)
      assert.deepStrictEqual(seen, [])
      assert.isTrue(cancelled)
    }))

  it.effect("without reads into a buffer, frees each chunk once it was observed, and lets go of the stream that was tried", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const chunkOf = (text: string): Uint8Array => {
        const chunk = new TextEncoder().encode(text)
        Object.assign(chunk.buffer, { transfer: (length: number) => seen.push(`${text} freed to ${length}`) })
        return chunk
      }
      const chunks = ["01234", "56789"].map(chunkOf)
      const file = new Blob(["0123456789"])
      const stream = () =>
        new ReadableStream({
          start: (controller) => {
            chunks.forEach((chunk) => controller.enqueue(chunk))
            controller.close()
          },
          cancel: () => void seen.push("let go")
        })
      Object.assign(file, { stream, slice: () => file })
      yield* readThrough("a.txt", file, (chunk) => seen.push(new TextDecoder().decode(chunk)))
      assert.deepStrictEqual(seen, ["let go", "01234", "01234 freed to 0", "56789", "56789 freed to 0"])
    }))

  it.effect("without reads into a buffer, reads a long file from its first byte to its last", () =>
    Effect.gen(function*() {
      const bytes = Uint8Array.from({ length: 2_500_000 }, (_, index) => (index * 31) % 251)
      const file = Object.assign(new Blob([bytes]), { stream: () => new ReadableStream() })
      const seen: Array<Uint8Array> = []
      yield* readThrough("a.bin", file, (chunk) => seen.push(Uint8Array.from(chunk)))
      assert.isTrue(Buffer.concat(seen).equals(bytes))
    }))
})
