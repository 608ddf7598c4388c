/**
 * What the service remembers about files: one row a file, and the events that somebody still has to be told of.
 *
 * A port, so that a service can keep its rows in memory or in SQL. Whoever works on a row holds it by a lease: a claim that
 * ends by itself, so that another instance takes over what a dead one leaves. A change of state asks for the lease, and of
 * two that try, one succeeds. Times are in milliseconds of the table's own clock, and so of one clock for all instances.
 */
import type { Checksum } from "@stevedore/core/Checksum"
import type { Metadata } from "@stevedore/core/Metadata"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { errorCode } from "./base/errorCode.js"

/**
 * Where a file is in its life.
 *
 * - `opening`: the store is asked for a multipart upload, which may be open or not.
 * - `waiting`: the client has its URLs.
 * - `completing`: somebody finishes it, for as long as a lease says.
 * - `inspecting`: the bytes are there, and the hook `inspect` looks at them.
 * - `finalized`: a file. `failed`: it can never become one.
 * - `removing`, `removed`: its bytes go, and are gone.
 *
 * @category models
 */
export type FileState =
  | "opening"
  | "waiting"
  | "completing"
  | "inspecting"
  | "finalized"
  | "failed"
  | "removing"
  | "removed"

/**
 * A file that begins its life. `size` is in bytes, and `lifetimeMillis` how long it may stay unfinished.
 *
 * @category models
 */
export interface NewFile {
  readonly id: string
  readonly tenant: string
  readonly owner: { readonly id: string; readonly name: string }
  readonly name: string
  readonly mediaType: string | undefined
  readonly size: number
  /** What the client has declared besides. */
  readonly metadata: Metadata | undefined
  readonly kind: "single" | "multipart"
  /** The name of its bytes in the store. No other file ever has it. */
  readonly key: string
  readonly state: "opening" | "waiting"
  readonly lifetimeMillis: number
}

/**
 * How much a tenant may have: bytes and files, those that are stored and those whose upload is under way. What is undefined
 * is not limited.
 *
 * @category models
 */
export interface Quota {
  readonly bytes?: number | undefined
  readonly files?: number | undefined
}

/**
 * The row of a file.
 *
 * @category models
 */
export interface FileRow extends Omit<NewFile, "state" | "lifetimeMillis"> {
  readonly state: FileState
  /** The store's id of the multipart upload. */
  readonly uploadId: string | undefined
  /** The etag that the stored bytes had when the file was settled. */
  readonly etag: string | undefined
  /** The checksum that they had as they came, where the store knows one. */
  readonly checksum: Checksum | undefined
  /** Their version, where the store keeps all versions. */
  readonly versionId: string | undefined
  /** Why it has failed. */
  readonly reason: string | undefined
  readonly createdAt: number
  /** When it was settled or removed. */
  readonly settledAt: number | undefined
  /** An unfinished upload may be removed from then on. */
  readonly expiresAt: number
}

/**
 * How an upload ends, or goes on after its bytes are there.
 *
 * @category models
 */
export type Outcome =
  | {
    readonly state: "finalized" | "inspecting"
    readonly etag: string | undefined
    readonly checksum?: Checksum | undefined
    readonly versionId?: string | undefined
  }
  | { readonly state: "failed"; readonly reason: string }

/**
 * What somebody can be told of a file.
 *
 * @category constants
 */
export const KINDS = ["completed", "removed", "failed"] as const

/**
 * The time by which ages count, and why none does now, if so.
 *
 * @category models
 */
export interface Ages {
  readonly now: number
  readonly doubt: string | undefined
  /** Whether that is because the instance is away from the clock of the table. */
  readonly isAway: boolean
}

/**
 * Something that happened to a file, written in the change that made it happen. `id` is the same however often the event is
 * delivered.
 *
 * @category models
 */
export interface FileEvent {
  readonly id: string
  readonly kind: (typeof KINDS)[number]
  readonly file: FileRow
  /** How often it was tried to deliver it before. */
  readonly attempts: number
}

/**
 * A page of a tenant's files, by the time of their creation. `after` is the last file of the page before.
 *
 * @category models
 */
export interface PageRequest {
  readonly limit: number
  readonly direction: "asc" | "desc"
  readonly after: { readonly createdAt: number; readonly id: string } | undefined
}

/**
 * What a table has, for whoever watches the service. Those that have most may be two tenants.
 *
 * @category models
 */
export interface Measures {
  readonly bytes: number
  readonly files: number
  readonly tenants: number
  readonly largestBytes: number
  readonly largestFiles: number
  /** Events that are not delivered: still tried, and not tried any more. */
  readonly waiting: number
  readonly resting: number
  /** Of the oldest that is still tried; 0 if there is none. */
  readonly oldestSeconds: number
  /** Files that wait for a sweep. */
  readonly due: number
}

/**
 * The table cannot be read or written.
 *
 * @category errors
 */
