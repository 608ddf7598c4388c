/**
 * The types of `<stevedore-upload>` in the JSX of Preact: attributes, properties, `oncompleted` and the like, and `ref`.
 * There is no code in it.
 *
 * @example
 * import type {} from "@stevedore/browser/preact"
 */
import type { HTMLAttributes as AnyAttributes } from "preact"
import type { ElementInputs, StevedoreUpload } from "./element/model.js"

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      "stevedore-upload":
        & AnyAttributes<StevedoreUpload>
        & ClassAttributes<StevedoreUpload>
        & ElementInputs<"on">
    }
  }
}
