import "@stevedore/browser/element"
import h from "solid-js/h"
import { render } from "solid-js/web"

const ends = new WeakMap()

Object.assign(window, {
  mounting: {
    mount: (attributes, place) => ends.set(place, render(() => h("stevedore-upload", attributes)(), place)),
    unmount: (place) => ends.get(place)?.()
  }
})
