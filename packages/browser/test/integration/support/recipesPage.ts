// What runs in a page with the element in every framework, as the guide shows it.
import { define } from "@stevedore/browser/element"
import type { StevedoreUpload } from "@stevedore/browser/element"
import { createElement } from "react"
import { createRoot } from "react-dom/client"
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

// an element that was there, with its properties, before the script that registers it
const early = Object.assign(document.createElement("early-upload"), { limits: { accept: [".pdf"] } })
place("early").append(early)
define("early-upload")

declare global {
  interface HTMLElementTagNameMap {
    "early-upload": StevedoreUpload
  }
}
