/** Node, Bun and Deno: uploads a file from disk in four parts, one after the other, and says each that is stored. */
import { Uploads } from "@stevedore/core"
import { FileSource, NodeStevedore } from "@stevedore/node"
import { Effect, Stream } from "effect"
import process from "node:process"
import { optionsOf } from "./Everything.js"

const [baseUrl = "", token = "", path = "", directory = ""] = process.argv.slice(2)

const told = (text: string) => Effect.sync(() => process.stdout.write(`${text}\n`))

const program = Effect.gen(function*() {
  const source = yield* FileSource.fromPath(path)
  const upload = yield* Uploads.start(source, { strategy: "multipart", parts: 4, concurrency: 1 })
  yield* Stream.runForEach(
    upload.events,
    (event) => event._tag === "PartStored" ? told(`part ${event.part}`) : Effect.void
  )
  const { id } = yield* upload.await
  yield* told(`file ${id}`)
}).pipe(Effect.scoped, Effect.provide(NodeStevedore.layer({ ...optionsOf({ baseUrl, token }), ledger: { directory } })))

await Effect.runPromise(program)
process.exit(0)
