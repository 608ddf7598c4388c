import "@stevedore/browser/element"
import { createApp, h, render } from "vue"

Object.assign(window, {
  mounting: {
    mount: (attributes, place) => createApp({ render: () => h("stevedore-upload", attributes) }).mount(place),
    unmount: (place) => render(null, place)
  }
})
