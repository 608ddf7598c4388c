/** @jsxImportSource solid-js */
// The element in the JSX of Solid
import "@stevedore/browser/element"
import type {} from "@stevedore/browser/solid"
import type { UploadQueue } from "@stevedore/browser"

export const Upload = (
  props: { readonly show: (item: UploadQueue.Item) => void }
) => (
  <stevedore-upload
    attr:base-url="/api"
    prop:limits={{ files: 3 }}
    on:completed={({ detail }) => props.show(detail.item)}
  />
)
