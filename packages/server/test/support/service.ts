import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { Context, Effect, Layer, Redacted, Schema, Stream } from "effect"
import * as Authorize from "../../src/Authorize.js"
import * as FileStore from "../../src/FileStore.js"
import type { FileTable } from "../../src/FileTable.js"
import * as ObjectStore from "../../src/ObjectStore.js"
import * as OperationsApp from "../../src/OperationsApp.js"
import * as BlobStore from "../../src/parts/blobStore.js"
import * as ServerApp from "../../src/ServerApp.js"
import * as Tokens from "../../src/Tokens.js"
import * as Uploads from "../../src/Uploads.js"

export interface Answer {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

const TOKENS = {
  ann: { tenant: "acme" },
  reader: { tenant: "acme", scopes: ["read"] },
  eve: { tenant: "other" },
  expired: { tenant: "acme", lifetime: 0 }
} as const

export type Who = keyof typeof TOKENS | "nobody" | "stranger"

const Opened = Schema.parseJson(Schema.Struct({ data: Schema.Struct({ id: Schema.String }) }))

/** A whole service over a table and a store in memory, called without a socket. It remembers each of its answers. */
export const service = (
  options: ServerApp.Options = {},
  uploads: Uploads.Options = {},
  /** What the app has in place of the store. */
  instead: (store: FileStore.FileStoreService) => FileStore.FileStoreService = (store) => store
) =>
  Effect.gen(function*() {
    const store = FileStore.signed(ObjectStore.make(BlobStore.memory, { minimumPartSize: 1 }), {
      credential: { accessKeyId: "AKID", secretAccessKey: Redacted.make("very-secret"), region: "us-east-1" },
      origin: "http://storage.test",
      bucket: "files"
    })
    const context = yield* Layer.build(
      Uploads.layer({ minimumPartSize: 1, ...uploads }).pipe(
        Layer.provideMerge(Layer.succeed(FileStore.FileStore, instead(store))),
        Layer.provideMerge(Authorize.layerBearer),
        Layer.provideMerge(Tokens.layerMemory)
      )
    )
    const tokens = Context.get(context, Tokens.Tokens)
    const made = yield* Effect.all(
      Object.fromEntries(
        Object.entries(TOKENS).map(([name, token]) => [
          name,
          Tokens.create({ ...token, owner: { id: name, name } }).pipe(
            Effect.provideService(Tokens.Tokens, tokens),
            Effect.map(({ token }) => Redacted.value(token))
          )
        ])
      )
    )
    const api = yield* Effect.provide(ServerApp.make(options), context)
    const table = yield* Effect.context<FileTable>()
    const app = yield* OperationsApp.around(api, {
      basePath: options.basePath,
      failing: Effect.provide(ServerApp.failing, Context.merge(context, table)),
      notes: Effect.provide(ServerApp.notes, Context.merge(context, table))
    })
    const answers: Array<Answer> = []
    const call = (
      who: Who,
      method: string,
      path: string,
      { body, headers = {} }: { readonly body?: string; readonly headers?: Readonly<Record<string, string>> } = {}
    ): Effect.Effect<Answer> =>
      Effect.gen(function*() {
        const token = who === "stranger" ? "api.unknown" : made[who]
        const request = new Request(`http://service.test${path}`, {
          method,
          headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
          ...(body === undefined ? {} : { body })
        })
        const response = yield* Effect.provideService(
          app,
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(request)
        )
        const web = HttpServerResponse.toWeb(response)
        const text = yield* Effect.promise(() => web.text())
        const answer = { method, path, status: web.status, headers: web.headers, text }
        answers.push(answer)
        return answer
      })
    const uploaded = (who: Who, name = "notes.txt") =>
      Effect.gen(function*() {
        const opened = yield* call(who, "POST", "/v2/files/upload", { body: JSON.stringify({ name, size: 5 }) })
        const { data: { id } } = yield* Schema.decode(Opened)(opened.text)
        yield* store.put(
          `files/${who === "eve" ? "other" : "acme"}/${id}`,
          Stream.make(new TextEncoder().encode("hello"))
        )
        yield* call(who, "POST", `/v2/files/${id}/upload/complete`)
        return id
      })
    return { answers, call, store, uploaded, tokens: made }
  })