export class TableFailed extends Schema.TaggedError<TableFailed>("@stevedore/server/TableFailed")("TableFailed", {
  operation: Schema.String,
  cause: Schema.Defect
}) {
  override get message(): string {
    return `The table of files cannot ${this.operation} (${errorCode(this.cause)}). Check the database.`
  }
}

/**
 * What a table does. A lease is `owner`, a name that nobody else has, and its length in milliseconds.
 *
 * @category models
 */
export interface FileTableService {
  /**
   * Holds a new file. False if its tenant would have more than the quota then: of several that come at once, no more pass
   * than there is room for. A file counts until it has failed or is discarded; an unfinished one until it is removed.
   */
  readonly open: (file: NewFile, quota?: Quota) => Effect.Effect<boolean, TableFailed>
  /** `opening` becomes `waiting`, with the store's id of the upload. False if it is no longer `opening`. */
  readonly opened: (id: string, uploadId: string) => Effect.Effect<boolean, TableFailed>
  /**
   * The file of this tenant. Nobody sees another tenant's. An unfinished one that has expired is `removing`, also before a
   * sweeper has taken it.
   */
  readonly find: (tenant: string, id: string) => Effect.Effect<Option.Option<FileRow>, TableFailed>
  /**
   * Takes a file in order to complete it: one that is `waiting` and has not expired, or one that is `completing` by a lease
   * that has ended. None if it is neither.
   */
  readonly claim: (
    tenant: string,
    id: string,
    owner: string,
    leaseMillis: number
  ) => Effect.Effect<Option.Option<FileRow>, TableFailed>
  /** Makes the lease last again. False if it is no longer held. */
  readonly renew: (id: string, owner: string, leaseMillis: number) => Effect.Effect<boolean, TableFailed>
  /** `completing` becomes `waiting` again. False if the lease is no longer held. */
  readonly release: (id: string, owner: string) => Effect.Effect<boolean, TableFailed>
  /**
   * Ends `completing` or `inspecting`, and writes the event `completed` in the same change if the file is final. None if
   * the lease is no longer held: somebody else has it, and settles it.
   */
  readonly settle: (id: string, owner: string, outcome: Outcome) => Effect.Effect<Option.Option<FileRow>, TableFailed>
  /**
   * Takes up to `limit` files that somebody has to look after: unfinished ones that have expired, which become `removing`,
   * unless {@link FileTableService.ages} are in doubt;
   * those whose lease has ended; and those that are `removed` for an hour, to be looked after once more.
   */
  readonly due: (
    owner: string,
    leaseMillis: number,
    limit: number
  ) => Effect.Effect<ReadonlyArray<FileRow>, TableFailed>
  /** `removing` becomes `removed`, with the event in the same change; `removed` is forgotten. */
  readonly removed: (id: string, owner: string) => Effect.Effect<boolean, TableFailed>
  /** A final file becomes `removing`, and due at once. False if this tenant has no such file. */
  readonly discard: (tenant: string, id: string) => Effect.Effect<boolean, TableFailed>
  /** The finalized files of a tenant. */
  readonly page: (tenant: string, request: PageRequest) => Effect.Effect<ReadonlyArray<FileRow>, TableFailed>
  /** The tenants that have anything. */
  readonly tenants: Effect.Effect<ReadonlyArray<string>, TableFailed>
  readonly measures: Effect.Effect<Measures, TableFailed>
  /** Its final files, or those that were begun before a time. */
  readonly count: (tenant: string, before?: number) => Effect.Effect<number, TableFailed>
  /** Whether its clock can be trusted: only then, anything is removed for its age. */
  readonly ages: Effect.Effect<Ages, TableFailed>
  /**
   * Takes up to `limit` events of these kinds that are due. One that is not delivered within the lease is due again: after the
   * lease, after twice as long, and so on as {@link deliveryDelay} says, {@link MOST_DELIVERIES} times altogether. It stays
   * after that. A kind is written, by every instance, from the first time on that anybody asks for it.
   */
  readonly events: (
    leaseMillis: number,
    limit: number,
    kinds: ReadonlyArray<FileEvent["kind"]>
  ) => Effect.Effect<ReadonlyArray<FileEvent>, TableFailed>
  /** These events are never taken again. */
  readonly delivered: (...events: ReadonlyArray<string>) => Effect.Effect<void, TableFailed>
}

/**
 * How long after its removal a file is looked after once more, in milliseconds: whatever was on its way to the store then is
 * there now.
 *
 * @category constants
 */
export const SECOND_LOOK_MILLIS = 3_600_000

/**
 * How often it is tried to deliver an event: with a lease of a minute, for a day.
 *
 * @category constants
 */
export const MOST_DELIVERIES = 30

/**
 * After how many leases an event is due again that was taken so often before: 1, 2, 4, and 64 at most.
 *
 * @category combinators
 */
export const deliveryDelay = (attempts: number): number => 2 ** Math.min(attempts, 6)

/**
 * The service tag of the table.
 *
 * @category tags
 */
export class FileTable extends Context.Tag("@stevedore/server/FileTable")<FileTable, FileTableService>() {}
