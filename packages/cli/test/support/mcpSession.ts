import { FileSystem, Path } from "@effect/platform"
import { Deferred, Effect, Fiber, Option, Schema } from "effect"
import { PassThrough } from "node:stream"
import * as Roots from "../../src/mcp/roots.js"
import { session } from "../../src/mcp/server.js"

const Answer = Schema.parseJson(Schema.Struct({
  id: Schema.optional(Schema.NullOr(Schema.Union(Schema.String, Schema.Number))),
  method: Schema.optional(Schema.String),
  params: Schema.optional(Schema.Unknown),
  result: Schema.optional(Schema.Struct(
    {
      isError: Schema.optional(Schema.Boolean),
      content: Schema.optional(Schema.Array(Schema.Struct({ text: Schema.String }))),
      structuredContent: Schema.optional(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
    },
    Schema.Record({ key: Schema.String, value: Schema.Unknown })
  )),
  error: Schema.optional(Schema.Struct({ code: Schema.Number, message: Schema.String }))
}))

export type Answer = typeof Answer.Type

const decode = Schema.decodeSync(Answer)

/** A directory with files that an agent may upload, and one that it may download to. */
export const directories = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const { join } = yield* Path.Path
  const home = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "stevedore-mcp-" }))
  const root = join(home, "root")
  const downloads = join(home, "downloads")
  yield* fs.makeDirectory(root)
  yield* fs.makeDirectory(downloads)
  const roots = yield* Roots.make({ roots: [root], downloads: Option.some(downloads), allowed: [] })
  return { root, downloads, roots }
})

/** A session of the server in this process. */
export const opened = (roots: Roots.Roots) =>
  Effect.gen(function*() {
    const input = new PassThrough()
    const output = new PassThrough()
    const answers: Array<Answer> = []
    const awaited = new Map<string | number, Deferred.Deferred<Answer>>()
    let rest = ""
    output.setEncoding("utf8").on("data", (text: string) => {
      const [last = "", ...lines] = `${rest}${text}`.split("\n").reverse()
      rest = last
      for (const line of lines.reverse()) {
        const answer = decode(line)
        answers.push(answer)
        const waiting = answer.id == null ? undefined : awaited.get(answer.id)
        if (waiting !== undefined) Deferred.unsafeDone(waiting, Effect.succeed(answer))
      }
    })
    const fiber = yield* Effect.forkScoped(session(roots, "https://files.example", input, output))
    const ask = (id: string | number, method: string, params?: object) =>
      Effect.gen(function*() {
        const waiting = yield* Deferred.make<Answer>()
        awaited.set(id, waiting)
        input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
        return yield* Deferred.await(waiting)
      })
    return {
      answers,
      ask,
      write: (line: string | Uint8Array) => Effect.sync(() => input.write(line)),
      tell: (method: string, params?: object) =>
        Effect.sync(() => input.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`)),
      /** Its end, once its input has ended. */
      ended: Effect.zipRight(Effect.sync(() => input.end()), Fiber.join(fiber)),
      greet: ask("hello", "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "test", version: "1" }
      })
    }
  })

export type Session = Effect.Effect.Success<ReturnType<typeof opened>>
