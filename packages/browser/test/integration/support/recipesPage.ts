// What runs in a page with the element in every framework, as the guide shows it.
import { define } from "@stevedore/browser/element"
import type { StevedoreUpload } from "@stevedore/browser/element"
import { h as preact, render as renderPreact } from "preact"
import { createElement } from "react"
import { createRoot } from "react-dom/client"
import solid from "solid-js/h"
import { render as renderSolid } from "solid-js/web"
import { mount } from "svelte"
import { createApp, h } from "vue"
import { Upload as ReactUpload } from "../../../../examples/src/ReactElement.js"
import { Upload as SolidUpload } from "../../../../examples/src/SolidElement.js"
import { Upload as VueUpload } from "../../../../examples/src/VueElement.js"

const said: Array<string> = []
Object.assign(window, { said })

const place = (id: string): HTMLElement => {
  const element = document.createElement("div")
  element.id = id
  document.body.append(element)
  return element
}

const propertiesOf = (framework: string) => ({
  limits: { accept: [".txt"] },
  oncompleted: ({ detail }: { readonly detail: { readonly item: { readonly name: string } } }) => {
    said.push(`${framework}: ${detail.item.name}`)
  }
})

createRoot(place("react")).render(createElement(ReactUpload, propertiesOf("react")))

const { limits, oncompleted } = propertiesOf("vue")
createApp({ render: () => h(VueUpload, { limits, onCompleted: oncompleted }) }).mount(place("vue"))

void import("../../../../examples/src/SvelteElement.svelte").then(({ default: SvelteUpload }) =>
  mount(SvelteUpload, { target: place("svelte"), props: propertiesOf("svelte") })
)

renderSolid(() => SolidUpload(propertiesOf("solid")), place("solid"))

// a control of the application's own, with each flag on and off
for (const is of [true, false]) {
  const flags = { disabled: is, required: is, multiple: is }
  createRoot(place(`react-${is}`)).render(createElement("stevedore-upload", flags))
  renderPreact(preact("stevedore-upload", flags), place(`preact-${is}`))
  createApp({ render: () => h("stevedore-upload", flags) }).mount(place(`vue-${is}`))
  void import("./Flags.svelte").then(({ default: Flags }) =>
    mount(Flags, { target: place(`svelte-${is}`), props: flags })
  )
  renderSolid(() => Reflect.apply(solid("stevedore-upload", flags), undefined, []), place(`solid-${is}`))
  Object.assign(place(`property-${is}`).appendChild(document.createElement("stevedore-upload")), flags)
}

// an element that was there, with its properties, before the script that registers it
const early = Object.assign(document.createElement("early-upload"), { limits: { accept: [".pdf"] } })
place("early").append(early)
define("early-upload")

declare global {
  interface HTMLElementTagNameMap {
    "early-upload": StevedoreUpload
  }
}
