/** The element in React. */
import "@stevedore/browser/element"
import type {} from "@stevedore/browser/react"
import type { ComponentProps } from "react"

type Properties = Omit<ComponentProps<"stevedore-upload">, "ref">

// React sets properties where it creates an element, but not where a server
// wrote it
export const Upload = ({ limits, linkOf, metadata, ...rest }: Properties) => (
  <stevedore-upload
    base-url="/api"
    ref={(upload) => {
      if (upload) Object.assign(upload, { limits, metadata, linkOf })
    }}
    {...rest}
  />
)
