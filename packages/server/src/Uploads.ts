/**
 * The life of an upload at the service: a state machine over a table of files and a store.
 *
 * What the store holds decides, never the answer of one call to it. Nothing is locked while bytes move: a lease is held
 * around Complete alone, and whoever finds one that has ended goes on from there. After each step, the next one can be taken
 * by anybody:
 *
 * | step | a process that dies leaves | which is mended by |
 * |---|---|---|
 * | 1 the row, `opening` | a row, and perhaps an open upload at the store | the sweeper |
 * | 2 the upload at the store, then `waiting` | an upload that nobody uses | the sweeper, when it has expired |
 * | 3 `completing`, by a lease | a lease that ends | whoever asks next, or the sweeper |
 * | 4 Complete at the store | an object, and a row that is `completing` | the same: the object is there, so forward |
 * | 5 `finalized`, and its event in the same change | nothing half done | – |
 * | 6 `removing`, then `removed` | bytes that nobody needs | any sweeper |
 */
import * as ServiceProfile from "@stevedore/core/ServiceProfile"
import * as UploadPlan from "@stevedore/core/UploadPlan"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { Principal } from "./Authorize.js"
import type { Declaration, FileRecord, MultipartSession, SingleSession } from "./Files.js"
import { attachment, chooseParts } from "./Files.js"
import type { FileStoreService } from "./FileStore.js"
import { FileStore } from "./FileStore.js"
import type { FileRow, FileState, Quota, TableFailed } from "./FileTable.js"
import { FileTable } from "./FileTable.js"
import { Hooks } from "./Hooks.js"
import * as Identifiers from "./Identifiers.js"
import { drained } from "./internal/drained.js"
import { MINIMUM_PART_BYTES } from "./ObjectStore.js"
import * as ServerMetrics from "./ServerMetrics.js"
import * as ServiceRefused from "./ServiceRefused.js"
import * as StorageRefused from "./StorageRefused.js"

/**
 * How uploads are treated. All options have defaults.
 *
 * @category models
 */
export interface Options {
  /** How long the URLs of an upload are valid. Defaults to 3 hours (service contract). */
  readonly urlLifetime?: Duration.DurationInput | undefined
  /** How long the URL of a single PUT is valid. Defaults to `urlLifetime`. */
  readonly singleUrlLifetime?: Duration.DurationInput | undefined
  /** How long the URL of a download is valid. Defaults to 1 hour (service contract). */
  readonly downloadLifetime?: Duration.DurationInput | undefined
  /** How long until an unfinished upload is removed. Defaults to 24 hours (service contract). */
  readonly orphanLifetime?: Duration.DurationInput | undefined
  /** How long an instance may be silent before another one takes over what it completes. Defaults to 15 seconds. */
  readonly lease?: Duration.DurationInput | undefined
  /** How long the store may take to complete an upload. Defaults to 5 minutes. */
  readonly storeTimeout?: Duration.DurationInput | undefined
  /**
   * How long a second Complete of the same upload waits for the first. Defaults to 25 seconds; clients wait a minute.
   */
  readonly patience?: Duration.DurationInput | undefined
  /** The part size in bytes that is aimed at if the client leaves the number of parts open. Defaults to 16 MiB. */
  readonly recommendedPartSize?: number | undefined
  /** The minimum size of all parts but the last, in bytes. Defaults to 5 MiB. */
  readonly minimumPartSize?: number | undefined
  /**
   * The headers that the single PUT must carry and its URL signs. Defaults to `x-amz-server-side-encryption: aws:kms`
   * (service contract); the profile of the clients must have the same.
   */
  readonly encryptionHeaders?: Readonly<Record<string, string>> | undefined
  /** The headers that the PUT of a part must carry and its URL signs. Defaults to none (service contract). */
  readonly partHeaders?: Readonly<Record<string, string>> | undefined
  /**
   * What the URL of a single PUT signs of the declaration, so that storage refuses anything else. With `content-length` (the
   * default), the URL of a part signs the length of that part too: no more bytes can be stored than were declared.
   */
  readonly signed?: ReadonlyArray<"content-length" | "content-type"> | undefined
  /**
   * The key of a file's bytes in the store, which no other file may ever have. Defaults to `files/<tenant>/<id>`: never a
   * part of its name.
   */
  readonly keyOf?: ((who: Principal, fileId: string) => string) | undefined
  /**
   * How much a tenant may have; an upload that would be more is refused with 422. Defaults to no limit. What was begun and
   * is not finished counts until it is removed.
   */
  readonly quota?: Quota | ((who: Principal) => Quota) | undefined
  /** How long what is completed may still take when the service ends. Defaults to 30 seconds. */
  readonly drain?: Duration.DurationInput | undefined
}

