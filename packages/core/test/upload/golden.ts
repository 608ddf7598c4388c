import {
  Checksum,
  ConnectionError,
  type FileRecord,
  ObjectStorage,
  PresignedUrl,
  RetryPolicy,
  ServiceApi,
  ServiceError,
  ServiceProfile,
  SourceError,
  StorageError,
  TransferGate,
  UploadLedger,
  Uploads,
  type UploadSession,
  type UploadSource,
  UploadSources
} from "@stevedore/core"
import { Clock, Duration, Effect, Layer, Logger, LogLevel, Option } from "effect"
import * as UploadResume from "../../src/upload/resume.js"

// What an upload does in each of some thousand situations: which error, where, how often, and what an earlier process
// had left. Each is a whole upload through stubs, so that only a changed decision changes its row.

// The first attempt of two may have been carried out
const answer = (attempts: number, ...issues: ReadonlyArray<ServiceError.Issue>) => ({
  operation: "op",
  issues,
  attempts,
  mayHaveArrived: attempts > 1 ? true : undefined
})
const invalidPart = (attempts: number) => answer(attempts, { code: "InvalidPart" })
const toService = { peer: "service", origin: "https://service.test" } as const
const toStorage = { peer: "storage", origin: "https://storage.test" } as const

/** Every error of the service that changes what follows, by a name of its own. */
export const serviceErrors = {
  unauthorized: (attempts: number) => new ServiceError.Unauthorized({ ...answer(attempts), status: 401 }),
  forbidden: (attempts: number) => new ServiceError.Forbidden({ ...answer(attempts), status: 403 }),
  notFound: (attempts: number) => new ServiceError.NotFound({ ...answer(attempts), status: 404 }),
  conflict: (attempts: number) => new ServiceError.UploadConflict({ ...answer(attempts), status: 409 }),
  rejected: (attempts: number) => new ServiceError.RequestRejected({ ...answer(attempts), status: 400 }),
  redirected: (attempts: number) => new ServiceError.RequestRejected({ ...answer(attempts), status: 302 }),
  invalidPart: (attempts: number) => new ServiceError.RequestRejected({ ...invalidPart(attempts), status: 400 }),
  rateLimited: (attempts: number) => new ServiceError.RateLimited({ ...answer(attempts), status: 429 }),
  unavailable: (attempts: number) => new ServiceError.ServiceUnavailable({ ...answer(attempts), status: 503 }),
  gateway: (attempts: number) => new ServiceError.ServiceUnavailable({ ...answer(attempts), status: 502 }),
  gatewayWithIssues: (attempts: number) =>
    new ServiceError.ServiceUnavailable({ ...answer(attempts, { code: "X" }), status: 502 }),
  invalidPart500: (attempts: number) => new ServiceError.ServiceUnavailable({ ...invalidPart(attempts), status: 500 }),
  page: (attempts: number) =>
    new ServiceError.InvalidResponse({ ...answer(attempts), status: 200, path: "", problem: ServiceError.notJson }),
  shape: (attempts: number) =>
    new ServiceError.InvalidResponse({ ...answer(attempts), status: 200, path: "data", problem: "absent" }),
  serviceLost: (attempts: number) =>
    new ConnectionError.ConnectionFailed({ ...toService, arrived: "unknown", attempts }),
  serviceGone: (attempts: number) => new ConnectionError.ConnectionFailed({ ...toService, arrived: "no", attempts }),
  serviceTimeout: (attempts: number) =>
    new ConnectionError.TimedOut({ peer: "service", phase: "call", after: Duration.seconds(1), attempts })
}

