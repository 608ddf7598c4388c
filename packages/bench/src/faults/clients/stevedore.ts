import type { Checkpoints } from "@stevedore/core"
import { Lists } from "@stevedore/core"
import { NodeStevedore } from "@stevedore/node"
import { ManagedRuntime, Predicate, Redacted, Stream } from "effect"
import type { Client } from "../Client.js"
import { batches } from "../Client.js"

export const stevedore: Client = {
  open: async (origin) => {
    const runtime = await ManagedRuntime.make(
      NodeStevedore.layer({ baseUrl: origin, token: Redacted.make("api.loopback"), ledger: false })
    ).runtime()
    let at: Checkpoints.Checkpoint | undefined
    const walk = (from: Checkpoints.Checkpoint | undefined) =>
      batches(
        Stream.toAsyncIterableRuntime(Lists.projects.marked({ pageSize: 100, from }), runtime),
        ({ at: behind, item }) => {
          at = behind
          return item.id === undefined ? [] : [item.id]
        }
      )
    return { [Symbol.asyncIterator]: () => walk(undefined)[Symbol.asyncIterator](), goOn: () => walk(at) }
  },
  isOwnError: (error) => Predicate.hasProperty(error, "_tag")
}