/**
 * The parts that a client lists.
 *
 * @category models
 */
export interface ListedParts {
  readonly uploadId: string
  readonly parts: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }>
}

/**
 * The transitions of the state machine. Each fails with the service's answer.
 *
 * @category models
 */
export interface UploadsService {
  readonly initiate: (
    who: Principal,
    declared: Declaration
  ) => Effect.Effect<SingleSession, ServiceRefused.ServiceRefused>
  /** `parts` is what the client wishes for; without it, the service chooses. */
  readonly initiateLarge: (
    who: Principal,
    declared: Declaration,
    parts: number | undefined
  ) => Effect.Effect<MultipartSession, ServiceRefused.ServiceRefused>
  /**
   * Completes an upload, and answers with the same record however often it is asked. It goes on if its caller is
   * interrupted: a lost connection changes nothing.
   */
  readonly complete: (
    who: Principal,
    fileId: string,
    listed: ListedParts | undefined
  ) => Effect.Effect<FileRow, ServiceRefused.ServiceRefused>
  /** A file, whether it is final, looked at, or has failed. */
  readonly file: (who: Principal, fileId: string) => Effect.Effect<FileRow, ServiceRefused.ServiceRefused>
  /** A file that can be downloaded. */
  readonly finalized: (who: Principal, fileId: string) => Effect.Effect<FileRow, ServiceRefused.ServiceRefused>
  /** A pre-signed URL for reading it. */
  readonly downloadUrl: (row: FileRow) => Effect.Effect<string, ServiceRefused.ServiceRefused>
  /** Removes a final file. Its bytes follow at the next sweep. */
  readonly remove: (who: Principal, fileId: string) => Effect.Effect<void, ServiceRefused.ServiceRefused>
  /**
   * Looks after up to 20 files that nobody looks after, and answers how many: what a dead instance was completing,
   * inspections, and the removal of what has expired.
   */
  readonly sweep: Effect.Effect<number, TableFailed>
}

/**
 * The service tag of the state machine.
 *
 * @category tags
 */
export class Uploads extends Context.Tag("@stevedore/server/Uploads")<Uploads, UploadsService>() {}

// a few milliseconds of work
const SIGNED_IN_ONE_GO = 64

/** Somebody else completes the upload at this moment. */
class Busy extends Data.TaggedError("Busy") {}

/** What became of the bytes of an upload. */
type Found = Data.TaggedEnum<{
  Absent: {}
  Stored: { readonly etag: string; readonly versionId: string | undefined }
  Wrong: { readonly reason: string }
}>

const Found = Data.taggedEnum<Found>()

// no segment of it is "..", which a URL would resolve
const usualKey = ({ tenant }: Principal, id: string): string =>
  `files/${encodeURIComponent(tenant).replaceAll(".", "%2E")}/${id}`

/** What an effect finds, or a failure if that is nothing. */
const orElseFail = <A, E, R, E2>(
  found: Effect.Effect<Option.Option<A>, E, R>,
  failure: () => E2
): Effect.Effect<A, E | E2, R> =>
  Effect.flatMap(found, Option.match({ onNone: () => Effect.fail(failure()), onSome: Effect.succeed }))

const unknownFile = () => ServiceRefused.notFound("This file")

const overQuota = () =>
  ServiceRefused.make(422, "UnprocessableContent", {
    message: "There is no room left: remove files, or let the quota be raised",
    path: "size"
  })

const refusedByStore = (refusal: StorageRefused.StorageRefused) =>
  ServiceRefused.make(502, "BadGateway", {
    message: `The storage answered ${refusal.code}: ${refusal.reason}`,
    reason: refusal.message
  })

/** What has failed, with the file, which the path of a call that opens it does not name. */
const ofFile = (id: string, { code, message }: StorageRefused.StorageRefused) => ({
  code,
  message: `${id}: ${message}`
})