/** The same of storage. */
export const storageErrors = {
  signature: (attempts: number) =>
    new StorageError.SignatureMismatch403({ signedHeaders: [], sentHeaders: [], attempts }),
  expired: (attempts: number) => new StorageError.UrlExpired({ reason: "Refused", attempts }),
  unknownKey: (attempts: number) => new StorageError.UrlExpired({ reason: "UnknownKey", attempts }),
  notSigned: (attempts: number) => new StorageError.HeadersNotSigned({ headers: [], attempts }),
  headerMissing: () => new StorageError.SignedHeaderMissing({ headers: [] }),
  storageForbidden: (attempts: number) => new StorageError.StorageForbidden({ attempts }),
  noSuchUpload: (attempts: number) => new StorageError.StorageRejected({ status: 404, code: "NoSuchUpload", attempts }),
  storageRedirect: (attempts: number) => new StorageError.StorageRejected({ status: 302, attempts }),
  incomplete: (attempts: number) => new StorageError.StorageRejected({ status: 400, code: "IncompleteBody", attempts }),
  storageDown: (attempts: number) => new StorageError.StorageUnavailable({ status: 503, attempts }),
  slowDown: (attempts: number) => new StorageError.StorageUnavailable({ status: 503, code: "SlowDown", attempts }),
  etagMissing: (attempts: number) => new StorageError.EtagMissing({ attempts }),
  checksum: (attempts: number) =>
    new StorageError.ChecksumMismatch({ algorithm: "crc32", sent: "a", stored: "b", attempts }),
  storageLost: (attempts: number) =>
    new ConnectionError.ConnectionFailed({ ...toStorage, arrived: "unknown", attempts }),
  storageTimeout: (attempts: number) =>
    new ConnectionError.TimedOut({ peer: "storage", phase: "body", after: Duration.seconds(1), attempts })
}

/** The same of a source. */
export const sourceErrors = {
  changed: (attempts: number) => new SourceError.SourceChanged({ fileName: "a", what: "modified", attempts }),
  readOnce: (attempts: number) => new SourceError.SourceUnreadable({ fileName: "a", reason: "ReadOnce", attempts }),
  unreadable: (attempts: number) => new SourceError.SourceUnreadable({ fileName: "a", reason: "Failed", attempts })
}

type Names<Errors> = ReadonlyArray<keyof Errors & string>

const namesOf = <Errors extends object>(errors: Errors): Names<Errors> =>
  Object.keys(errors).filter((name): name is keyof Errors & string => name in errors)

const errorsAt = {
  open: namesOf(sourceErrors),
  read: namesOf(sourceErrors),
  unchanged: namesOf(sourceErrors),
  initiate: namesOf(serviceErrors),
  complete: namesOf(serviceErrors),
  file: namesOf(serviceErrors),
  put: namesOf(storageErrors),
  repair: namesOf(storageErrors)
}

const lefts = ["nothing", "uploading", "late", "lateByOurClock", "noUrls", "completing", "lostReceipt"] as const
const files = ["there", "missing", "failed", "silent", "otherSize"] as const

/** A situation of an upload. */
export interface Case {
  readonly place: keyof typeof errorsAt
  readonly error: string
  readonly attempts: number
  /** Whether it fails each time, or only the first. */
  readonly always: boolean
  /** What an earlier process left. */
  readonly left: typeof lefts[number]
  /** Whether the upload is asked for by its id. */
  readonly byId: boolean
  readonly repeatable: boolean
  readonly maxSessions: number
  /** What the service says of the file. */
  readonly file: typeof files[number]
}

/** Every situation, in a fixed order. */
export const cases: ReadonlyArray<Case> = namesOf(errorsAt).flatMap((place) =>
  errorsAt[place].flatMap((error) =>
    lefts.filter((left) => place !== "read" || left !== "nothing").flatMap((left) =>
      (place === "complete" || place === "initiate" ? [1, 2] : [1]).flatMap((attempts) =>
        [false, true].flatMap((always) =>
          (left === "nothing" ? [false] : [false, true]).flatMap((byId) =>
            [true, false].flatMap((repeatable) =>
              [1, 3].flatMap((maxSessions) =>
                (place === "complete" || place === "repair" || left === "lostReceipt" ? files : ["missing" as const])
                  .map((file): Case => ({
                    place,
                    error,
                    attempts,
                    always,
                    left,
                    byId,
                    repeatable,
                    maxSessions,
                    file
                  }))
              )
            )
          )
        )
      )
    )
  )
)

