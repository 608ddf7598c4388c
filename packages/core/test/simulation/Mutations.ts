import type { Mutation } from "./Bundle.js"
import type { Law } from "./Laws.js"

/** One way to break each law: what is changed, and what nobody would then do any more. */
export const mutations: Readonly<Record<Law, Mutation & { readonly without: string }>> = {
  1: {
    without: "comparing the checksum of storage",
    module: "upload/part",
    from: "stored === checksum",
    to: "stored !== checksum || stored === checksum"
  },
  2: {
    without: "listing the parts in order",
    module: "service/endpoints",
    from: ".sort((a, b) => a.partNumber - b.partNumber)",
    to: ".reverse()"
  },
  3: {
    without: "closing the connection of an attempt that was given up",
    module: "base/fibers",
    from: "return running.unsafePoll() === null ? stop(running) : Effect.void",
    to: "return Effect.asVoid(Effect.forkDaemon(Effect.delay(stop(running), 60_000)))"
  },
  4: {
    without: "asking for the file after a lost answer",
    module: "upload/decide",
    from: "return contradiction || mayBeComplete(error, repaired || session.parts.length === 0)",
    to: "return contradiction"
  },
  5: {
    without: "keeping trace headers and spans away from storage",
    module: "HttpObjectStorage",
    from: "HttpClient.withTracerDisabledWhen(client, () => true)",
    to: "client"
  },
  6: {
    without: "keeping what was confirmed when a session is lost",
    module: "upload/counts",
    from: "confirmed: mostStored,",
    to: "confirmed: stored,"
  },
  7: {
    without: "counting one of those in flight",
    module: "TransferGate",
    from: "places.serve(isOpen ? pace.width : 0,",
    to: "places.serve(isOpen ? pace.width + 1 : 0,"
  },
  8: {
    without: "giving up an attempt that does not move",
    module: "upload/attempt",
    from: "Math.min(Math.ceil(limit",
    to: "Math.max(0 * Math.ceil(limit"
  },
  9: {
    without: "looking whether a repeat can help",
    module: "RetryPolicy",
    from: "isRepeatable(error, failures) &&",
    to: ""
  },
  10: {
    without: "holding everybody after a SlowDown",
    module: "TransferGate",
    from: "pausedUntil = Math.max(pausedUntil, now + millis)",
    to: "pausedUntil = now"
  },
  11: {
    without: "holding memory for the parts of a stream",
    module: "upload/part",
    from: "if (isHeld(transfer)) yield* gate.hold(transfer.range.length, run)",
    to: ""
  },
  12: {
    without: "the parts that storage has confirmed",
    module: "upload/decide",
    from: "notice, session, receipts, refused: undefined",
    to: "notice, session, receipts: [], refused: undefined"
  },
  13: {
    without: "asking whether the lock is still held before what is written",
    module: "UploadLedger",
    from: "key === indexKey ? write :",
    to: "key !== undefined ? write :"
  }
}
