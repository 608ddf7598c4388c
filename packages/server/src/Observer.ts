/** Who watches what clients do. It changes nothing: tests keep a record by it, and a service may count. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Declaration } from "./parts/files.js"
import type { StorageRefused } from "./StorageRefused.js"

/**
 * What is told, in the fiber of the request that it comes from, and before its response.
 *
 * @category models
 */
export interface ObserverService {
  /** Which call it is, as a method and a path with `:id` in the place of an id; of storage, the method and `storage`. */
  readonly routed: (route: string) => Effect.Effect<void>
  /** Whose token or signature it has. */
  readonly authorized: (tenant: string) => Effect.Effect<void>
  /** An upload is initiated. `urls` counts its pre-signed URLs, `unknownFields` names what the service does not know. */
  readonly declared: (upload: {
    readonly fileId: string
    readonly file: Declaration
    readonly urls: number
    readonly unknownFields: ReadonlyArray<string>
  }) => Effect.Effect<void>
  /** A client asks for the completion of an upload. `parts` are those that it lists; undefined for a single upload. */
  readonly asked: (completion: {
    readonly fileId: string
    readonly parts: ReadonlyArray<{ readonly partNumber: number; readonly etag: string }> | undefined
  }) => Effect.Effect<void>
  /** A Complete has succeeded, perhaps not for the first time. */
  readonly completed: (fileId: string) => Effect.Effect<void>
  /** Storage refuses a request. */
  readonly refused: (refusal: StorageRefused) => Effect.Effect<void>
}

/**
 * An observer that does nothing.
 *
 * @category constants
 */
export const none: ObserverService = {
  routed: () => Effect.void,
  authorized: () => Effect.void,
  declared: () => Effect.void,
  asked: () => Effect.void,
  completed: () => Effect.void,
  refused: () => Effect.void
}

/**
 * The observer of a request as a reference: {@link none}, unless one is provided. It is looked up for each request.
 *
 * @category references
 */
export class Observer extends Context.Reference<Observer>()("@stevedore/server/Observer", {
  defaultValue: (): ObserverService => none
}) {}
