import { FileSystem, HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { SystemError } from "@effect/platform/Error"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import type { Scope } from "effect"
import { Context, Effect, Fiber, Layer, Option, Redacted, Schema, Stream, TestClock } from "effect"
import * as Authorize from "../../src/Authorize.js"
import * as FileStore from "../../src/FileStore.js"
import type { FileTableService } from "../../src/FileTable.js"
import { FileTable, TableFailed } from "../../src/FileTable.js"
import * as FileTableMemory from "../../src/FileTableMemory.js"
import * as ObjectStore from "../../src/ObjectStore.js"
import * as BlobStore from "../../src/parts/blobStore.js"
import * as ServerApp from "../../src/ServerApp.js"
import * as SqlObjectStore from "../../src/SqlObjectStore.js"
import * as StorageApp from "../../src/StorageApp.js"
import * as StorageRefused from "../../src/StorageRefused.js"
import * as Tokens from "../../src/Tokens.js"
import * as Uploads from "../../src/Uploads.js"
import { databaseIn } from "../support/sqlite.js"

/** A failure of the disk, as Node tells it. */
const disk = (code: string) =>
  new SystemError({
    reason: "Unknown",
    module: "FileSystem",
    method: "write",
    cause: Object.assign(new Error(code), { code })
  })

/** A service with one operation of one port that fails while `isFailing`. */
interface Broken {
  readonly port: "table" | "store"
  readonly operation: string
  readonly failure: StorageRefused.StorageRefused | TableFailed
  isFailing: boolean
}

const through = <S extends object>(service: S, port: Broken["port"], broken: Broken): S =>
  new Proxy(service, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver)
      if (port !== broken.port || name !== broken.operation || typeof member !== "function") return member
      return (...args: ReadonlyArray<unknown>): unknown =>
        !broken.isFailing
          ? Reflect.apply(member, target, args)
          : name === "get"
          ? Stream.fail(broken.failure)
          : Effect.fail(broken.failure)
    }
  })

const signing = {
  credential: { accessKeyId: "AKID", secretAccessKey: Redacted.make("very-secret"), region: "us-east-1" },
  origin: "http://storage.test",
  bucket: "files"
}

const Session = Schema.parseJson(Schema.Struct({
  data: Schema.Struct({
    id: Schema.String,
    upload_url: Schema.optional(Schema.String),
    upload_id: Schema.optional(Schema.String),
    urls: Schema.optional(Schema.Array(Schema.String))
  })
}))

interface Answer {
  readonly status: number
  readonly text: string
  readonly etag: string
}

const serviceWith = (broken: Broken) =>
  Effect.gen(function*() {
    const store = through(ObjectStore.make(BlobStore.memory, { minimumPartSize: 1 }), "store", broken)
    const table: FileTableService = through(FileTableMemory.make(), "table", broken)
    const context = yield* Layer.build(
      Uploads.layer({ minimumPartSize: 1, encryptionHeaders: {} }).pipe(
        Layer.provideMerge(Layer.succeed(FileStore.FileStore, FileStore.signed(store, signing))),
        Layer.provideMerge(Layer.succeed(FileTable, table)),
        Layer.provideMerge(Authorize.layerBearer),
        Layer.provideMerge(Tokens.layerMemory)
      )
    )
    const { token } = yield* Effect.provide(
      Tokens.create({ tenant: "acme", owner: { id: "ann", name: "Ann" } }),
      context
    )
    const api = yield* Effect.provide(ServerApp.make(), context)
    const storage = yield* Effect.provide(StorageApp.make(signing), context)
    return (method: string, url: string, body?: string) =>
      Effect.gen(function*() {
        const isApi = url.startsWith("/")
        const app = isApi ? api : storage
        const answer = yield* Effect.provideService(
          app,
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(
            new Request(isApi ? `http://service.test${url}` : url, {
              method,
              headers: {
                ...(isApi ? { authorization: `Bearer ${Redacted.value(token)}` } : { host: "storage.test" }),
                ...(body === undefined ? {} : { "content-length": String(body.length) })
              },
              ...(body === undefined ? {} : { body })
            })
          )
        )
        const web = HttpServerResponse.toWeb(answer)
        // a body that fails after its head is cut off by the server
        const text = yield* Effect.orElseSucceed(Effect.tryPromise(() => web.text()), () => "")
        return { status: web.status, text, etag: web.headers.get("etag") ?? "" }
      })
  })

/** The answer while the clock goes on, as if waiting took no time. */
const soon = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.fork(effect)
    for (let turn = 0; turn < 100; turn++) {
      if (Option.isSome(yield* Fiber.poll(fiber))) break
      yield* TestClock.adjust("4 seconds")
    }
    return yield* Fiber.join(fiber)
  })

/**
 * A whole life of two files, each step first while the port fails and then again. The answer to the first is a success, or says
 * what has failed; that to the second is a success, because nothing was half done.
 */
