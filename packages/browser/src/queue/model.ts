/** The inputs and the state of a queue of uploads. */
import type { Metadata } from "@stevedore/core/Metadata"
import type { UploadOptions } from "@stevedore/core/UploadOptions"
import type { UploadedFile } from "@stevedore/core/Uploads"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/**
 * The state of an item. One that is `ready` waits to be started: see `autostart`. One that is `finishing` has handed all its bytes to the network and awaits an answer, so there is
 * nothing to pause. `needs-file` is an upload that an earlier page left unfinished: it resumes when its file is given
 * again.
 *
 * @category models
 */
export type ItemState =
  | "ready"
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
 * Why an item failed: the error's `_tag`, and its message, which says what to do next and is for developers.
 *
 * @category models
 */
export interface Failure {
  readonly tag: string
  readonly message: string
  /** The HTTP status of the answer that it failed with, if there was one. */
  readonly status?: number | undefined
  /** The call that was answered so, such as `initiateUpload`. */
  readonly operation?: string | undefined
  /** What your server says of it to visitors: the `message` and the `code` of its refusal. */
  readonly reason?: string | undefined
  readonly code?: string | undefined
}

/**
 * One file. An item is immutable: a change replaces it with another item that has the same `id`.
 *
 * @category models
 */
export interface Item {
  readonly id: string
  readonly name: string
  /** In bytes. */
  readonly size: number
  readonly mediaType: string
  readonly state: ItemState
  /** Bytes handed to the network. Never decreases while the item is uploading. */
  readonly sent: number
  /** Bytes that storage has confirmed. */
  readonly confirmed: number
  /** Bytes per second; `undefined` unless bytes of the item are moving and have been measured for a second. */
  readonly speed: number | undefined
  /** The time left at that speed. */
  readonly secondsLeft: number | undefined
  /**
   * What it waits for before the next attempt: the page's server, which is busy (`server`) or is asked too often
   * (`limit`), storage, or the network; `undefined` while an attempt is made.
   */
  readonly waitingFor?: "server" | "limit" | "storage" | "network" | undefined
  /** In how many seconds the next attempt is made. */
  readonly retryIn?: number | undefined
  /** Whether nothing has moved for ten seconds although there are bytes left to hand over. */
  readonly stalled: boolean
  /** Whether `allow` can restore the file of an item that needs one. If it has failed to, the file has to be chosen. */
  readonly kept: boolean
  /** Why the item failed, why the last file given was not taken, or why the kept file is not available. */
  readonly error: Failure | undefined
  /** The file's record, once the item is completed. */
  readonly result: UploadedFile | undefined
  /** What travels with it, if anything. */
  readonly metadata?: Metadata | undefined
}

/**
 * All items together, except those that were cancelled or need a file.
 *
 * @category models
 */
export interface Totals {
  /** `uploading` as long as anything proceeds on its own. */
  readonly state: "idle" | "ready" | "uploading" | "paused" | "failed" | "completed"
  readonly files: number
  readonly completed: number
  readonly failed: number
  /** In bytes, as are the next two. */
  readonly size: number
  readonly sent: number
  readonly confirmed: number
  /** Bytes per second. */
  readonly speed: number | undefined
  readonly secondsLeft: number | undefined
}

/**
 * The state of the queue at one moment. It is the same object as long as nothing changes, and unchanged items keep
 * their identity.
 *
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
 * A file, with what is known about it besides its bytes.
 *
 * @category models
 */
export interface Addition {
  readonly file: File
  /**
   * Defaults to the file's path in the chosen folder, such as `photos/1.jpg`, if it has one, or else to its own name.
   */
  readonly name?: string | undefined
  /** From a drop or from `showOpenFilePicker`. If the layer has `FileHandles`, it is kept for after a reload. */
  readonly handle?: FileSystemFileHandle | undefined
  /** What travels with it. Defaults to that of `Options.upload`. */
  readonly metadata?: Metadata | undefined
}

/**
 * A file that was uploaded before, such as one of a record that a form edits.
 *
 * @category models
 */
export interface Existing {
  readonly id: string
  readonly name: string
  /** In bytes, if it is known. */
  readonly size?: number | undefined
  /** The media type, if it is known. */
  readonly type?: string | undefined
}

/**
 * What the queue accepts. Sizes are in bytes.
 *
 * @category models
 */
export interface Limits {
  /** The most files in the queue, not counting failed and cancelled ones. Defaults to no limit. */
  readonly files?: number | undefined
  /**
   * The largest single file. Defaults to 10 GB, the limit of the standard profile; for another profile, set its own.
   */
  readonly size?: number | undefined
  /** The largest total size of the files that `files` counts. Defaults to no limit. */
  readonly total?: number | undefined
  /** Like the attribute `accept` of an input: `.pdf`, `image/png`, `video/*`. Defaults to everything. */
  readonly accept?: ReadonlyArray<string> | undefined
}

