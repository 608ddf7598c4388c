/** An upload ends: of several that ask for it, one has its lease, and what the store has then decides. */
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type { Principal } from "../Authorize.js"
import * as ServerMetrics from "../base/metrics.js"
import type { FileRow, FileState, Outcome, TableFailed } from "../FileTable.js"
import type { ListedParts } from "../parts/files.js"
import * as Identifiers from "../parts/identifiers.js"
import * as ServiceRefused from "../ServiceRefused.js"
import * as StorageRefused from "../StorageRefused.js"
import * as Lifecycle from "./lifecycle.js"
import { answered, orElseFail, refusedByStore, unknownFile } from "./refusals.js"
import { came, leased, type State } from "./state.js"

/** Somebody else completes the upload at this moment. */
export class Busy extends Data.TaggedError("Busy") {}

/** How often whoever waits for another one looks again. */
export const PATIENCE_STEP_MILLIS = 250

/** Where the bytes that are stored lead; none if there are none. */
const outcomeOf = (
  { hooks, store }: State,
  row: FileRow
): Effect.Effect<Option.Option<Outcome>, StorageRefused.StorageRefused> =>
  // what is stored when this is asked is the file, whatever ends later
  store.seal(row.key).pipe(
    Effect.map(({ checksum, etag, size, versionId }): Option.Option<Outcome> =>
      Option.some(
        size === row.size
          ? { state: hooks.inspect === undefined ? "finalized" : "inspecting", etag, versionId, checksum }
          : { state: "failed", reason: `${size} bytes are stored, ${row.size} were declared` }
      )
    ),
    Effect.catchIf(({ status }) => status === 404, () => Effect.succeedNone),
    Effect.catchIf(
      ({ code }) => code === "BadDigest",
      ({ message }) => Effect.succeedSome<Outcome>({ state: "failed", reason: message })
    )
  )

/** From what the store has to where the file is then; none if the bytes are not there. */
export const settle = (
  state: State,
  row: FileRow,
  owner: string
): Effect.Effect<Option.Option<FileRow>, StorageRefused.StorageRefused | TableFailed | Busy> =>
  Effect.gen(function*() {
    const { store, table } = state
    const outcome = yield* outcomeOf(state, row)
    if (Option.isNone(outcome)) {
      yield* table.release(row.id, owner)
      return Option.none()
    }
    const settled = yield* table.settle(row.id, owner, outcome.value)
    if (outcome.value.state === "failed") yield* Effect.ignoreLogged(store.remove(row.key))
    // the lease has ended meanwhile: somebody else settles it
    const final = yield* orElseFail(Effect.succeed(settled), () => new Busy())
    yield* came(final.state)
    return Option.some(final)
  })

const combine = ({ store, terms: { storeTimeout } }: State, row: FileRow, { parts, uploadId }: ListedParts) =>
  store.completeUpload(row.key, uploadId, parts).pipe(
    Effect.timeoutFail({
      duration: storeTimeout,
      onTimeout: () => StorageRefused.make("ServiceUnavailable", { reason: "No answer" })
    }),
    Effect.either
  )

const finish = (state: State, row: FileRow, owner: string, listed: ListedParts | undefined) =>
  leased(
    state,
    row,
    owner,
    Effect.gen(function*() {
      const answer = listed === undefined ? undefined : yield* combine(state, row, listed)
      const settled = yield* settle(state, row, owner)
      if (Option.isSome(settled)) return settled.value
      if (answer === undefined) {
        return yield* ServiceRefused.make(400, "InvalidOperation", { message: "No bytes were stored for this upload" })
      }
      return yield* Either.isLeft(answer)
        // what could not do it now may do it when it is asked again
        ? answer.left.status >= 500 ? answer.left : refusedByStore(answer.left)
        : ServiceRefused.make(502, "BadGateway", { message: "The storage has no object after its completion" })
    })
  )

const alone = <A, E>({ underWay }: State, fileId: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E | Busy> =>
  Effect.suspend((): Effect.Effect<A, E | Busy> => {
    if (underWay.has(fileId)) return Effect.fail(new Busy())
    const over = Deferred.unsafeMake<void>(FiberId.none)
    underWay.set(fileId, over)
    return Effect.ensuring(
      effect,
      Effect.suspend(() => {
        underWay.delete(fileId)
        return Deferred.succeed(over, undefined)
      })
    )
  })

const itsEnd = ({ underWay }: State, fileId: string) =>
  Effect.suspend(() => {
    const over = underWay.get(fileId)
    const pause = Effect.sleep(PATIENCE_STEP_MILLIS)
    return over === undefined ? pause : Effect.raceFirst(pause, Deferred.await(over))
  })

const claimed = (
  state: State,
  who: Principal,
  fileId: string,
  listed: ListedParts | undefined,
  before: FileState
) =>
  Effect.gen(function*() {
    const { table, terms } = state
    const owner = yield* Identifiers.recordId
    const row = yield* orElseFail(table.claim(who.tenant, fileId, owner, terms.leaseMillis), () => new Busy())
    if (before === "completing") yield* Metric.increment(ServerMetrics.takeovers)
    return yield* finish(state, row, owner, listed).pipe(
      // whoever asks next need not wait for the lease
      Effect.tapErrorTag("StorageRefused", () => Effect.ignoreLogged(table.release(fileId, owner)))
    )
  })

const conflict = (row: FileRow) => ServiceRefused.make(409, "Conflict", { message: row.reason })

const attempt = (state: State, who: Principal, fileId: string, listed: ListedParts | undefined) =>
  Effect.gen(function*() {
    const row = yield* orElseFail(state.table.find(who.tenant, fileId), unknownFile)
    const { complete } = Lifecycle.meanings[row.state]
    if (complete === "unknown") return yield* unknownFile()
    if ((row.kind === "multipart") !== (listed !== undefined)) {
      return yield* ServiceRefused.make(400, "InvalidOperation", { message: "The upload is of the other kind" })
    }
    if (listed !== undefined && listed.uploadId !== row.uploadId) {
      return yield* ServiceRefused.invalid("upload_id", "This is not the upload's id")
    }
    if (complete === "answer") return row
    if (complete === "conflict") return yield* conflict(row)
    const settled = yield* alone(state, fileId, claimed(state, who, fileId, listed, row.state))
    return settled.state === "failed"
      ? yield* ServiceRefused.make(422, "UnprocessableContent", { message: settled.reason })
      : settled
  })

const busy = () =>
  ServiceRefused.make(503, "InternalError", {
    message: "Another request is completing this upload",
    retryAfter: "2"
  })

export const complete = (state: State) =>
(
  who: Principal,
  fileId: string,
  listed: ListedParts | undefined
): Effect.Effect<FileRow, ServiceRefused.ServiceRefused> => {
  const within = (
    turns: number
  ): Effect.Effect<FileRow, Exclude<Effect.Effect.Error<ReturnType<typeof attempt>>, Busy>> =>
    Effect.catchTag(
      attempt(state, who, fileId, listed),
      "Busy",
      () => turns === 0 ? busy() : Effect.zipRight(itsEnd(state, fileId), within(turns - 1))
    )
  return Effect.interruptible(answered(within(state.terms.turns)))
}