/** The name of a situation, in one line. */
export const nameOf = ({ always, attempts, byId, error, file, left, maxSessions, place, repeatable }: Case): string =>
  [
    `${error} at ${place}${attempts > 1 ? ` (attempt ${attempts})` : ""}${always ? " always" : ""}`,
    `left ${left}${byId ? ", by id" : ""}`,
    repeatable ? "repeatable" : "once",
    `${maxSessions} sessions`,
    `file ${file}`
  ].join("; ")

const bytes = Uint8Array.from({ length: 95 }, (_, index) => index)

const ranges = [[0, 32], [32, 32], [64, 31]] as const

const basicDate = (millis: number): string => new Date(millis).toISOString().replace(/[-:]|\.\d{3}/g, "")

const urlOf = (signedAt: string, part: number): PresignedUrl.PresignedUrl =>
  Option.getOrThrow(PresignedUrl.fromString(
    `https://storage.test/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=A%2F20300101%2Fs3&X-Amz-Date=${signedAt}` +
      `&X-Amz-Expires=10800&X-Amz-SignedHeaders=host&partNumber=${part}&uploadId=u&X-Amz-Signature=s`
  ))

const sessionOf = (fileId: string, openedAt: number): UploadSession.MultipartSession => {
  const signedAt = basicDate(openedAt)
  return {
    _tag: "MultipartSession",
    fileId,
    uploadId: "u",
    clockOffset: 0,
    openedAt,
    urls: [urlOf(signedAt, 1), urlOf(signedAt, 2), urlOf(signedAt, 3)],
    extra: {}
  }
}

const failing = <E>(one: Case, errors: Readonly<Record<string, (attempts: number) => E>>) => {
  const make = errors[one.error]
  let failures = 0
  return (place: Case["place"]): Effect.Effect<void, E> => {
    if (make === undefined || one.place !== place || (!one.always && failures > 0)) return Effect.void
    failures++
    return Effect.fail(make(one.attempts))
  }
}

