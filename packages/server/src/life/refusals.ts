import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { TableFailed } from "../FileTable.js"
import * as ServiceRefused from "../ServiceRefused.js"
import type * as StorageRefused from "../StorageRefused.js"

/** What an effect finds, or a failure if that is nothing. */
export const orElseFail = <A, E, R, E2>(
  found: Effect.Effect<Option.Option<A>, E, R>,
  failure: () => E2
): Effect.Effect<A, E | E2, R> =>
  Effect.flatMap(found, Option.match({ onNone: () => Effect.fail(failure()), onSome: Effect.succeed }))

export const unknownFile = () => ServiceRefused.notFound("This file")

export const overQuota = () =>
  ServiceRefused.make(422, "UnprocessableContent", {
    message: "There is no room left: remove files, or let the quota be raised",
    path: "size"
  })

export const refusedByStore = (refusal: StorageRefused.StorageRefused) =>
  ServiceRefused.make(502, "BadGateway", {
    message: `The storage answered ${refusal.code}: ${refusal.reason}`,
    reason: refusal.message
  })

/** What has failed, with the file, which the path of a call that opens it does not name. */
export const ofFile = (id: string, { code, message }: StorageRefused.StorageRefused) => ({
  code,
  message: `${id}: ${message}`
})

/** With the service's answer to whatever the table and the store fail with. */
export const answered = <A, R>(
  effect: Effect.Effect<A, ServiceRefused.ServiceRefused | StorageRefused.StorageRefused | TableFailed, R>
): Effect.Effect<A, ServiceRefused.ServiceRefused, R> =>
  Effect.catchTags(effect, {
    TableFailed: (failure) => Effect.fail(ServiceRefused.unavailable(failure)),
    StorageRefused: (refusal) =>
      Effect.fail(refusal.status >= 500 ? ServiceRefused.unavailable(refusal) : refusedByStore(refusal))
  })
