import "@stevedore/browser/element"
import { h, render } from "preact"

Object.assign(window, {
  mounting: {
    mount: (attributes, place) => render(h("stevedore-upload", attributes), place),
    unmount: (place) => render(null, place)
  }
})
