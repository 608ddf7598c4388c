import "@stevedore/browser/element"
import { flushSync, mount, unmount } from "svelte"
import Field from "./Field.svelte"

const fields = new WeakMap()

Object.assign(window, {
  mounting: {
    mount: (attributes, target) => {
      fields.set(target, mount(Field, { target, props: { attributes } }))
      flushSync()
    },
    unmount: (target) => void unmount(fields.get(target))
  }
})
