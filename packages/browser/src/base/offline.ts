import type { Service as ServiceApi } from "@stevedore/core/ServiceApi"
import type { Service as TransferGate } from "@stevedore/core/TransferGate"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as PageSignals from "./pageSignals.js"

const untilOnline = PageSignals.until(({ online }) => online)

// A service worker that has no connection often responds by itself, with a 503
const isFromServiceWorker = (error: unknown): boolean =>
  globalThis.navigator?.serviceWorker?.controller != null &&
  (Predicate.isTagged(error, "ServiceUnavailable") || Predicate.isTagged(error, "StorageUnavailable"))

// Checked only after a failure: a browser that is offline can still reach this machine.
const outlasting =
  (isTheLine: (error: unknown) => boolean) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.catchAll(effect, (error) =>
      PageSignals.isOnline() || !(isTheLine(error) || isFromServiceWorker(error))
        ? Effect.fail(error)
        : Effect.zipRight(untilOnline, outlasting(isTheLine)(effect)))

const isLineFailure = (error: unknown): boolean =>
  Predicate.isTagged(error, "ConnectionFailed") || Predicate.isTagged(error, "TimedOut")

const hasNotArrived = (error: unknown): boolean =>
  Predicate.isTagged(error, "ConnectionFailed") && Predicate.hasProperty(error, "arrived") && error.arrived === "no"

const repeatable = outlasting(isLineFailure)
const once = outlasting(hasNotArrived)

/**
 * A transfer that fails because the browser is offline waits until it is online again and is repeated. This does not
 * count as an attempt.
 */
export const patientGate = (gate: TransferGate): TransferGate => ({
  ...gate,
  pass: (transfer, passage) => repeatable(gate.pass(transfer, passage))
})

/** The same for the service. A call that must not be made twice is repeated only if it certainly did not arrive. */
export const patientApi = (api: ServiceApi): ServiceApi => ({
  ...api,
  initiateUpload: (file) => once(api.initiateUpload(file)),
  initiateLargeUpload: (file) => once(api.initiateLargeUpload(file)),
  completeUpload: (input) => repeatable(api.completeUpload(input)),
  completeLargeUpload: (input) => repeatable(api.completeLargeUpload(input)),
  file: (fileId) => repeatable(api.file(fileId)),
  listPage: (request) => repeatable(api.listPage(request))
})