const lived = (broken: Broken): Effect.Effect<ReadonlyArray<Answer>, unknown, Scope.Scope> =>
  Effect.gen(function*() {
    const call = yield* serviceWith(broken)
    const failed: Array<Answer> = []
    const step = (method: string, url: string, body?: string) =>
      Effect.gen(function*() {
        broken.isFailing = true
        const first = yield* soon(call(method, url, body))
        broken.isFailing = false
        if (first.status < 300) return first
        failed.push(first)
        const second = yield* soon(call(method, url, body))
        assert.isBelow(second.status, 300, `${method} ${url}: ${second.text}`)
        return second
      })
    const session = ({ text }: Answer) => Effect.map(Schema.decode(Session)(text), ({ data }) => data)
    const small = yield* Effect.flatMap(
      step("POST", "/v2/files/upload", JSON.stringify({ name: "a.txt", size: 5 })),
      session
    )
    yield* step("PUT", small.upload_url ?? "", "hello")
    yield* step("POST", `/v2/files/${small.id}/upload/complete`)
    const large = yield* Effect.flatMap(
      step("POST", "/v2/files/large-upload", JSON.stringify({ name: "b.txt", size: 5, parts: 2 })),
      session
    )
    const parts = yield* Effect.forEach(["hel", "lo"], (part, index) =>
      Effect.map(
        step("PUT", large.urls?.[index] ?? "", part),
        ({ etag }) => ({ part_number: index + 1, etag })
      ))
    yield* step(
      "POST",
      `/v2/files/${large.id}/large-upload/complete`,
      JSON.stringify({ upload_id: large.upload_id, parts })
    )
    for (const { id } of [small, large]) {
      yield* step("GET", `/v1/files/${id}`)
      yield* step("GET", `/v1/files/${id}/download`)
    }
    yield* step("GET", "/v1/files")
    yield* step("DELETE", `/v1/files/${small.id}`)
    return failed
  })

const failures = {
  busy: { failure: StorageRefused.make("SlowDown"), api: [503, "InternalError"], storage: [503, "SlowDown"] },
  full: {
    failure: StorageRefused.make("InsufficientStorage", { failure: disk("ENOSPC") }),
    api: [507, "InsufficientStorage"],
    storage: [507, "InsufficientStorage"]
  },
  broken: {
    failure: StorageRefused.make("ObjectUnreadable", { failure: disk("EIO") }),
    api: [500, "InternalError"],
    storage: [500, "ObjectUnreadable"]
  }
} as const

