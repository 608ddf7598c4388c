/**
 * The types of `<stevedore-upload>` in the JSX of Solid: attributes as `attr:base-url`, properties as `prop:limits`, events
 * as `on:completed`, and `ref`. There is no code in it.
 *
 * @example
 * import type {} from "@stevedore/browser/solid"
 */
import type { JSX as Solid } from "solid-js"
import type { ElementAttributes, ElementListeners, ElementProperties, StevedoreUpload } from "./element/model.js"

type Named<Before extends string, Values> = { readonly [K in keyof Values as `${Before}${K & string}`]: Values[K] }

declare module "solid-js" {
  namespace JSX {
    interface IntrinsicElements {
      "stevedore-upload":
        & Solid.HTMLAttributes<StevedoreUpload>
        & Named<"attr:", ElementAttributes>
        & Named<"prop:", ElementProperties>
        & ElementListeners<"on:">
    }
  }
}
