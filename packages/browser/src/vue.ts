/**
 * The types of `<stevedore-upload>` in the templates of Vue: attributes, properties, and events such as `@completed`. There
 * is no code in it.
 *
 * @example
 * import type {} from "@stevedore/browser/vue"
 */
import type { DefineComponent } from "vue"
import type { ElementInputs } from "./element/model.js"

declare module "vue" {
  interface GlobalComponents {
    "stevedore-upload": DefineComponent<ElementInputs<"on">>
  }
}
