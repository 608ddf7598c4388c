import { NodeContext } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Uploads } from "@stevedore/core"
import { FileSource, NodeStevedore } from "@stevedore/node"
import { Effect, Redacted, Schema } from "effect"
import { createHash } from "node:crypto"
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Processes from "../support/processes.js"

/** How many come at once, in each round. */
const rounds = [1000, 300, 300, 300]

const Opened = Schema.decodeSync(Schema.parseJson(Schema.Struct({
  data: Schema.Struct({ id: Schema.String, upload_url: Schema.String })
})))

const Listed = Schema.decodeSync(Schema.parseJson(Schema.Struct({
  page: Schema.Struct({ total_count: Schema.Number })
})))

/** What only this file has. */
const contentOf = (name: string) => createHash("sha256").update(name).digest().toString("hex").repeat(64)

/** In MiB. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024

const temporary = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "stevedore-load-"))),
  (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
)

const MIB = 2 ** 20

// the largest that the contract allows, at night
const largest = process.env["STEVEDORE_NIGHTLY"] === "1" ? 10_000_000_000 : 768 * MIB

/** Mostly holes; each MiB begins with its number. */
const writeNumbered = (path: string, size: number) => {
  const file = openSync(path, "w")
  ftruncateSync(file, size)
  for (let at = 0; at < size - 8; at += MIB) writeSync(file, numberedAt(at), 0, 8, at)
  closeSync(file)
}

const numberedAt = (at: number) => {
  const number = Buffer.alloc(8)
  number.writeBigUInt64LE(BigInt(at))
  return number
}

/** Where a body is not as `writeNumbered` has written it. */
const wrongAt = async (body: ReadableStream<Uint8Array>, size: number) => {
  let at = 0
  let rest: Uint8Array = new Uint8Array(0)
  const reader = body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    rest = Buffer.concat([rest, next.value])
    while (rest.length > 0 && rest.length >= Math.min(MIB, size - at)) {
      const one = rest.subarray(0, MIB)
      const expected = Buffer.alloc(one.length)
      numberedAt(at).copy(expected)
      if (!expected.equals(one)) return at
      at += one.length
      rest = rest.subarray(one.length)
    }
  }
  return at === size ? undefined : at
}

describe("a service over a directory", () => {
  it.scopedLive(
    "takes the largest file in parts and gives it back, within the memory of a small one",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporary
        const program = yield* Processes.script("directoryInstance")
        const { baseUrl, pid } = yield* Processes.instance(program, { DIRECTORY: `${directory}/data` })
        const token = readFileSync(`${directory}/data/token`, "utf8")
        const path = join(directory, "largest.bin")
        writeNumbered(path, largest)
        const source = yield* FileSource.fromPath(path)
        const { id } = yield* Uploads.upload(source).pipe(
          Effect.provide(NodeStevedore.layer({
            baseUrl,
            token: Redacted.make(token),
            ledger: false,
            allowInsecureHttp: true
          }))
        )
        const response = yield* Effect.promise(() =>
          fetch(`${baseUrl}/v1/files/${id}/download`, { headers: { authorization: `Bearer ${token}` } })
        )
        assert.strictEqual(response.headers.get("content-length"), String(largest))
        assert.isNotNull(response.body)
        assert.isUndefined(yield* Effect.promise(async () => response.body && wrongAt(response.body, largest)))
        assert.isBelow(memoryOf(pid), 500)
      }).pipe(Effect.provide(NodeContext.layer)),
    600_000
  )

  it.scopedLive(
    "takes a thousand uploads at once, again and again, with all reads between, and keeps its memory",
    () =>
      Effect.gen(function*() {
        const directory = yield* temporary
        const program = yield* Processes.script("directoryInstance")
        const { baseUrl, output, pid, signal } = yield* Processes.instance(program, {
          DIRECTORY: `${directory}/data`,
          // as it is without a word
          LEASE: "15 seconds"
        })
        const authorization = `Bearer ${readFileSync(`${directory}/data/token`, "utf8")}`
        const call = async (method: string, url: string, status: number, init: RequestInit = {}) => {
          const response = await fetch(url, { method, ...init, headers: { authorization, ...init.headers } })
          const text = await response.text()
          assert.strictEqual(response.status, status, `${method} ${url.split("?")[0]} ${text}`)
          return text
        }
        const uploaded = async (name: string) => {
          const body = contentOf(name)
          const opened = await call("POST", `${baseUrl}/v2/files/upload`, 201, {
            body: JSON.stringify({ name, size: body.length })
          })
          const { data } = Opened(opened)
          const put = await fetch(data.upload_url, {
            method: "PUT",
            body,
            headers: { "x-amz-server-side-encryption": "aws:kms" }
          })
          assert.strictEqual(put.status, 200, await put.text())
          await call("POST", `${baseUrl}/v2/files/${data.id}/upload/complete`, 200, { body: "{}" })
          return { id: data.id, name }
        }
        /** In MiB, without what nobody holds: the resident memory also tells when the collector last ran. */
        const held = Effect.gen(function*() {
          yield* signal("SIGUSR2")
          const told = yield* Effect.repeat(
            Effect.delay(Effect.sync(() => output().match(/^heap \d+$/gm) ?? []), "50 millis"),
            {
              until: (told) => told.length > heap.length
            }
          )
          return Number(told.at(-1)?.slice(5)) / 2 ** 20
        })
        const heap: Array<number> = []
        const memory: Array<number> = []
        let left = 0
        for (const [round, atOnce] of rounds.entries()) {
          const names = Array.from({ length: atOnce }, (_, index) => `${round}-${index}.txt`)
          const files = yield* Effect.promise(() => Promise.all(names.map(uploaded)))
          // each is read, looked at, and every second one removed
          yield* Effect.forEach(files, ({ id, name }, index) =>
            Effect.promise(async () => {
              assert.strictEqual(await call("GET", `${baseUrl}/v1/files/${id}/download`, 200), contentOf(name))
              if (index % 2 === 0) await call("GET", `${baseUrl}/v1/files/${id}`, 200)
              else await call("DELETE", `${baseUrl}/v1/files/${id}`, 204)
            }), { concurrency: 32, discard: true })
          const list = yield* Effect.promise(() => call("GET", `${baseUrl}/v1/files?page[limit]=1`, 200))
          assert.strictEqual(Listed(list).page.total_count, left += atOnce / 2)
          memory.push(memoryOf(pid))
          heap.push(yield* held)
        }
        assert.isBelow(heap[rounds.length - 1] ?? Infinity, (heap[0] ?? 0) + 8, heap.map(Math.round).join(", "))
        assert.isBelow(Math.max(...memory), 700, memory.map(Math.round).join(", "))
      }),
    240_000
  )
})
