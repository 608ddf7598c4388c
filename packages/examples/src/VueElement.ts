/** The element in Vue. */
import "@stevedore/browser/element"
import type { Details, StevedoreUpload } from "@stevedore/browser/element"
import { type FunctionalComponent, h } from "vue"

export const Upload: FunctionalComponent<
  Partial<Pick<StevedoreUpload, "limits" | "metadata" | "linkOf">>,
  { completed: (event: CustomEvent<Details["completed"]>) => void }
> = (_props, { attrs }) =>
  h("stevedore-upload", { "base-url": "/api", ...attrs })
