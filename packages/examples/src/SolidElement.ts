/** The element in Solid, where a component may be an element. */
import "@stevedore/browser/element"
import type { Details, StevedoreUpload } from "@stevedore/browser/element"

type Properties = Partial<
  Pick<StevedoreUpload, "limits" | "metadata" | "linkOf">
>

export const Upload = ({ oncompleted, ...rest }: Properties & {
  readonly oncompleted: (event: CustomEvent<Details["completed"]>) => void
}) => {
  const upload = Object.assign(document.createElement("stevedore-upload"), rest)
  upload.addEventListener("completed", oncompleted)
  return upload
}
