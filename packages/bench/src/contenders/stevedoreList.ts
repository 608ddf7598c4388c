/**
 * `<base URL> <items> <token>`: walks a list to its end. Writes the most heap that was live after a collection, in bytes,
 * and the seconds.
 */
import * as Lists from "@stevedore/core/Lists"
import * as NodeStevedore from "@stevedore/node/NodeStevedore"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

class ItemsMissing extends Data.TaggedError("ItemsMissing")<{ readonly came: number }> {}

const [baseUrl, items = "0", token = ""] = process.argv.slice(2)

const before = performance.now()

// as many looks at a short list as at a long one: the most of many is more than the most of few
const every = Math.max(1, Math.floor(Number(items) / 20))

let came = 0
let heap = 0

const look = () => {
  if (++came % every === 0) {
    globalThis.gc?.()
    heap = Math.max(heap, process.memoryUsage().heapUsed)
  }
}

await Stream.runForEach(Lists.projects(), () => Effect.sync(look)).pipe(
  Effect.filterOrFail(() => came === Number(items), () => new ItemsMissing({ came })),
  Effect.provide(NodeStevedore.layer({ baseUrl, token: Redacted.make(token), ledger: false })),
  Effect.runPromise
)
process.stdout.write(`${heap} ${(performance.now() - before) / 1000}`)
