import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, Ref, Schema } from "effect"
import type { FileStoreService } from "../../src/FileStore.js"
import { FileTable, TableFailed } from "../../src/FileTable.js"
import * as FileTableMemory from "../../src/FileTableMemory.js"
import * as StorageRefused from "../../src/StorageRefused.js"
import { service } from "../support/service.js"

const away = new StorageRefused.StorageRefused({
  status: 503,
  code: "SlowDown",
  reason: "Please reduce your request rate.",
  details: { StoreRequestId: "tx0001" }
})

/** A store whose calls are refused while it is away. */
const failing = (isAway: Ref.Ref<boolean>) => (store: FileStoreService): FileStoreService => {
  const unless = <A>(call: Effect.Effect<A, StorageRefused.StorageRefused>) =>
    Effect.flatMap(Ref.get(isAway), (isAway) => isAway ? away : call)
  return {
    ...store,
    presign: (...asked) => unless(store.presign(...asked)),
    createUpload: (...asked) => unless(store.createUpload(...asked)),
    completeUpload: (...asked) => unless(store.completeUpload(...asked)),
    head: (...asked) => unless(store.head(...asked))
  }
}

const Opened = Schema.parseJson(Schema.Struct({ data: Schema.Struct({ id: Schema.String }) }))

describe("an answer of 5xx", () => {
  it.scoped("has one line in the log, which says what has failed, and no other has one", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const isAway = yield* Ref.make(false)
      const table = yield* FileTable
      const isGone = yield* Ref.make(false)
      const gone: typeof table = {
        ...table,
        find: (tenant, id) =>
          Effect.flatMap(Ref.get(isGone), (isGone) =>
            isGone
              ? new TableFailed({ operation: "find", cause: { code: "ECONNREFUSED", password: "very-secret" } })
              : table.find(tenant, id))
      }
      yield* Effect.gen(function*() {
        const { answers, call, uploaded } = yield* service({}, {}, failing(isAway))
        const file = yield* uploaded("ann")
        const opened = yield* call("ann", "POST", "/v2/files/upload", { body: JSON.stringify({ name: "a", size: 5 }) })
        const { data: { id } } = yield* Schema.decode(Opened)(opened.text)
        const calls = [
          ["GET", `/v1/files/${file}`],
          ["GET", `/v1/files/${file}/download?X-Amz-Signature=abc`],
          ["POST", `/v2/files/${id}/upload/complete`],
          ["POST", "/v2/files/upload"],
          ["POST", "/v2/files/large-upload"],
          ["GET", "/v1/nothing"]
        ] as const
        const body = JSON.stringify({ name: "a", size: 5 })
        const all = Effect.forEach(calls, ([method, path]) =>
          call("ann", method, path, method === "POST" ? { body } : {}))
        yield* Ref.set(isAway, true)
        yield* all
        const told = lines.length
        yield* Ref.set(isAway, false)
        yield* Ref.set(isGone, true)
        yield* all
        const failed = answers.filter(({ status }) =>
          status >= 500
        )
        assert.isAtLeast(failed.length, 6)
        assert.deepStrictEqual(
          lines.map((line) => line.replace(/: .*/, "")),
          failed.map(({ method, path, status }) => `${method} ${path.replace(/\?.*/, "")} answered ${status}`)
        )
        for (const line of lines.slice(0, told)) assert.match(line, /SlowDown.*\(request tx0001\)/)
        for (const line of lines.slice(told)) assert.match(line, /\(ECONNREFUSED\)/)
        assert.match(lines.join("\n"), /large-upload answered 503: [0-9A-Za-z]{22}: /)
        assert.notMatch(lines.join("\n"), /very-secret|X-Amz-Signature/)
      }).pipe(
        Effect.provideService(FileTable, gone),
        Effect.provide(Logger.replace(
          Logger.defaultLogger,
          Logger.make(({ message }) => {
            lines.push(String(message))
          })
        ))
      )
    }).pipe(Effect.provide(FileTableMemory.layer)))
})
