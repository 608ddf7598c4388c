/**
 * The changes of a queue as a Stream, for applications that use Effect. It is a separate module so that nobody else
 * loads it.
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Snapshot, UploadQueue } from "./queue/model.js"

/**
 * The current snapshot and every one after it. A slow consumer misses some snapshots, but never the last.
 *
 * @example
 * import { UploadQueue, UploadQueueStream } from "@stevedore/browser"
 * import { Console, Effect, Stream } from "effect"
 *
 * const shown = (queue: UploadQueue.UploadQueue) =>
 *   UploadQueueStream.changes(queue).pipe(
 *     Stream.map(({ totals }) => `${totals.completed} of ${totals.files}`),
 *     Stream.changes,
 *     Stream.runForEach((line) => Console.log(line))
 *   )
 *
 * @category streams
 */
export const changes = (queue: Pick<UploadQueue, "getSnapshot" | "subscribe">): Stream.Stream<Snapshot> =>
  Stream.asyncPush<Snapshot>((emit) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const unsubscribe = queue.subscribe(() => emit.single(queue.getSnapshot()))
        emit.single(queue.getSnapshot())
        return unsubscribe
      }),
      (unsubscribe) => Effect.sync(unsubscribe)
    ), { bufferSize: 1, strategy: "sliding" })
