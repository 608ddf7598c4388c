import { assert, describe, it } from "@effect/vitest"
import type { UploadQueue } from "@stevedore/browser"
import { SandboxLayer } from "@stevedore/testing"
import { Effect } from "effect"
import { createRenderer, createSSRApp, defineComponent, h, nextTick } from "vue"
import { renderToString } from "vue/server-renderer"
import { useUploads } from "../../src/VueQueue.js"
import { listenedTo, notes, queueLaws } from "../QueueLaws.js"

// Vue's own renderer, over a page that stores nothing
const { createApp } = createRenderer<object, object>({
  createElement: () => ({}),
  createText: () => ({}),
  createComment: () => ({}),
  setText: () => {},
  setElementText: () => {},
  patchProp: () => {},
  insert: () => {},
  remove: () => {},
  parentNode: () => ({}),
  nextSibling: () => null
})

/** A component that shows what it sees, and one inside it that reads the queue on its own. */
const mount = (queue: UploadQueue.UploadQueue, whileMounting: () => void = () => {}) => {
  const renders: Array<readonly [UploadQueue.Snapshot, UploadQueue.Snapshot]> = []
  const Inner = defineComponent((props: { readonly outer: UploadQueue.Snapshot }) => {
    const uploads = useUploads(queue)
    whileMounting()
    return () => {
      renders.push([props.outer, uploads.value])
      return h("p")
    }
  }, { props: ["outer"] })
  const Outer = defineComponent(() => {
    const uploads = useUploads(queue)
    return () => h(Inner, { outer: uploads.value })
  })
  const application = createApp(Outer)
  application.mount({})
  return { renders, rendered: () => nextTick(), unmount: () => application.unmount() }
}

describe("the queue in Vue", () => {
  queueLaws((queue) => () => mount(queue))

  it.scoped("shows what happened while it was being mounted", () =>
    Effect.gen(function*() {
      const { queue } = yield* listenedTo
      const { rendered, renders } = mount(queue, () => queue.add([notes()]))
      yield* Effect.promise(rendered)
      assert.deepStrictEqual(renders.at(-1), [queue.getSnapshot(), queue.getSnapshot()])
      assert.lengthOf(queue.getSnapshot().items, 1)
    }).pipe(Effect.provide(SandboxLayer.memory())))

  it.scoped("is shown on a server, and leaves no listener there", () =>
    Effect.gen(function*() {
      const { listeners, queue } = yield* listenedTo
      queue.add([notes()])
      const Uploads = defineComponent(() => {
        const uploads = useUploads(queue)
        return () => h("p", uploads.value.items.map(({ name }) => name).join())
      })
      assert.strictEqual(yield* Effect.promise(() => renderToString(createSSRApp(Uploads))), "<p>notes.txt</p>")
      assert.strictEqual(listeners.size, 0)
    }).pipe(Effect.provide(SandboxLayer.memory())))
})
