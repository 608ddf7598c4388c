import { assert, it } from "@effect/vitest"
import { UploadQueue } from "@stevedore/browser"
import { FaultScript, SandboxLayer } from "@stevedore/testing"
import { Effect, TestClock } from "effect"

/** What a framework shows of a queue. */
export interface View {
  /** For each render, what two readers of the queue saw. */
  readonly renders: ReadonlyArray<readonly [UploadQueue.Snapshot, UploadQueue.Snapshot]>
  /** Resolves when every change has been rendered. */
  readonly rendered: () => Promise<void>
  readonly unmount: () => void
}

/** What an application creates once for its queue, and then as many views of it as needed. */
export type Recipe = (queue: UploadQueue.UploadQueue) => () => View

const MiB = 1_048_576

/** Enough for two parts, so that the second is still to be sent while the first waits for its answer. */
export const notes = (): File => new File([new Uint8Array(2 * MiB)], "notes.txt", { type: "text/plain" })

const inParts = { strategy: "multipart", parts: 2, concurrency: 1 } as const

/** A queue that counts its listeners. */
export const listenedTo = Effect.map(UploadQueue.scoped({ during: Effect.void, upload: inParts }), (queue) => {
  const listeners = new Set<symbol>()
  return {
    listeners,
    queue: {
      ...queue,
      subscribe: (listener: () => void) => {
        const own = Symbol()
        const stop = queue.subscribe(listener)
        listeners.add(own)
        return () => {
          listeners.delete(own)
          stop()
        }
      }
    }
  }
})

const stateOf = (view: View) => view.renders.at(-1)?.[0].items.map(({ state }) => state).join()

/** Lets the queue work until `state` is reached, and returns every state that was shown on the way. */
const shownUntil = (state: string, queue: UploadQueue.UploadQueue, view: View) =>
  Effect.gen(function*() {
    const shown: Array<string | undefined> = []
    for (let ticks = 0; ticks < 500 && shown.at(-1) !== state; ticks++) {
      yield* TestClock.adjust("200 millis")
      // a Blob is read by the platform, which the test's clock does not control
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* Effect.promise(view.rendered)
      assert.strictEqual(view.renders.at(-1)?.[0], queue.getSnapshot())
      shown.push(stateOf(view))
    }
    assert.strictEqual(shown.at(-1), state)
    return shown
  })

const slowly = SandboxLayer.memory({
  minimumPartSize: MiB,
  faults: FaultScript.on("putPart").always().delay("10 seconds")
})

/** The laws for a view of a queue, whatever the framework. */
export const queueLaws = (recipe: Recipe): void => {
  it.scoped("shows each snapshot of the queue, from the moment a file is added until it is up", () =>
    Effect.gen(function*() {
      const { queue } = yield* listenedTo
      const view = recipe(queue)()
      assert.strictEqual(stateOf(view), "")
      queue.add([notes()])
      const shown = yield* shownUntil("completed", queue, view)
      assert.includeMembers(shown, ["uploading", "finishing", "completed"])
    }).pipe(Effect.provide(slowly)))

  it.scoped("does what is asked of the queue, and shows it without waiting for the network", () =>
    Effect.gen(function*() {
      const { queue } = yield* listenedTo
      const view = recipe(queue)()
      const { ids: [id] } = queue.add([notes()])
      const shows = (action: (id?: string) => void, state: string) =>
        Effect.gen(function*() {
          action(id)
          yield* Effect.promise(view.rendered)
          assert.strictEqual(stateOf(view), state)
        })
      yield* shownUntil("uploading", queue, view)
      yield* shows(queue.pause, "paused")
      yield* shows(queue.resume, "uploading")
      yield* shows(queue.cancel, "cancelled")
      yield* shows(queue.retry, "preparing")
      yield* shownUntil("completed", queue, view)
      yield* shows(queue.clear, "")
    }).pipe(Effect.provide(slowly)))

  it.scoped("shows all its readers the same snapshot whenever it is rendered", () =>
    Effect.gen(function*() {
      const { queue } = yield* listenedTo
      const view = recipe(queue)()
      queue.add([notes(), new File([new Uint8Array(2 * MiB)], "more.txt")])
      yield* shownUntil("completed,completed", queue, view)
      assert.isAbove(view.renders.length, 3)
      for (const [one, other] of view.renders) assert.strictEqual(one, other)
    }).pipe(Effect.provide(slowly)))

  it.scoped("is not rendered again as long as nothing changes, whatever is asked of the queue", () =>
    Effect.gen(function*() {
      const { queue } = yield* listenedTo
      const view = recipe(queue)()
      queue.add([notes()])
      yield* shownUntil("uploading", queue, view)
      queue.pause()
      yield* TestClock.adjust("1 minute")
      yield* Effect.promise(view.rendered)
      const { length } = view.renders
      queue.pause()
      queue.retry()
      queue.remove("nobody")
      queue.add([])
      yield* TestClock.adjust("1 minute")
      yield* Effect.promise(view.rendered)
      assert.lengthOf(view.renders, length)
    }).pipe(Effect.provide(slowly)))

  it.scoped("listens until it is unmounted, and is not rendered after it", () =>
    Effect.gen(function*() {
      const { listeners, queue } = yield* listenedTo
      const view = recipe(queue)()
      assert.isAbove(listeners.size, 0)
      view.unmount()
      assert.strictEqual(listeners.size, 0)
      const { length } = view.renders
      queue.add([notes()])
      yield* Effect.promise(view.rendered)
      assert.lengthOf(view.renders, length)
    }).pipe(Effect.provide(slowly)))

  it.scoped("shows at once what happened before it was mounted, and between two of its lives", () =>
    Effect.gen(function*() {
      const { queue } = yield* listenedTo
      const mount = recipe(queue)
      queue.add([notes()])
      const first = mount()
      assert.strictEqual(stateOf(first), "preparing")
      first.unmount()
      queue.pause()
      assert.strictEqual(stateOf(mount()), "paused")
    }).pipe(Effect.provide(slowly)))
}
