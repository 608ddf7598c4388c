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
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { Principal } from "./Authorize.js"
import { drained } from "./base/drained.js"
import { FileStore } from "./FileStore.js"
import type { FileRow, Quota, TableFailed } from "./FileTable.js"
import { FileTable } from "./FileTable.js"
import { Hooks } from "./Hooks.js"
import * as Care from "./life/care.js"
import * as Completion from "./life/completion.js"
import * as Initiation from "./life/initiation.js"
import * as Lifecycle from "./life/lifecycle.js"
import { answered, orElseFail, unknownFile } from "./life/refusals.js"
import { type State, type Terms, timed } from "./life/state.js"
import { MINIMUM_PART_BYTES } from "./ObjectStore.js"
import type { Declaration, FileRecord, ListedParts, MultipartSession, SingleSession } from "./parts/files.js"
import { attachment } from "./parts/files.js"
import type * as ServiceRefused from "./ServiceRefused.js"

export type {
  /**
   * The parts that a client lists.
   *
   * @category models
   */
  ListedParts
} from "./parts/files.js"

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
   * Looks after up to 20 files that nobody looks after, and answers for how many it could: what a dead instance was
   * completing, inspections, and the removal of what has expired.
   */
  readonly sweep: Effect.Effect<number, TableFailed>
}

/**
 * The service tag of the state machine.
 *
 * @category tags
 */
export class Uploads extends Context.Tag("@stevedore/server/Uploads")<Uploads, UploadsService>() {}

/**
 * The quota that all tenants have; undefined where it differs, or is none.
 *
 * @category combinators
 */
export const quotaOfAll = ({ quota }: Options): Quota | undefined => typeof quota === "function" ? undefined : quota

// no segment of it is "..", which a URL would resolve
const usualKey = ({ tenant }: Principal, id: string): string =>
  `files/${encodeURIComponent(tenant).replaceAll(".", "%2E")}/${id}`

const seconds = (duration: Duration.DurationInput): number => Math.round(Duration.toSeconds(duration))

const termsOf = (options: Options): Terms => {
  const { quota, urlLifetime = "3 hours" } = options
  return {
    urlSeconds: seconds(urlLifetime),
    singleSeconds: seconds(options.singleUrlLifetime ?? urlLifetime),
    downloadSeconds: seconds(options.downloadLifetime ?? "1 hour"),
    lifetimeMillis: Duration.toMillis(options.orphanLifetime ?? "24 hours"),
    leaseMillis: Duration.toMillis(options.lease ?? "15 seconds"),
    storeTimeout: options.storeTimeout ?? "5 minutes",
    turns: Math.ceil(Duration.toMillis(options.patience ?? "25 seconds") / Completion.PATIENCE_STEP_MILLIS),
    sizes: {
      recommendedPartSize: options.recommendedPartSize ?? 16 * 1024 * 1024,
      minimumPartSize: options.minimumPartSize ?? MINIMUM_PART_BYTES
    },
    encryption: options.encryptionHeaders ?? ServiceProfile.standard.encryptionHeaders,
    partHeaders: options.partHeaders ?? {},
    signed: options.signed ?? ["content-length"],
    quotaOf: typeof quota === "function" ? quota : () => quota,
    keyOf: options.keyOf ?? usualKey
  }
}

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
  status: Lifecycle.meanings[row.state].status,
  author: row.owner,
  created_at: new Date(row.createdAt).toISOString(),
  ...(row.checksum && { checksum: row.checksum }),
  ...(row.metadata && { metadata: row.metadata })
})

const find = ({ table }: State): UploadsService["file"] => (who, fileId) =>
  orElseFail(
    Effect.map(
      answered(table.find(who.tenant, fileId)),
      Option.filter(({ state }) => Lifecycle.meanings[state].isShown)
    ),
    unknownFile
  )

const downloadUrl = ({ store, terms }: State): UploadsService["downloadUrl"] => (row) =>
  answered(store.presign({
    method: "GET",
    key: row.key,
    headers: {},
    query: {
      "response-content-disposition": attachment(row.name),
      "response-content-type": row.mediaType ?? "application/octet-stream",
      ...(row.versionId === undefined ? {} : { versionId: row.versionId })
    },
    expiresIn: terms.downloadSeconds
  }))

const remove = ({ table }: State): UploadsService["remove"] => (who, fileId) =>
  Effect.asVoid(
    Effect.filterOrFail(answered(table.discard(who.tenant, fileId)), (isThere) => isThere, unknownFile)
  )

/**
 * The state machine. What it completes ends with the scope, which waits for it.
 *
 * @category constructors
 */
export const make = (
  options: Options = {}
): Effect.Effect<UploadsService, never, FileTable | FileStore | Scope.Scope> =>
  Effect.gen(function*() {
    const state: State = {
      table: yield* FileTable,
      store: timed(yield* FileStore),
      hooks: yield* Hooks,
      terms: termsOf(options),
      underWay: new Map()
    }
    const completing = yield* FiberSet.make<FileRow, ServiceRefused.ServiceRefused>()
    yield* Effect.addFinalizer(() => drained(FiberSet.awaitEmpty(completing), options.drain))
    const complete = Completion.complete(state)
    const file = find(state)
    return {
      initiate: Initiation.initiate(state),
      initiateLarge: Initiation.initiateLarge(state),
      // in a fiber of its own: a lost connection interrupts only who waits for it
      complete: (...asked) => Effect.flatMap(FiberSet.run(completing, complete(...asked)), Fiber.join),
      file,
      finalized: (who, fileId) =>
        Effect.filterOrFail(file(who, fileId), ({ state }) => state === "finalized", unknownFile),
      downloadUrl: downloadUrl(state),
      remove: remove(state),
      sweep: Care.sweep(state)
    }
  })

/**
 * The state machine as a layer.
 *
 * @category layers
 */
export const layer = (options?: Options): Layer.Layer<Uploads, never, FileTable | FileStore> =>
  Layer.scoped(Uploads, make(options))
