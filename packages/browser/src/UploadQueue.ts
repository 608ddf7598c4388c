/** A queue of uploads that any view can watch, whatever framework it uses: files go in, states come out. */
import type { Requirements } from "@stevedore/core/Uploads"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import * as Engine from "./queue/engine.js"
import type { Options, UploadQueue } from "./queue/model.js"

/**
 * The inputs and the state of a queue.
 *
 * @category models
 */
export type * from "./queue/model.js"

/**
 * A queue with its own layer: {@link make}, for applications without Effect.
 *
 * @category models
 */
export interface OwnedUploadQueue extends UploadQueue {
  /**
   * Stops everything. Items that have not ended are paused for good, and so is anything added later. The next queue can
   * resume what an unfinished upload has stored.
   */
  readonly dispose: () => Promise<void>
}

/**
 * A queue that works for as long as the scope is open. Afterwards it behaves as after {@link OwnedUploadQueue.dispose}.
 *
 * @category constructors
 */
export const scoped = (options: Options = {}): Effect.Effect<UploadQueue, never, Requirements | Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.acquireRelease(Scope.make(), Scope.close)
    const runtime = yield* Effect.runtime<Requirements>()
    const [queue, end] = Engine.make({
      // also if it is made in an uninterruptible region, such as acquireRelease
      fork: <A, E>(effect: Effect.Effect<A, E>) => Runtime.runFork(runtime)(Effect.interruptible(effect), { scope }),
      provided: <A, E>(effect: Effect.Effect<A, E, Requirements>) => Effect.provide(effect, runtime)
    }, options)
    yield* Effect.addFinalizer(() => Effect.sync(end))
    return queue
  })

/**
 * A queue that builds its own layer. It returns at once: if the layer fails to build, each item fails with that error.
 * The queue outlives the view; only `dispose` ends it.
 *
 * @example
 * import { BrowserStevedore, UploadQueue } from "@stevedore/browser"
 *
 * const start = (input: HTMLInputElement, show: (snapshot: UploadQueue.Snapshot) => void) => {
 *   const queue = UploadQueue.make({ layer: BrowserStevedore.layer({ baseUrl: "/api" }), files: 3 })
 *   queue.subscribe(() => show(queue.getSnapshot()))
 *   input.onchange = () => queue.add(input.files)
 *   return queue
 * }
 *
 * @category constructors
 */
export const make = <E>(
  options: Options & { readonly layer: Layer.Layer<Requirements, E> }
): OwnedUploadQueue => {
  const scope = Effect.runSync(Scope.make())
  const runtime = Effect.runSync(Effect.cached(Scope.extend(Layer.toRuntime(options.layer), scope)))
  const [queue, end] = Engine.make({
    fork: <A, E2>(effect: Effect.Effect<A, E2>) => Effect.runFork(effect, { scope }),
    provided: <A, E2>(effect: Effect.Effect<A, E2, Requirements>) =>
      Effect.flatMap(runtime, (runtime) => Effect.provide(effect, runtime))
  }, options)
  const dispose = Effect.zipRight(Effect.sync(end), Scope.close(scope, Exit.void))
  return { ...queue, dispose: () => Effect.runPromise(dispose) }
}