/** How an upload ends in a situation: its outcome, what the ledger then has, and what it took. */
export const endOf = (one: Case): Effect.Effect<string> =>
  Effect.gen(function*() {
    const counts = { initiate: 0, put: 0, complete: 0, file: 0 }
    const service = failing<ServiceError.ServiceError>(one, serviceErrors)
    const storage = failing<StorageError.StorageError>(one, storageErrors)
    const local = failing<SourceError.SourceError>(one, sourceErrors)
    const now = yield* Clock.currentTimeMillis
    const base = UploadSources.fromBytes("a", bytes)
    const opened = Effect.zipRight(Effect.suspend(() => local("open")), base.open).pipe(
      Effect.map((opened) => ({
        ...opened,
        readThrough: (range: Parameters<typeof opened.readThrough>[0], observe: (chunk: Uint8Array) => void) =>
          Effect.zipRight(Effect.suspend(() => local("read")), opened.readThrough(range, observe)),
        unchanged: Effect.suspend(() => counts.put < 3 ? Effect.void : local("unchanged"))
      }))
    )
    const source: UploadSource = {
      ...base,
      _tag: one.repeatable ? "RepeatableSource" : "OneShotSource",
      held: false,
      fingerprint: { kind: "file", size: bytes.length, modified: 1, identity: "1:2" },
      open: opened
    }
    const recordOf = (status: FileRecord.FileStatus, size = bytes.length): FileRecord.FileRecord => ({
      id: "f",
      name: "a",
      size,
      status,
      created_at: ""
    })
    let isRepairing = false
    const api = ServiceApi.layerNoop({
      profile: ServiceProfile.extend(ServiceProfile.standard, { limits: { minimumPartSize: 1 } }),
      initiateLargeUpload: () =>
        Effect.suspend(() => {
          counts.initiate++
          return Effect.map(service("initiate"), () => ({
            ...sessionOf(`f${counts.initiate}`, now),
            clockOffset: one.left === "lateByOurClock" ? Date.UTC(2020, 0, 1) - now : 0
          }))
        }),
      completeLargeUpload: () =>
        Effect.suspend((): Effect.Effect<FileRecord.FileRecord, ServiceError.ServiceError> => {
          counts.complete++
          if (one.place === "file" && counts.complete === 1) return Effect.fail(serviceErrors.serviceLost(1))
          if (one.place === "repair" && counts.complete === 1) {
            isRepairing = true
            return Effect.fail(serviceErrors.invalidPart(1))
          }
          return Effect.map(service("complete"), () => recordOf("pending"))
        }),
      file: () =>
        Effect.suspend(() => {
          counts.file++
          return Effect.flatMap(
            service("file"),
            (): Effect.Effect<FileRecord.FileRecord, ServiceError.ServiceError> => {
              if (one.file === "missing") return Effect.fail(serviceErrors.notFound(1))
              if (one.file === "silent") return Effect.fail(serviceErrors.unavailable(1))
              return Effect.succeed(
                recordOf(one.file === "failed" ? "failed" : "completed", one.file === "otherSize" ? 7 : undefined)
              )
            }
          )
        })
    })
    const store = ObjectStorage.layerNoop({
      put: ({ section, url }) =>
        Effect.suspend(() => {
          counts.put++
          const isSecond = Option.contains(url.partNumber, 2)
          return Effect.zipRight(
            isSecond ? storage(isRepairing ? "repair" : "put") : Effect.void,
            Effect.scoped(section.body(() => undefined))
          ).pipe(
            Effect.map(() => ({
              etag: `e${counts.put}`,
              requestId: undefined,
              checksums: {},
              perhapsRepeated: isSecond
            }))
          )
        })
    })
    const ledger = yield* UploadLedger.makeMemory()
    const id = Option.getOrThrow(UploadLedger.idOf("https://service.test", source))
    if (one.left !== "nothing") {
      const isLate = one.left === "late" || one.left === "lateByOurClock"
      const session = sessionOf("f0", isLate ? Date.UTC(2020, 0, 1) : now)
      const record = yield* Effect.provide(UploadResume.recordOf(source, id, session), api)
      const { urls: _, ...withoutUrls } = record.session
      yield* ledger.begin(one.left === "noUrls" ? { ...record, session: withoutUrls } : record)
      for (const [index, [offset, size]] of ranges.entries()) {
        if (index === 1 && one.left !== "completing") continue
        yield* ledger.receive(record, {
          partNumber: index + 1,
          etag: `old${index + 1}`,
          size,
          attempts: index === 0 ? 2 : 1,
          checksum: Checksum.ofBytes(Checksum.crc32, bytes.subarray(offset, offset + size)).value
        })
      }
      if (one.left === "completing" || one.left === "lostReceipt") yield* ledger.completing(record)
    }
    const outcome = yield* Uploads.upload(source, {
      strategy: "multipart",
      parts: 3,
      concurrency: 1,
      maxSessions: one.maxSessions,
      ...(one.byId ? { unfinished: id } : {})
    }).pipe(
      Effect.match({
        onFailure: (error) => `${error._tag} after ${error.attempts}`,
        onSuccess: ({ sent }) => `Uploaded in ${sent.sessions}`
      }),
      Effect.catchAllDefect((defect) => Effect.succeed(`died of ${String(defect)}`)),
      Effect.provideService(UploadLedger.UploadLedger, ledger),
      Effect.provide(Layer.mergeAll(
        api,
        store,
        TransferGate.layerNoop({}),
        RetryPolicy.layer({ attempts: one.place === "initiate" ? 3 : 1, base: 0 })
      )),
      Logger.withMinimumLogLevel(LogLevel.None)
    )
    const kept = (yield* ledger.unfinished).map(({ receipts, record }) =>
      `${record.session.fileId} ${record.phase}${
        record.session.urls === undefined ? "" : " with URLs"
      }, ${receipts.length} parts`
    )
    return [
      outcome,
      `kept: ${kept.join() || "nothing"}`,
      `${counts.initiate} initiate, ${counts.put} PUT, ${counts.complete} Complete, ${counts.file} file`
    ].join("; ")
  })
