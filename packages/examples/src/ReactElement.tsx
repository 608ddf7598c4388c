/** The element in React. */
import "@stevedore/browser/element"
import type {} from "@stevedore/browser/react"
import type { ComponentProps } from "react"

type Properties = Omit<ComponentProps<"stevedore-upload">, "ref">

// React hands properties and listeners to an element that it creates, but
// not to one that a server wrote
export const Upload = (
  { limits, linkOf, metadata, oncompleted, ...rest }: Properties
) => (
  <stevedore-upload
    base-url="/api"
    ref={(upload) => {
      if (!upload) return
      Object.assign(upload, { limits, metadata, linkOf })
      if (!oncompleted) return
      upload.addEventListener("completed", oncompleted)
      return () => upload.removeEventListener("completed", oncompleted)
    }}
    {...rest}
  />
)
