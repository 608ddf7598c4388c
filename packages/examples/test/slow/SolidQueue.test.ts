import { assert, describe, it } from "@effect/vitest"
import type { UploadQueue } from "@stevedore/browser"
import { SandboxLayer } from "@stevedore/testing"
import { Effect } from "effect"
import { createEffect, createRoot, indexArray } from "solid-js"
import { vi } from "vitest"
import { useUploads } from "../../src/SolidQueue.js"
import { listenedTo, notes, queueLaws } from "../QueueLaws.js"

// in Node, this name resolves to the server build, where nothing is reactive
vi.mock("solid-js", () => vi.importActual("solid-js/dist/solid.js"))

describe("the queue in Solid", () => {
  queueLaws((queue) => () =>
    createRoot((unmount) => {
      const renders: Array<readonly [UploadQueue.Snapshot, UploadQueue.Snapshot]> = []
      const [one, other] = [useUploads(queue), useUploads(queue)]
      createEffect(() => renders.push([one(), other()]))
      return { renders, rendered: () => Promise.resolve(), unmount }
    })
  )

  it.scoped("with Index, makes the row of a file once, however often the file changes", () =>
    Effect.gen(function*() {
      const { queue } = yield* listenedTo
      queue.add([notes()])
      const shown = createRoot(() => {
        const uploads = useUploads(queue)
        const states: Array<Array<string>> = []
        // what <Index each={uploads().items}> is built on
        const rows = indexArray(() => uploads().items, (item) => {
          const own: Array<string> = []
          states.push(own)
          createEffect(() => own.push(item().state))
        })
        createEffect(rows)
        return states
      })
      queue.pause()
      queue.cancel()
      assert.deepStrictEqual(shown, [["preparing", "paused", "cancelled"]])
    }).pipe(Effect.provide(SandboxLayer.memory())))
})
