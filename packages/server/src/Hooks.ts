/**
 * Where whoever embeds the service has a say: who may upload what, whether a file may stay, and what follows from it.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Principal } from "./Authorize.js"
import type { FileEvent, FileRow } from "./FileTable.js"
import type { Declaration } from "./parts/files.js"
import type * as ServiceRefused from "./ServiceRefused.js"
import type * as StorageRefused from "./StorageRefused.js"

/**
 * The hooks. Each has a default that does nothing.
 *
 * @category models
 */
export interface HooksService {
  /** Whether this client may upload this file. Defaults to yes. A refusal is the answer to its initiate call. */
  readonly admit: (who: Principal, file: Declaration) => Effect.Effect<void, ServiceRefused.ServiceRefused>
  /**
   * Looks at a file whose bytes are there. Until it answers, the file is `pending` and cannot be downloaded; on `false` it
   * has failed, and its bytes are removed. If it fails, takes longer than `Uploads.Options.storeTimeout` or its process
   * dies, it is asked again. Defaults to none: a file is final with its Complete.
   */
  readonly inspect?:
    | ((
      file: FileRow,
      content: Stream.Stream<Uint8Array, StorageRefused.StorageRefused>
    ) => Effect.Effect<boolean, unknown>)
    | undefined
  /**
   * Told of every file that is final, at least once: an event that it fails on, has not ended in a minute, or whose process
   * dies, comes again, with the same id: after 1, 2, 4 and at most 64 minutes, for a day. In no order, and several at once.
   * Defaults to nothing.
   */
  readonly onCompleted: (event: FileEvent) => Effect.Effect<void, unknown>
  /** The same for every file or unfinished upload whose bytes are gone. Defaults to nothing. */
  readonly onRemoved: (event: FileEvent) => Effect.Effect<void, unknown>
  /** The same for every upload that can never become a file: it has another size, or `inspect` did not accept it. */
  readonly onFailed: (event: FileEvent) => Effect.Effect<void, unknown>
}

/**
 * The hook of whoever does not want to be told of an event.
 *
 * @category constants
 */
export const ignored: HooksService["onCompleted"] = () => Effect.void

/**
 * What the service does without hooks of one's own.
 *
 * @category constants
 */
export const none: HooksService = {
  admit: () => Effect.void,
  onCompleted: ignored,
  onRemoved: ignored,
  onFailed: ignored
}

/**
 * The hooks as a reference: {@link none}, unless they are provided.
 *
 * @category references
 */
export class Hooks extends Context.Reference<Hooks>()("@stevedore/server/Hooks", {
  defaultValue: (): HooksService => none
}) {}
