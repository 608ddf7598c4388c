import "@stevedore/browser/element"
import { createElement } from "react"
import { flushSync } from "react-dom"
import { createRoot } from "react-dom/client"

const roots = new WeakMap()

Object.assign(window, {
  mounting: {
    mount: (attributes, place) => {
      const root = createRoot(place)
      roots.set(place, root)
      flushSync(() => root.render(createElement("stevedore-upload", attributes)))
    },
    unmount: (place) => roots.get(place)?.unmount()
  }
})
