/** What is done for files that nobody looks after: a dead instance was completing them, or they are to be looked at or removed. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as ServerMetrics from "../base/metrics.js"
import { tally } from "../base/text.js"
import type { FileRow, TableFailed } from "../FileTable.js"
import * as Identifiers from "../parts/identifiers.js"
import { settle } from "./completion.js"
import * as Lifecycle from "./lifecycle.js"
import { came, leased, type State } from "./state.js"

const SWEPT_AT_ONCE = 20

const inspect = ({ hooks, store, table }: State, row: FileRow, owner: string) =>
  Effect.gen(function*() {
    const isClean = hooks.inspect === undefined ||
      (yield* Effect.disconnect(hooks.inspect(row, store.get(row.key, undefined, row))))
    const settled = yield* table.settle(
      row.id,
      owner,
      isClean
        ? { state: "finalized", etag: row.etag, versionId: row.versionId, checksum: row.checksum }
        : { state: "failed", reason: "The file was not accepted" }
    )
    if (Option.isSome(settled)) yield* came(settled.value.state)
    if (!isClean) yield* store.remove(row.key)
  })

const remove = ({ store, table }: State, row: FileRow, owner: string) =>
  Effect.gen(function*() {
    if (row.kind === "multipart") {
      yield* Effect.forEach(yield* store.opened(row.key), (uploadId) => store.abortUpload(row.key, uploadId))
    }
    yield* store.remove(row.key)
    const isRemoved = yield* table.removed(row.id, owner)
    if (isRemoved && row.state === "removing") yield* came("removed")
  })

const cares = {
  settle,
  inspect,
  remove,
  nothing: () => Effect.void
}

const lookAfter = (state: State, row: FileRow, owner: string) =>
  leased(
    state,
    row,
    owner,
    Effect.asVoid<unknown, unknown, never>(cares[Lifecycle.meanings[row.state].care](state, row, owner))
  ).pipe(
    // its lease is renewed no longer, so somebody else may have it by then
    Effect.timeout(state.terms.storeTimeout),
    Effect.as(1),
    // the lease ends by itself, and somebody tries again
    Effect.catchAllCause((cause) =>
      Effect.as(Effect.logWarning(`The file ${row.id} cannot be looked after yet`, cause), 0)
    )
  )

export const sweep = (state: State): Effect.Effect<number, TableFailed> =>
  Effect.gen(function*() {
    const owner = yield* Identifiers.recordId
    const rows = yield* state.table.due(owner, state.terms.leaseMillis, SWEPT_AT_ONCE)
    const done = yield* Effect.forEach(rows, (row) => lookAfter(state, row, owner), { concurrency: "unbounded" })
    yield* Metric.incrementBy(ServerMetrics.swept, rows.length)
    const expired = rows.filter(({ settledAt, state }) => state === "removing" && settledAt === undefined)
    if (expired.length > 0) {
      yield* Effect.logInfo(
        `Removed ${expired.length} uploads that were not completed: ${tally(expired.map(({ tenant }) => [tenant, 1]))}`
      )
    }
    return done.reduce((sum: number, one) => sum + one, 0)
  })
