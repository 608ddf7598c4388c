import { assert, describe, it } from "@effect/vitest"
import { UploadQueue } from "@stevedore/browser"
import { SandboxLayer } from "@stevedore/testing"
import { Effect, Layer } from "effect"
import { createElement } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { Uploads } from "../src/ReactQueue.js"

const notes = new File(["hello"], "notes.txt", { type: "text/plain" })

/** What is shown of a queue once nothing happens in it any more. */
const shownAtTheEnd = (layer: Parameters<typeof UploadQueue.make>[0]["layer"]) =>
  Effect.acquireUseRelease(
    Effect.sync(() => UploadQueue.make({ layer, during: Effect.void })),
    (queue) =>
      Effect.gen(function*() {
        const ended = Effect.async<void>((resume) => {
          const stop = queue.subscribe(() => {
            if (queue.getSnapshot().totals.state === "uploading") return
            stop()
            resume(Effect.void)
          })
        })
        queue.add([notes])
        const before = renderToStaticMarkup(createElement(Uploads, { queue }))
        yield* ended
        return { before, after: renderToStaticMarkup(createElement(Uploads, { queue })) }
      }),
    (queue) => Effect.promise(queue.dispose)
  )

describe("the queue in React", () => {
  it.live("shows a file from the moment it is added until it is up", () =>
    Effect.gen(function*() {
      const { after, before } = yield* shownAtTheEnd(SandboxLayer.memory())
      assert.include(before, "notes.txt: ")
      assert.notInclude(before, "notes.txt: completed")
      assert.include(after, "notes.txt: completed")
      assert.include(after, "<progress aria-label=\"All files\" value=\"5\" max=\"5\"></progress>")
    }))

  it.live("shows in words why a file failed, and a button that tries again", () =>
    Effect.gen(function*() {
      const { after } = yield* shownAtTheEnd(Layer.fail(new Error("No service")))
      assert.include(after, "<button>Try notes.txt again</button>")
      assert.match(after, /<p role="alert">[^<]+<\/p>/)
    }))
})
