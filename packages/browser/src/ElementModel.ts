/** What a page sees of the element. */
import type { Metadata } from "@stevedore/core/Metadata"
import type { Requirements } from "@stevedore/core/Uploads"
import type * as Layer from "effect/Layer"
import type { OwnedUploadQueue } from "./UploadQueue.js"
import type { Item, Limits, Options, Refusal, Totals } from "./UploadQueueModel.js"
import type { Words } from "./WordsModel.js"

/**
 * What the events of the element have as their `detail`.
 *
 * @category models
 */
export interface Details {
  /** Files were accepted. */
  readonly added: { readonly items: ReadonlyArray<Item> }
  /** Files were not accepted, and why. */
  readonly refused: { readonly refused: ReadonlyArray<Pick<Refusal, "name" | "message">> }
  /** A file is uploaded; `item.result` is its record. */
  readonly completed: { readonly item: Item }
  readonly failed: { readonly item: Item }
  /** Nothing proceeds on its own any more. */
  readonly idle: { readonly totals: Totals }
}

type Listener<Event> = (event: Event) => void

/**
 * The element. Set its properties before the first file is added.
 *
 * @category models
 */
export interface StevedoreUpload extends HTMLElement {
  /** What is accepted. These go before the attributes `accept`, `max-files`, `max-size` and `max-total`. */
  limits: Limits | undefined
  /**
   * What travels with each file to the hooks of your server, as it is when the file is added. Goes before the attribute
   * `metadata`, which is JSON.
   */
  metadata: Metadata | undefined
  /** Options for each upload. */
  upload: Options["upload"]
  /** Defaults to those of the closest `lang`, as `load` of `@stevedore/browser/words` has them. */
  words: Words | undefined
  /** What uploads. Defaults to `BrowserStevedore.layer` with `base-url`, and handles of dropped files for after a reload. */
  layer: Layer.Layer<Requirements, unknown> | undefined
  /** The link to an uploaded file, to be opened and copied. */
  linkOf: ((item: Item) => string | undefined) | undefined
  /**
   * The queue that the element shows: one of the application's own, or else one that is made once it is needed. It outlives
   * the element, and the next one with the same `base-url`, `name`, limits and `layer` shows it again: `dispose` ends it.
   */
  queue: OwnedUploadQueue | undefined
  /** Adds files, as if they had been chosen. */
  add(files: Iterable<File>): Promise<void>
  addEventListener<K extends keyof Details>(type: K, listener: Listener<CustomEvent<Details[K]>>): void
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions
  ): void
}

declare global {
  interface HTMLElementTagNameMap {
    "stevedore-upload": StevedoreUpload
  }
}