const told = ({ status, text }: Answer): readonly [number, string] => [
  status,
  /^\{"errors":\[\{"code":"(\w+)"/.exec(text)?.[1] ?? /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? text
]

describe("a service of whose table an operation fails", () => {
  const cases = (["open", "opened", "find", "claim", "settle", "discard", "page"] as const).flatMap((operation) =>
    [
      ["SQLITE_BUSY", 503, "InternalError"] as const,
      ["SQLITE_FULL", 507, "InsufficientStorage"] as const
    ].map((what) => [operation, ...what] as const)
  )
  it.scoped.each(cases)(
    "answers for it, and then goes on: %s, %s",
    ([operation, code, status, name]) =>
      Effect.gen(function*() {
        const failure = new TableFailed({ operation, cause: Object.assign(new Error(code), { code }) })
        const failed = yield* lived({ port: "table", operation, failure, isFailing: false })
        assert.isNotEmpty(failed)
        for (const answer of failed) {
          assert.include(
            [`${status} ${name}`, ...(operation === "find" ? ["503 ServiceUnavailable"] : [])],
            told(answer).join(" ")
          )
        }
      })
  )
})

describe("a service of whose store an operation fails", () => {
  const cases = (["put", "createUpload", "putPart", "completeUpload", "seal", "head"] as const).flatMap((operation) =>
    (["busy", "full", "broken"] as const).map((kind) => [operation, kind] as const)
  )
  it.scoped.each(cases)("answers for it, and then goes on: %s, %s", ([operation, kind]) =>
    Effect.gen(function*() {
      const { api, failure, storage } = failures[kind]
      const failed = yield* lived({ port: "store", operation, failure, isFailing: false })
      assert.isNotEmpty(failed)
      for (const answer of failed) {
        assert.deepStrictEqual(told(answer), operation === "put" || operation === "putPart" ? storage : api)
      }
    }))
})

describe("a directory whose disk fails", () => {
  const within = (failing: { operation: string; code: string }) =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-faults-" })
      const error = () => disk(failing.code)
      const broken = new Proxy(fs, {
        get: (target, name, receiver) => {
          const member: unknown = Reflect.get(target, name, receiver)
          if (typeof member !== "function") return member
          return (...args: ReadonlyArray<unknown>): unknown => {
            if (name === failing.operation) return name === "stream" ? Stream.fail(error()) : Effect.fail(error())
            const answer: unknown = Reflect.apply(member, target, args)
            if (name !== "open" || !Effect.isEffect(answer)) return answer
            return Effect.map(answer, (file) =>
              typeof file === "object" && file !== null
                ? new Proxy(file, {
                  get: (inner, method) =>
                    method !== failing.operation
                      ? Reflect.get(inner, method, inner)
                      : method === "sync"
                      ? Effect.fail(error())
                      : () => Effect.fail(error())
                })
                : file)
          }
        }
      })
      const context = yield* Layer.build(
        Layer.provideMerge(
          SqlObjectStore.layer({ directory: `${folder}/store`, minimumPartSize: 1 }),
          databaseIn(`${folder}/index.db`)
        ).pipe(Layer.provide(Layer.succeed(FileSystem.FileSystem, broken)))
      )
      return {
        blobs: Effect.map(fs.readDirectory(`${folder}/store/bytes`), (names) => names.length),
        store: Context.get(context, ObjectStore.ObjectStore),
        sql: Context.get(context, SqlClient.SqlClient)
      }
    }).pipe(Effect.provide(NodeContext.layer))

  const bytes = (size: number) => Stream.make(new Uint8Array(size))

  const writes = (["open", "writeAll", "sync"] as const).flatMap((operation) =>
    [
      ["ENOSPC", "InsufficientStorage"] as const,
      ["EDQUOT", "InsufficientStorage"] as const,
      ["EIO", "InternalError"] as const,
      ["EACCES", "InternalError"] as const,
      ["EMFILE", "SlowDown"] as const
    ].map((what) => [operation, ...what] as const)
  )
  it.scoped.each(writes)(
    "stores nothing, and says why: %s fails with %s",
    ([operation, code, expected]) =>
      Effect.gen(function*() {
        const failing = { operation: "", code }
        const { blobs, store } = yield* within(failing)
        yield* store.put("files/t/a", bytes(5))
        const uploadId = yield* store.createUpload("files/t/b")
        failing.operation = operation
        let sent = 0
        const body = Stream.tap(
          Stream.concat(bytes(2_000_000), bytes(5)),
          ({ length }) => Effect.sync(() => (sent += length))
        )
        const puts = [
          Effect.asVoid(store.put("files/t/c", body)),
          Effect.asVoid(store.putPart("files/t/b", uploadId, 1, body))
        ]
        for (const put of puts) {
          const refusal = yield* Effect.flip(put)
          assert.strictEqual(refusal.code, expected)
          assert.include(refusal.message, code)
          assert.notInclude(StorageRefused.toXml(refusal, "R"), code)
        }
        // whoever sends hears the answer only when all is sent
        assert.strictEqual(sent, operation === "open" ? 0 : 2 * 2_000_005)
        failing.operation = ""
        assert.strictEqual(yield* blobs, 1)
        assert.strictEqual((yield* store.head("files/t/a")).size, 5)
        assert.strictEqual((yield* Effect.flip(store.head("files/t/c"))).code, "NoSuchKey")
        assert.deepStrictEqual(yield* store.parts("files/t/b", uploadId), [])
      })
  )

  it.scoped.each(
    [["stat", "EIO"], ["stat", "EACCES"], ["stat", "ENOENT"], ["stream", "EIO"]] as const
  )("says that what is stored cannot be read: %s fails with %s", ([operation, code]) =>
    Effect.gen(function*() {
      const failing = { operation: "", code }
      const { store } = yield* within(failing)
      yield* store.put("files/t/a", bytes(5))
      failing.operation = operation
      const refusal = yield* Effect.flip(
        operation === "stat" ? store.head("files/t/a") : Stream.runDrain(store.get("files/t/a"))
      )
      assert.deepStrictEqual([refusal.code, refusal.status], ["ObjectUnreadable", 500])
      failing.operation = ""
      assert.strictEqual((yield* store.head("files/t/a")).size, 5)
    }))

  it.scoped("stores nothing where its index has no room, and goes on when it has", () =>
    Effect.gen(function*() {
      const { blobs, sql, store } = yield* within({ operation: "", code: "" })
      yield* sql`pragma max_page_count = 1`
      const long = "x".repeat(5000)
      const changes = [
        Effect.asVoid(store.put(`files/t/${long}`, bytes(5))),
        Effect.asVoid(store.createUpload(`files/t/${long}`))
      ]
      for (const change of changes) {
        const refusal = yield* Effect.flip(change)
        assert.deepStrictEqual([refusal.code, refusal.status], ["InsufficientStorage", 507])
      }
      assert.strictEqual(yield* blobs, 0)
      yield* sql`pragma max_page_count = 100000`
      assert.strictEqual((yield* store.put(`files/t/${long}`, bytes(5))).size, 5)
    }))
})
