import { assert, describe, it } from "@effect/vitest"
import type { UploadQueue } from "@stevedore/browser"
import { SandboxLayer } from "@stevedore/testing"
import { Effect } from "effect"
import { derived, get } from "svelte/store"
import { uploadsOf } from "../../src/SvelteQueue.js"
import { listenedTo, notes, queueLaws } from "../QueueLaws.js"

describe("the queue in Svelte", () => {
  // `$uploads` in a component is a subscription for as long as the component exists
  queueLaws((queue) => {
    const uploads = uploadsOf(queue)
    return () => {
      const renders: Array<readonly [UploadQueue.Snapshot, UploadQueue.Snapshot]> = []
      const again = derived(uploads, (snapshot) => snapshot)
      const unmount = derived([uploads, again], (both) => both).subscribe((both) => renders.push(both))
      return { renders, rendered: () => Promise.resolve(), unmount }
    }
  })

  it.scoped("listens once for all views, and no more when it was only asked", () =>
    Effect.gen(function*() {
      const { listeners, queue } = yield* listenedTo
      const uploads = uploadsOf(queue)
      const stops = [1, 2, 3].map(() => uploads.subscribe(() => {}))
      assert.strictEqual(listeners.size, 1)
      for (const stop of stops) stop()
      queue.add([notes()])
      assert.strictEqual(get(uploads), queue.getSnapshot())
      assert.strictEqual(listeners.size, 0)
    }).pipe(Effect.provide(SandboxLayer.memory())))
})