/** The store, whose calls are measured. */
const timed = (store: FileStoreService): FileStoreService => {
  const measured = <A, E, R>(operation: string, call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.timed(call).pipe(
      Effect.tap(([duration]) =>
        Metric.update(
          Metric.tagged(ServerMetrics.storeSeconds, "operation", operation),
          Duration.toSeconds(duration)
        )
      ),
      Effect.map(([, value]) => value)
    )
  return {
    ...store,
    createUpload: (...asked) => measured("create", store.createUpload(...asked)),
    completeUpload: (...asked) => measured("complete", store.completeUpload(...asked)),
    abortUpload: (...asked) => measured("abort", store.abortUpload(...asked)),
    opened: (...asked) => measured("opened", store.opened(...asked)),
    head: (...asked) => measured("head", store.head(...asked)),
    seal: (...asked) => measured("seal", store.seal(...asked)),
    remove: (...asked) => measured("remove", store.remove(...asked))
  }
}

const came = (state: FileState, count = 1) =>
  Metric.incrementBy(Metric.tagged(ServerMetrics.states, "state", state), count)

const SWEPT_AT_ONCE = 20
const PATIENCE_STEP_MILLIS = 250

/**
 * The record of a file, as sent on the wire.
 *
 * @category conversions
 */
export const toRecord = (row: FileRow): FileRecord => ({
  id: row.id,
  name: row.name,
  type: row.mediaType ?? null,
  size: row.size,
  status: row.state === "failed" ? "failed" : row.state === "finalized" ? "completed" : "pending",
  author: row.owner,
  created_at: new Date(row.createdAt).toISOString(),
  ...(row.metadata && { metadata: row.metadata })
})

/**
 * The state machine. What it completes ends with the scope, which waits for it.
 *
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<UploadsService, never, FileTable | FileStore | Scope.Scope> =>
  Effect.gen(function*() {
    const table = yield* FileTable
    const store = timed(yield* FileStore)
    const hooks = yield* Hooks
    const completing = yield* FiberSet.make<FileRow, ServiceRefused.ServiceRefused>()
    // what this instance completes: whoever asks for the same waits for its end, and no longer
    const underWay = new Map<string, Deferred.Deferred<void>>()
    yield* Effect.addFinalizer(() => drained(FiberSet.awaitEmpty(completing), options.drain))

    const urlSeconds = Math.round(Duration.toSeconds(options.urlLifetime ?? "3 hours"))
    const singleSeconds = Math.round(Duration.toSeconds(options.singleUrlLifetime ?? options.urlLifetime ?? "3 hours"))
    const downloadSeconds = Math.round(Duration.toSeconds(options.downloadLifetime ?? "1 hour"))
    const lifetimeMillis = Duration.toMillis(options.orphanLifetime ?? "24 hours")
    const leaseMillis = Duration.toMillis(options.lease ?? "15 seconds")
    const storeTimeout = options.storeTimeout ?? "5 minutes"
    const turns = Math.ceil(Duration.toMillis(options.patience ?? "25 seconds") / PATIENCE_STEP_MILLIS)
    const sizes = {
      recommendedPartSize: options.recommendedPartSize ?? 16 * 1024 * 1024,
      minimumPartSize: options.minimumPartSize ?? MINIMUM_PART_BYTES
    }
    const encryption = options.encryptionHeaders ?? ServiceProfile.standard.encryptionHeaders
    const partHeaders = options.partHeaders ?? {}
    const { quota } = options
    const quotaOf = (who: Principal) => typeof quota === "function" ? quota(who) : quota
    const keyOf = options.keyOf ?? usualKey

    const signed = options.signed ?? ["content-length"]

    const signedHeaders = ({ size, type }: Declaration): Readonly<Record<string, string>> => {
      const declared = { "content-length": String(size), "content-type": type }
      return signed.reduce<Readonly<Record<string, string>>>((headers, name) => {
        const value = declared[name]
        return value === undefined ? headers : { ...headers, [name]: value }
      }, { ...encryption, ...store.putHeaders })
    }

    /** Of each part its own length: clients make parts as `UploadPlan.ranges` does, and storage refuses any other. */
    const headersOfParts = (
      size: number,
      parts: number
    ): Either.Either<ReadonlyArray<Readonly<Record<string, string>>>, ServiceRefused.ServiceRefused> =>
      signed.includes("content-length")
        ? Either.mapLeft(
          Either.map(
            UploadPlan.ranges(size, parts, ServiceProfile.standard.limits),
            Arr.map(({ length }) => ({ ...partHeaders, "content-length": String(length) }))
          ),
          ({ atLeast, atMost }) =>
            ServiceRefused.invalid("parts", `${parts} parts of ${size} bytes: expected ${atLeast} to ${atMost}`)
        )
        : Either.right([])

    const answered = <A, R>(
      effect: Effect.Effect<A, ServiceRefused.ServiceRefused | StorageRefused.StorageRefused | TableFailed, R>
    ): Effect.Effect<A, ServiceRefused.ServiceRefused, R> =>
      Effect.catchTags(effect, {
        TableFailed: (failure) => Effect.fail(ServiceRefused.unavailable(failure)),
        StorageRefused: (refusal) =>
          Effect.fail(refusal.status >= 500 ? ServiceRefused.unavailable(refusal) : refusedByStore(refusal))
      })

    const open = (
      who: Principal,
      declared: Declaration,
      kind: "single" | "multipart"
    ): Effect.Effect<{ readonly id: string; readonly key: string }, ServiceRefused.ServiceRefused | TableFailed> =>
      Effect.gen(function*() {
        yield* hooks.admit(who, declared)
        const id = yield* Identifiers.recordId
        const key = keyOf(who, id)
        const isHeld = yield* table.open({
          id,
          tenant: who.tenant,
          owner: { id: who.id, name: who.name },
          name: declared.name,
          mediaType: declared.type,
          size: declared.size,
          metadata: declared.metadata,
          kind,
          key,
          state: kind === "single" ? "waiting" : "opening",
          lifetimeMillis
        }, quotaOf(who))
        if (!isHeld) return yield* overQuota()
        yield* came(kind === "single" ? "waiting" : "opening")
        return { id, key }
      })

    const initiate: UploadsService["initiate"] = (who, declared) =>
      answered(Effect.gen(function*() {
        const { id, key } = yield* open(who, declared, "single")
        const uploadUrl = yield* store.presign({
          method: "PUT",
          key,
          headers: signedHeaders(declared),
          expiresIn: singleSeconds
        })
        return { fileId: id, uploadUrl }
      }))

    const initiateLarge: UploadsService["initiateLarge"] = (who, declared, wished) =>
      answered(Effect.gen(function*() {
        const parts = wished ?? chooseParts(declared.size, sizes)
        if (parts > declared.size) {
          return yield* ServiceRefused.invalid("parts", `${parts} parts of ${declared.size} bytes: some would be empty`)
        }
        const headers = yield* headersOfParts(declared.size, parts)
        // the row first: whatever the store opens then can be found by its key
        const { id, key } = yield* open(who, declared, "multipart")
        const uploadId = yield* Effect.mapError(
          store.createUpload(key, { contentType: declared.type }),
          (refusal) => refusal.status >= 500 ? ServiceRefused.unavailable(ofFile(id, refusal)) : refusal
        )
        if (!(yield* table.opened(id, uploadId))) return yield* unknownFile()
        const urls = yield* Effect.forEach(
          Arr.chunksOf(Arr.range(1, parts), SIGNED_IN_ONE_GO),
          (partNumbers) =>
            Effect.zipLeft(
              Effect.forEach(partNumbers, (partNumber) =>
                store.presign({
                  method: "PUT",
                  key,
                  part: { uploadId, partNumber },
                  headers: headers[partNumber - 1] ?? partHeaders,
                  expiresIn: urlSeconds
                })),
              // other requests are answered in between
              parts > SIGNED_IN_ONE_GO ? Effect.sleep(0) : Effect.void
            )
        )
        return { fileId: id, uploadId, urls: urls.flat() }
      }))

    const stored = (row: FileRow): Effect.Effect<Found, StorageRefused.StorageRefused> =>
      // what is stored when this is asked is the file, whatever ends later
      store.seal(row.key).pipe(
        Effect.map(({ etag, size, versionId }) =>
          size === row.size
            ? Found.Stored({ etag, versionId })
            : Found.Wrong({ reason: `${size} bytes are stored, ${row.size} were declared` })
        ),
        Effect.catchIf(({ status }) => status === 404, () => Effect.succeed(Found.Absent()))
      )

    const drop = (row: FileRow) =>
      Effect.gen(function*() {
        if (row.kind === "multipart") {
          yield* Effect.forEach(yield* store.opened(row.key), (uploadId) => store.abortUpload(row.key, uploadId))
        }
        yield* store.remove(row.key)
      })

    const inspected = hooks.inspect === undefined ? "finalized" as const : "inspecting" as const

    /** From what the store has to where the file is then; none if the bytes are not there. */
    const settle = (
      row: FileRow,
      owner: string
    ): Effect.Effect<Option.Option<FileRow>, StorageRefused.StorageRefused | TableFailed | Busy> =>
      Effect.gen(function*() {
        const found = yield* stored(row)
        if (found._tag === "Absent") {
          yield* table.release(row.id, owner)
          return Option.none()
        }
        const settled = yield* table.settle(
          row.id,
          owner,
          found._tag === "Stored"
            ? { state: inspected, etag: found.etag, versionId: found.versionId }
            : { state: "failed", reason: found.reason }
        )
        if (found._tag === "Wrong") yield* Effect.ignoreLogged(store.remove(row.key))
        // the lease has ended meanwhile: somebody else settles it
        const final = yield* orElseFail(Effect.succeed(settled), () => new Busy())
        yield* came(final.state)
        return Option.some(final)
      })

    /** A lease that is renewed while something runs, and no longer than the store may take. */
    const leased = <A, E>(row: FileRow, owner: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.acquireUseRelease(
        Effect.fork(Effect.interruptible(
          table.renew(row.id, owner, leaseMillis).pipe(
            Effect.ignoreLogged,
            Effect.delay(Duration.millis(leaseMillis / 3)),
            Effect.repeat(Schedule.forever),
            Effect.timeoutOption(storeTimeout)
          )
        )),
        () => effect,
        Fiber.interrupt
      )

    const combine = (row: FileRow, { parts, uploadId }: ListedParts) =>
      store.completeUpload(row.key, uploadId, parts).pipe(
        Effect.timeoutFail({
          duration: storeTimeout,
          onTimeout: () => StorageRefused.make("ServiceUnavailable", { reason: "No answer" })
        }),
        Effect.either
      )

    const finish = (row: FileRow, owner: string, listed: ListedParts | undefined) =>
      leased(
        row,
        owner,
        Effect.gen(function*() {
          const answer = listed === undefined ? undefined : yield* combine(row, listed)
          const settled = yield* settle(row, owner)
          if (Option.isSome(settled)) return settled.value
          if (answer === undefined) {
            return yield* ServiceRefused.make(400, "InvalidOperation", {
              message: "No bytes were stored for this upload"
            })
          }
          return yield* Either.isLeft(answer)
            // what could not do it now may do it when it is asked again
            ? answer.left.status >= 500 ? answer.left : refusedByStore(answer.left)
            : ServiceRefused.make(502, "BadGateway", { message: "The storage has no object after its completion" })
        })
      )

    const alone = <A, E>(fileId: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E | Busy> =>
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

    const itsEnd = (fileId: string) =>
      Effect.suspend(() => {
        const over = underWay.get(fileId)
        const pause = Effect.sleep(PATIENCE_STEP_MILLIS)
        return over === undefined ? pause : Effect.raceFirst(pause, Deferred.await(over))
      })

    const claimed = (who: Principal, fileId: string, listed: ListedParts | undefined, before: FileState) =>
      Effect.gen(function*() {
        const owner = yield* Identifiers.recordId
        const row = yield* orElseFail(table.claim(who.tenant, fileId, owner, leaseMillis), () => new Busy())
        if (before === "completing") yield* Metric.increment(ServerMetrics.takeovers)
        return yield* finish(row, owner, listed).pipe(
          // whoever asks next need not wait for the lease
          Effect.tapErrorTag("StorageRefused", () => Effect.ignoreLogged(table.release(fileId, owner)))
        )
      })

    const attempt = (who: Principal, fileId: string, listed: ListedParts | undefined) =>
      Effect.gen(function*() {
        const row = yield* orElseFail(table.find(who.tenant, fileId), unknownFile)
        if (row.state === "opening" || row.state === "removing" || row.state === "removed") return yield* unknownFile()
        if ((row.kind === "multipart") !== (listed !== undefined)) {
          return yield* ServiceRefused.make(400, "InvalidOperation", { message: "The upload is of the other kind" })
        }
        if (listed !== undefined && listed.uploadId !== row.uploadId) {
          return yield* ServiceRefused.invalid("upload_id", "This is not the upload's id")
        }
        if (row.state === "finalized" || row.state === "inspecting") return row
        if (row.state === "failed") return yield* ServiceRefused.make(409, "Conflict", { message: row.reason })
        const settled = yield* alone(fileId, claimed(who, fileId, listed, row.state))
        return settled.state === "failed"
          ? yield* ServiceRefused.make(422, "UnprocessableContent", { message: settled.reason, path: "size" })
          : settled
      })

    const busy = () =>
      ServiceRefused.make(503, "InternalError", {
        message: "Another request is completing this upload",
        retryAfter: "2"
      })

    const complete: UploadsService["complete"] = (who, fileId, listed) =>
      attempt(who, fileId, listed).pipe(
        Effect.tapErrorTag("Busy", () => itsEnd(fileId)),
        Effect.retry({ while: ({ _tag }) => _tag === "Busy", times: turns }),
        Effect.catchTag("Busy", busy),
        answered,
        Effect.interruptible,
        // in a fiber of its own: a lost connection interrupts only who waits for it
        (one) => Effect.flatMap(FiberSet.run(completing, one), Fiber.join)
      )

    const find: UploadsService["file"] = (who, fileId) =>
      answered(table.find(who.tenant, fileId)).pipe(
        Effect.map(
          Option.filter((row) => row.state === "finalized" || row.state === "inspecting" || row.state === "failed")
        ),
        (row) => orElseFail(row, unknownFile)
      )

    const inspect = (row: FileRow, owner: string) =>
      Effect.gen(function*() {
        const isClean = hooks.inspect === undefined ||
          (yield* Effect.disconnect(hooks.inspect(row, store.get(row.key, undefined, row))))
        const settled = yield* table.settle(
          row.id,
          owner,
          isClean
            ? { state: "finalized", etag: row.etag, versionId: row.versionId }
            : { state: "failed", reason: "The file was not accepted" }
        )
        if (Option.isSome(settled)) yield* came(settled.value.state)
        if (!isClean) yield* store.remove(row.key)
      })

    const removed = ({ id, state }: FileRow, owner: string) =>
      Effect.flatMap(
        table.removed(id, owner),
        (isRemoved) => isRemoved && state === "removing" ? came("removed") : Effect.void
      )

    const lookAfter = (row: FileRow, owner: string) =>
      leased(
        row,
        owner,
        row.state === "completing"
          ? Effect.asVoid(settle(row, owner))
          : row.state === "inspecting"
          ? inspect(row, owner)
          : Effect.zipRight(drop(row), removed(row, owner))
      ).pipe(
        // its lease is renewed no longer, so somebody else may have it by then
        Effect.timeout(storeTimeout),
        // the lease ends by itself, and somebody tries again
        Effect.catchAllCause((cause) => Effect.logWarning(`The file ${row.id} cannot be looked after yet`, cause))
      )

    const sweep = Effect.gen(function*() {
      const owner = yield* Identifiers.recordId
      const rows = yield* table.due(owner, leaseMillis, SWEPT_AT_ONCE)
      yield* Effect.forEach(rows, (row) => lookAfter(row, owner), { discard: true, concurrency: "unbounded" })
      yield* Metric.incrementBy(ServerMetrics.swept, rows.length)
      return rows.length
    })

    return {
      initiate,
      initiateLarge,
      complete,
      sweep,
      file: find,
      finalized: (who, fileId) =>
        Effect.filterOrFail(find(who, fileId), (row) => row.state === "finalized", unknownFile),
      downloadUrl: (row) =>
        answered(store.presign({
          method: "GET",
          key: row.key,
          headers: {},
          query: {
            "response-content-disposition": attachment(row.name),
            "response-content-type": row.mediaType ?? "application/octet-stream",
            ...(row.versionId === undefined ? {} : { versionId: row.versionId })
          },
          expiresIn: downloadSeconds
        })),
      remove: (who, fileId) =>
        Effect.filterOrFail(answered(table.discard(who.tenant, fileId)), (isThere) => isThere, unknownFile).pipe(
          Effect.asVoid
        )
    }
  })

/**
 * The state machine as a layer.
 *
 * @category layers
 */
export const layer = (options?: Options): Layer.Layer<Uploads, never, FileTable | FileStore> =>
  Layer.scoped(Uploads, make(options))
