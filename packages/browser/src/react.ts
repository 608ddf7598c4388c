/**
 * The types of `<stevedore-upload>` in the JSX of React 19: attributes, properties, `oncompleted` and the like, and `ref`.
 * There is no code in it.
 *
 * @example
 * import type {} from "@stevedore/browser/react"
 */
import type { DetailedHTMLProps as Detailed, HTMLAttributes as AnyAttributes } from "react"
import type { ElementInputs, StevedoreUpload } from "./element/model.js"

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "stevedore-upload":
        & Detailed<AnyAttributes<StevedoreUpload>, StevedoreUpload>
        & ElementInputs<"on">
    }
  }
}