/**
 * A file that was not accepted, and why: for programs, and in words.
 *
 * @category models
 */
export interface Refusal {
  readonly name: string
  readonly size: number
  readonly reason: "Empty" | "TooLarge" | "WrongType" | "Duplicate" | "TooMany" | "TotalTooLarge"
  readonly message: string
}

/**
 * What happened to the files that were added.
 *
 * @category models
 */
export interface Added {
  /** The ids of the accepted files. */
  readonly ids: ReadonlyArray<string>
  readonly refused: ReadonlyArray<Refusal>
}

/**
 * How the queue behaves.
 *
 * @category models
 */
export interface Options {
  /**
   * The identity of the queue, such as of a user, a record and a field. What it leaves unfinished is offered only to a
   * queue of the same name, and its file continues it only there. Two names have nothing in common.
   */
  readonly name?: string | undefined
  /** `false`: what an earlier page left is not offered. A file that is added again still goes on where it was. */
  readonly offerUnfinished?: boolean | undefined
  /** How many files upload at once; a paused one does not count. Defaults to 3. */
  readonly files?: number | undefined
  /** Read each time that a file is added: they may change. */
  readonly limits?: Limits | undefined
  /** `false`: what is added waits, `ready`, until it is resumed, such as with the form that it belongs to. */
  readonly autostart?: boolean | undefined
  /** Options for each upload. */
  readonly upload?: Omit<UploadOptions, "unfinished"> | undefined
  /**
   * Held while anything is in progress, such as a wake lock. Defaults to `UnloadWarning.scoped`, which asks users
   * before they leave the page.
   */
  readonly during?: Effect.Effect<void, never, Scope.Scope> | undefined
  /**
   * Called once for each item that is completed, with its `result`. An exception reaches the page's own handlers. A page
   * may be closed before: what must not be missed belongs into the `completed` of `StevedoreHttpApp`.
   */
  readonly onCompleted?: ((item: Item) => void) | undefined
}

/**
 * A queue, from `UploadQueue`. Its functions do not use `this`, so they can be passed directly to React's
 * `useSyncExternalStore` or used as a Svelte store. Actions without an id apply to every item that they can apply to.
 * An action that an item is not ready for does nothing.
 *
 * @category models
 */
export interface UploadQueue {
  readonly getSnapshot: () => Snapshot
  /** What it accepts now. */
  readonly getLimits: () => Limits & { readonly size: number }
  /** Calls back after each change: at once after an action, and at most five times a second during uploads. */
  readonly subscribe: (listener: () => void) => () => void
  /** Accepts files, which start uploading on their own. A file that an earlier page began to upload resumes. */
  readonly add: (files: Iterable<File | Addition> | null | undefined) => Added
  /** Shows files that were uploaded before as completed items. One that is there already, by its id, is not added again. */
  readonly addUploaded: (files: Iterable<Existing>) => void
  /** Stops the transfers; what storage has stays there. The service is not called. */
  readonly pause: (id?: string) => void
  readonly resume: (id?: string) => void
  /** Stops for good: what was sent is discarded, even across a reload. */
  readonly cancel: (id?: string) => void
  /**
   * Tries failed or cancelled items again, unless the same file has been added again since. For a failed item, parts
   * that storage already has are not sent again, unless storage or the service refused the session.
   */
  readonly retry: (id?: string) => void
  /**
   * Gives an item the file that it needs, or gives a failed item another file. A failed item does not take a file that
   * `add` would refuse: its `error` then has the `reason` and the `message` of the refusal.
   */
  readonly giveFile: (id: string, file: File | Addition) => void
  /**
   * Asks the user to allow access to a kept file again. Call it within a click or a key press. If the user denies it,
   * or the file no longer exists, the item says so and is no longer `kept`.
   */
  readonly allow: (id: string) => void
  /**
   * Fails a completed item, such as one that your application could not save. `reason` is for visitors. A retry uploads
   * the file again.
   */
  readonly fail: (id: string, reason: string, code?: string) => void
  /** Removes an item. One that has not ended is cancelled; one that failed or needs a file is forgotten. */
  readonly remove: (id: string) => void
  /**
   * Removes an item, and returns what brings it back: for five seconds, or until a file is added, nothing of it is lost.
   */
  readonly takeOut: (id: string) => () => void
  /** Removes the completed and cancelled items. */
  readonly clear: () => void
}
