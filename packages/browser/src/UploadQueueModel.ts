/**
 * What a queue of uploads takes and shows.
 *
 * @since 0.1.0
 */
import type { UploadOptions } from "@stevedore/core/UploadOptions"
import type { UploadedFile } from "@stevedore/core/Uploads"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * Where an item stands. `needs-file` is an upload that an earlier page left: it goes on when its file is given again.
 *
 * @since 0.1.0
 * @category models
 */
export type ItemState =
  | "queued"
  | "preparing"
  | "uploading"
  | "paused"
  | "finishing"
  | "completed"
  | "failed"
  | "cancelled"
  | "needs-file"

/**
 * Why an item failed: the `_tag` of the error, and its message, which says what to do next.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly tag: string
  readonly message: string
}

/**
 * One file. An item never changes: what changes is another item of the same `id`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Item {
  readonly id: string
  readonly name: string
  /** In bytes. */
  readonly size: number
  readonly mediaType: string
  readonly state: ItemState
  /** Bytes handed to the network. It does not fall while the item is uploading. */
  readonly sent: number
  /** Bytes that storage has confirmed. */
  readonly confirmed: number
  /** Bytes a second; `undefined` unless it is uploading and a second of it was measured. */
  readonly speed: number | undefined
  /** How long it still takes at that speed. */
  readonly secondsLeft: number | undefined
  /** Whether nothing has moved for ten seconds. */
  readonly stalled: boolean
  /** Whether `allow` can bring the file of an item that needs it. Once it could not, the file has to be chosen. */
  readonly kept: boolean
  /** Why it failed; why the file given last is not the one that it needs, or the kept one could not be had. */
  readonly error: Failure | undefined
  /** The file's record, when it is completed. */
  readonly result: UploadedFile | undefined
}

/**
 * All items together, without those that were cancelled or need a file.
 *
 * @since 0.1.0
 * @category models
 */
export interface Totals {
  /** `uploading` as long as anything goes on by itself. */
  readonly state: "idle" | "uploading" | "paused" | "failed" | "completed"
  readonly files: number
  readonly completed: number
  readonly failed: number
  /** In bytes, as the next two. */
  readonly size: number
  readonly sent: number
  readonly confirmed: number
  /** Bytes a second. */
  readonly speed: number | undefined
  readonly secondsLeft: number | undefined
}

/**
 * One look at the queue. The same object as long as nothing changes, and the same items where nothing of them changed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Snapshot {
  /** In the order in which they were added. */
  readonly items: ReadonlyArray<Item>
  /** What an earlier page left: items in the state `needs-file`. */
  readonly unfinished: ReadonlyArray<Item>
  readonly totals: Totals
}

/**
 * A file with what is known of it beside its bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Addition {
  readonly file: File
  /** Omitted: its path in the folder that was chosen, such as `photos/1.jpg`, where it came with one; else its own. */
  readonly name?: string | undefined
  /** Of a drop or `showOpenFilePicker`: where the layer has `FileHandles`, it is kept for after a reload. */
  readonly handle?: FileSystemFileHandle | undefined
}

/**
 * What is taken. Sizes are in bytes.
 *
 * @since 0.1.0
 * @category models
 */
export interface Limits {
  /** Files in the queue that are not over. Omitted: any number. */
  readonly files?: number | undefined
  /** Of one file. Omitted: 10 GB, which the standard profile takes; for another profile give its own. */
  readonly size?: number | undefined
  /** Of all files in the queue that are not over. Omitted: any. */
  readonly total?: number | undefined
  /** As the attribute `accept` of an input: `.pdf`, `image/png`, `video/*`. Omitted: everything. */
  readonly accept?: ReadonlyArray<string> | undefined
}

/**
 * A file that was not taken, and why: for programs and in words.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refusal {
  readonly name: string
  readonly size: number
  readonly reason: "Empty" | "TooLarge" | "WrongType" | "Duplicate" | "TooMany" | "TotalTooLarge"
  readonly message: string
}

/**
 * What became of files that were added.
 *
 * @since 0.1.0
 * @category models
 */
export interface Added {
  /** The ids of those that were taken. */
  readonly ids: ReadonlyArray<string>
  readonly refused: ReadonlyArray<Refusal>
}

/**
 * How the queue behaves.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Files that go up at once; one that is paused does not count. Omitted: 3. */
  readonly files?: number | undefined
  readonly limits?: Limits | undefined
  /** For each upload. */
  readonly upload?: Omit<UploadOptions, "unfinished"> | undefined
  /**
   * Held while something goes on, such as a wake lock. Omitted: `UnloadWarning.scoped`, which asks before the page is
   * left.
   */
  readonly during?: Effect.Effect<void, never, Scope.Scope> | undefined
}

/**
 * A queue, from `UploadQueue`. Its functions need no `this`, so they can be handed to React's `useSyncExternalStore` or a
 * Svelte store as they are. Actions without an id are for every item that they can be done with. What an item is not ready for
 * does nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface UploadQueue {
  readonly getSnapshot: () => Snapshot
  /** Calls back after each change: at once after an action, and at most five times a second as uploads go on. */
  readonly subscribe: (listener: () => void) => () => void
  /** Takes files, which begin to go up by themselves. What an earlier page began with a file goes on. */
  readonly add: (files: Iterable<File | Addition> | null | undefined) => Added
  /** Stops the transfers; what storage has stays there. Nothing is asked of the service for it. */
  readonly pause: (id?: string) => void
  readonly resume: (id?: string) => void
  /** Stops for good: what was sent is given up, also after a reload. */
  readonly cancel: (id?: string) => void
  /**
   * Another try of what failed or was cancelled, unless its file was added again meanwhile. Parts that storage has of a
   * failed one are not sent again.
   */
  readonly retry: (id?: string) => void
  /** The file of an item that needs it, or another one for an item that failed. */
  readonly giveFile: (id: string, file: File | Addition) => void
  /**
   * Asks the user to allow a kept file again. To be called within a click or a key press. When it is denied, or the file
   * is no longer there, the item says so and is `kept` no longer.
   */
  readonly allow: (id: string) => void
  /** Takes an item off the list. One that is not over is cancelled, one that needs a file is forgotten. */
  readonly remove: (id: string) => void
  /** Takes off what is completed or cancelled. */
  readonly clear: () => void
}
