/**
 * The types of `<stevedore-upload>` in the templates of Svelte 5: attributes, properties, `oncompleted` and the like, and
 * `bind:this`. There is no code in it.
 *
 * @example
 * import type {} from "@stevedore/browser/svelte"
 */
import type { HTMLAttributes as AnyAttributes } from "svelte/elements"
import type { ElementInputs, StevedoreUpload } from "./element/model.js"

declare module "svelte/elements" {
  interface SvelteHTMLElements {
    "stevedore-upload": AnyAttributes<StevedoreUpload> & ElementInputs<"on">
  }
}
