/** The element in React. */
import "@stevedore/browser/element"
import type { Details, StevedoreUpload } from "@stevedore/browser/element"
import { createElement } from "react"

type Completed = CustomEvent<Details["completed"]>

export const Upload = (
  props: Partial<Pick<StevedoreUpload, "limits" | "metadata" | "linkOf">> & {
    readonly oncompleted?: (event: Completed) => void
  }
) => createElement("stevedore-upload", { "base-url": "/api", ...props })
