/** What a page sees of the element. */
import type { Metadata } from "@stevedore/core/Metadata"
import type { Requirements } from "@stevedore/core/Uploads"
import type * as Layer from "effect/Layer"
import type { Existing, Item, Limits, Options, Refusal, Snapshot, Totals } from "../queue/model.js"
import type { OwnedUploadQueue } from "../UploadQueue.js"
import type { Words } from "../words/model.js"

/**
 * A file that was not accepted. `message` is for visitors. Besides the reasons of the queue there are folders that are
 * empty, what cannot be read, and that an attribute of the element is wrong.
 *
 * @category models
 */
export interface ElementRefusal {
  readonly name: string
  /** In bytes; 0 if it is not known. */
  readonly size: number
  readonly reason: Refusal["reason"] | "EmptyFolder" | "Unreadable" | "WrongAttribute"
  readonly message: string
}

/**
 * What the events of the element have as their `detail`.
 *
 * @category models
 */
export interface Details {
  /** Files were accepted. */
  readonly added: { readonly items: ReadonlyArray<Item> }
  /** Files were not accepted, and why. */
  readonly refused: { readonly refused: ReadonlyArray<ElementRefusal> }
  /** A file is uploaded; `item.result` is its record. */
  readonly completed: { readonly item: Item }
  /** Also a file that was handed over while the page could not load what uploads: its `error.tag` is `NotLoaded`. */
  readonly failed: { readonly item: Item }
  readonly paused: { readonly item: Item }
  /** An item was taken out of the list. */
  readonly removed: { readonly item: Item }
  /**
   * Other files are uploaded now than before, or than the element knew when it was shown: their ids, and all that is known
   * of them and of the others.
   */
  readonly changed: { readonly value: ReadonlyArray<string>; readonly snapshot: Snapshot }
  /** Nothing proceeds on its own any more. */
  readonly idle: { readonly totals: Totals }
}

interface Listening<Options> {
  <K extends keyof Details>(type: K, listener: (event: CustomEvent<Details[K]>) => void, options?: Options): void
  (type: string, listener: EventListenerOrEventListenerObject, options?: Options): void
}

/**
 * The element. Each attribute is also a property, and takes effect at once.
 *
 * @category models
 */
export interface StevedoreUpload extends HTMLElement {
  name: string
  accept: string
  disabled: boolean
  required: boolean
  /** Whether more than one file is taken; `false` sets `max-files` to 1. */
  multiple: boolean
  wholePage: boolean
  baseUrl: string
  /**
   * The identity of the list, such as `ada/invoice-7/photos`. Elements with the same one show one list, at once or one after
   * the other, and what an earlier page left is offered only there. Without one, the list is the element's own.
   */
  queueName: string
  maxFiles: string
  maxSize: string
  maxTotal: string
  files: string
  autostart: string
  readonly type: "file"

  /** What is accepted. These go before the attributes `accept`, `max-files`, `max-size` and `max-total`. */
  limits: Limits | undefined
  /**
   * What travels with each file to the hooks of your server, as it is when the file is added. Goes before the attribute
   * `metadata`, which is JSON.
   */
  get metadata(): Metadata | undefined
  set metadata(metadata: Metadata | string | undefined)
  /** Options for each upload. */
  upload: Options["upload"]
  /** Defaults to those of the closest `lang`, as `load` of `@stevedore/browser/words` has them. */
  words: Words | undefined
  /** What uploads. Defaults to `BrowserStevedore.layer` with `base-url`, and handles of dropped files for after a reload. */
  layer: Layer.Layer<Requirements, unknown> | undefined
  /** The link to an uploaded file, to be opened and copied. */
  linkOf: ((item: Item) => string | undefined) | undefined
  /**
   * The queue that the element shows: one of the application's own, or else one that is made once it is needed. What runs in
   * it outlives the element, and an element with the same `queue-name` shows it again: `dispose` ends it.
   */
  queue: OwnedUploadQueue | undefined
  /**
   * Files that were uploaded before: the list begins with them, and so does a reset of the form. Other ids replace those
   * before; with the same ids, what the visitor removed stays removed.
   */
  existing: ReadonlyArray<Existing> | undefined
  /**
   * The ids of the files that are uploaded. With a `name`, they are what the form has under this name. Other ids than were
   * set before replace all of them, and `undefined` takes out those that were set.
   */
  get value(): ReadonlyArray<string>
  set value(ids: ReadonlyArray<string> | undefined)
  readonly form: HTMLFormElement | null
  readonly labels: NodeList
  readonly validity: ValidityState
  readonly validationMessage: string
  readonly willValidate: boolean
  /** Keeps the form from being sent, for a reason of the application's own; an empty one does not. */
  setCustomValidity(message: string): void
  /** Whether the form can be sent: no upload runs, waits or has failed, and one is there if it is `required`. */
  checkValidity(): boolean
  reportValidity(): boolean
  /** Starts what waits: see `autostart`. */
  start(): void
  /** Adds files, as if they had been chosen. */
  add(files: Iterable<File>): Promise<void>
  addEventListener: Listening<boolean | AddEventListenerOptions>
  removeEventListener: Listening<boolean | EventListenerOptions>
}

/**
 * The attributes of the element, as frameworks write them.
 *
 * @category frameworks
 */
export interface ElementAttributes {
  readonly "base-url"?: string | undefined
  readonly "queue-name"?: string | undefined
  readonly name?: string | undefined
  readonly accept?: string | undefined
  readonly "max-files"?: number | string | undefined
  readonly "max-size"?: number | string | undefined
  readonly "max-total"?: number | string | undefined
  readonly files?: number | string | undefined
  readonly autostart?: "true" | "false" | boolean | undefined
  readonly multiple?: boolean | undefined
  readonly required?: boolean | undefined
  readonly disabled?: boolean | undefined
  readonly "whole-page"?: boolean | "" | undefined
}

/**
 * The properties of the element that a page sets.
 *
 * @category frameworks
 */
export type ElementProperties = Partial<
  Pick<
    StevedoreUpload,
    "limits" | "metadata" | "upload" | "words" | "layer" | "linkOf" | "queue" | "existing" | "value"
  >
>

/**
 * The listeners of the element, with what a framework writes before the name of an event.
 *
 * @category frameworks
 */
export type ElementListeners<Before extends string> = {
  readonly [K in keyof Details as `${Before}${K}`]?: ((event: CustomEvent<Details[K]>) => void) | undefined
}

/**
 * All that a framework gives the element.
 *
 * @category frameworks
 */
export type ElementInputs<Before extends string> = ElementAttributes & ElementProperties & ElementListeners<Before>

declare global {
  interface HTMLElementTagNameMap {
    "stevedore-upload": StevedoreUpload
  }
}
